package cli

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestListPagesFitTogether reads lists page by page and compares them with the whole list, in
// which whatever must come first comes first.
func TestListPagesFitTogether(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := withDemo(t)
	for _, args := range [][]string{
		{"ls"}, {"ls", "--sort", "-id"}, {"ls", "--sort", "key"}, {"ls", "--sort", "-key"},
		{"ls", "--sort", "created"}, {"ls", "--sort", "-updated"}, {"ls", "--sort", "props.status"},
		{"ls", "--sort", "-props.minutes", "--type", "Meeting", "--type", "Incident"},
		{"ls", "--edges"}, {"ls", "--edges", "--sort", "-created", "--type", "owns"},
		{"ls", "--edges", "--sort", "props.role"},
	} {
		list := "nodes"
		if slices.Contains(args, "--edges") {
			list = "edges"
		}
		whole := w.one(append(args, "--limit", "0")...)
		must.True(t, whole["next"] == nil, "%q: the whole list has a cursor", args)
		want := idsOf(whole[list])
		var got []string
		after := ""
		for {
			page := append(slices.Clone(args), "--limit", "37")
			if after != "" {
				page = append(page, "--after", after)
			}
			v := w.one(page...)
			got = append(got, idsOf(v[list])...)
			next, more := v["next"].(string)
			if !more {
				break
			}
			after = next
		}
		if len(want) < 5 || !slices.Equal(want, got) {
			t.Errorf("%q: %d rows in pages, %d in the whole list, or another order", args, len(got),
				len(want))
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != len(got) {
			t.Errorf("%q: %d rows more than once", args, len(got)-len(unique))
		}
	}
}

func idsOf(list any) []string {
	var ids []string
	items, _ := list.([]any)
	for _, item := range items {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}
