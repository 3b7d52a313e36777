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
)

// Names of parameters of warnings.
const (
	paramSmallest = "smallest"
	paramNodes    = "nodes"
	paramSources  = "sources"
	paramFrom     = "from"
)

// Warning says that an answer may not be what was meant.
type Warning struct {
	Code   Code
	Params []ipld.Entry // integers, in canonical order; nil for none
}

// WarningInfo documents one code.
type WarningInfo struct {
	Code    Code
	When    string // when it is given
	Message string // what it means for the answer; %d stands for the value of Param
	Remedy  string // what to do; %d likewise
	Param   string // name of its one parameter, "" for none
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
		When:    "nodes have words of the text, but all of them are filtered out or hidden",
		Message: "nodes match the text, but filters or marks leave all of them out",
		Remedy: "widen --type, --where, --valid-at or the time range, let hidden states " +
			"through with --marks, or leave out --exclude and --unseen",
	},
	{
		Code:    BudgetTooSmall,
		When:    "nodes were found, but none of those examined fits the budget",
		Message: "no item fits the budget: the smallest takes %d tokens",
		Remedy:  "raise --budget to %d or more, or shorten items with --summary-cap",
		Param:   paramSmallest,
	},
	{
		Code:    ExpansionTruncated,
		When:    "the nodes that fit best have too many edges for all to lend to their neighbours",
		Message: "expansion was cut short: %d of the nodes that fit best did not lend to their neighbours",
		Remedy:  "follow fewer edges with --expand-type or --direction",
		Param:   paramSources,
	},
	{
		Code:    Redacted,
		When:    "nodes of the commit were purged since",
		Message: "nodes that were purged are left out: %d",
		Remedy:  "nothing brings them back; name a later commit with --at",
		Param:   paramNodes,
	},
	{
		Code: UnseenCut,
		When: "the session has shown more than a request can exclude",
		Message: "what the session showed before its record %d may come again: no more can be " +
			"excluded",
		Remedy: "begin another session, or narrow the query with --type, --where or --created-from",
		Param:  paramFrom,
	},
}

// WarningInfos returns the documentation of all codes, in a fixed order.
func WarningInfos() []WarningInfo { return slices.Clone(warningInfos) }

// info returns the documentation of the warning's code and the value of its parameter.
func (w Warning) info() (WarningInfo, int64) {
	for _, info := range warningInfos {
		if info.Code == w.Code {
			v, _ := ipld.FindEntry(w.Params, info.Param)
			return info, v.Int()
		}
	}
	return WarningInfo{Message: string(w.Code), Remedy: "use a later version"}, 0
}

// Message says in one line what the warning means. For a code of a later version it is the code.
func (w Warning) Message() string {
	info, n := w.info()
	return fill(info.Message, n)
}

// Remedy says in one line which flag to use.
func (w Warning) Remedy() string {
	info, n := w.info()
	return fill(info.Remedy, n)
}

func fill(text string, n int64) string {
	return strings.ReplaceAll(text, "%d", strconv.FormatInt(n, 10))
}

func warning(code Code, param string, n int) Warning {
	return Warning{code, []ipld.Entry{{Key: param, Value: ipld.IntValue(int64(n))}}}
}

// warnings returns what the answer must say of itself, in the order of the table.
func (r *run) warnings(a *Answer, silent int) []Warning {
	var out []Warning
	blank := trimBlank(r.req.Text) == ""
	if !blank && r.text.Terms == 0 && len(r.found) == 0 {
		out = append(out, Warning{Code: NoTerms})
	}
	if !blank && r.text.Known > 0 && len(r.found) == 0 {
		out = append(out, Warning{Code: NothingPasses})
	}
	if len(a.Items) == 0 && a.Dropped > 0 {
		smallest := a.DroppedItems[0].Tokens
		for _, d := range a.DroppedItems {
			smallest = min(smallest, d.Tokens)
		}
		out = append(out, warning(BudgetTooSmall, paramSmallest, smallest))
	}
	if silent > 0 {
		out = append(out, warning(ExpansionTruncated, paramSources, silent))
	}
	if r.filter.erased > 0 {
		out = append(out, warning(Redacted, paramNodes, r.filter.erased))
	}
	if r.req.UnseenFrom > 0 {
		out = append(out, warning(UnseenCut, paramFrom, int(r.req.UnseenFrom)))
	}
	return out
}
