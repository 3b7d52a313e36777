package retrieve

import (
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Why a parameter is a request's own.
const (
	ownAsked  = "it says what is asked"
	ownAnswer = "it says which nodes may be an answer"
	ownShown  = "it says what one reader was shown before"
	ownJudge  = "who asks decides which model is told the query"
	ownSaid   = "a model said it of one query"
	ownName   = "it names the profile"
)

// params are all parameters of requests: a new one is an entry here, its field, and its use. They are
// checked and given their defaults in this order, so that those that others depend on come first.
// That of the text has neither get nor set, and that of rewrites no set: receipts have links in their
// places.
var params []param

func init() { // what checks a parameter asks the table about others
	params = slices.Concat(paramsOfQuery(), paramsOfChoice(), paramsOfRank(), paramsOfExpansion(),
		paramsOfForm())
}

// paramsOfQuery say what is asked.
func paramsOfQuery() []param {
	text := base("text", ParamText).own(ownAsked).only((*Request).checkText)
	text.read = func(r *Request, p *memberParser) { r.Text = p.text() }
	rewrites := base("rewrites", ParamTexts).own(ownAsked).only((*Request).checkRewrites).
		remote().flagAs("also", "search for this `TEXT` too: the query in other words (repeatable, at most 8)")
	rewrites.get = func(r *Request) (ipld.Value, bool) {
		return encodeRewrites(r.Rewrites), len(r.Rewrites) > 0
	}
	rewrites.read = func(r *Request, p *memberParser) { r.Rewrites = p.texts() }
	rewrites.fill = func(r *Request) { r.Rewrites = orNone(r.Rewrites) }
	return []param{
		text,
		list("vectors", ParamObject, func(r *Request) *[]QueryVector { return &r.Vectors },
			encodeVectors, decodeVectors, objectOf(ParseQueryVector), sortedVectors,
			(*Request).checkVectors).own(ownAsked),
		list("sparse", ParamObject, func(r *Request) *[]SparseVector { return &r.Sparse },
			encodeSparse, decodeSparse, objectOf(ParseSparseVector), sortedSparse,
			(*Request).checkSparse).own(ownAsked),
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
		moment("createdFrom", func(r *Request) *graph.OptTime { return &r.CreatedFrom }).
			remote().flag("created at this `TIME` or later"),
		moment("createdTo", func(r *Request) *graph.OptTime { return &r.CreatedTo }).
			remote().flag("created before this `TIME`"),
		moment("updatedFrom", func(r *Request) *graph.OptTime { return &r.UpdatedFrom }).
			remote().flag("updated (or else created) at this `TIME` or later"),
		moment("updatedTo", func(r *Request) *graph.OptTime { return &r.UpdatedTo }).
			remote().flag("updated (or else created) before this `TIME`"),
		moment("validAt", func(r *Request) *graph.OptTime { return &r.ValidAt }).
			remote().flag("valid at this `TIME`"),
		moment("now", func(r *Request) *graph.OptTime { return &r.Now }).own(ownAsked).
			fills(func(r *Request) { r.Now = startOfDay(r.Now) }).
			remote().flag("count dates like 'last week' in the query from the day of this `TIME`; default today"),
		names("marks", ParamWords, func(r *Request) *[]graph.State { return &r.Marks },
			(*Request).checkMarks,
			graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired).own(ownAnswer),
		exclude,
		unseen,
	}
}

// paramsOfRank say how what is found is ranked.
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
			remote().flag("how text and vectors become one list: `WAY` is convex, rrf, weighted-rrf or score-norm"),
		list("weights", ParamObject, func(r *Request) *[]LaneWeight { return &r.Weights },
			encodeWeights, decodeWeights, objectOf(ParseLaneWeight), sortedWeights, (*Request).checkWeights).
			remote().flagAs("weight", "count a lane so much: `LANE=W`, LANE text, text:N, time,"+
			" dense:MODEL or sparse:MODEL, W 0 to 16 (repeatable)"),
		word("spelling", func(r *Request) *Spelling { return &r.Spelling }, SpellingOn, SpellingOn,
			SpellingOn, SpellingOff).
			remote().flag("read words that no node has as the closest that some have: on or off"),
		truth("community", func(r *Request) *bool { return &r.Community }).
			remote().flag("raise and add members of the communities that the best nodes are in"),
		rerank,
		option("rerankTop", func(r *Request) **int { return &r.RerankTop },
			DefaultRerankTop, DefaultRerankTop, 1, MaxRerankTop).own(ownJudge).fills(nil),
		list("reranked", ParamObject, func(r *Request) *[]RerankScore { return &r.Reranked },
			encodeReranked, decodeReranked, (*memberParser).judged, orNone[RerankScore], nil).own(ownSaid),
		word("floor", func(r *Request) *Floor { return &r.Floor }, FloorMaybe, FloorMaybe, Floors()...).
			remote().flag("print items down to this `BAND`: answer, maybe or rest"),
		word("pairs", func(r *Request) *Pairing { return &r.Pairs }, PairsOn, PairsOff, PairsOn, PairsOff).
			own(ownAnswer),
	}
}

