package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// embed gives a node a vector of its text as it is now.
func (m *memory) embed(id graph.ID, model string, values ...int8) {
	if m.vectors[model] == nil {
		m.vectors[model] = map[graph.ID]fakeVector{}
	}
	n := m.nodes[id]
	content := ""
	if n.Content != nil {
		content = n.Content.Text
	}
	m.vectors[model][id] = fakeVector{values, graph.TextHash(n, content)}
}

// fakeVector is an embedding.
type fakeVector struct {
	values []int8
	text   [sha256.Size]byte
}

// Dense scores by the dot product, which is all that is asked of a fake.
func (m *memory) Dense(
	_ context.Context, q retrieve.QueryVector, accept source.Accept, k int, _ source.Shortlist,
) (source.DenseResult, error) {
	res := source.DenseResult{None: len(m.vectors[q.Model]) == 0}
	for model := range m.vectors {
		if res.None {
			res.Models = append(res.Models, model)
		}
	}
	slices.Sort(res.Models)
	for id, v := range m.vectors[q.Model] {
		if len(v.values) != len(q.Values) {
			res.Other++
			continue
		}
		var score int64
		for i, x := range v.values {
			score += int64(x) * int64(q.Values[i])
		}
		if score <= 0 { // as an index: only what would be found is asked about
			continue
		}
		ok, err := accept(source.NodeDocument(m.nodes[id]))
		if err != nil {
			return res, err
		}
		if ok {
			res.Hits = append(res.Hits, source.Hit{ID: id, Score: score})
		}
	}
	res.Hits = m.cut(res.Hits, k)
	return res, m.fail("Dense")
}

func (m *memory) Embedding(_ context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	v := m.vectors[model][id]
	e := &graph.Embedding{Model: model, DType: graph.Int8, Dims: len(v.values), Text: v.text}
	for _, x := range v.values {
		e.Data = append(e.Data, byte(x))
	}
	return e, m.fail("Embedding")
}

// shelf is three nodes: two with the word a, all with vectors by the model m.
func shelf() *memory {
	m := newMemory()
	m.add(graph.Node{ID: num(1), Summary: "a a a a", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "a b", Created: 2})
	m.add(graph.Node{ID: num(3), Summary: "c", Created: 3})
	m.embed(num(1), "m", 1, 2)
	m.embed(num(2), "m", 10, 1)
	m.embed(num(3), "m", 40, 0)
	return m
}

