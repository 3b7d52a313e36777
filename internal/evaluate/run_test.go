package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	fishChanges = `{"node":{"key":"cod","type":"Fish","summary":"The cod is a cold-water fish"}}
{"node":{"key":"eel","type":"Fish","summary":"The eel is a long fish"}}
{"edge":{"type":"eats","src":"eel","dst":"cod"}}
{"node":{"type":"Note","summary":"Turbots lie flat on the sea bed"}}
`
	fishQueries = `{"qid":"f1","cat":"fact","text":"which fish is long?","gold":["eel"]}
{"qid":"f2","text":"cold water","gold":["cod"]}
`
	birdChanges = `{"node":{"key":"day/1","type":"Session","summary":"Monday"}}
{"node":{"key":"day/1:1","type":"Turn","summary":"I saw a heron"}}
{"node":{"key":"day/1:2","type":"Turn","summary":"And I a wren"}}
`
	birdQueries = `{"qid":"b1","cat":"fact","text":"wren","gold":["day/1:2"],"gold_sessions":["day/1"]}
`
)

func dir(files ...string) fstest.MapFS {
	m := make(fstest.MapFS)
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

// zoo is two good pairs and a file that is none of them.
func zoo() fstest.MapFS {
	return dir("fish.changes.jsonl", fishChanges, "fish.queries.jsonl", fishQueries,
		"bird.changes.jsonl", birdChanges, "bird.queries.jsonl", birdQueries, "README.md", "text")
}

func TestRunPoolsPairs(t *testing.T) {
	var asked []string
	var last string
	report, err := evaluate.Run(t.Context(), zoo(), evaluate.RunOptions{
		Answer: func(q *evaluate.Query, a *retrieve.Answer) error {
			asked = append(asked, q.ID+" "+a.Items[0].Key)
			must.True(t, *a.Request.Limit == evaluate.DefaultLimit && a.TokensBudget == 0,
				"limit %d, budget %d", *a.Request.Limit, a.TokensBudget)
			return nil
		},
		Progress: func(what string, done, total int) { last = fmt.Sprint(what, done, "/", total) },
	})
	must.OK(t, err)
	must.Same(t, asked, []string{"b1 day/1:2", "f1 eel", "f2 cod"}, "asked")
	must.Equal(t, last, "queries:3/3", "progress ended")
	var got []string
	for _, f := range report.Files {
		must.True(t, f.Graph.Defined() && len(f.Questions) == 64, "%+v", f)
		got = append(got, fmt.Sprint(f.Name, f.Nodes, f.Edges, f.Queries))
	}
	for _, row := range append([]evaluate.Row{report.All}, report.Categories...) {
		got = append(got, fmt.Sprintf("%q %d %s", row.Category, row.Queries, texts(row.Means)))
	}
	const ones = "1.0000 1.0000 1.0000 1.0000 1.0000 1.0000"
	want := []string{
		"bird3 0 1", "fish3 1 2",
		`"" 3 ` + ones + " 1.0000 1.0000", `"-" 1 ` + ones + " - -",
		`"fact" 2 ` + ones + " 1.0000 1.0000",
	}
	must.Same(t, got, want, "report")
}

// TestRunFindsNodesWithoutKey names one by its id.
func TestRunFindsNodesWithoutKey(t *testing.T) {
	var id graph.ID
	with := func(gold string) fstest.MapFS {
		return dir("a.changes.jsonl", fishChanges, "a.queries.jsonl",
			fmt.Sprintf(`{"qid":"t","text":"flat turbots","gold":["%s"]}`, gold))
	}
	_, err := evaluate.Run(t.Context(), with("cod"), evaluate.RunOptions{
		Answer: func(_ *evaluate.Query, a *retrieve.Answer) error {
			id = a.Items[0].ID
			return nil
		},
	})
	must.OK(t, err)
	report, err := evaluate.Run(t.Context(), with(id.String()), evaluate.RunOptions{})
	must.True(t, err == nil && report.All.Text(evaluate.MRR, 1) == "1.0", "%+v, %v", report, err)
}

func TestRunRefuses(t *testing.T) {
	q := func(lines ...string) string { return strings.Join(lines, "\n") }
	tests := []struct {
		name string
		dir  fstest.MapFS
		want string
	}{
		{"nothing", dir("README.md", "x"), "d: no pair of files NAME.changes.jsonl and NAME.queries"},
		{"no name", dir(".changes.jsonl", fishChanges, ".queries.jsonl", fishQueries), "no pair"},
		{"no queries", dir("a.changes.jsonl", fishChanges), "d/a.changes.jsonl: no a.queries.jsonl"},
		{"no changes", dir("a.queries.jsonl", fishQueries), "d/a.queries.jsonl: no a.changes.jsonl"},
		{"one half of two", dir("a.changes.jsonl", fishChanges, "a.queries.jsonl", fishQueries,
			"b.queries.jsonl", birdQueries), "d/b.queries.jsonl: no b.changes.jsonl"},
		{"no lines", dir("a.changes.jsonl", fishChanges, "a.queries.jsonl", "\n"),
			"d/a.queries.jsonl: no queries"},
		{"bad change", dir("a.changes.jsonl", "\n{\"nod\":1}\n", "a.queries.jsonl", fishQueries),
			"d/a.changes.jsonl:2: "},
		{"bad query", dir("a.changes.jsonl", fishChanges, "a.queries.jsonl", fishQueries+"x"),
			"d/a.queries.jsonl:3: "},
		{"empty memory", dir("a.changes.jsonl", "", "a.queries.jsonl", fishQueries),
			`d/a.queries.jsonl:1: gold: the change file makes no node "eel"`},
		{"missing gold", dir("a.changes.jsonl", fishChanges, "a.queries.jsonl",
			q(fishQueries, `{"qid":"x","text":"t","gold":["cod","c1","c2","c3","c4","c5","c6","c7"]}`)),
			`d/a.queries.jsonl:4: gold: the change file makes no node ` +
				`"c1", "c2", "c3", "c4", "c5", and 2 more`},
		{"missing session", dir("a.changes.jsonl", birdChanges, "a.queries.jsonl",
			`{"qid":"x","text":"t","gold":["day/1:1"],"gold_sessions":["day/2"]}`),
			`gold_sessions: the change file makes no node "day/2"`},
		{"a qid twice", dir("a.changes.jsonl", fishChanges, "a.queries.jsonl", fishQueries,
			"b.changes.jsonl", fishChanges, "b.queries.jsonl", fishQueries),
			`d/b.queries.jsonl:1: qid: "f1" is taken by d/a.queries.jsonl:1`},
		{"dangling edge", dir("a.changes.jsonl", `{"edge":{"type":"t","src":"a","dst":"b"}}`,
			"a.queries.jsonl", fishQueries), "d/a.changes.jsonl:1: "},
	}
	for _, tt := range tests {
		_, err := evaluate.Run(t.Context(), tt.dir, evaluate.RunOptions{Shown: "d"})
		must.True(t, err != nil && strings.Contains(err.Error(), tt.want),
			"%s: error %v, want %q", tt.name, err, tt.want)
	}
}

func TestRunStops(t *testing.T) {
	enough := errors.New("enough")
	_, err := evaluate.Run(t.Context(), zoo(), evaluate.RunOptions{
		Answer: func(*evaluate.Query, *retrieve.Answer) error { return enough },
	})
	must.Fail(t, err, enough)
	ctx, cancel := context.WithCancel(t.Context())
	answered := 0
	_, err = evaluate.Run(ctx, zoo(), evaluate.RunOptions{
		Answer: func(*evaluate.Query, *retrieve.Answer) error {
			answered++
			cancel()
			return nil
		},
	})
	must.True(t, errors.Is(err, context.Canceled) && answered == 1, "%d answers, error %v", answered, err)
}
