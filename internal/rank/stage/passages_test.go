package stage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// FuzzPassages checks what holds of the passages of every text.
func FuzzPassages(f *testing.F) {
	// The white space between sentences: clause 6.10.
	trim := func(s string) string { return strings.Trim(s, " \t\n\r\u00a0\u3000") }
	f.Add("\u3000")
	f.Add("One. Two! 「三。」\n\nFour… ")
	f.Add(strings.Repeat("a b.", 200) + "\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		last, lost := 0, ""
		for _, p := range passages(s) {
			q := s[p.from:p.to]
			must.Require(t, p.from >= last && q != "" && trim(q) == q && utf8.RuneCountInString(q) <= sentenceScalars,
				"%v of %q", p, s)
			lost += s[last:p.from]
			last = p.to
		}
		lost += s[last:]
		must.Require(t, trim(lost) == "", "%q is in no passage of %q", lost, s)
		cut := wholeScalars(s[:len(s)/2])
		must.Require(t, (!utf8.ValidString(s) || utf8.ValidString(cut)) && len(s)/2-len(cut) < utf8.UTFMax,
			"%q is cut to %q", s, cut)
	})
}

// TestPassagesBound gives a text that is too long to be looked at whole, cut within a character.
func TestPassagesBound(t *testing.T) {
	m := newMemory()
	body := "x" + strings.Repeat("é", 40_000) + " kelp"
	m.add(graph.Node{ID: num(1), Summary: "kelp " + strings.Repeat("é ", 4000), Created: 1})
	m.nodes[num(1)].Content = &graph.Content{Text: body, Size: int64(len(body))} // as of chunks
	a := m.ask(t, retrieve.Request{Text: "kelp", OutputOptions: retrieve.OutputOptions{Pack: retrieve.PackPassages,
		PassageTokens: new(retrieve.MaxPassageTokens), SummaryCap: new(0)},
		Budget: new(0)})
	line := a.Items[0].Rendered
	bare := render.Render(m.nodes[num(1)], nil, render.RenderOptions{})
	if !utf8.ValidString(line) || !strings.HasSuffix(line, "é <...>\n") ||
		strings.Count(line, "\n") != strings.Count(bare, "\n")+1 {
		t.Errorf("%d bytes: …%q", len(line), line[len(line)-40:])
	}
}

// TestPassagesAreSafe shows hostile passages: nothing forges a line, and the cap holds.
func TestPassagesAreSafe(t *testing.T) {
	r := seeded(t)
	parts := []string{"\nid: x", "\u202e", "kelp ", ". ", "\n\n", "<...>", "。", "\r", "a b ",
		"\u2028", strings.Repeat("y", 99)}
	for range 300 {
		m := newMemory()
		body := randomText(r, parts, 60)
		n := graph.Node{ID: num(1), Summary: "kelp " + randomText(r, parts, 40), Created: 1}
		if body != "" {
			n.Content = &graph.Content{Text: body, Size: int64(len(body))}
		}
		m.add(n)
		most := 1 + r.IntN(200)
		a := m.ask(t, retrieve.Request{Text: "kelp y",
			OutputOptions: retrieve.OutputOptions{Pack: retrieve.PackPassages, PassageTokens: &most}, Budget: new(0)})
		lines := strings.Split(strings.TrimSuffix(a.Items[0].Rendered, "\n"), "\n")
		names := []string{"ntype", "id", "summary", "content"}
		for i, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			must.Equal(t, name, names[i], lines)
			must.Equal(t, text.EscapeLine(value), value, lines)
		}
		again := m.ask(t, a.Request)
		must.Equal(t, again.Items[0].Rendered, a.Items[0].Rendered, "another answer")
	}
}

