package retrieve

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
)

// wideMemory is memory that can be searched for more terms than a text has. Words are 1,000 times
// as much worth as in memory, so that parts of them count.
type wideMemory struct {
	*memory
	passed int // calls of accept that let pass in the last search
}

// wideIDF is what a term weighs in wideMemory, 0 for one that no node has.
func (m *wideMemory) wideIDF(term string) int64 {
	for _, n := range m.nodes {
		if slices.Contains(queryTermsAll(n.Summary), term) {
			return 1<<16 + int64(term[0])<<9
		}
	}
	return 0
}

func (m *wideMemory) IDFs(_ context.Context, terms []string) ([]int64, error) {
	out := make([]int64, len(terms))
	for i, t := range terms {
		out[i] = m.wideIDF(t)
	}
	return out, m.fail("IDFs")
}

func (m *wideMemory) TermWeights(_ context.Context, query TextQuery) ([]TermWeight, error) {
	var out []TermWeight
	for _, t := range queryTerms(query.read()) {
		out = append(out, TermWeight{t, m.wideIDF(t)})
	}
	return out, m.fail("TermWeights")
}

func (m *wideMemory) Text(
	_ context.Context, query TextQuery, accept Accept, k int,
) (TextResult, error) {
	if query.Added != nil {
		if err := m.fail("Text again"); err != nil {
			return TextResult{}, err
		}
	}
	m.passed = 0
	terms := queryTerms(query.read())
	res := TextResult{Terms: len(terms), Known: len(terms)}
	for id, n := range m.nodes {
		score := m.wideScore(n, terms, query.Added)
		if score == 0 {
			continue
		}
		ok, err := accept(NodeDocument(n))
		if err != nil {
			return res, err
		}
		if ok {
			m.passed++
			res.Hits = append(res.Hits, Hit{id, score})
		}
	}
	res.Hits = m.cut(res.Hits, k)
	return res, m.fail("Text")
}

func (m *wideMemory) wideScore(n *graph.Node, terms []string, more []AddedTerm) (score int64) {
	for _, w := range queryTermsAll(n.Summary) {
		if slices.Contains(terms, w) {
			score += 1000
		}
		for _, t := range more {
			if t.Term == w {
				score += max(1, 1000*t.Weight>>16)
			}
		}
	}
	return score
}

func (m *wideMemory) asks(t *testing.T, req Request) *Answer {
	t.Helper()
	a, err := Run(t.Context(), m, m, testCommit, ofAll(req))
	if err != nil {
		t.Fatalf("run %+v: %v", req, err)
	}
	return a
}

func wide(texts ...string) *wideMemory {
	m := &wideMemory{memory: newMemory()}
	for i, s := range texts {
		m.add(graph.Node{ID: num(i), Summary: s})
	}
	return m
}

// oracleFeedback is clause 9.11 as it is written, in numbers without bounds.
func oracleFeedback(m *wideMemory, text string, n int) []AddedTerm {
	asked := queryTerms(text)
	var best []Hit
	for id, node := range m.nodes {
		if s := m.wideScore(node, asked, nil); s > 0 {
			best = append(best, Hit{id, s})
		}
	}
	best = ranked(best)
	shares := map[string]*big.Int{}
	for _, h := range best[:min(n, len(best))] {
		words := queryTermsAll(m.nodes[h.ID].Summary)
		share := h.Score * 65_536 / best[0].Score
		for i, w := range words {
			if slices.Contains(asked, w) || slices.Contains(words[:i], w) {
				continue
			}
			tf := 0
			for _, o := range words {
				if o == w {
					tf++
				}
			}
			part := big.NewInt(share * int64(tf) * 256)
			if shares[w] == nil {
				shares[w] = new(big.Int)
			}
			shares[w].Add(shares[w], part.Quo(part, big.NewInt(int64(len(words)))))
		}
	}
	var terms []string
	for w := range shares {
		terms = append(terms, w)
	}
	by := func(of func(w string) *big.Int) {
		sort.Strings(terms)
		sort.SliceStable(terms, func(i, j int) bool { return of(terms[i]).Cmp(of(terms[j])) > 0 })
	}
	by(func(w string) *big.Int { return shares[w] })
	terms = terms[:min(len(terms), 256)]
	score := func(w string) *big.Int { return new(big.Int).Mul(shares[w], big.NewInt(m.wideIDF(w))) }
	by(score)
	terms = terms[:min(len(terms), 32)]
	sum, all := new(big.Int), new(big.Int)
	for _, w := range terms {
		sum.Add(sum, score(w))
	}
	for _, w := range asked {
		all.Add(all, big.NewInt(m.wideIDF(w)))
	}
	var out []AddedTerm
	for _, w := range terms {
		weight := new(big.Int).Mul(new(big.Int).Mul(all, big.NewInt(8192)), shares[w])
		if weight.Quo(weight, sum).Sign() > 0 {
			out = append(out, AddedTerm{w, min(65_536, weight.Int64())})
		}
	}
	return out
}

