package repo_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// titleOf returns the title of the newest commit, by the titler.
func titleOf(t *testing.T, r *repo.Repo, titles repo.Titler) string {
	t.Helper()
	for e, err := range r.Log(t.Context(), "HEAD") {
		must(t, err)
		got, err := titles.Commit(t.Context(), e.Diff, e.Nodes, e.Edges)
		must(t, err)
		return got
	}
	t.Fatal("no commit")
	return ""
}

func TestTitles(t *testing.T) {
	long := strings.Repeat("Scope questions go to the product owner. ", 9)
	for _, c := range []struct{ name, before, lines, want string }{
		{"one", "", `{"node":{"type":"fact","summary":"Scope questions go to Ana"}}`, `remembered: "Scope questions go to Ana"`},
		{"a long one", "", `{"node":{"type":"fact","summary":"` + long + `"}}`,
			`remembered: "Scope questions go to the product owner. Scop…"`},
		{"with names", "", `{"node":{"key":"m","type":"fact","summary":"Ana owns scope"}}
{"node":{"key":"entity/ana","type":"Entity","summary":"ana"}}
{"edge":{"type":"mentions","src":"m","dst":"entity/ana"}}`, `remembered: "Ana owns scope"`},
		{"names alone", "", `{"node":{"key":"tag/x","type":"Tag","summary":"x"}}`, `1 node`},
		{"a key", "", `{"node":{"key":"svc/till","type":"Service"}}`, `remembered: "svc/till"`},
		{"three", "", `{"node":{"key":"a","type":"T","summary":"Alpha"}}
{"node":{"key":"b","type":"T","summary":"Beta"}}
{"node":{"key":"c","type":"T","summary":"Gamma"}}
{"edge":{"type":"x","src":"a","dst":"b"}}
{"edge":{"type":"x","src":"a","dst":"c"}}`, `3 memories, 2 edges: "Beta", "Gamma", …`},
		{"lines", "", `{"node":{"type":"fact","summary":"one\ntwo\u202e\tthree"}}`, `remembered: "one two\u{202E} three"`},
		{"a change", `{"node":{"key":"a","type":"T","summary":"Alpha"}}`, `{"node":{"key":"a","summary":"Omega"}}`,
			`changed: "Omega"`},
		{"removed is not named", `{"node":{"key":"a","type":"T","summary":"Alpha"}}`, `{"remove":{"node":"a"}}`, `1 removed`},
		{"forgotten is not named", `{"node":{"key":"a","type":"T","summary":"Alpha"}}`,
			`{"mark":{"node":"a","state":"forgotten"}}`, `1 forgotten`},
		{"born hidden", "", `{"node":{"key":"a","type":"T","summary":"Alpha"}}
{"mark":{"node":"a","state":"forgotten"}}`, `1 memory`},
		{"in place of", `{"node":{"key":"a","type":"T","summary":"Alpha"}}`,
			`{"node":{"key":"b","type":"T","summary":"Beta"}}
{"mark":{"node":"a","state":"superseded","by":"b"}}`, `remembered: "Beta"`},
		{"an edge", `{"node":{"key":"a","type":"T","summary":"Alpha"}}
{"node":{"key":"b","type":"T"}}`, `{"edge":{"type":"owns","src":"a","dst":"b"}}`, `owns: "Alpha", "b"`},
		{"an edge changed", `{"node":{"key":"a","type":"T"}}
{"edge":{"type":"owns","src":"a","dst":"a"}}`, `{"edge":{"type":"owns","src":"a","dst":"a","weight":0.5}}`, `1 edge changed`},
		{"vectors", `{"node":{"key":"a","type":"T","summary":"Alpha"}}`,
			`{"embedding":{"node":"a","model":"m","vector":[1,2]}}`, `1 embedding`},
	} {
		r := openMem(t)
		if c.before != "" {
			lines(t, r, c.before)
		}
		lines(t, r, c.lines)
		if got := titleOf(t, r, repo.Titler{Now: head(t, r), Tip: head(t, r)}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTitlesHide holds that nothing is named that was hidden, removed or erased later, or that is a credential.
func TestTitlesHide(t *testing.T) {
	const secretNode = `{"node":{"key":"a","type":"T","summary":"Alpha"}}`
	first := func(t *testing.T, r *repo.Repo, titles repo.Titler) (title string) {
		for e, err := range r.Log(t.Context(), "HEAD") {
			must(t, err)
			var titleErr error
			title, titleErr = titles.Commit(t.Context(), e.Diff, e.Nodes, e.Edges)
			must(t, titleErr)
		}
		return title
	}
	for name, after := range map[string]string{
		"forgotten": `{"mark":{"node":"a","state":"forgotten"}}`, "removed": `{"remove":{"node":"a"}}`,
		"superseded": `{"mark":{"node":"a","state":"superseded"}}`, "retired": `{"mark":{"node":"a","state":"retired"}}`,
	} {
		r := openMem(t)
		lines(t, r, secretNode)
		before := head(t, r)
		if got := first(t, r, repo.Titler{Now: before, Tip: before}); got != `remembered: "Alpha"` {
			t.Errorf("%s: before: %q", name, got)
		}
		lines(t, r, after)
		if got := first(t, r, repo.Titler{Now: head(t, r), Tip: head(t, r)}); got != "remembered" {
			t.Errorf("%s: after: %q", name, got)
		}
		ids := []graph.ID{graph.NodeID("a")}
		if got, err := (repo.Titler{Now: head(t, r)}).Nodes(t.Context(), before, ids); err != nil ||
			name != "removed" && got != "" {
			t.Errorf("%s: in a list: %q, %v", name, got, err)
		}
	}
	r := openMem(t)
	lines(t, r, `{"node":{"key":"a","type":"T","summary":"Alpha bravo zulu"}}`)
	_, err := r.Purge(t.Context(), "a", repo.PurgeOptions{Stamp: by})
	must(t, err)
	if got := first(t, r, repo.Titler{}); strings.Contains(got, "Alpha") {
		t.Errorf("purged: %q", got)
	}
	r = openMem(t)
	token := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	allowing := by
	allowing.Secrets.Allow = []string{"github-pat"}
	_, err = r.Commit(t.Context(), read(`{"node":{"key":"a","type":"T","summary":"Use `+token+` here"}}`),
		repo.CommitOptions{Stamp: allowing})
	must(t, err)
	if got := first(t, r, repo.Titler{}); got != "remembered" {
		t.Errorf("a credential: %q", got)
	}
}

// TestTitlesAreShort holds the length, in scalars, and that a large commit is not read for its title.
func TestTitlesAreShort(t *testing.T) {
	r := openMem(t)
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"%s %d"}}`+"\n", i, strings.Repeat("Größe ", 30), i)
	}
	lines(t, r, b.String())
	got := titleOf(t, r, repo.Titler{Now: head(t, r), Tip: head(t, r)})
	if n := utf8.RuneCountInString(got); n > repo.TitleLength || !strings.HasPrefix(got, `3000 nodes: "Größe Gr`) ||
		!strings.HasSuffix(got, `", …`) {
		t.Errorf("%d scalars: %q", n, got)
	}
}

// TestTitlesHideEdges: an edge that a mark hides now, or that is gone, is not told of by its type or ends.
func TestTitlesHideEdges(t *testing.T) {
	for name, after := range map[string]string{
		"forgotten": `{"mark":{"edge":{"type":"owns","src":"a","dst":"b"},"state":"forgotten"}}`,
		"removed":   `{"remove":{"edge":{"type":"owns","src":"a","dst":"b"}}}`,
	} {
		r := openMem(t)
		lines(t, r, `{"node":{"key":"a","type":"T"}}`+"\n"+`{"node":{"key":"b","type":"T"}}`)
		lines(t, r, `{"edge":{"type":"owns","src":"a","dst":"b"}}`)
		linked := head(t, r)
		if got := titleOf(t, r, repo.Titler{Now: linked, Tip: linked}); got != `owns: "a", "b"` {
			t.Errorf("%s: before: %q", name, got)
		}
		lines(t, r, after)
		now := head(t, r)
		var got []string
		for e, err := range r.Log(t.Context(), "HEAD") {
			must(t, err)
			title, err := repo.Titler{Now: now, Tip: now}.Commit(t.Context(), e.Diff, e.Nodes, e.Edges)
			must(t, err)
			got = append(got, title)
		}
		if len(got) != 3 || got[1] != "linked" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestTitleOfManyVectors holds that the title of a commit of vectors in between many others is made from a bounded
// number of blocks, and is right whether or not these tell of all.
func TestTitleOfManyVectors(t *testing.T) {
	effort.Alone(t)
	const n = 6_000
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	must(t, err)
	var nodes, many, few strings.Builder
	for i := range n {
		fmt.Fprintf(&nodes, `{"node":{"key":"n%d","type":"T"}}`+"\n", i)
		into := &many
		if i%2 == 1 {
			into = &few
		}
		fmt.Fprintf(into, `{"embedding":{"node":"n%d","model":"m","vector":[1,%d]}}`+"\n", i, i%100)
	}
	lines(t, r, nodes.String())
	lines(t, r, many.String())
	for _, c := range []struct{ lines, want string }{
		{`{"embedding":{"node":"n0","model":"m","vector":[7,7]}}`, `1 embedding`},
		{few.String(), `at least 3000 embeddings`},
	} {
		lines(t, r, c.lines)
		w := measure(t, st, func(r *repo.Repo) {
			if got := titleOf(t, r, repo.Titler{Now: head(t, r), Tip: head(t, r)}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
		if reads := w.facts.BlocksRead + w.derived.BlocksRead; reads > 100 {
			t.Errorf("%s: %d blocks read", c.want, reads)
		}
	}
}
