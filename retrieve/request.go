package retrieve

import (
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

// What a request may show beside the lines that are always rendered.
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

// Request asks for the nodes that fit a text, filters, or both. The zero Request asks for the
// newest nodes with every default; Resolve fills the defaults in. Where 0 has a meaning of its own
// the field is a pointer, and nil means the default: new(0) is no limit.
type Request struct {
	Text string // the query, at most MaxText bytes of UTF-8; blank for the newest nodes
	// Vectors are the query as embedding models see it: at most MaxVectors, each of another model.
	// A request of a blank text with vectors is by these alone.
	Vectors []QueryVector

	// Sparse are the query as learned-sparse models see it: at most MaxVectors, each of another model.
	// What is said of Vectors holds for them too.
	Sparse []SparseVector

	Fusion  Fusion       // how the lists of lanes become one; "" for Convex
	Weights []LaneWeight // of lanes that the request has; others have those of clause 9.6

	Types []string    // node types, any of which may match; at most MaxNames; empty for all
	Where []Predicate // all must hold; at most MaxPredicates

	// Now is the day from which relative dates of the text count, like "last week"; not given, they
	// are not read. It is kept to the day, and dropped where the text has no such date.
	Now graph.OptTime

	CreatedFrom graph.OptTime // inclusive
	CreatedTo   graph.OptTime // exclusive
	UpdatedFrom graph.OptTime // inclusive; a node never updated counts as updated when created
	UpdatedTo   graph.OptTime // exclusive
	ValidAt     graph.OptTime // nodes whose validity includes this time
	Marks       []graph.State // hidden states to let through

	Limit  *int // items, default DefaultLimit, at most MaxLimit; 0 for as many as are examined
	Budget *int // tokens, default DefaultBudget, at most MaxBudget; 0 for no budget

	Expand      *int      // rounds, default DefaultExpand, at most MaxExpand; 0 for none; see PPR
	ExpandTypes []string  // edge types to follow, at most MaxNames; empty for all
	Direction   Direction // "" for Both

	Adjacency  int      // edges shown in each direction, at most MaxAdjacency
	Show       []string // of ShowTimes, ShowKey, ShowContent
	SummaryCap *int     // scalars of each text, default DefaultSummaryCap; 0 for all

	Exclude      []graph.ID // nodes that take no part, with ExcludeNames at most MaxExclude
	ExcludeNames []string   // the same by key or id; only a repository can resolve them
	Unseen       bool       // exclude what the session has shown; only in a session
	UnseenFrom   int64      // what ExcludeSeen made of Unseen: clause 13.4
	Dedup        bool       // leave out what repeats an item before it
	Order        Order      // "" for ByRank

	Spelling    Spelling     // "" for SpellingOn
	EdgeWeights []EdgeWeight // of edge types in expansion, at most MaxNames; 1 for others

	// Profile names the profile that the parameters not given are taken from, "" for the one that
	// fits: clause 23. Only a repository knows its profiles. In a settled request it says which was
	// taken, "" for the built-in default.
	Profile string
	// Explicit names parameters of clause 8.1 that no profile decides though their values are zero.
	Explicit []string
	// Settled says that profile defaults have been applied, as in what Answer and Receipt keep.
	Settled       bool
	Pack          Packing // "" for PackAuto; in a settled request that only where it trimmed a text
	PassageTokens *int    // of each text's passages, default DefaultPassageTokens, with PackAuto AutoPassageTokens
	Tokenizer     string  // name of the token counter, "" for Estimate
	ExpansionOptions
	Altitude  Altitude // "" for AltitudeEntity
	Community bool     // members of the communities that the best nodes are in join
	Rewrites  []string // the query in other words, at most MaxRewrites of MaxRewrite bytes
	Rewrite   string   // how they were made: RewriteMulti or RewriteHyde; "" where nobody says

	Rerank    string        // the model that Reranked is of; "" for none
	RerankTop *int          // nodes that are reranked, default DefaultRerankTop
	Reranked  []RerankScore // what Rerank said of nodes, at most MaxRerankTop
	Reranker  Reranker      // asked for Reranked where that is empty; never in a resolved request

	// Intent makes the request a recall: what it asks for decides which links count. "" for none.
	Intent Intent

	// Pairs says whether what contradicts an item follows it; "" for PairsOn. In a settled request it
	// says whether anything was examined for that.
	Pairs Pairing

	// Format is the form in which items are printed; "" for FormatYAML.
	Format Format

	// Floor is the last band whose items are in the answer; "" for FloorMaybe.
	Floor Floor

	// Ranking is the version of the ranking that answers, 0 for the newest; or PlainRanking. A receipt has
	// the version in its engine.
	Ranking int
}

// Resolve returns the request with every default filled in, and lists of names in bytewise order
// without duplicates: the form that Answer and Receipt keep. Resolving twice changes nothing. It
// shares no list of names with r.
func (r Request) Resolve() Request {
	for i := range params {
		if params[i].fill != nil {
			params[i].fill(&r)
		}
	}
	if r.Ranking == 0 {
		r.Ranking = RankingVersion
	}
	return r
}

// sortedSet returns a sorted copy without duplicates, nil for the empty list.
func sortedSet[S ~string](list []S) []S {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
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

// ValidateGiven is Validate for a request that a profile is to fill: until it is settled it may have
// what goes only with a parameter that is still open, as Damping without an Expansion. Profiles.Apply
// and Run refuse what the profile did not make good.
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
		if name == "" || len(name) > graph.MaxType || !utf8.ValidString(name) {
			return badParam(param, "%s is not a type: want 1 to %d bytes of UTF-8",
				shortQuote(name), graph.MaxType)
		}
	}
	return nil
}

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
		if !Hidden(s) {
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
