package stage

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// benchNode is of usual size: a paragraph and five properties.
func benchNode(i int) graph.Node {
	return graph.Node{
		ID: num(i), Type: "Note", Created: graph.Time(i),
		Context: "From the handbook, chapter on operations.",
		Summary: "a " + strings.Repeat("word after word ", 20),
		Props: []ipld.Entry{
			{Key: "n", Value: ipld.IntValue(int64(i))},
			{Key: "rate", Value: ipld.FloatValue(0.5)},
			{Key: "team", Value: ipld.StringValue("infra")},
			{Key: "owner", Value: ipld.StringValue("alice")},
			{Key: "status", Value: ipld.StringValue("open")},
		},
	}
}

func BenchmarkRender(b *testing.B) {
	n := benchNode(1)
	links := make([]source.Link, 10)
	for i := range links {
		links[i] = source.Link{Type: "owns", Other: num(i)}
	}
	for _, c := range []struct {
		name string
		o    render.RenderOptions
	}{
		{"plain", render.RenderOptions{SummaryCap: retrieve.DefaultSummaryCap}},
		{"adjacency=20", render.RenderOptions{Adjacency: render.Adjacency{Out: links, In: links}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				render.Render(&n, nil, c.o)
			}
		})
	}
}

// fixedIndex answers every search with the same hits, so that only the rest is measured.
type fixedIndex struct {
	*memory
	hits []source.Hit
}

func (x fixedIndex) Text(context.Context, source.TextQuery, source.Accept, int) (source.TextResult, error) {
	return source.TextResult{Hits: x.hits, Terms: 1, Known: 1}, nil
}

func (x fixedIndex) Recency(context.Context, source.Accept, int) ([]source.Hit, error) {
	return x.hits, nil
}

// BenchmarkRun answers over 1,000 candidates with 4 edges each.
func BenchmarkRun(b *testing.B) {
	m := newMemory()
	x := fixedIndex{memory: m}
	for i := range 1000 {
		m.add(benchNode(i))
		x.hits = append(x.hits, source.Hit{ID: num(i), Score: int64(2000 - i)})
	}
	for i := range 1000 {
		for j := range 4 {
			m.link(num(i), fmt.Sprint("t", j), num((i*7+j*13)%1000), 40_000)
		}
	}
	for _, c := range []struct {
		name string
		req  retrieve.Request
	}{
		{"limit=10", retrieve.Request{Text: "a", Budget: new(0)}},
		{"budget=500", retrieve.Request{Text: "a", Budget: new(500)}},
		{"all", retrieve.Request{Text: "a", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}}},
		{"expand=4", retrieve.Request{Text: "a", Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(4)}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(b.Context(), m, x, testCommit, c.req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
