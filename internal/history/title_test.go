package history_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestTitles freezes the titles of commits of lines, upon others.
func TestTitles(t *testing.T) {
	cases.Golden(t, filepath.Join("testdata", "titles.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct{ Before, Lines string }
		cases.Parse(t, c.Input, &in)
		r := repokit.OpenMem(t)
		if in.Before != "" {
			repokit.Lines(t, r, in.Before)
		}
		repokit.Lines(t, r, in.Lines)
		return repokit.TitleOf(t, r, history.Titler{Now: repokit.Head(t, r), Tip: repokit.Head(t, r)})
	})
}

// TestTitlesHide holds that nothing is named that was hidden, removed or erased later, or that is a credential.
func TestTitlesHide(t *testing.T) {
	const secretNode = `{"node":{"key":"a","type":"T","summary":"Alpha"}}`
	first := func(t *testing.T, r *core.Repo, titles history.Titler) (title string) {
		for e, err := range history.Log(t.Context(), r, "HEAD") {
			must.OK(t, err)
			title = must.Get(titles.Commit(t.Context(), e.Diff, e.Nodes, e.Edges))(t)
		}
		return title
	}
	for name, after := range map[string]string{
		"forgotten": `{"mark":{"node":"a","state":"forgotten"}}`, "removed": `{"remove":{"node":"a"}}`,
		"superseded": `{"mark":{"node":"a","state":"superseded"}}`, "retired": `{"mark":{"node":"a","state":"retired"}}`,
	} {
		r := repokit.OpenMem(t)
		repokit.Lines(t, r, secretNode)
		before := repokit.Head(t, r)
		must.Equal(t, first(t, r, history.Titler{Now: before, Tip: before}), `remembered: "Alpha"`, name, ": before")
		repokit.Lines(t, r, after)
		got := first(t, r, history.Titler{Now: repokit.Head(t, r), Tip: repokit.Head(t, r)})
		must.True(t, got == "remembered", "%s: after: %q", name, got)
		ids := []graph.ID{graph.NodeID("a")}
		got, err := (history.Titler{Now: repokit.Head(t, r)}).Nodes(t.Context(), before, ids)
		must.True(t, err == nil && (name == "removed" || got == ""), "%s: in a list: %q, %v", name, got, err)
	}
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"Alpha bravo zulu"}}`)
	must.Get(care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By}))(t)
	got := first(t, r, history.Titler{})
	must.True(t, !strings.Contains(got, "Alpha"), "purged: %q", got)
	r = repokit.OpenMem(t)
	token := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	allowing := repokit.By
	allowing.Secrets.Allow = []string{"github-pat"}
	_, err := r.Commit(t.Context(), repokit.Read(`{"node":{"key":"a","type":"T","summary":"Use `+token+` here"}}`),
		core.CommitOptions{Stamp: allowing})
	must.OK(t, err)
	must.Equal(t, first(t, r, history.Titler{}), "remembered", "a credential")
}

// TestTitlesAreShort holds the length, in scalars, and that a large commit is not read for its title.
func TestTitlesAreShort(t *testing.T) {
	r := repokit.OpenMem(t)
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"%s %d"}}`+"\n", i, strings.Repeat("Größe ", 30), i)
	}
	repokit.Lines(t, r, b.String())
	got := repokit.TitleOf(t, r, history.Titler{Now: repokit.Head(t, r), Tip: repokit.Head(t, r)})
	n := utf8.RuneCountInString(got)
	must.True(t, n <= history.TitleLength && strings.HasPrefix(got, `3000 nodes: "Größe Gr`) &&
		strings.HasSuffix(got, `", …`), "%d scalars: %q", n, got)
}

// TestTitlesHideEdges: titles do not reveal type or ends of an edge that is now hidden or gone.
func TestTitlesHideEdges(t *testing.T) {
	for name, after := range map[string]string{
		"forgotten": `{"mark":{"edge":{"type":"owns","src":"a","dst":"b"},"state":"forgotten"}}`,
		"removed":   `{"remove":{"edge":{"type":"owns","src":"a","dst":"b"}}}`,
	} {
		r := repokit.OpenMem(t)
		repokit.Lines(t, r, `{"node":{"key":"a","type":"T"}}`+"\n"+`{"node":{"key":"b","type":"T"}}`)
		repokit.Lines(t, r, `{"edge":{"type":"owns","src":"a","dst":"b"}}`)
		linked := repokit.Head(t, r)
		if got := repokit.TitleOf(t, r, history.Titler{Now: linked, Tip: linked}); got != `owns: "a", "b"` {
			t.Errorf("%s: before: %q", name, got)
		}
		repokit.Lines(t, r, after)
		now := repokit.Head(t, r)
		var got []string
		for e, err := range history.Log(t.Context(), r, "HEAD") {
			must.OK(t, err)
			title := must.Get(history.Titler{Now: now, Tip: now}.Commit(t.Context(), e.Diff, e.Nodes, e.Edges))(t)
			got = append(got, title)
		}
		must.True(t, len(got) == 3 && got[1] == "linked", "%s: %q", name, got)
	}
}

// TestTitleOfManyVectors checks that the title of a commit of vectors scattered among many others reads a bounded
// number of blocks, and is right whether or not these suffice for an exact count.
func TestTitleOfManyVectors(t *testing.T) {
	effort.Alone(t)
	const n = 6_000
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	var nodes, many, few strings.Builder
	for i := range n {
		fmt.Fprintf(&nodes, `{"node":{"key":"n%d","type":"T"}}`+"\n", i)
		into := &many
		if i%2 == 1 {
			into = &few
		}
		fmt.Fprintf(into, `{"embedding":{"node":"n%d","model":"m","vector":[1,%d]}}`+"\n", i, i%100)
	}
	repokit.Lines(t, r, nodes.String())
	repokit.Lines(t, r, many.String())
	for _, c := range []struct{ lines, want string }{
		{`{"embedding":{"node":"n0","model":"m","vector":[7,7]}}`, `1 embedding`},
		{few.String(), `at least 3000 embeddings`},
	} {
		repokit.Lines(t, r, c.lines)
		w := repokit.Measure(t, st, func(r *core.Repo) {
			got := repokit.TitleOf(t, r, history.Titler{Now: repokit.Head(t, r), Tip: repokit.Head(t, r)})
			must.True(t, got == c.want, "%q, want %q", got, c.want)
		})
		reads := w.Facts.BlocksRead + w.Derived.BlocksRead
		must.True(t, reads <= 100, "%s: %d blocks read", c.want, reads)
	}
}
