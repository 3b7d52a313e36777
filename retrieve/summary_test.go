package retrieve

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
)

// stories is a memory whose answers have something to sum up.
func stories() *memory {
	m := newMemory()
	m.add(graph.Node{ID: num(1),
		Summary: "The boat left the harbour. It was cold.\nForge\u2028d: line",
		Context: "A log of the harbour.", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "The boat left the harbour. The crew of the boat slept.",
		Content: &graph.Content{
			Text: "Only the content says harbour. Nobody knows.", Size: 44,
		}, Created: 1})
	m.add(graph.Node{ID: num(3), Summary: "of the", Created: 1})
	return m
}

func TestSummarize(t *testing.T) {
	m := stories()
	req := Request{Text: "boat harbour", Summarize: MaxSummarize}
	a := m.ask(t, req)
	want := []string{"2 The boat left the harbour.", "2 The crew of the boat slept.",
		"1 A log of the harbour.", "1 It was cold.", `1 Forge\u{2028}d: line`}
	if d := diff(want, shownSentences(a)); d != "" {
		t.Error(d)
	}
	lines := strings.Split(a.Summary.Rendered, "\n")
	if len(lines) != len(want)+2 || lines[0] != "Summary:" ||
		lines[1] != "  "+num(2).String()+": The boat left the harbour." {
		t.Errorf("rendered %q", a.Summary.Rendered)
	}
	if a.Summary.Tokens != text.EstimateTokens(a.Summary.Rendered) || a.TokensUsed !=
		a.Items[0].Tokens+a.Items[1].Tokens {
		t.Errorf("%d tokens, %d of the summary", a.TokensUsed, a.Summary.Tokens)
	}
	req.Summarize = 2
	if got := shownSentences(m.ask(t, req)); !slices.Contains(got, "2 The boat left the harbour.") ||
		len(got) != 2 {
		t.Errorf("two sentences: %q", got)
	}
	req.Show = []string{ShowContent}
	req.Summarize = MaxSummarize
	got := shownSentences(m.ask(t, req))
	if !slices.Contains(got, "2 Only the content says harbour.") {
		t.Errorf("with contents: %q", got)
	}
	req.SummaryCap = new(3)
	if got := shownSentences(m.ask(t, req)); fmt.Sprint(got) != "[2 Onl 1 A l]" {
		t.Errorf("cut: %q", got)
	}
}

func shownSentences(a *Answer) (out []string) {
	for _, s := range a.Summary.Sentences {
		out = append(out, fmt.Sprint(int(s.ID[7])-1, " ", s.Text))
	}
	return out
}

// TestChoose compares with the definition, computed anew for each pick.
func TestChoose(t *testing.T) {
	rng := seeded(t)
	for range 300 {
		var list []*quoted
		for range rng.IntN(12) {
			q := &quoted{terms: []uint32{uint32(rng.IntN(9))}}
			for range rng.IntN(6) {
				q.terms = append(q.terms, uint32(rng.IntN(9)))
			}
			q.terms = distinct(q.terms)
			list = append(list, q)
		}
		relevance := make([]int64, len(list))
		for i := range relevance {
			relevance[i] = int64(rng.IntN(4) * 1000)
		}
		k := 1 + rng.IntN(8)
		pick(list, relevance, k)
		var want []int
		for len(want) < min(k, len(list)) {
			best, most := -1, int64(0)
			for i := range list {
				near := int64(0)
				for _, j := range want {
					near = max(near, similarity(list[i].terms, list[j].terms))
				}
				v := summaryLambda*(relevance[i]<<16/max(1, slices.Max(relevance))) -
					(65536-summaryLambda)*near
				if !slices.Contains(want, i) && (best < 0 || v > most) {
					best, most = i, v
				}
			}
			want = append(want, best)
		}
		slices.Sort(want)
		var got []int
		for i, q := range list {
			if q.taken {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// TestSummaryBounds: texts and sentences without end take no more than their share.
func TestSummaryBounds(t *testing.T) {
	m := newMemory()
	for i := range 30 {
		var b strings.Builder
		for j := range 400 {
			fmt.Fprintf(&b, "boat %d %d. ", i, j)
		}
		m.add(graph.Node{ID: num(i), Summary: b.String(), Created: 1})
	}
	a := m.ask(t, Request{Text: "boat", Summarize: 50, Budget: new(0), Limit: new(0),
		SummaryCap: new(0)})
	if len(a.Summary.Sentences) != 50 {
		t.Errorf("%d sentences", len(a.Summary.Sentences))
	}
	m = newMemory()
	m.add(graph.Node{ID: num(1), Summary: "boat" + strings.Repeat(" x", 4000), Created: 1})
	a = m.ask(t, Request{Text: "boat", Summarize: 1, Budget: new(0)})
	if n := len(a.Summary.Sentences[0].Text); n > maxSentence {
		t.Errorf("a sentence of %d bytes", n)
	}
}

func TestNoSummaryWarning(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{Key: "the", Created: 1})
	a := m.ask(t, Request{Text: "the", Summarize: 3})
	if len(a.Items) != 1 || a.Summary == nil || a.Summary.Rendered != "" ||
		!slices.Contains(codes(a), NoSummary) {
		t.Errorf("%d items, %+v, %v", len(a.Items), a.Summary, codes(a))
	}
	for _, req := range []Request{{Text: "the"}, {Text: "nothing", Summarize: 3}} {
		if got := codes(m.ask(t, req)); slices.Contains(got, NoSummary) {
			t.Errorf("%+v: %v", req, got)
		}
	}
}

func TestSummaryReceipt(t *testing.T) {
	m := stories()
	a := m.ask(t, Request{Text: "boat", Summarize: 2})
	rec, _ := a.Receipt()
	if rec.Summary == nil || *rec.Summary != sha256.Sum256([]byte(a.Summary.Rendered)) {
		t.Fatalf("summary %x", rec.Summary)
	}
	got, err := DecodeReceipt(rec.Encode())
	if err != nil || CompareReceipts(rec, got) != nil {
		t.Fatalf("the receipt comes back different: %v", err)
	}
	got.Summary[0] ^= 1
	if d := CompareReceipts(rec, got); d == nil || d.Field != "summary" || d.Item != -1 {
		t.Errorf("difference %+v", d)
	}
	got.Summary = nil
	if got.Validate() == nil {
		t.Error("a receipt without the hash that its request asks for is valid")
	}
	plain, _ := m.ask(t, Request{Text: "boat"}).Receipt()
	plain.Summary = rec.Summary
	if plain.Validate() == nil {
		t.Error("a receipt with a hash that its request does not ask for is valid")
	}
}