func TestFeedbackAgainstOracle(t *testing.T) {
	effort.Alone(t)
	rng := seeded(t)
	for range effort.Pick(20, 80, 800) {
		m := wide()
		m.shuffle = rng
		kinds := 2 + rng.IntN(400)
		for i := range 3 + rng.IntN(60) {
			var words []string
			for range 1 + rng.IntN(40) {
				words = append(words, fmt.Sprintf("%ck%d", 'a'+rng.IntN(26), rng.IntN(kinds)))
			}
			if rng.IntN(2) == 0 {
				words = append(words, "asked")
			}
			m.add(graph.Node{ID: num(i), Summary: strings.Join(words, " ")})
		}
		req := Request{Text: "asked bk1", Feedback: 1 + rng.IntN(MaxFeedback), Expand: new(0),
			Limit: new(0), Budget: new(0), Spelling: SpellingOff}
		a := m.asks(t, req)
		want := oracleFeedback(m, req.Text, req.Feedback)
		if d := diff(want, a.Feedback); d != "" {
			t.Fatal(d)
		}
		sum, all := int64(0), int64(0) // what is added cannot outweigh what was asked
		for _, f := range a.Feedback {
			sum += f.Weight * m.wideIDF(f.Term)
		}
		for _, w := range queryTerms(req.Text) {
			all += m.wideIDF(w) << 16
		}
		if sum > all/8 {
			t.Errorf("%d added to %d", sum, all)
		}
		for _, item := range a.Items {
			score := m.wideScore(m.nodes[item.ID], queryTerms(req.Text), a.Feedback)
			if item.Score != score {
				t.Errorf("score %d, want %d", item.Score, score)
			}
		}
		without := req
		without.Feedback = 0
		if b := m.asks(t, without); len(b.Feedback) > 0 || len(b.Items) > len(a.Items) {
			t.Errorf("%d items without feedback, %d with it", len(b.Items), len(a.Items))
		}
	}
}

// TestFeedbackFinds asks for what only a neighbour in words finds, and sees that expansion spreads
// what was asked for and not what was added.
func TestFeedbackFinds(t *testing.T) {
	m := wide("harbour crane crane", "crane tower", "kelp")
	for n, want := range map[int][]graph.ID{0: {num(0)}, 1: {num(0), num(1)}} {
		a := m.asks(t, Request{Text: "harbour", Feedback: n})
		if d := diff(want, ids(a)); d != "" {
			t.Errorf("%d: %s", n, d)
		}
	}
	var trace Trace
	a, err := Runner{Trace: &trace}.Run(t.Context(), m, m, testCommit,
		Request{Text: "harbour", Feedback: 1})
	if err != nil {
		t.Fatal(err)
	}
	if lane := trace.Lanes[0]; lane.Passed != m.passed || lane.Found != 2 {
		t.Errorf("lane %+v, the second search let %d pass", lane, m.passed)
	}
	if a.Feedback[0].Term != "crane" || slices.Contains(codes(a), NoFeedback) {
		t.Errorf("added %v, warnings %v", a.Feedback, codes(a))
	}
	if receipt, _ := a.Receipt(); receipt.Validate() != nil {
		t.Error(receipt.Validate())
	}
}