func randomText(r *rand.Rand, parts []string, most int) string {
	var b strings.Builder
	for range r.IntN(most) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func TestTokenizer(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{ID: num(1), Summary: "kelp one", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "kelp two", Created: 2})
	u := Runner{Counters: retrieve.Counters{
		"bytes": func(s string) int { return len(s) },
		"bad":   func(string) int { return -1 },
	}}
	ask := func(u Runner, name string) (*retrieve.Answer, error) {
		return u.Run(t.Context(), m, m, testCommit,
			retrieve.Request{Text: "kelp", OutputOptions: retrieve.OutputOptions{Tokenizer: name},
				ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
	}
	a, err := ask(u, "bytes")
	must.Require(t, err == nil && a.Items[0].Tokens == len(a.Items[0].Rendered), "%v, %+v", err, a)
	_, err = ask(u, "bad")
	must.True(t, err != nil && !errors.Is(err, retrieve.ErrRequest), "a negative count: error %v", err)
	receipt, query := a.Receipt()
	back := must.Get(retrieve.DecodeReceipt(receipt.Encode()))(t)
	req := must.Get(back.Request(string(query)))(t)
	must.Equal(t, req.Tokenizer, "bytes")
	// Without the counter the error names it, and the available ones.
	_, err = Runner{Counters: retrieve.Counters{"words": nil}}.Run(t.Context(), m, m, testCommit, req)
	var re *retrieve.RequestError
	must.True(t, errors.Is(err, retrieve.ErrTokenizer) && errors.As(err, &re) && re.Param == "tokenizer" &&
		strings.Contains(err.Error(), `"bytes"`) && strings.Contains(err.Error(), retrieve.Estimate), "error %v", err)
	if a, err := ask(u, retrieve.Estimate); err != nil {
		t.Error(err)
	} else if r, _ := a.Receipt(); slices.Contains(paramNames(r), "tokenizer") {
		t.Error("a receipt names the default")
	}
}

func paramNames(r *retrieve.Receipt) (names []string) {
	for _, e := range r.Params.Entries() {
		names = append(names, e.Key)
	}
	return names
}

// TestExcludeIsFilter compares --exclude with a filter that the same nodes fail.
func TestExcludeIsFilter(t *testing.T) {
	rng := seeded(t)
	for range 60 {
		m := randomMemory(rng, 60, 150)
		req := retrieve.Request{Text: []string{"a b", "a", "", "c `key3`"}[rng.IntN(4)],
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(rng.IntN(4))}, Budget: new(0), Limit: new(0),
			OutputOptions: retrieve.OutputOptions{Adjacency: rng.IntN(3)}}
		all := m.ask(t, req)
		var out []graph.ID
		for _, item := range all.Items {
			if rng.IntN(3) == 0 {
				out = append(out, item.ID)
			}
		}
		for id, n := range m.nodes {
			n.Props = []ipld.Entry{{Key: "in", Value: ipld.BoolValue(!slices.Contains(out, id))}}
		}
		byWhere, byID := req, req
		byWhere.Where = []retrieve.Predicate{{Name: "in", Op: retrieve.Equal, Value: ipld.BoolValue(true)}}
		byID.Exclude = out
		want, got := m.ask(t, byWhere), m.ask(t, byID)
		want.Request, got.Request = retrieve.Request{}, retrieve.Request{}
		must.Equal(t, diff(want, got), "")
	}
}

func TestUnresolved(t *testing.T) {
	m := library()
	for param, req := range map[string]retrieve.Request{
		"exclude": {Exclusions: retrieve.Exclusions{ExcludeNames: []string{"alice"}}},
		"unseen":  {Exclusions: retrieve.Exclusions{Unseen: true}},
	} {
		_, err := Runner{}.Run(t.Context(), m, m, testCommit, req)
		var re *retrieve.RequestError
		must.True(t, errors.As(err, &re) && re.Param == param, "%s: %v", param, err)
	}
}

// joint writes a list as PART.AT:SCORE, with the counts after it.
func joint(j *complete.Joint) string {
	var parts []string
	for _, it := range j.Items {
		parts = append(parts, fmt.Sprintf("%d.%d:%d", it.Part, it.At, it.Score))
	}
	return fmt.Sprintf("%s %v left %d", strings.Join(parts, " "), j.Counts, j.Left)
}

func TestTogether(t *testing.T) {
	part := func(name string, share int64, scores ...int64) complete.Part {
		p := complete.Part{Name: name, Share: share}
		for i, score := range scores {
			p.Items = append(p.Items, retrieve.Item{Rank: i + 1, Score: score, Tokens: 10, Rendered: "x\n"})
		}
		return p
	}
	a, b := part("a", complete.FullShare, 100, 50, 50), part("b", complete.FullShare/2, 200, 90, 110)
	for _, tt := range []struct {
		limit, budget int
		parts         []complete.Part
		want          string
	}{
		{0, 0, []complete.Part{a, b}, "0.0:100 1.0:100 0.1:50 0.2:50 1.1:45 1.2:55 [3 3] left 0"},
		{3, 0, []complete.Part{a, b}, "0.0:100 1.0:100 0.1:50 [2 1] left 0"},
		{0, 45, []complete.Part{a, b}, "0.0:100 1.0:100 0.1:50 [2 1] left 3"},
		{0, 5, []complete.Part{a, b}, " [0 0] left 6"},
		{0, 0, []complete.Part{a, {Name: "b"}}, "0.0:100 0.1:50 0.2:50 [3 0] left 0"},
		{0, 0, []complete.Part{{Name: "a"}, {Name: "b"}}, " [0 0] left 0"},
	} {
		got := complete.Together(tt.limit, tt.budget, tt.parts...)
		must.Equal(t, joint(got), tt.want, "limit ", tt.limit, ", budget ", tt.budget)
		for i, it := range got.Items {
			first := "repository: " + tt.parts[it.Part].Name + "\n"
			must.True(t, it.Rank == i+1 && it.Rendered == first+"x\n" && it.Tokens > 10, "item %d: %+v", i+1, it)
		}
	}
	must.Equal(t, a.Items[0].Rendered, "x\n", "the items of a part are changed")
}

func TestShareOf(t *testing.T) {
	for coverage, want := range map[int64]int64{
		-5: complete.FullShare / 16, 0: complete.FullShare / 16, 30_000: 30_000, complete.FullShare: complete.FullShare, complete.FullShare + 1: complete.FullShare,
	} {
		must.Equal(t, complete.ShareOf(coverage), want, coverage)
	}
}
