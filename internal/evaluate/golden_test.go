package evaluate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// questions is the bundled set of questions.
var questions = filepath.Join("..", "..", "testdata", "eval")

// shownItems is how many items of an answer a golden list has.
const shownItems = 10

// TestGolden answers the bundled questions and compares the ranked lists and the figures with the
// files next to them, so that a change of the ranking is seen as a change of these. After one that
// is wanted: MNEM_REWRITE=1 go test ./internal/evaluate -run Golden.
func TestGolden(t *testing.T) {
	lists := make(map[string]*strings.Builder)
	report, err := evaluate.Run(t.Context(), os.DirFS(questions), evaluate.RunOptions{
		Answer: func(q *evaluate.Query, a *retrieve.Answer) error {
			name, _, _ := strings.Cut(q.ID, "-")
			if lists[name] == nil {
				lists[name] = &strings.Builder{}
			}
			writeList(lists[name], q, a)
			return nil
		},
	})
	must.OK(t, err)
	must.Require(t, len(report.Files) >= 2 && report.All.Queries >= 30 && len(lists) == len(report.Files),
		"%d files, %d queries, %d lists", len(report.Files), report.All.Queries, len(lists))
	got := map[string]string{"rank_stats.txt": stats(report)}
	for name, list := range lists {
		got[name+".ranked.txt"] = list.String()
	}
	for name, text := range got {
		path := filepath.Join(questions, name)
		if os.Getenv("MNEM_REWRITE") != "" {
			must.OK(t, os.WriteFile(path, []byte(text), 0o666))
		}
		want := must.Get(os.ReadFile(path))(t)
		diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), text)
		must.True(t, diff == "", "%s changed; write it again with MNEM_REWRITE=1 (-want +got):\n%s", name, diff)
	}
}

// writeList writes the first items of an answer, a star before those that answer the question.
func writeList(b *strings.Builder, q *evaluate.Query, a *retrieve.Answer) {
	gold := make(map[string]bool)
	for _, id := range q.Gold {
		gold[id.String()] = true
	}
	fmt.Fprintf(b, "%s %s\n", q.ID, q.Request.Text)
	for _, it := range a.Items[:min(shownItems, len(a.Items))] {
		star := " "
		if gold[it.ID.String()] {
			star = "*"
		}
		fmt.Fprintf(b, "  %s %s\n", star, it.Key)
	}
}

// stats returns the figures as a table.
func stats(r *evaluate.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-9s %7s", "category", "queries")
	for m := range evaluate.MetricCount {
		fmt.Fprintf(&b, "  %s", m)
	}
	b.WriteString("\n")
	for _, row := range append([]evaluate.Row{r.All}, r.Categories...) {
		category := row.Category
		if category == "" {
			category = "all"
		}
		fmt.Fprintf(&b, "%-9s %7d", category, row.Queries)
		for m := range evaluate.MetricCount {
			figure := row.Text(m, 3)
			if figure == "" {
				figure = "-"
			}
			fmt.Fprintf(&b, "  %*s", len(m.String()), figure)
		}
		b.WriteString("\n")
	}
	return b.String()
}
