package stage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

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
	_, err := m.Complete(ctx, retrieve.Request{Text: "q"})
	must.Fail(t, err, context.Canceled)
	var bad *retrieve.RequestError
	if _, err := m.Complete(t.Context(),
		retrieve.Request{RerankOptions: retrieve.RerankOptions{Rerank: "jina:m"}}); !errors.As(err,
		&bad) || bad.Param != "rerank" {
		t.Errorf("%v", err)
	}
}
