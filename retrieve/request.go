package retrieve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// ErrRequest marks every error about a request that breaks a rule or bound.
var ErrRequest = errors.New("invalid request")

// RequestError says which parameter was refused and why. errors.Is(err, ErrRequest) holds.
type RequestError struct {
	Param  string // name in clause 8.1, or the member of a JSON request
	Reason string
}

func (e *RequestError) Error() string { return e.Param + ": " + e.Reason }

// Is reports whether target is ErrRequest.
func (e *RequestError) Is(target error) bool { return target == ErrRequest }

func badParam(param, format string, args ...any) error {
	return &RequestError{Param: param, Reason: fmt.Sprintf(format, args...)}
}

// Direction says along which edges expansion goes.
type Direction string

const (
	Both Direction = "both"
	Out  Direction = "out" // from source to destination
	In   Direction = "in"  // from destination to source
)

// Optional lines that a request may show.
const (
	ShowTimes   = "times"
	ShowKey     = "key"
	ShowContent = "content"
)

// Defaults and bounds of requests: clause 8.1.
const (
	DefaultLimit      = 10
	DefaultBudget     = 2000 // tokens
	DefaultExpand     = 3    // rounds
	DefaultSummaryCap = 8192 // scalars

	MaxText       = 65_536 // bytes
	MaxNames      = 64     // types, and edge types
	MaxLimit      = 1000
	MaxBudget     = 1<<31 - 1
	MaxExpand     = 4
	MaxAdjacency  = 1000
	MaxSummaryCap = 262_144 // scalars
)

// Request asks for the nodes that match a text, filters, or both. The zero Request asks for the newest nodes with every
// default; Resolve fills the defaults in. A field in which 0 is a value and not the default is a pointer; nil means the
// default. new(0) means no limit.
type Request struct {
	Text string // the query, at most MaxText bytes of UTF-8; blank for the newest nodes
	RewriteOptions
	// Vectors are embeddings of the query: at most MaxVectors, each of another model. A request with vectors and a
	// blank text ranks by the vectors alone.
	Vectors []QueryVector
	// Whole says how well the models of Vectors know the words of the query, if they report it.
	Whole []WholeWords
	// Sparse are the query's learned-sparse vectors: at most MaxVectors, each of another model. A blank text has the
	// same meaning as with Vectors.
	Sparse []SparseVector
	// Now is the day from which relative dates of the text count, like "last week". Without it they are not read.
	// Resolve truncates it to the day, and drops it if the text has no such date.
	Now graph.OptTime
	// Days are the dates that the text names, in its order, if the caller's days do not begin at midnight UTC: at most
	// MaxDays. Now is then the start, in UTC, of the caller's day. A request is refused if the text names another
	// number of dates.
	Days []DateRange
	// Intent makes the request a recall: the kind of question decides which links count. "" for none.
	Intent Intent
	ProfileChoice

	Types []string    // node types; one must match; at most MaxNames; empty for all
	Where []Predicate // all must hold; at most MaxPredicates
	TimeFilter
	Marks   []graph.State // hidden states to let through
	Current bool          // leave out superseded nodes, which otherwise follow what superseded them
	Exclusions

	Limit    *int         // items, default DefaultLimit, at most MaxLimit; 0 for as many as are examined
	Budget   *int         // tokens, default DefaultBudget, at most MaxBudget; 0 for no budget
	Fusion   Fusion       // how the lists of lanes become one; "" for Convex
	Weights  []LaneWeight // of lanes that the request has; others have those of clause 9.6
	Spelling Spelling     // "" for SpellingOn
	ExpansionOptions
	Community bool // members of the communities that the best nodes are in join
	RerankOptions
	Floor Floor // the last band whose items are in the answer; "" for FloorMaybe
	// Pairs says whether what contradicts an item follows it; "" for PairsOn. In a settled request it
	// says whether anything was examined for that.
	Pairs Pairing
	Dedup bool // leave out what repeats an item before it

	OutputOptions

	// Ranking is the version of the ranking that answers, 0 for the newest; or PlainRanking. A receipt has
	// the version in its engine.
	Ranking int
}

// RewriteOptions are the query in other words.
type RewriteOptions struct {
	Rewrites []string // at most MaxRewrites of MaxRewrite bytes
	Rewrite  string   // how they were made: RewriteMulti or RewriteHyde; "" if unknown
}

// ProfileChoice says which parameters a profile decides.
type ProfileChoice struct {
	// Profile names the profile that the parameters not given are taken from, "" for the one that fits: clause 23. Only
	// a repository knows its profiles. In a settled request it says which was taken, "" for the built-in default.
	Profile string
	// Explicit names parameters of clause 8.1 that no profile decides though their values are zero.
	Explicit []string
	// Settled says that profile defaults have been applied, as in what Answer and Receipt keep.
	Settled bool
}

