package repokit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// The change lines of the demo memory, of a later change of it, and its queries, from a package two levels down.
const (
	DemoMemory  = "../../testdata/demo/memory.jsonl"
	DemoChange  = "../../testdata/demo/change.jsonl"
	demoQueries = "../../testdata/demo/queries.jsonl"
)

// DemoLines returns the lines of the demo memory.
func DemoLines(t testing.TB) []string {
	t.Helper()
	data := must.Get(os.ReadFile(DemoMemory))(t)
	lines := strings.SplitAfter(strings.TrimSpace(string(data)), "\n")
	lines[len(lines)-1] += "\n"
	must.Require(t, len(lines) >= 450, "%d lines", len(lines))
	return lines
}

// Requests returns 100 requests over the demo memory: each query plainly and without expansion,
// with adjacency and everything shown, and with filters.
func Requests(t testing.TB) []retrieve.Request {
	t.Helper()
	data := must.Get(os.ReadFile(demoQueries))(t)
	status := must.Get(retrieve.ParsePredicate(`status!="superseded"`))(t)
	var all []retrieve.Request
	for line := range bytes.Lines(data) {
		var q struct{ Text string }
		must.OK(t, json.Unmarshal(line, &q))
		n := len(all)
		all = append(all,
			retrieve.Request{Text: q.Text, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1)}},
			retrieve.Request{Text: q.Text, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Limit: new(40),
				Budget: new(0)},
			retrieve.Request{Text: q.Text, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1 + n%4)},
				OutputOptions: retrieve.OutputOptions{Adjacency: 5, Show: []string{retrieve.ShowTimes, retrieve.ShowKey,
					retrieve.ShowContent}}, Budget: new(900)},
			retrieve.Request{Text: q.Text, Where: []retrieve.Predicate{status},
				Types:            []string{"Decision", "Document", "Fact"},
				ExpansionOptions: retrieve.ExpansionOptions{Direction: retrieve.In}},
		)
	}
	for i := 3; i < len(all); i += 28 { // filters without a text: the newest
		all[i].Text = ""
	}
	must.Require(t, len(all) == 100, "%d requests", len(all))
	return all
}

// Same fails the test at the first answer that differs.
func Same[T comparable](t testing.TB, what string, want, got []T) {
	t.Helper()
	if len(want) != len(got) || len(want) == 0 {
		t.Errorf("%s: %d answers, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s: answer %d: %s", what, i, cmp.Diff(fmt.Sprint(want[i]), fmt.Sprint(got[i])))
			return
		}
	}
}

// Some returns the first n requests under the race detector, twice as many in a plain run, and all in a long one.
func Some(reqs []retrieve.Request, n int) []retrieve.Request {
	if effort.Race {
		return reqs[:n]
	}
	return reqs[:effort.Pick(min(len(reqs), 2*n), len(reqs), len(reqs))]
}
