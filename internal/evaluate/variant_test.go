package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// shown are the rows of a report: name, queries and R@5.
func shown(report *evaluate.Report) []string {
	rows := []string{}
	for _, row := range report.Categories {
		rows = append(rows, fmt.Sprint(row.Category, " ", row.Queries, " ",
			row.Text(evaluate.Recall5, 3)))
	}
	return rows
}

const laneChanges = `{"node":{"key":"cod","type":"Fish","summary":"The Cod is a cold-water fish","created":"2021-01-01T00:00:00Z"}}
{"node":{"key":"eel","type":"Fish","summary":"The eel is a long fish","created":"2023-05-07T00:00:00Z"}}
{"edge":{"type":"eats","src":"eel","dst":"cod"}}
{"embedding":{"node":"cod","model":"m","vector":[1,0]}}
`

// TestByLane has lanes that only later queries have: they found nothing for those before. What a
// query names by its key is found in any lane.
func TestByLane(t *testing.T) {
	d := dir("a.changes.jsonl", laneChanges, "a.queries.jsonl",
		`{"qid":"1","text":"long","gold":["eel"],"expand":0}
{"qid":"2","text":"cod","gold":["cod"],"expand":0}
{"qid":"3","text":"who was it in May 2023","gold":["eel"],"vectors":{"m":[1,0]},"expand":0}
{"qid":"4","text":"zeppelin","gold":["cod"],"vectors":{"m":[1,0]},"expand":0}
`)
	report := must.Get(evaluate.Run(t.Context(), d, evaluate.RunOptions{By: evaluate.ByLane}))(t)
	must.Same(t, shown(report), []string{"text 4 0.500", "dense:m 4 0.250", "time 4 0.250",
		"exact 4 0.250", "recency 4 1.000"}, "rows")
}

// TestByStage compares each row with a run of its own.
func TestByStage(t *testing.T) {
	d := zoo()
	d["fish.queries.jsonl"].Data = append(d["fish.queries.jsonl"].Data,
		`{"qid":"f3","text":"eel","gold":["cod"]}`...)
	base := retrieve.Request{Dedup: true}
	report := must.Get(evaluate.Run(t.Context(), d, evaluate.RunOptions{By: evaluate.ByStage, Base: base}))(t)
	alone := map[string]func(r *retrieve.Request){
		"without expansion":      func(r *retrieve.Request) { r.Expand = new(0) },
		"without mentions":       func(r *retrieve.Request) { r.ExpandTypes = []string{"eats"} },
		"without spelling":       func(r *retrieve.Request) { r.Spelling = retrieve.SpellingOff },
		"without dedup":          func(r *retrieve.Request) { r.Dedup = false },
		"with --expansion decay": func(r *retrieve.Request) { r.Expansion = retrieve.Decay },
		"with --expansion ppr":   func(r *retrieve.Request) { r.Expansion = retrieve.PPR },
		"with --intent auto":     func(r *retrieve.Request) { r.Intent = retrieve.IntentAuto },
		"with --community":       func(r *retrieve.Request) { r.Community = true },
		"with --pack passages":   func(r *retrieve.Request) { r.Pack = retrieve.PackPassages },
		"without edges":          func(r *retrieve.Request) { r.EdgeWeights = []retrieve.EdgeWeight{{Type: "eats"}} },
	}
	var names []string
	for _, row := range report.Categories {
		names = append(names, row.Category)
		change := alone[row.Category]
		if change == nil {
			t.Errorf("row %q", row.Category)
			continue
		}
		req := base
		change(&req)
		other := must.Get(evaluate.Run(t.Context(), d, evaluate.RunOptions{Base: req}))(t)
		got, want := texts(row.Means), texts(other.All.Means)
		must.True(t, got == want && row.Queries == 4, "%s: %s, want %s", row.Category, got, want)
	}
	must.True(t, len(names) == len(alone) && slices.Contains(shown(report), "without expansion 4 0.750"),
		"rows %q", shown(report))
}

// TestRunAsks completes requests once each, and prepares each repository.
func TestRunAsks(t *testing.T) {
	asked, prepared := 0, 0
	opt := evaluate.RunOptions{
		By: evaluate.ByLane,
		Ask: func(_ context.Context, r retrieve.Request) (retrieve.Request, error) {
			asked++
			r.Rewrites = []string{"fish"}
			return r, nil
		},
		Prepare: func(_ context.Context, _ *core.Repo, head ipld.CID) (ipld.CID, error) {
			prepared++
			return head, nil
		},
		Answer: func(q *evaluate.Query, a *retrieve.Answer) error {
			must.Equal(t, len(a.Request.Rewrites), 1, q.ID, ": not completed")
			return nil
		},
	}
	if _, err := evaluate.Run(t.Context(), zoo(), opt); err != nil || asked != 3 || prepared != 2 {
		t.Errorf("%d requests, %d repositories, %v", asked, prepared, err)
	}
	no := errors.New("no")
	opt.Ask = func(_ context.Context, r retrieve.Request) (retrieve.Request, error) { return r, no }
	_, err := evaluate.Run(t.Context(), zoo(), opt)
	must.True(t, errors.Is(err, no) && strings.Contains(err.Error(), "bird.queries.jsonl:1"), "asking failed: %v", err)
	opt.Prepare = func(_ context.Context, _ *core.Repo, c ipld.CID) (ipld.CID, error) { return c, no }
	must.Fail(t, must.Err(evaluate.Run(t.Context(), zoo(), opt)), no)
}
