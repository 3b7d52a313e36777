package stage

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// shelves is a memory of n notes; note i has the word "web" n - i times and its number as context.
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
	d := retrieve.CompareReceipts(r, again)
	must.True(t, d == nil, "%+v", d)
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
		must.True(t, slices.Equal(order(a), want) && slices.Equal(codes(a), []retrieve.Code{retrieve.NotReranked}) &&
			a.Request.Reranked == nil, "%s: %v, warnings %v", name, order(a), codes(a))
		text := a.Warnings[0].Message()
		must.True(t, strings.Contains(text, "judge:1"), "%v", text)
		replayed(t, m, a)
	}
	// One node alone is not worth a question, and no answer to it is missed.
	j := &judge{score: fine}
	a := m.ask(t, retrieve.Request{Text: "web", RerankOptions: retrieve.RerankOptions{Reranker: j, RerankTop: new(1)}})
	must.True(t, len(a.Warnings) == 0 && j.texts == nil, "asked %q, warnings %v", j.texts, a.Warnings)
	a = m.ask(t, retrieve.Request{RerankOptions: retrieve.RerankOptions{Reranker: j}})
	must.True(t, slices.Equal(codes(a), []retrieve.Code{retrieve.NotReranked}) && j.texts == nil,
		"blank: asked %q, warnings %v", j.texts, a.Warnings)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	stop := &judge{score: func(string) int64 { cancel(why); return 0 }}
	must.Fail(t, must.Err(Runner{}.Run(ctx, m, m, testCommit, retrieve.Request{Text: "web",
		RerankOptions: retrieve.RerankOptions{Reranker: stop}})), why)
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
	must.True(t, err == nil && r.Rerank == "m" && *r.RerankTop == 3 && r.Reranker == nil &&
		slices.Equal(r.Reranked, []retrieve.RerankScore{{ID: num(3), Score: -1 << 15}}), "%+v, %v", r, err)
	q, err = complete.ParseRequestJSON(parsed(t, `{"text":"y"}`), base)
	must.True(t, err == nil && q.Request.Reranker == j, "%+v, %v", q.Request, err)
	q, err = complete.ParseRequestJSON(parsed(t, `{"rerank":""}`), base)
	must.True(t, err == nil && q.Request.Reranker == nil, "%+v, %v", q.Request, err)
}

// fakeModel embeds and rewrites, and notes what it is told.
type fakeModel struct {
	told    []string
	vectors [][]int8
	err     error
}

func (m *fakeModel) Model() string { return "m" }

func (m *fakeModel) Embed(_ context.Context, query string, answers []string) ([][]int8, error) {
	m.told = append(append(m.told, query), answers...)
	return m.vectors, m.err
}

func (m *fakeModel) Rewrite(_ context.Context, way, query string, n int) ([]string, error) {
	m.told = append(m.told, way+" "+query)
	return slices.Repeat([]string{"other words"}, n), m.err
}

func TestComplete(t *testing.T) {
	down := errors.New("down")
	for _, tt := range []struct {
		name   string
		req    retrieve.Request
		model  fakeModel
		told   []string
		adds   string // rewrites and vectors
		failed []string
	}{
		{"both", retrieve.Request{Text: "q", RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteMulti}},
			fakeModel{vectors: [][]int8{{127}}},
			[]string{"multi q", "q"}, "rv", nil},
		{"hyde", retrieve.Request{Text: "q", RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteHyde}},
			fakeModel{vectors: [][]int8{{127}, {127}}},
			[]string{"hyde q", "q", "other words"}, "rv", nil},
		{"has them", retrieve.Request{Text: "q",
			RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteMulti, Rewrites: []string{"r"}},
			Vectors:        []retrieve.QueryVector{{Model: "m", Values: []int8{1}}}}, fakeModel{}, nil, "rv", nil},
		{"another model's", retrieve.Request{Text: "q", Vectors: []retrieve.QueryVector{{Model: "n", Values: []int8{1}}}},
			fakeModel{vectors: [][]int8{{127}}}, []string{"q"}, "vv", nil},
		{"blank", retrieve.Request{Text: " \n",
			RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteMulti}}, fakeModel{}, nil, "", nil},
		{"down", retrieve.Request{Text: "q", RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteMulti}},
			fakeModel{err: down},
			[]string{"multi q", "q"}, "", []string{"rewrite down", "embed down: the answer is without embeddings"}},
		{"nothing", retrieve.Request{Text: "q"}, fakeModel{}, []string{"q"}, "",
			[]string{"embed the model m finds nothing to embed in the query"}},
	} {
		var failed []string
		m := &complete.Models{Embedder: &tt.model, Rewriter: &tt.model, Rewrites: 1, Failed: func(use string, err error) {
			failed = append(failed, use+" "+err.Error())
		}}
		got, err := m.Complete(t.Context(), tt.req)
		adds := strings.Repeat("r", len(got.Rewrites)) + strings.Repeat("v", len(got.Vectors))
		if err != nil || !slices.Equal(tt.model.told, tt.told) || adds != tt.adds || !slices.Equal(failed, tt.failed) {
			t.Errorf("%s: told %q, has %q, failed %q, %v", tt.name, tt.model.told, adds, failed, err)
		}
	}
}

