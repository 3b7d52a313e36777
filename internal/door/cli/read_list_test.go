package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
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
		if whole["next"] != nil {
			t.Errorf("%q: the whole list has a cursor", args)
		}
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

func TestListOrders(t *testing.T) {
	w := newReader(t)
	w.commit(`{"node":{"key":"c","type":"T","props":{"x":10},"created":"2026-01-03"}}
{"node":{"key":"a","type":"T","props":{"x":9.5},"created":"2026-01-01"}}
{"node":{"key":"b","type":"T","props":{"x":"9"},"created":"2026-01-02"}}
{"node":{"key":"d","type":"U","props":{"x":true},"created":"2026-01-04"}}
{"node":{"key":"e","type":"U","props":{"x":[1]},"created":"2026-01-05"}}
{"node":{"key":"f","type":"U","created":"2026-01-06"}}
{"node":{"type":"U","summary":"no key","created":"2026-01-07"}}
`)
	w.commit(`{"node":{"key":"b","summary":"changed"}}`)
	for _, tt := range []struct{ order, want string }{
		{"key", "a b c d e f -"}, {"-key", "f e d c b a -"}, {"created", "a b c d e f -"},
		{"-created", "- f e d c b a"}, {"-updated", "b - f e d c a"},
		{"props.x", "a c b d e"}, {"-props.x", "e d b c a"},
	} {
		args := []string{"ls", "--sort", tt.order}
		if strings.Contains(tt.order, "props") {
			args = append(args, "--where", "x exists")
		}
		keys := keysOf(w.one(args...)["nodes"])
		for i, key := range keys {
			if key == "" {
				keys[i] = "-"
			}
		}
		if got := strings.Join(keys, " "); got != tt.want {
			t.Errorf("--sort %s: %s, want %s", tt.order, got, tt.want)
		}
	}
	missing := keysOf(w.one("ls", "--sort", "-props.x")["nodes"])
	if last := missing[5:]; !slices.Contains(last, "f") || !slices.Contains(last, "") {
		t.Errorf("what has no such property is not last: %q", missing)
	}
}

func TestListFilters(t *testing.T) {
	w := newReader(t)
	w.commit(`{"node":{"key":"a","type":"T","props":{"n":1}}}
{"node":{"key":"b","type":"T","props":{"n":2}}}
{"node":{"key":"c","type":"U","props":{"n":3}}}
{"edge":{"type":"x","src":"a","dst":"b","weight":0.25}}
{"edge":{"type":"y","src":"a","dst":"c","props":{"n":1}}}
{"mark":{"node":"b","state":"retired"}}
{"mark":{"edge":{"type":"y","src":"a","dst":"c"},"state":"superseded"}}
`)
	for _, tt := range []struct{ args, want string }{
		{"ls --sort key", "a c"},
		{"ls --sort key --include retired", "a b c"},
		{"ls --sort key --include expired,superseded", "a c"},
		{"ls --sort key --type T --include retired", "a b"},
		{"ls --sort key --type T --type U --include retired", "a b c"},
		{"ls --sort key --include retired --where n>1", "b c"},
		{"ls --sort key --include retired --where n>1 --where n<3", "b"},
	} {
		got := strings.Join(keysOf(w.one(strings.Fields(tt.args)...)["nodes"]), " ")
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
	for args, want := range map[string]int{
		"ls --edges": 1, "ls --edges --include superseded": 2, "ls --edges --type y": 0,
		"ls --edges --include superseded --where n=1": 1,
	} {
		if got := w.one(strings.Fields(args)...)["edges"].([]any); len(got) != want {
			t.Errorf("%s: %d edges, want %d", args, len(got), want)
		}
	}
	for args, want := range map[string]string{
		"explore a":                                               "",
		"explore a --include retired":                             "b",
		"explore a --include superseded":                          "c",
		"explore a --include superseded,retired":                  "c b",
		"explore b --in --edge x --edge y":                        "a",
		"explore a --in --include retired":                        "",
		"explore a --edge y --include superseded":                 "c",
		"explore a --type T --include superseded,retired":         "b",
		"explore a --to b":                                        "",
		"explore a --to b --include retired":                      "a b",
		"explore b --to a --out --include retired":                "",
		"explore b --to a --in --include retired":                 "b a",
		"explore b --to c --include retired":                      "",
		"explore b --to c --include retired,superseded":           "b a c",
		"explore b --to c --depth 1 --include retired,superseded": "",
	} {
		v := w.one(strings.Fields(args)...)
		if got := strings.Join(keysOf(v["nodes"]), " "); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	edge := w.one("ls", "--edges")["edges"].([]any)[0].(map[string]any)
	if edge["weight"] != 0.25 || edge["src_key"] != "a" || edge["dst_key"] != "b" {
		t.Errorf("edge: %v", edge)
	}
}

func TestCursorPinsItsCommit(t *testing.T) {
	w := newReader(t)
	w.commit(`{"node":{"key":"a","type":"T"}}
{"node":{"key":"c","type":"T"}}
{"node":{"key":"d","type":"T"}}
`)
	next := w.one("ls", "--sort", "key", "--limit", "1")["next"].(string)
	w.commit(`{"node":{"key":"b","type":"T"}}
{"remove":{"node":"a"}}
`)
	for args, want := range map[string]string{"": "c d", "--at HEAD": "b c d", "--at HEAD~1": "c d"} {
		all := append([]string{"ls", "--sort", "key", "--after", next}, strings.Fields(args)...)
		if got := strings.Join(keysOf(w.one(all...)["nodes"]), " "); got != want {
			t.Errorf("after the cursor %s: %s, want %s", args, got, want)
		}
	}
}