func TestNoFeedback(t *testing.T) {
	m := wide("harbour", "kelp kelp farm")
	vector := []QueryVector{{Model: "m", Values: []int8{1}}}
	for name, req := range map[string]Request{
		"blank":         {Text: " "},
		"vector":        {Vectors: vector},
		"no weight":     {Text: "kelp", Vectors: vector, Weights: []LaneWeight{{LaneText, 0}}},
		"nothing found": {Text: "unknown"},
		"filtered":      {Text: "kelp", Types: []string{"Other"}},
		"no other word": {Text: "harbour"},
	} {
		req.Feedback = 3
		a := m.asks(t, req)
		last := a.Warnings[len(a.Warnings)-1]
		if last.Code != NoFeedback || len(a.Feedback) > 0 ||
			!strings.Contains(last.Remedy(), "--feedback") {
			t.Errorf("%s: added %v, warnings %v", name, a.Feedback, codes(a))
		}
		req.Feedback = 0
		if a := m.asks(t, req); slices.Contains(codes(a), NoFeedback) {
			t.Errorf("%s: %v without feedback", name, codes(a))
		}
	}
}

func TestFeedbackErrors(t *testing.T) {
	req := Request{Text: "kelp", Feedback: 1, Spelling: SpellingOff}
	for _, method := range []string{"Text", "Text again", "IDFs", "TermWeights", "Node", "Content"} {
		m := wide("kelp farm")
		m.nodes[num(0)].Content = &graph.Content{Text: "x", Size: 1}
		m.failOn = method
		_, err := Run(t.Context(), m, m, testCommit, req)
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestFeedbackExtremes weighs terms at the bounds of what there can be.
func TestFeedbackExtremes(t *testing.T) {
	const idf, share = 1<<23 - 1, MaxFeedback << 24
	heavy := tellingTerm{"heavy", share, share * idf}
	light := tellingTerm{"light", 1, 1}
	list := weighFeedback([]tellingTerm{heavy, light, {"none", 5, 0}}, MaxText/2*idf)
	if d := diff([]AddedTerm{{"heavy", 1 << 16}}, list[:1]); d != "" || len(list) != 1 {
		t.Errorf("%v", list)
	}
	if list := weighFeedback([]tellingTerm{{"none", 5, 0}}, idf); list != nil {
		t.Errorf("a term that no node has: %v", list)
	}
	if list := weighFeedback([]tellingTerm{{"t", 1, idf}}, 1); list != nil {
		t.Errorf("a weight below 1: %v", list)
	}
}

func TestFeedbackParam(t *testing.T) {
	var re *RequestError
	for _, n := range []int{-1, MaxFeedback + 1} {
		if err := (Request{Feedback: n}).Validate(); !errors.As(err, &re) || re.Param != "feedback" {
			t.Errorf("%d: %v", n, err)
		}
	}
	for _, n := range []int{0, 1, MaxFeedback} {
		params := encodeParams(Request{Feedback: n}.Resolve(), ipld.Sum(ipld.Raw, nil))
		v, ok := params.Get("feedback")
		if ok != (n > 0) || v.Int() != int64(n) {
			t.Errorf("%d: %v", n, v)
		}
		if back, err := decodeParams(params, "", nil); err != nil || back.Feedback != n {
			t.Errorf("%d comes back as %d, %v", n, back.Feedback, err)
		}
		line := ipld.MapValue(ipld.Entry{Key: "feedback", Value: ipld.IntValue(int64(n))})
		q, err := ParseRequestJSON(line, Request{})
		if err != nil || q.Request.Feedback != n {
			t.Errorf("%d: %d, %v", n, q.Request.Feedback, err)
		}
	}
	for _, v := range []ipld.Value{ipld.StringValue("3"), ipld.IntValue(21), ipld.IntValue(-1)} {
		line := ipld.MapValue(ipld.Entry{Key: "feedback", Value: v})
		if _, err := ParseRequestJSON(line, Request{}); !errors.As(err, &re) || re.Param != "feedback" {
			t.Errorf("%v: %v", v, err)
		}
	}
}