// TimeFilter lets through the nodes of some times.
type TimeFilter struct {
	CreatedFrom graph.OptTime // inclusive
	CreatedTo   graph.OptTime // exclusive
	UpdatedFrom graph.OptTime // inclusive; a node never updated counts as updated when created
	UpdatedTo   graph.OptTime // exclusive
	ValidAt     graph.OptTime // nodes whose validity includes this time
}

// Exclusions are nodes that take no part in the answer.
type Exclusions struct {
	Exclude      []graph.ID // with ExcludeNames at most MaxExclude
	ExcludeNames []string   // by key or id; only a repository can resolve them
	Unseen       bool       // exclude what the session has shown already; only in a session
	UnseenFrom   int64      // set by ExcludeSeen from Unseen: clause 13.4
}

// RerankOptions name the model that judges the best nodes again, and hold its scores.
type RerankOptions struct {
	Rerank    string        // the model that gave Reranked; "" for none
	RerankTop *int          // nodes that are reranked, default DefaultRerankTop
	Reranked  []RerankScore // the model's scores of nodes, at most MaxRerankTop
	Reranker  Reranker      // asked for Reranked if that is empty; never in a resolved request
}

// OutputOptions say how items are put together and printed.
type OutputOptions struct {
	Order         Order    // "" for ByRank
	Altitude      Altitude // "" for AltitudeEntity
	Pack          Packing  // "" for PackAuto; in a settled request that only if it trimmed a text
	PassageTokens *int     // of each text's passages, default DefaultPassageTokens, with PackAuto AutoPassageTokens
	Tokenizer     string   // name of the token counter, "" for Estimate
	Adjacency     int      // edges shown in each direction, at most MaxAdjacency
	Show          []string // of ShowTimes, ShowKey, ShowContent
	Format        Format   // "" for FormatYAML
	SummaryCap    *int     // scalars of each text, default DefaultSummaryCap; 0 for all
}

// Resolve returns the request with every default filled in, and lists of names in bytewise order without duplicates:
// the form that Answer and Receipt keep. Resolving twice changes nothing. It shares no list of names with r.
func (r Request) Resolve() Request {
	for i := range params {
		if params[i].fill != nil {
			params[i].fill(&r)
		}
	}
	r.Ranking = cmp.Or(r.Ranking, RankingVersion)
	return r
}

// sortedSet returns a sorted copy without duplicates, nil for the empty list.
func sortedSet[S ~string](list []S) []S {
	out := slices.Clone(orNone(list))
	slices.Sort(out)
	return slices.Compact(out)
}

func orDefault(p *int, n int) *int {
	if p == nil {
		return new(n)
	}
	return new(*p)
}

// Validate returns a *RequestError unless the request keeps every bound of clause 8.1.
func (r Request) Validate() error { return r.alone().ValidateGiven() }