// paramsOfExpansion say how what is found leads to more.
func paramsOfExpansion() []param {
	return []param{
		word("expansion", func(r *Request) *Expansion { return &r.Expansion }, Lend, Lend, Expansions()...).
			remote().flag("how nodes raise those linked to them: `WAY` is lend, decay or ppr"),
		option("expand", func(r *Request) **int { return &r.Expand }, DefaultExpand, always, 0, MaxRounds).
			only((*Request).checkExpand).fills((*Request).resolveExpand).
			remote().flag(fmt.Sprintf("expand in `N` rounds, 0 for none, at most %d; with ppr %d rounds, at most %d",
			MaxExpand, DefaultRounds, MaxRounds)),
		option("maxExpand", func(r *Request) **int { return &r.MaxExpand },
			DefaultMaxExpand, DefaultMaxExpand, 1, MaxMaxExpand).
			remote().flag("at most `N` nodes join that only expansion finds"),
		shareOf("decay", func(r *Request) **int { return &r.Decay }, DefaultDecay, DefaultDecay, "0.7").
			only((*Request).checkDecay).fills(nil).
			remote().flag("with --expansion decay: the `SHARE` that each hop keeps, above 0 to 1"),
		shareOf("damping", func(r *Request) **int { return &r.Damping }, DefaultDamping, DefaultDamping,
			"0.85").only((*Request).checkDamping).fills(nil).
			remote().flag("with --expansion ppr: the `SHARE` that moves on, between 0 and 1"),
		names("expandTypes", ParamTexts, func(r *Request) *[]string { return &r.ExpandTypes },
			func(r *Request) error { return checkNames("expandTypes", r.ExpandTypes) }).as("expand-type").
			remote().flag("expand along edges of this `TYPE` only (repeatable)"),
		list("edgeWeights", ParamObject, func(r *Request) *[]EdgeWeight { return &r.EdgeWeights },
			encodeEdgeWeights, decodeEdgeWeights, objectOf(ParseEdgeWeight), sortedEdgeWeights,
			(*Request).checkEdgeWeights).remote().flagAs("edge-weight",
			"lend so much over edges of a type: `TYPE=W`, W 0 to 16, 1 for others (repeatable)"),
		word("direction", func(r *Request) *Direction { return &r.Direction }, Both, "", Out, In, Both).
			remote().flag("expand along edges out, in or both"),
	}
}

// paramsOfForm say how an answer is put together and printed.
func paramsOfForm() []param {
	return []param{
		truth("dedup", func(r *Request) *bool { return &r.Dedup }).
			remote().flag("leave out what repeats an item before it"),
		word("altitude", func(r *Request) *Altitude { return &r.Altitude }, AltitudeEntity, AltitudeEntity,
			Altitudes()...).
			remote().flag("print digests of scopes in place of items that do not fit: `HOW` is entity (never), scope, " +
			"root (that of the whole first) or auto (as scope where the query asks broadly)"),
		word("order", func(r *Request) *Order { return &r.Order }, ByRank, ByRank, ByRank, ByTime).
			remote().flag("print items by rank or by time (oldest first)"),
		word("pack", func(r *Request) *Packing { return &r.Pack }, PackAuto, PackWhole, PackAuto, PackWhole,
			PackPassages).
			remote().flag("print `TEXTS` whole, or the passages of summary and content that fit the query best; " +
			"auto: those of chunks of documents after the first item"),
		option("passageTokens", func(r *Request) **int { return &r.PassageTokens },
			DefaultPassageTokens, always, 1, MaxPassageTokens).
			only((*Request).checkPassageTokens).fills((*Request).resolvePassages).
			remote().flag("with --pack passages or auto: at most `N` tokens of each text"),
		word("tokenizer", func(r *Request) *string { return &r.Tokenizer }, Estimate, Estimate,
			Estimate).only((*Request).checkTokenizer).
			remote().flag("count tokens by `NAME`: estimate, or a counter of the program that has the repository open"),
		count("adjacency", func(r *Request) *int { return &r.Adjacency }, always, MaxAdjacency).
			remote().flag("print `N` edges of each item in each direction"),
		names("show", ParamWords, func(r *Request) *[]string { return &r.Show }, (*Request).checkShow,
			ShowTimes, ShowKey, ShowContent).
			remote().flag("print these `LINES` too: times, key, content"),
		word("format", func(r *Request) *Format { return &r.Format }, FormatYAML, FormatYAML, Formats()...).own(ownAsked).shown(string(FormatBrief)).
			remote().flag("print items in this `FORM`: brief or yaml, which has full ids"),
		option("summaryCap", func(r *Request) **int { return &r.SummaryCap },
			DefaultSummaryCap, always, 0, MaxSummaryCap).
			remote().flag("cut each text at `N` characters; 0 for whole"),
	}
}
