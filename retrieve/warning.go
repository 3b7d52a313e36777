package retrieve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

// Code names a kind of warning.
type Code string

// The warnings there are: clause 11.1.
const (
	NoTerms            Code = "no_terms"
	NothingPasses      Code = "nothing_passes"
	BudgetTooSmall     Code = "budget_too_small"
	ExpansionTruncated Code = "expansion_truncated"
	Redacted           Code = "redacted"
	UnseenCut          Code = "unseen_cut"
	NoVectors          Code = "no_vectors"
	Dimension          Code = "dimension"
	StaleVectors       Code = "stale_vectors"
	Respelled          Code = "respelled"
	EdgeWeightsUnused  Code = "edge_weights_unused"
	LinksCut           Code = "links_cut"
	NothingLinked      Code = "nothing_linked"
	NoCommunity        Code = "no_community"
	NotReranked        Code = "not_reranked"
	NotRewritten       Code = "not_rewritten"
	RewritesInVain     Code = "rewrites_in_vain"
	NoNow              Code = "no_now"
	NoneThen           Code = "none_then"
	NoType             Code = "no_type"
	NoEffect           Code = "no_effect"
	NoSparse           Code = "no_sparse_vectors"
)

// Warning says that an answer may not be what was meant.
type Warning struct {
	Code   Code
	Params []ipld.Entry // integers, strings and lists of strings, in canonical order; nil for none
}

// WarningInfo documents one code.
type WarningInfo struct {
	Code    Code
	When    string // when it is given
	Message string // what it means for the answer; %d stands for the value of Param, {NAME} for others
	Remedy  string // what to do; likewise
	Param   string // name of its one parameter that is a number, "" for none
}

var warningInfos = []WarningInfo{
	{
		Code:    NoTerms,
		When:    "the text has no word to search for, and names no node",
		Message: "the text has no words to search for",
		Remedy: "use other words than punctuation and stop words, or select nodes with " +
			"--type or --where alone",
	},
	{
		Code:    NothingPasses,
		When:    "nodes match, but all of them are filtered out or hidden",
		Message: "nodes match, but filters or marks leave all of them out",
		Remedy: "widen --type, --where, --set valid-at or the time range, let hidden states " +
			"through with --include, or leave out --exclude and --unseen",
	},
	{
		Code:    BudgetTooSmall,
		When:    "nodes were found, but none of those examined fits the budget",
		Message: "no item fits the budget: the smallest takes %d tokens",
		Remedy:  "raise --budget to %d or more, or shorten items with --set summary-cap",
		Param:   "smallest",
	},
	{
		Code:    ExpansionTruncated,
		When:    "the nodes that fit best have too many edges for all to lend to their neighbours",
		Message: "expansion was cut short: %d of the nodes that fit best did not lend to their neighbours",
		Remedy:  "follow fewer edges with --set expand-type or --set direction",
		Param:   "sources",
	},
	{
		Code:    LinksCut,
		When:    "nodes that fit best have more edges than paths or PageRank look at",
		Message: "expansion was cut short: %d nodes have more edges than it follows",
		Remedy:  "follow fewer edges with --set expand-type or --set direction",
		Param:   "nodes",
	},
	{
		Code: NothingLinked,
		When: "an expansion or edge types were asked for, and nothing was linked to what a query " +
			"found",
		Message: "expansion did nothing: what a query found has no edges or mentions to follow",
		Remedy:  "give a query, widen --set expand-type, --set direction, --type or --include, or commit edges",
	},
	{
		Code:    Redacted,
		When:    "nodes of the commit were purged since",
		Message: "nodes that were purged are left out: %d",
		Remedy:  "nothing brings them back; name a later commit with --at",
		Param:   "nodes",
	},
	{
		Code: UnseenCut,
		When: "the session has shown more than a request can exclude",
		Message: "what the session showed before its record %d may come again: no more can be " +
			"excluded",
		Remedy: "begin another session, or narrow the query with --type, --where or --since",
		Param:  "from",
	},
	{
		Code:    NoVectors,
		When:    "no node has a dense vector of the model of a query vector",
		Message: "no node has a dense vector of the model {model}",
		Remedy: "commit embeddings of it, or name " +
			"another model with --vector; there are: {models}",
	},
	{
		Code:    Dimension,
		When:    "vectors of the model have other dimensions than the query vector",
		Message: "vectors of {model} that have other dimensions than the query's are left out: %d",
		Remedy:  "make --vector and the nodes' embeddings with the same model and settings",
		Param:   "vectors",
	},
	{
		Code:    StaleVectors,
		When:    "items were found by the vector of a text that was changed since",
		Message: "items whose text was changed after it was embedded: %d",
		Remedy:  "embed them again and commit that, or leave --vector out",
		Param:   "nodes",
	},
	{
		Code:    Respelled,
		When:    "no node has a word of the text, and some have one that is spelled nearly so",
		Message: "no node has the word {word}: it was read as {term}, which counts for half",
		Remedy:  "correct it, or say --set spelling=off if it was meant",
	},
	{
		Code:    EdgeWeightsUnused,
		When:    "edge types are given weights, but expansion follows no edges",
		Message: "the weights of edge types did nothing: the request is not expanded",
		Remedy:  "ask for a text or vector, with --set expand=1 or more, or leave --set edge-weight out",
	},
	{
		Code: NoCommunity,
		When: "communities were asked for, but the best nodes are in none with other nodes that pass",
		Message: "communities added nothing: the nodes that fit best are in none, or in none with " +
			"other nodes that pass",
		Remedy: "leave --set community out, ask for something, widen the filters, or link nodes " +
			"('mnem explore --communities' shows what there is)",
	},
	{
		Code:    NotReranked,
		When:    "reranking was asked for, and its model gave no scores",
		Message: "the order is that without reranking: {model} did not do it",
		Remedy:  "ask again, rerank with another --set rerank, or leave it out",
	},
	{
		Code:    NotRewritten,
		When:    "rewriting was asked for, and there are no rewrites",
		Message: "the query was not rewritten: the answer is to its own words alone",
		Remedy:  "ask again, name another --set rewrite-model, or give texts with --also",
	},
	{
		Code:    RewritesInVain,
		When:    "rewrites found no node",
		Message: "rewrites of the query that found nothing: %d",
		Remedy:  "give others with --also, or widen the filters",
		Param:   "rewrites",
	},
	{
		Code:    NoNow,
		When:    "the text has dates that count from now, and no now was given",
		Message: "dates that count from now were not read: %d",
		Remedy: "give the day with --set now, name dates with their year, or ignore them with " +
			"--set weight=time=0",
		Param: "dates",
	},
	{
		Code:    NoneThen,
		When:    "nothing but a time is asked, and no node that passes is of that time",
		Message: "no node is of the time that is asked about: what is nearest comes instead",
		Remedy:  "name another time, or words to search for; --explain shows how dates were read",
	},
	{
		Code:    NoType,
		When:    "the request names types that no node has",
		Message: "no node has the type {types}",
		Remedy:  "correct --type; 'mnem stats' lists the types there are",
	},
	{
		Code:    NoEffect,
		When:    "what the request asks for had nothing to work on",
		Message: "what had nothing to work on, and changed nothing: {parameters}",
		Remedy:  "leave it out; docs/reference/answers.md says what each needs, --explain what was found",
	},
	{
		Code:    NoSparse,
		When:    "no node has a sparse vector of the model of a sparse query vector",
		Message: "no node has a sparse vector of the model {model}",
		Remedy:  "commit sparse embeddings of it, or name another model with --vector; there are: {models}",
	},
}