// ValidateGiven is Validate for a request that a profile will fill. Until then the request may have a parameter that
// depends on one still open, such as Damping without an Expansion. Profiles.Apply and Run refuse the request if the
// profile did not supply it.
func (r Request) ValidateGiven() error {
	for i := range params {
		if params[i].check == nil {
			continue
		}
		if err := params[i].check(&r); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkText() error {
	if len(r.Text) > MaxText {
		return badParam("text", "%d bytes or more, limit %d", len(r.Text), MaxText)
	}
	for i, c := range r.Text {
		if c != utf8.RuneError {
			continue
		}
		if _, n := utf8.DecodeRuneInString(r.Text[i:]); n == 1 {
			return badParam("text", "not UTF-8: byte %d is %#x", i+1, r.Text[i])
		}
	}
	return nil
}

func checkNames(param string, names []string) error {
	if len(names) > MaxNames {
		return badParam(param, "%d types, limit %d", len(names), MaxNames)
	}
	for _, name := range names {
		if !isType(name) {
			return badParam(param, "%s is not a type: want 1 to %d bytes of UTF-8", shortQuote(name), graph.MaxType)
		}
	}
	return nil
}

// isType reports whether nodes or edges may have a type.
func isType(name string) bool { return graph.CheckText("", name, 1, graph.MaxType) == nil }

func checkRange(param string, n *int, least, limit int) error {
	if n != nil && (*n < least || *n > limit) {
		return badParam(param, "%d is outside %d to %d", *n, least, limit)
	}
	return nil
}

func (r *Request) checkWhere() error {
	if len(r.Where) > MaxPredicates {
		return badParam("where", "%d predicates, limit %d", len(r.Where), MaxPredicates)
	}
	size := 0
	for _, p := range r.Where {
		if err := p.validate(); err != nil {
			return err
		}
		size += len(ipld.AppendValue(nil, p.Value))
	}
	if size > MaxPredicateBytes {
		return badParam("where", "values of %d bytes, limit %d", size, MaxPredicateBytes)
	}
	return nil
}

func (r *Request) checkMarks() error {
	for _, s := range r.Marks {
		if !s.Hides() {
			return badParam("marks", "%s is not a hidden state: want forgotten, superseded, "+
				"expired or retired", shortQuote(string(s)))
		}
	}
	return nil
}

func (r *Request) checkShow() error {
	for _, s := range r.Show {
		if s != ShowTimes && s != ShowKey && s != ShowContent {
			return badParam("show", "%s is not times, key or content", shortQuote(s))
		}
	}
	return nil
}

// Why a parameter is a request's own.
const (
	ownAsked  = "it says what is asked"
	ownAnswer = "it says which nodes may be an answer"
	ownShown  = "it says what one reader was shown before"
	ownJudge  = "who asks decides which model is told the query"
	ownSaid   = "a model said it of one query"
	ownName   = "it names the profile"
)

// params is the table of all parameters. A new parameter needs an entry here, its field, and its use. Parameters are
// checked and defaulted in this order, so those that others depend on come first. The text has neither get nor set, and
// the rewrites have no set, because receipts have links instead.
var params []param

func init() { // a literal would be an initialisation cycle: checks use the table
	params = slices.Concat(paramsOfQuery(), paramsOfChoice(), paramsOfRank(), paramsOfExpansion(), paramsOfForm())
}

// paramsOfQuery describe the question.
func paramsOfQuery() []param {
	text := base("text", ParamText).own(ownAsked).only((*Request).checkText)
	text.read = func(r *Request, p *memberParser) { r.Text = p.text() }
	rewrites := base("rewrites", ParamTexts).own(ownAsked).only((*Request).checkRewrites).
		remote().flagAs("also", "search for this `TEXT` too: the query in other words (repeatable, at most 8)")
	rewrites.get = func(r *Request) (ipld.Value, bool) { return encodeRewrites(r.Rewrites), len(r.Rewrites) > 0 }
	rewrites.read = func(r *Request, p *memberParser) { r.Rewrites = p.texts() }
	rewrites.fill = func(r *Request) { r.Rewrites = orNone(r.Rewrites) }
	return []param{
		text,
		queryVectors.param("vectors").own(ownAsked),
		wholeWords.param("whole").only((*Request).checkWhole).own(ownAsked),
		sparseVectors.param("sparse").only((*Request).checkSparse).own(ownAsked),
		maybe("rewrite", func(r *Request) *string { return &r.Rewrite }, RewriteMulti, RewriteHyde).
			own(ownJudge),
		rewrites,
		maybe("intent", func(r *Request) *Intent { return &r.Intent }, Intents()...).own(ownAsked).
			remote().flag("rank as 'mnem recall' does: `INTENT` is auto, why, when, entity or general"),
		maybe("profile", func(r *Request) *string { return &r.Profile }).own(ownName).
			only((*Request).checkProfile),
	}
}

// paramsOfChoice say which nodes may be an answer.
func paramsOfChoice() []param {
	exclude := base("exclude", ParamTexts).own(ownAnswer).only((*Request).checkExclude).
		remote().flag("leave out this `NODE`, by key or id (repeatable)")
	exclude.get = func(r *Request) (ipld.Value, bool) { return encodeIDs(r.Exclude), len(r.Exclude) > 0 }
	exclude.set = func(r *Request, v ipld.Value) { r.Exclude = decodeIDs(v) }
	exclude.read = func(r *Request, p *memberParser) { r.Exclude, r.ExcludeNames = nil, p.texts() }
	exclude.fill = func(r *Request) { r.Exclude = sortedIDs(r.Exclude) }
	unseen := base("unseenFrom", ParamTruth).as("unseen").own(ownShown).only((*Request).checkUnseen).
		remote().varies().flag("leave out what the session was shown before")
	unseen.get = func(r *Request) (ipld.Value, bool) { return ipld.IntValue(r.UnseenFrom), r.UnseenFrom > 0 }
	unseen.set = func(r *Request, v ipld.Value) { r.UnseenFrom = v.Int() }
	unseen.read = func(r *Request, p *memberParser) { r.Unseen = p.truth() }
	return []param{
		names("types", ParamTexts, func(r *Request) *[]string { return &r.Types },
			func(r *Request) error { return checkNames("types", r.Types) }).as("type").own(ownAnswer).
			remote().flag("only nodes of this `TYPE` (repeatable)"),
		list("where", ParamTexts, func(r *Request) *[]Predicate { return &r.Where },
			encodeWhere, decodePredicates, (*memberParser).predicates, orNone[Predicate],
			(*Request).checkWhere).own(ownAnswer).remote().flag("only where this `PREDICATE` holds (repeatable)"),
		moment("createdFrom", func(r *Request) *graph.OptTime { return &r.CreatedFrom }).as("since").
			remote().flag("created at this `TIME` or later"),
		moment("createdTo", func(r *Request) *graph.OptTime { return &r.CreatedTo }).as("until").
			remote().flag("created before this `TIME`"),
		moment("updatedFrom", func(r *Request) *graph.OptTime { return &r.UpdatedFrom }).
			remote().setting("updated (or else created) at this `TIME` or later"),
		moment("updatedTo", func(r *Request) *graph.OptTime { return &r.UpdatedTo }).
			remote().setting("updated (or else created) before this `TIME`"),
		moment("validAt", func(r *Request) *graph.OptTime { return &r.ValidAt }).
			remote().setting("valid at this `TIME`"),
		moment("now", func(r *Request) *graph.OptTime { return &r.Now }).own(ownAsked).
			fills(func(r *Request) { r.Now = startOfDay(r.Now) }).
			remote().setting("count dates like 'last week' in the query from the day of this `TIME`; default today"),
		list("days", ParamObject, func(r *Request) *[]DateRange { return &r.Days },
			encodeDays, decodeDays, (*memberParser).days, keptDays, (*Request).checkDays).own(ownAsked),
		names("marks", ParamWords, func(r *Request) *[]graph.State { return &r.Marks },
			(*Request).checkMarks,
			graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired).as("include").own(ownAnswer),
		exclude,
		unseen,
	}
}

// paramsOfRank control the ranking of candidates.
func paramsOfRank() []param {
	rerank := base("rerank", ParamText).own(ownJudge).only((*Request).checkRerank).
		fills((*Request).resolveRerank)
	rerank.get = func(r *Request) (ipld.Value, bool) { return ipld.StringValue(r.Rerank), r.Rerank != "" }
	rerank.set = func(r *Request, v ipld.Value) { r.Rerank = v.Text() }
	rerank.read = readRerank
	return []param{
		option("limit", func(r *Request) **int { return &r.Limit }, DefaultLimit, always, 0, MaxLimit).
			remote().flag("at most `N` items; 0 for no limit"),
		option("budget", func(r *Request) **int { return &r.Budget }, DefaultBudget, always, 0, MaxBudget).
			remote().flag("at most `N` tokens; 0 for no budget"),
		word("fusion", func(r *Request) *Fusion { return &r.Fusion }, Convex, Convex, Fusions()...).
			remote().setting("how text and vectors become one list: `WAY` is convex, rrf, weighted-rrf or score-norm"),
		laneWeights.param("weights").only((*Request).checkWeights).
			remote().settingAs("weight", "count a lane so much: `LANE=W`, LANE text, text:N, time,"+
			" dense:MODEL or sparse:MODEL, W 0 to 16 (repeatable)"),
		word("spelling", func(r *Request) *Spelling { return &r.Spelling }, SpellingOn, SpellingOn,
			SpellingOn, SpellingOff).
			remote().setting("read words that no node has as the closest that some have: on or off"),
		truth("community", func(r *Request) *bool { return &r.Community }).
			remote().setting("raise and add members of the communities that the best nodes are in"),
		rerank,
		option("rerankTop", func(r *Request) **int { return &r.RerankTop },
			DefaultRerankTop, DefaultRerankTop, 1, MaxRerankTop).own(ownJudge).fills(nil),
		list("reranked", ParamObject, func(r *Request) *[]RerankScore { return &r.Reranked },
			encodeReranked, decodeReranked, (*memberParser).judged, orNone[RerankScore], nil).own(ownSaid),
		word("floor", func(r *Request) *Floor { return &r.Floor }, FloorMaybe, FloorMaybe, Floors()...).
			remote().setting("print items down to this `BAND`: answer, maybe or rest"),
		word("pairs", func(r *Request) *Pairing { return &r.Pairs }, PairsOn, PairsOff, PairsOn, PairsOff).
			own(ownAnswer),
		truth("current", func(r *Request) *bool { return &r.Current }).own(ownAnswer).
			remote().setting("leave out replaced memories"),
	}
}

// paramsOfExpansion control which linked nodes join.
func paramsOfExpansion() []param {
	return []param{
		word("expansion", func(r *Request) *Expansion { return &r.Expansion }, Lend, Lend, Expansions()...).
			remote().setting("how nodes raise those linked to them: `WAY` is lend, decay or ppr"),
		option("expand", func(r *Request) **int { return &r.Expand }, DefaultExpand, always, 0, MaxRounds).
			only((*Request).checkExpand).fills((*Request).resolveExpand).
			remote().setting(fmt.Sprintf("expand in `N` rounds, 0 for none, at most %d; with ppr %d rounds, at most %d",
			MaxExpand, DefaultRounds, MaxRounds)),
		option("maxExpand", func(r *Request) **int { return &r.MaxExpand },
			DefaultMaxExpand, DefaultMaxExpand, 1, MaxMaxExpand).
			remote().setting("at most `N` nodes join that only expansion finds"),
		shareOf("decay", func(r *Request) **int { return &r.Decay }, DefaultDecay, DefaultDecay, "0.7").
			only((*Request).checkDecay).fills(nil).
			remote().setting("with expansion=decay: the `SHARE` that each hop keeps, above 0 to 1"),
		shareOf("damping", func(r *Request) **int { return &r.Damping }, DefaultDamping, DefaultDamping,
			"0.85").only((*Request).checkDamping).fills(nil).
			remote().setting("with expansion=ppr: the `SHARE` that moves on, between 0 and 1"),
		names("expandTypes", ParamTexts, func(r *Request) *[]string { return &r.ExpandTypes },
			func(r *Request) error { return checkNames("expandTypes", r.ExpandTypes) }).as("expand-type").
			remote().setting("expand along edges of this `TYPE` only (repeatable)"),
		edgeWeights.param("edgeWeights").fills((*Request).sortEdgeWeights).
			remote().settingAs("edge-weight",
			"lend so much over edges of a type: `TYPE=W`, W 0 to 16, 1 for others (repeatable)"),
		word("direction", func(r *Request) *Direction { return &r.Direction }, Both, "", Out, In, Both).
			remote().setting("expand along edges out, in or both"),
	}
}

// paramsOfForm say how an answer is put together and printed.
func paramsOfForm() []param {
	return []param{
		truth("dedup", func(r *Request) *bool { return &r.Dedup }).
			remote().setting("leave out what repeats an item before it"),
		word("altitude", func(r *Request) *Altitude { return &r.Altitude }, AltitudeEntity, AltitudeEntity,
			Altitudes()...).
			remote().setting("print digests of scopes in place of items that do not fit: `HOW` is entity (never), scope, " +
			"root (that of the whole first) or auto (as scope where the query asks broadly)"),
		word("order", func(r *Request) *Order { return &r.Order }, ByRank, ByRank, ByRank, ByTime).
			remote().setting("print items by rank or by time (oldest first)"),
		word("pack", func(r *Request) *Packing { return &r.Pack }, PackAuto, PackWhole, PackAuto, PackWhole,
			PackPassages).
			remote().setting("print `TEXTS` whole, or the passages of summary and content that fit the query best; " +
			"auto: whole while the budget lasts, passages of chunks that do not fit"),
		option("passageTokens", func(r *Request) **int { return &r.PassageTokens },
			DefaultPassageTokens, always, 1, MaxPassageTokens).
			only((*Request).checkPassageTokens).fills((*Request).resolvePassages).
			remote().setting("with pack=passages or auto: at most `N` tokens of each text"),
		word("tokenizer", func(r *Request) *string { return &r.Tokenizer }, Estimate, Estimate,
			Estimate).only((*Request).checkTokenizer).
			remote().setting("count tokens by `NAME`: estimate, or a counter of the program that has the repository open"),
		count("adjacency", func(r *Request) *int { return &r.Adjacency }, always, MaxAdjacency).
			remote().flag("print `N` edges of each item in each direction"),
		names("show", ParamWords, func(r *Request) *[]string { return &r.Show }, (*Request).checkShow,
			ShowTimes, ShowKey, ShowContent).
			remote().setting("print these `LINES` too: times, key, content"),
		word("format", func(r *Request) *Format { return &r.Format }, FormatYAML, FormatYAML, Formats()...).own(ownAsked).shown(string(FormatBrief)).
			remote().flag("print items in this `FORM`: brief or yaml, which has full ids"),
		option("summaryCap", func(r *Request) **int { return &r.SummaryCap },
			DefaultSummaryCap, always, 0, MaxSummaryCap).
			remote().setting("cut each text at `N` characters; 0 for whole"),
	}
}
