package spec_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/tokens"
)

func parseIDs(t *testing.T, texts []string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, s := range texts {
		id, err := graph.ParseID(s)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// checkDuplicates compares which dropped nodes repeat which items.
func checkDuplicates(t *testing.T, answer *retrieve.Answer, want wantAnswer) {
	t.Helper()
	var got, wanted []string
	for _, d := range answer.DroppedItems {
		if d.Reason == retrieve.ReasonDuplicate {
			got = append(got, fmt.Sprint(d.ID, " ", d.Repeats))
		}
	}
	for _, d := range want.Duplicates {
		wanted = append(wanted, d.ID+" "+d.Repeats)
	}
	same(t, "duplicates", fmt.Sprint(got), fmt.Sprint(wanted))
}

// runUnseen runs a case of clause 13.4.
func runUnseen(t *testing.T, v vector) {
	var in struct {
		Exclude []string
		Records []struct {
			Seq   int64
			Shows []string
		}
	}
	parse(t, v.Input, &in)
	var want struct {
		Exclude    []string
		UnseenFrom int64
	}
	parse(t, v.Expect, &want)
	records := func(yield func(retrieve.Shown, error) bool) {
		for _, r := range in.Records {
			if !yield(retrieve.Shown{Seq: r.Seq, IDs: parseIDs(t, r.Shows)}, nil) {
				return
			}
		}
	}
	req := retrieve.Request{Exclude: parseIDs(t, in.Exclude), Unseen: true}
	req, err := req.ExcludeSeen(records)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, len(req.Exclude))
	for i, id := range req.Exclude {
		got[i] = id.String()
	}
	same(t, "excluded", fmt.Sprint(got), fmt.Sprint(want.Exclude))
	same(t, "unseenFrom", fmt.Sprint(req.UnseenFrom), fmt.Sprint(want.UnseenFrom))
}

// runTokens runs a case of clause 11.7.
func runTokens(t *testing.T, v vector) {
	var in struct{ Text string }
	parse(t, v.Input, &in)
	var want map[string]int
	parse(t, v.Expect, &want)
	got := map[string]int{"estimate": text.EstimateTokens(in.Text)}
	for name, count := range tokens.Counters() {
		got[name] = count(in.Text)
	}
	same(t, "tokens", fmt.Sprint(got), fmt.Sprint(want))
}