// WarningInfos returns the documentation of all codes, in a fixed order.
func WarningInfos() []WarningInfo { return slices.Clone(warningInfos) }

// info returns the documentation of the warning's code.
func (w Warning) info() WarningInfo {
	for _, info := range warningInfos {
		if info.Code == w.Code {
			return info
		}
	}
	return WarningInfo{Message: string(w.Code), Remedy: "use a later version"}
}

// Message says in one line what the warning means. For a code of a later version it is the code.
func (w Warning) Message() string {
	info := w.info()
	return w.fill(info.Message, info.Param)
}

// Remedy says in one line which flag to use.
func (w Warning) Remedy() string {
	info := w.info()
	return w.fill(info.Remedy, info.Param)
}

// fill puts the parameters in their places in a text.
func (w Warning) fill(text, number string) string {
	v, _ := ipld.FindEntry(w.Params, number)
	return strings.NewReplacer(
		"%d", strconv.FormatInt(v.Int(), 10),
		"{model}", w.names("model"),
		"{models}", w.names("models"),
		"{word}", w.names("word"),
		"{term}", w.names("term"),
		"{types}", w.names("types"),
		"{parameters}", w.flags(),
	).Replace(text)
}

// names returns a parameter that is a string or a list of strings, "none" if there is none.
func (w Warning) names(param string) string {
	v, _ := ipld.FindEntry(w.Params, param)
	if v.Kind() == ipld.String {
		return shortQuote(v.Text())
	}
	var list []string
	for _, name := range v.List() {
		list = append(list, shortQuote(name.Text()))
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

// flags names the flags of the parameters that a warning names.
func (w Warning) flags() string {
	v, _ := ipld.FindEntry(w.Params, "parameters")
	list := make([]string, len(v.List()))
	for i, name := range v.List() {
		list[i] = shownFlag(name.Text())
	}
	return strings.Join(list, ", ")
}
