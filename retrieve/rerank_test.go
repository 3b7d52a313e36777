package retrieve

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// judge is a judge that nothing asks.
type judge struct{}

func (judge) Model() string { return "judge:1" }

func (judge) Rerank(context.Context, string, []string) ([]int64, error) { return nil, nil }

func TestRerankRefused(t *testing.T) {
	scored := func(s int64) []RerankScore { return []RerankScore{{num(1), s}} }
	var many []RerankScore
	for i := range MaxRerankTop + 1 {
		many = append(many, RerankScore{num(i), 0})
	}
	for name, c := range map[string]struct {
		req   Request
		param string // "" for none
	}{
		"scores":       {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: scored(-MaxRerankScore)}}, ""},
		"200":          {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: many[1:], RerankTop: new(200)}}, ""},
		"201":          {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: many}}, "reranked"},
		"top 0":        {Request{RerankOptions: RerankOptions{Rerank: "m", RerankTop: new(0)}}, "rerankTop"},
		"top 201":      {Request{RerankOptions: RerankOptions{Rerank: "m", RerankTop: new(201)}}, "rerankTop"},
		"top alone":    {Request{RerankOptions: RerankOptions{RerankTop: new(9)}}, "rerankTop"},
		"scores alone": {Request{RerankOptions: RerankOptions{Reranked: scored(1)}}, "reranked"},
		"another":      {Request{RerankOptions: RerankOptions{Rerank: "m", Reranker: judge{}}}, "rerank"},
		"too great": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: scored(MaxRerankScore + 1)}},
			"reranked"},
		"too small": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: scored(-MaxRerankScore - 1)}},
			"reranked"},
		"no id": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: []RerankScore{{}}}}, "reranked"},
		"twice": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: append(scored(1),
			scored(2)...)}}, "reranked"},
		"NUL":  {Request{RerankOptions: RerankOptions{Rerank: "a\x00"}}, "rerank"},
		"long": {Request{RerankOptions: RerankOptions{Rerank: strings.Repeat("x", 256)}}, "rerank"},
	} {
		err := c.req.Validate()
		var re *RequestError
		if (err != nil) != (c.param != "") ||
			err != nil && (!errors.As(err, &re) || re.Param != c.param) {
			t.Errorf("%s: %v, want %q", name, err, c.param)
		}
	}
}
