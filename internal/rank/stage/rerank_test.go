package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// shelves is a memory of n notes; note i has the word "web" n - i times
// and its number as context.
func shelves(n int) *memory {
	m := newMemory()
	for i := range n {
		m.add(graph.Node{ID: num(i), Summary: strings.TrimSpace(strings.Repeat("web ", n-i)),
			Context: fmt.Sprint(i), Created: 1})
	}
	return m
}

// order returns the numbers of the items of shelves.
func order(a *retrieve.Answer) []int {
	var out []int
	for _, it := range a.Items {
		for i := range 1000 {
			if it.ID == num(i) {
				out = append(out, i)
			}
		}
	}
	return out
}

// replayed checks that the receipt of an answer gives it again without the model.
func replayed(t *testing.T, m *memory, a *retrieve.Answer) {
	t.Helper()
	r, text := a.Receipt()
	must.OK(t, r.Validate())
	decoded := must.Get(retrieve.DecodeReceipt(r.Encode()))(t)
	req := must.Get(decoded.Request(string(text), a.Request.Rewrites...))(t)
	must.Equal(t, diff(a.Request, req), "")
	again, _ := m.ask(t, req).Receipt()
	if d := retrieve.CompareReceipts(r, again); d != nil {
		t.Errorf("%+v", d)
	}
}

func TestRerankerFails(t *testing.T) {
	m := shelves(4)
	want := order(m.ask(t, retrieve.Request{Text: "web"}))
	fine := func(string) int64 { return 1 }
	for name, j := range map[string]*judge{
		"error":    {score: fine, err: errors.New("429")},
		"short":    {score: fine, short: true},
		"too much": {score: func(string) int64 { return retrieve.MaxRerankScore + 1 }},
	} {
		a := m.ask(t, retrieve.Request{Text: "web", RerankOptions: retrieve.RerankOptions{Reranker: j}})
		if !slices.Equal(order(a), want) || !slices.Equal(codes(a), []retrieve.Code{retrieve.NotReranked}) ||
			a.Request.Reranked != nil {
			t.Errorf("%s: %v, warnings %v", name, order(a), codes(a))
		}
		text := a.Warnings[0].Message()
		must.Check(t, strings.Contains(text, "judge:1"), "%v", text)
		replayed(t, m, a)
	}
	// One node alone is not worth a question, and no answer to it is missed.
	j := &judge{score: fine}
	a := m.ask(t, retrieve.Request{Text: "web", RerankOptions: retrieve.RerankOptions{Reranker: j, RerankTop: new(1)}})
	must.Check(t, len(a.Warnings) == 0 && j.texts == nil, "asked %q, warnings %v", j.texts, a.Warnings)
	a = m.ask(t, retrieve.Request{RerankOptions: retrieve.RerankOptions{Reranker: j}})
	must.Check(t, slices.Equal(codes(a), []retrieve.Code{retrieve.NotReranked}) && j.texts == nil,
		"blank: asked %q, warnings %v", j.texts, a.Warnings)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	stop := &judge{score: func(string) int64 { cancel(why); return 0 }}
	_, err := Runner{}.Run(ctx, m, m, testCommit, retrieve.Request{Text: "web",
		RerankOptions: retrieve.RerankOptions{Reranker: stop}})
	must.Fail(t, err, why)
	m.failOn = "Node"
	must.Fail(t, must.Err((Runner{}).Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "web",
		RerankOptions: retrieve.RerankOptions{Reranker: j}})), errBroken, "no node")
}

func TestRerankJSON(t *testing.T) {
	j := &judge{}
	base := retrieve.Request{Text: "x", RerankOptions: retrieve.RerankOptions{Reranker: j, Rerank: j.Model(),
		RerankTop: new(7)}}
	id := num(3).String()
	line := parsed(t, `{"rerank":"m","rerank-top":3,"reranked":{"`+id+`":-0.5}}`)
	q, err := complete.ParseRequestJSON(line, base)
	r := q.Request
	if err != nil || r.Rerank != "m" || *r.RerankTop != 3 || r.Reranker != nil ||
		!slices.Equal(r.Reranked, []retrieve.RerankScore{{ID: num(3), Score: -1 << 15}}) {
		t.Errorf("%+v, %v", r, err)
	}
	q, err = complete.ParseRequestJSON(parsed(t, `{"text":"y"}`), base)
	must.Check(t, err == nil && q.Request.Reranker == j, "%+v, %v", q.Request, err)
	q, err = complete.ParseRequestJSON(parsed(t, `{"rerank":""}`), base)
	must.Check(t, err == nil && q.Request.Reranker == nil, "%+v, %v", q.Request, err)
}
