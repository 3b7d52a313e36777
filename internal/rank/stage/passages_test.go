package stage

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
			if p.from < last || q == "" || trim(q) != q ||
				utf8.RuneCountInString(q) > sentenceScalars {
				t.Fatalf("%v of %q", p, s)
			}
			lost += s[last:p.from]
			last = p.to
		}
		if lost += s[last:]; trim(lost) != "" {
			t.Fatalf("%q is in no passage of %q", lost, s)
		}
		cut := wholeScalars(s[:len(s)/2])
		if utf8.ValidString(s) && !utf8.ValidString(cut) || len(s)/2-len(cut) >= utf8.UTFMax {
			t.Fatalf("%q is cut to %q", s, cut)
		}
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
	if _, err := ask(u, "bad"); err == nil || errors.Is(err, retrieve.ErrRequest) {
		t.Errorf("a negative count: error %v", err)
	}
	receipt, query := a.Receipt()
	back := must.Get(retrieve.DecodeReceipt(receipt.Encode()))(t)
	req := must.Get(back.Request(string(query)))(t)
	must.Equal(t, req.Tokenizer, "bytes")
	// Without the counter the error names it, and the available ones.
	_, err = Runner{Counters: retrieve.Counters{"words": nil}}.Run(t.Context(), m, m, testCommit, req)
	var re *retrieve.RequestError
	if !errors.Is(err, retrieve.ErrTokenizer) || !errors.As(err, &re) || re.Param != "tokenizer" ||
		!strings.Contains(err.Error(), `"bytes"`) || !strings.Contains(err.Error(), retrieve.Estimate) {
		t.Errorf("error %v", err)
	}
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
