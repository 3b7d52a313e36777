package retrieve

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/mnem-project/mnem/ipld"
)

// Difference is the first thing in which a replayed answer differs from its receipt.
type Difference struct {
	Item     int    // number of the item from 0, or -1 for what is not of an item
	Field    string // name of the field in clause 13.1
	Old, New string // both values as text; "" if one side has no such item
}

// CompareReceipts returns the first difference between two receipts, nil if their CIDs are the
// same: first in commit, engine and request, then item by item, then in the totals.
func CompareReceipts(before, after *Receipt) *Difference {
	if d := firstDifference(-1, headFields(before), headFields(after)); d != nil {
		return d
	}
	for i := range max(len(before.Items), len(after.Items)) {
		old, now := itemFields(before.Items, i), itemFields(after.Items, i)
		if d := firstDifference(i, old, now); d != nil {
			return d
		}
	}
	if d := firstDifference(-1, totalFields(before), totalFields(after)); d != nil {
		return d
	}
	old, now := before.Encode(), after.Encode()
	if bytes.Equal(old, now) {
		return nil
	}
	return &Difference{-1, "record", ipld.Sum(ipld.DagCBOR, old).String(), ipld.Sum(ipld.DagCBOR, now).String()}
}

// namedText is a field and its value as text.
type namedText struct{ name, value string }

// firstDifference compares lists with the same names.
func firstDifference(item int, before, after []namedText) *Difference {
	for i := range before {
		if before[i].value != after[i].value {
			return &Difference{item, before[i].name, before[i].value, after[i].value}
		}
	}
	return nil
}

func headFields(r *Receipt) []namedText {
	return []namedText{
		{"commits", fmt.Sprint(r.Commits)},
		{"engine", r.Engine.String()},
		{"request", string(ipld.AppendJSON(nil, r.Params))},
	}
}

// itemFields describes item i, or what is not there.
func itemFields(items []ReceiptItem, i int) []namedText {
	fields := []namedText{{name: "id"}, {name: "node"}, {name: "score"}, {name: "tokens"}, {name: "rendered"}}
	if i < len(items) {
		item := items[i]
		fields[0].value = item.ID.String()
		fields[1].value = item.Node.String()
		fields[2].value = strconv.FormatInt(item.Score, 10)
		fields[3].value = strconv.Itoa(item.Tokens)
		fields[4].value = fmt.Sprintf("%x", item.Rendered)
	}
	return fields
}

func totalFields(r *Receipt) []namedText {
	return []namedText{
		{fieldVerdict, string(r.Verdict)},
		{fieldDigests, r.digestTexts()},
		{"tokens", strconv.Itoa(r.Tokens)},
		{"dropped", strconv.Itoa(r.Dropped)},
		{"candidates", strconv.Itoa(r.Candidates)},
		{"warnings", fmt.Sprint(warningTexts(r.Warnings))},
	}
}

func warningTexts(warnings []Warning) []string {
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = string(ipld.AppendJSON([]byte(w.Code), ipld.MapValue(slices.Clone(w.Params)...)))
	}
	return texts
}