// TestDenseAlone is by the vector alone: its scores as they are, and no recency lane.
func TestDenseAlone(t *testing.T) {
	for _, text := range []string{"", " \n"} {
		a := shelf().ask(t, retrieve.Request{Text: text, Vectors: vectorOf("m", 1, 0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
		if d := diff([]graph.ID{num(3), num(2), num(1)}, ids(a)); d != "" {
			t.Fatal(d)
		}
		if d := diff([]retrieve.LaneHit{{Lane: "dense:m", Rank: 1, Score: 40}}, a.Items[0].Lanes); d != "" {
			t.Error(d)
		}
		if a.Items[0].Score != 40 || len(a.Warnings) != 0 {
			t.Errorf("score %d, warnings %v", a.Items[0].Score, a.Warnings)
		}
	}
	a := shelf().ask(t, retrieve.Request{Vectors: vectorOf("m", 0, 1)})
	if d := diff([]graph.ID{num(1), num(2)}, ids(a)); d != "" {
		t.Error(d)
	}
}

// TestDenseExpands expands from what a vector alone finds.
func TestDenseExpands(t *testing.T) {
	m := shelf()
	far := m.add(graph.Node{ID: num(9), Summary: "far", Created: 1})
	m.link(num(3), "x", far, 1<<16)
	a := m.ask(t, retrieve.Request{Vectors: vectorOf("m", 1, 0),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1)}})
	if !slices.Contains(ids(a), far) || a.Items[0].Score != 1<<16 {
		t.Errorf("items %v", ids(a))
	}
}

// TestConvex weighs the lanes by hand: the text's best is 4, the vector's 40.
func TestConvex(t *testing.T) {
	a := shelf().ask(t, retrieve.Request{Text: "a", Vectors: vectorOf("m", 1, 0),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Ranking: retrieve.PlainRanking})
	const one, half = 1 << 16, 1 << 15
	want := []retrieve.Item{
		{ID: num(1), Score: (one*one + half*(1*one/40)) / (one + half)},
		{ID: num(2), Score: (one*(1*one/4) + half*(10*one/40)) / (one + half)},
		{ID: num(3), Score: half * one / (one + half)},
	}
	slices.SortFunc(want, func(a, b retrieve.Item) int { return int(b.Score - a.Score) })
	for i, w := range want {
		if got := a.Items[i]; got.ID != w.ID || got.Score != w.Score {
			t.Errorf("%d: %s %d, want %s %d", i, got.ID, got.Score, w.ID, w.Score)
		}
	}
	lanes := []retrieve.LaneHit{{Lane: retrieve.LaneText, Rank: 1, Score: 4}, {Lane: "dense:m", Rank: 3, Score: 1}}
	if d := diff(lanes, a.Items[0].Lanes); d != "" {
		t.Error(d)
	}
	if a.Candidates != 3 {
		t.Errorf("%d candidates", a.Candidates)
	}
}

// TestDenseKeepsText has many vectors that are nearer than those of what the text finds: nodes with
// at least half of the best score of the text stay before them.
func TestDenseKeepsText(t *testing.T) {
	m := newMemory()
	for i := range 4 {
		m.add(graph.Node{ID: num(i), Summary: strings.Repeat("a ", 4-i), Created: 1})
	}
	for i := 10; i < 500; i++ {
		m.embed(m.add(graph.Node{ID: num(i), Summary: "noise", Created: 1}), "m", 100, 0)
	}
	for _, expand := range []int{0, 1} {
		a := m.ask(t, retrieve.Request{Text: "a", Vectors: vectorOf("m", 1, 0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(expand)}})
		if d := diff([]graph.ID{num(0), num(1), num(2)}, ids(a)[:3]); d != "" && expand == 0 {
			t.Error(d)
		}
		if a.Items[0].ID != num(0) || a.Items[1].ID != num(1) {
			t.Errorf("expand %d: %v", expand, ids(a))
		}
	}
}

// TestVectorOrder gives vectors in any order: nothing depends on it.
func TestVectorOrder(t *testing.T) {
	m := shelf()
	m.embed(num(1), "z", 5)
	req := retrieve.Request{Text: "a", Vectors: append(vectorOf("z", 1), vectorOf("m", 1, 0)...)}
	back := retrieve.Request{Text: "a", Vectors: append(vectorOf("m", 1, 0), vectorOf("z", 1)...)}
	x, _ := m.ask(t, req).Receipt()
	y, _ := m.ask(t, back).Receipt()
	if !slices.Equal(x.Encode(), y.Encode()) {
		t.Error("receipts differ")
	}
	if req.Vectors[0].Model != "z" {
		t.Error("the request was changed")
	}
}

func TestDenseWarnings(t *testing.T) {
	stale := shelf()
	stale.nodes[num(3)].Summary = "changed"
	chunked := shelf()
	chunked.nodes[num(2)].Content = &graph.Content{Text: "added", Size: 5}
	for _, c := range []struct {
		name string
		m    *memory
		req  retrieve.Request
		want []retrieve.Code
	}{
		{"fine", shelf(), retrieve.Request{Vectors: vectorOf("m", 1, 0)}, nil},
		{"no such model", shelf(), retrieve.Request{Vectors: vectorOf("n", 1, 0)}, []retrieve.Code{retrieve.NoVectors}},
		{"dimensions", shelf(), retrieve.Request{Vectors: vectorOf("m", 1)}, []retrieve.Code{retrieve.Dimension}},
		{"both", shelf(), retrieve.Request{Text: "a",
			Vectors: append(vectorOf("n", 1), vectorOf("m", 1)...)}, []retrieve.Code{retrieve.NoVectors, retrieve.Dimension}},
		{"stale", stale, retrieve.Request{Vectors: vectorOf("m", 1, 0)}, []retrieve.Code{retrieve.StaleVectors}},
		{"stale by its content", chunked, retrieve.Request{Vectors: vectorOf("m", 1, 0)},
			[]retrieve.Code{retrieve.StaleVectors}},
		{"stale, but not found", stale, retrieve.Request{Vectors: vectorOf("m", 0, 1)}, nil},
		{"stale, but not among the items", stale, retrieve.Request{Vectors: vectorOf("m", 1, 1),
			Types: []string{"Z"}}, []retrieve.Code{retrieve.NothingPasses, retrieve.NoType}},
		{"stale, found by the text only", stale, retrieve.Request{Text: "changed"}, nil},
		{"no terms", shelf(), retrieve.Request{Text: "the", Vectors: vectorOf("m", 1, 0)}, []retrieve.Code{retrieve.NoTerms}},
		{"nothing of the text passes", shelf(), retrieve.Request{Text: "zeta a", Types: []string{"Z"},
			Vectors: vectorOf("m", 1, 0)}, []retrieve.Code{retrieve.NothingPasses, retrieve.NoType}},
		{"nothing of a blank text", shelf(), retrieve.Request{Types: []string{"Z"},
			Vectors: vectorOf("m", 1, 0)}, []retrieve.Code{retrieve.NothingPasses, retrieve.NoType}},
		{"nothing like it", shelf(), retrieve.Request{Vectors: vectorOf("m", -1, -1)}, nil},
	} {
		if got := codes(c.m.ask(t, c.req)); !slices.Equal(got, append([]retrieve.Code{}, c.want...)) {
			t.Errorf("%s: warnings %v, want %v", c.name, got, c.want)
		}
	}
	a := shelf().ask(t, retrieve.Request{Vectors: vectorOf("n\n", 1)})
	text := a.Warnings[0].Message() + "; " + a.Warnings[0].Remedy()
	if strings.Contains(text, "\n") || !strings.Contains(text, `"n\n"`) ||
		!strings.HasSuffix(text, `there are: "m"`) {
		t.Error(text)
	}
	a = newMemory().ask(t, retrieve.Request{Vectors: vectorOf("n", 1)})
	if text := a.Warnings[0].Remedy(); !strings.HasSuffix(text, "there are: none") {
		t.Error(text)
	}
	a = shelf().ask(t, retrieve.Request{Vectors: vectorOf("m", 1)})
	if text := a.Warnings[0].Message(); !strings.HasPrefix(text, `vectors of "m"`) ||
		!strings.HasSuffix(text, ": 3") {
		t.Error(text)
	}
}

// withoutVectors is an index that lacks them.
type withoutVectors struct{ source.Index }

func TestDenseErrors(t *testing.T) {
	for _, method := range []string{"Dense", "Embedding"} {
		m := shelf()
		m.failOn = method
		_, err := Run(t.Context(), m, m, testCommit, ofAll(retrieve.Request{Vectors: vectorOf("m", 1, 0)}))
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	m := shelf()
	_, err := Run(t.Context(), m, withoutVectors{m}, testCommit, retrieve.Request{Vectors: vectorOf("m", 1)})
	if err == nil || !strings.Contains(err.Error(), "no vectors") {
		t.Error(err)
	}
}

func TestParseVectorsJSON(t *testing.T) {
	base := retrieve.Request{Text: "x", Vectors: vectorOf("old", 1)}
	q, err := complete.ParseRequestJSON(parsed(t, `{"vectors":{"m":[1,-0.5],"b":[2]}}`), base)
	want := []retrieve.QueryVector{{Model: "b", Values: []int8{127}}, {Model: "m", Values: []int8{127, -64}}}
	if d := diff(want, q.Request.Resolve().Vectors); d != "" || err != nil {
		t.Error(d, err)
	}
	q, err = complete.ParseRequestJSON(parsed(t, `{"vectors":{}}`), base)
	if len(q.Request.Vectors) != 0 || err != nil {
		t.Errorf("%v, %v", q.Request.Vectors, err)
	}
	for _, bad := range []string{`[]`, `null`, `{"m":1}`, `{"m":["1"]}`, `{"m":[]}`, `{"m":[0]}`,
		`{"":[1]}`, `{"m":[1,null]}`, `{"m":{"x":1}}`} {
		var re *retrieve.RequestError
		_, err := complete.ParseRequestJSON(parsed(t, `{"vectors":`+bad+`}`), base)
		if !errors.As(err, &re) || re.Param != "vectors" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestVectorsReceipt keeps vectors, and fits where they are the largest there may be.
func TestVectorsReceipt(t *testing.T) {
	req := retrieve.Request{Text: "a"}
	for i := range retrieve.MaxVectors {
		req.Vectors = append(req.Vectors, retrieve.QueryVector{
			Model:  strings.Repeat("\"", 254) + fmt.Sprint(i),
			Values: slices.Repeat([]int8{-127}, graph.MaxDims),
		})
	}
	a := &retrieve.Answer{Commit: testCommit, Request: req.Resolve(), Engine: retrieve.CurrentEngine(),
		Candidates: 1000}
	models := slices.Repeat([]string{strings.Repeat("x", 255)}, source.MaxModelsNamed)
	for i := range 1000 {
		a.Items = append(a.Items, retrieve.Item{ID: num(i), Node: testCommit, Score: graph.MaxCount})
	}
	*a.Request.Limit, *a.Request.Budget = 0, 0
	for _, v := range req.Vectors {
		a.Warnings = append(a.Warnings, retrieve.Warning{Code: retrieve.NoVectors, Params: []ipld.Entry{
			{Key: paramModel, Value: ipld.StringValue(v.Model)},
			{Key: paramModels, Value: source.TextList(models)}}})
	}
	r, query := a.Receipt()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	decoded, err := retrieve.DecodeReceipt(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	again, err := decoded.Request(string(query))
	a.Request.Settled = true
	if d := diff(a.Request, again); d != "" || err != nil {
		t.Error(d, err)
	}
}