// knowing is a model that tells how many words it knows.
type knowing struct {
	fakeModel
	share int
	ok    bool
}

func (m *knowing) Whole(texts ...string) (int, bool) {
	m.told = append(m.told, "whole: "+strings.Join(texts, ", "))
	return m.share, m.ok
}

// TestCompleteTellsShare: with the vector comes the share of whole words in the texts that it was made from, unless they
// have no words.
func TestCompleteTellsShare(t *testing.T) {
	for _, tt := range []struct {
		model   knowing
		rewrite string
		told    string
		want    []retrieve.WholeWords
	}{
		{knowing{fakeModel{vectors: [][]int8{{127}}}, 421, true}, "", "whole: q", []retrieve.WholeWords{{Model: "m", Share: 421}}},
		{knowing{fakeModel{vectors: [][]int8{{127}, {127}}}, 0, true}, retrieve.RewriteHyde, "whole: q, other words",
			[]retrieve.WholeWords{{Model: "m"}}},
		{knowing{fakeModel{vectors: [][]int8{{127}}}, 0, false}, "", "whole: q", nil},
	} {
		m := &complete.Models{Embedder: &tt.model, Rewriter: &tt.model, Rewrites: 1}
		got, err := m.Complete(t.Context(),
			retrieve.Request{Text: "q", RewriteOptions: retrieve.RewriteOptions{Rewrite: tt.rewrite}})
		if err == nil {
			err = got.Validate()
		}
		if last := tt.model.told[len(tt.model.told)-1]; err != nil || last != tt.told || !slices.Equal(got.Whole, tt.want) {
			t.Errorf("told %q, has %v, %v; want %q, %v", last, got.Whole, err, tt.told, tt.want)
		}
	}
}

func TestCompleteEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	model := &fakeModel{err: ctx.Err()}
	m := &complete.Models{Embedder: model, Failed: func(string, error) { t.Error("the model failed") }}
	must.Fail(t, must.Err(m.Complete(ctx, retrieve.Request{Text: "q"})), context.Canceled)
	var bad *retrieve.RequestError
	_, err := m.Complete(t.Context(),
		retrieve.Request{RerankOptions: retrieve.RerankOptions{Rerank: "jina:m"}})
	must.True(t, errors.As(err, &bad) && bad.Param == "rerank", "%v", err)
}

// TestMeanGolden freezes the mean of the vectors of a text and of hypothetical answers to it.
func TestMeanGolden(t *testing.T) {
	cases.Golden(t, "testdata/mean.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Vectors []string }
		cases.Parse(t, c.Input, &in)
		var list [][]int8
		for _, text := range in.Vectors {
			var values []int8
			for _, b := range cases.Bytes(t, text) {
				values = append(values, int8(b))
			}
			list = append(list, values)
		}
		mean, err := complete.MeanVector("m", list...)
		if refused := refusedGolden(t, err); refused != nil {
			return refused
		}
		var got []byte
		for _, x := range mean.Values {
			got = append(got, byte(x))
		}
		return map[string]any{"vector": hex.EncodeToString(got)}
	})
}

// TestUnseenGolden freezes which nodes a session has shown.
func TestUnseenGolden(t *testing.T) {
	ids := func(t testing.TB, texts []string) []graph.ID {
		var all []graph.ID
		for _, s := range texts {
			id := must.Get(graph.ParseID(s))(t)
			all = append(all, id)
		}
		return all
	}
	cases.Golden(t, "testdata/unseen.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Exclude []string
			Records []struct {
				Seq   int64
				Shows []string
			}
		}
		cases.Parse(t, c.Input, &in)
		records := func(yield func(complete.Shown, error) bool) {
			for _, r := range in.Records {
				if !yield(complete.Shown{Seq: r.Seq, IDs: ids(t, r.Shows)}, nil) {
					return
				}
			}
		}
		req, err := complete.ExcludeSeen(retrieve.Request{Exclusions: retrieve.Exclusions{Exclude: ids(t, in.Exclude),
			Unseen: true}}, records)
		must.OK(t, err)
		got := []string{}
		for _, id := range req.Exclude {
			got = append(got, id.String())
		}
		return map[string]any{"exclude": got, "unseenFrom": req.UnseenFrom}
	})
}
