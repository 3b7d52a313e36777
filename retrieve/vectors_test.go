package retrieve

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
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
	_ context.Context, q QueryVector, accept Accept, k int, _ Shortlist,
) (DenseResult, error) {
	res := DenseResult{None: len(m.vectors[q.Model]) == 0}
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
		ok, err := accept(NodeDocument(m.nodes[id]))
		if err != nil {
			return res, err
		}
		if ok {
			res.Hits = append(res.Hits, Hit{id, score})
		}
	}
	res.Hits = m.cut(res.Hits, k)
	return res, m.fail("Dense")
}

func (m *memory) EmbeddedText(
	_ context.Context, id graph.ID, model string,
) ([sha256.Size]byte, error) {
	return m.vectors[model][id].text, m.fail("EmbeddedText")
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
		a := shelf().ask(t, Request{Text: text, Vectors: vectorOf("m", 1, 0), Expand: new(0)})
		if d := diff([]graph.ID{num(3), num(2), num(1)}, ids(a)); d != "" {
			t.Fatal(d)
		}
		if d := diff([]LaneHit{{"dense:m", 1, 40}}, a.Items[0].Lanes); d != "" {
			t.Error(d)
		}
		if a.Items[0].Score != 40 || len(a.Warnings) != 0 {
			t.Errorf("score %d, warnings %v", a.Items[0].Score, a.Warnings)
		}
	}
	a := shelf().ask(t, Request{Vectors: vectorOf("m", 0, 1)})
	if d := diff([]graph.ID{num(1), num(2)}, ids(a)); d != "" {
		t.Error(d)
	}
}

// TestDenseExpands expands from what a vector alone finds.
func TestDenseExpands(t *testing.T) {
	m := shelf()
	far := m.add(graph.Node{ID: num(9), Summary: "far", Created: 1})
	m.link(num(3), "x", far, 1<<16)
	a := m.ask(t, Request{Vectors: vectorOf("m", 1, 0), Expand: new(1)})
	if !slices.Contains(ids(a), far) || a.Items[0].Score != 1<<16 {
		t.Errorf("items %v", ids(a))
	}
}

// TestConvex weighs the lanes by hand: the text's best is 4, the vector's 40.
func TestConvex(t *testing.T) {
	a := shelf().ask(t, Request{Text: "a", Vectors: vectorOf("m", 1, 0), Expand: new(0), Ranking: PlainRanking})
	const one, half = 1 << 16, 1 << 15
	want := []Item{
		{ID: num(1), Score: (one*one + half*(1*one/40)) / (one + half)},
		{ID: num(2), Score: (one*(1*one/4) + half*(10*one/40)) / (one + half)},
		{ID: num(3), Score: half * one / (one + half)},
	}
	slices.SortFunc(want, func(a, b Item) int { return int(b.Score - a.Score) })
	for i, w := range want {
		if got := a.Items[i]; got.ID != w.ID || got.Score != w.Score {
			t.Errorf("%d: %s %d, want %s %d", i, got.ID, got.Score, w.ID, w.Score)
		}
	}
	lanes := []LaneHit{{LaneText, 1, 4}, {"dense:m", 3, 1}}
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
		a := m.ask(t, Request{Text: "a", Vectors: vectorOf("m", 1, 0), Expand: new(expand)})
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
	req := Request{Text: "a", Vectors: append(vectorOf("z", 1), vectorOf("m", 1, 0)...)}
	back := Request{Text: "a", Vectors: append(vectorOf("m", 1, 0), vectorOf("z", 1)...)}
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
		req  Request
		want []Code
	}{
		{"fine", shelf(), Request{Vectors: vectorOf("m", 1, 0)}, nil},
		{"no such model", shelf(), Request{Vectors: vectorOf("n", 1, 0)}, []Code{NoVectors}},
		{"dimensions", shelf(), Request{Vectors: vectorOf("m", 1)}, []Code{Dimension}},
		{"both", shelf(), Request{Text: "a",
			Vectors: append(vectorOf("n", 1), vectorOf("m", 1)...)}, []Code{NoVectors, Dimension}},
		{"stale", stale, Request{Vectors: vectorOf("m", 1, 0)}, []Code{StaleVectors}},
		{"stale by its content", chunked, Request{Vectors: vectorOf("m", 1, 0)},
			[]Code{StaleVectors}},
		{"stale, but not found", stale, Request{Vectors: vectorOf("m", 0, 1)}, nil},
		{"stale, but not among the items", stale, Request{Vectors: vectorOf("m", 1, 1),
			Types: []string{"Z"}}, []Code{NothingPasses, NoType}},
		{"stale, found by the text only", stale, Request{Text: "changed"}, nil},
		{"no terms", shelf(), Request{Text: "the", Vectors: vectorOf("m", 1, 0)}, []Code{NoTerms}},
		{"nothing of the text passes", shelf(), Request{Text: "zeta a", Types: []string{"Z"},
			Vectors: vectorOf("m", 1, 0)}, []Code{NothingPasses, NoType}},
		{"nothing of a blank text", shelf(), Request{Types: []string{"Z"},
			Vectors: vectorOf("m", 1, 0)}, []Code{NothingPasses, NoType}},
		{"nothing like it", shelf(), Request{Vectors: vectorOf("m", -1, -1)}, nil},
	} {
		if got := codes(c.m.ask(t, c.req)); !slices.Equal(got, append([]Code{}, c.want...)) {
			t.Errorf("%s: warnings %v, want %v", c.name, got, c.want)
		}
	}
	a := shelf().ask(t, Request{Vectors: vectorOf("n\n", 1)})
	text := a.Warnings[0].Message() + "; " + a.Warnings[0].Remedy()
	if strings.Contains(text, "\n") || !strings.Contains(text, `"n\n"`) ||
		!strings.HasSuffix(text, `there are: "m"`) {
		t.Error(text)
	}
	a = newMemory().ask(t, Request{Vectors: vectorOf("n", 1)})
	if text := a.Warnings[0].Remedy(); !strings.HasSuffix(text, "there are: none") {
		t.Error(text)
	}
	a = shelf().ask(t, Request{Vectors: vectorOf("m", 1)})
	if text := a.Warnings[0].Message(); !strings.HasPrefix(text, `vectors of "m"`) ||
		!strings.HasSuffix(text, ": 3") {
		t.Error(text)
	}
}

// withoutVectors is an index that lacks them.
type withoutVectors struct{ Index }

func TestDenseErrors(t *testing.T) {
	for _, method := range []string{"Dense", "EmbeddedText"} {
		m := shelf()
		m.failOn = method
		_, err := Run(t.Context(), m, m, testCommit, ofAll(Request{Vectors: vectorOf("m", 1, 0)}))
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	m := shelf()
	_, err := Run(t.Context(), m, withoutVectors{m}, testCommit, Request{Vectors: vectorOf("m", 1)})
	if err == nil || !strings.Contains(err.Error(), "no vectors") {
		t.Error(err)
	}
}

func TestVectorsValidate(t *testing.T) {
	many := func(n int) (list []QueryVector) {
		for i := range n {
			list = append(list, QueryVector{fmt.Sprint("m", i), []int8{1}})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		list   []QueryVector
		reason string // "" for none
	}{
		{"eight", many(8), ""},
		{"nine", many(9), "limit 8"},
		{"the most dimensions", vectorOf("m", slices.Repeat([]int8{1}, 1<<16)...), ""},
		{"one more", vectorOf("m", slices.Repeat([]int8{1}, 1<<16+1)...), "1 to 65536"},
		{"none", vectorOf("m"), "1 to 65536"},
		{"zeros", vectorOf("m", 0, 0), "all zeros"},
		{"-128", vectorOf("m", 1, -128), "-127 to 127"},
		{"no name", vectorOf("", 1), "must not be empty"},
		{"a long name", vectorOf(strings.Repeat("x", 255), 1), ""},
		{"a longer name", vectorOf(strings.Repeat("x", 256), 1), "limit 255"},
		{"NUL", vectorOf("a\x00b", 1), "NUL"},
		{"no UTF-8", vectorOf("\xff", 1), "UTF-8"},
		{"twice", append(vectorOf("m", 1), vectorOf("m", 2)...), "two vectors of the model"},
	} {
		err := Request{Vectors: c.list}.Validate()
		var re *RequestError
		if c.reason == "" && err != nil ||
			c.reason != "" && (!errors.As(err, &re) || re.Param != "vectors" ||
				!strings.Contains(re.Reason, c.reason)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.reason)
		}
	}
}

// TestNewQueryVector quantises as embeddings are, and refuses what they refuse.
func TestNewQueryVector(t *testing.T) {
	v, err := NewQueryVector("m", []float64{0.5, -1, 0.25, 0})
	if err != nil || !slices.Equal(v.Values, []int8{64, -127, 32, 0}) {
		t.Errorf("%v, %v", v, err)
	}
	for _, bad := range [][]float64{nil, {0}, {math.NaN()}, {math.Inf(1), 1}, {math.MaxFloat64},
		make([]float64, 1<<16+1)} {
		var re *RequestError
		if _, err := NewQueryVector("m", bad); !errors.As(err, &re) || re.Param != "vectors" ||
			!strings.HasPrefix(re.Reason, `"m": `) {
			t.Errorf("%d dimensions: %v", len(bad), err)
		}
	}
}

func TestParseVectorsJSON(t *testing.T) {
	base := Request{Text: "x", Vectors: vectorOf("old", 1)}
	q, err := ParseRequestJSON(parsed(t, `{"vectors":{"m":[1,-0.5],"b":[2]}}`), base)
	want := []QueryVector{{"b", []int8{127}}, {"m", []int8{127, -64}}}
	if d := diff(want, q.Request.Resolve().Vectors); d != "" || err != nil {
		t.Error(d, err)
	}
	q, err = ParseRequestJSON(parsed(t, `{"vectors":{}}`), base)
	if len(q.Request.Vectors) != 0 || err != nil {
		t.Errorf("%v, %v", q.Request.Vectors, err)
	}
	for _, bad := range []string{`[]`, `null`, `{"m":1}`, `{"m":["1"]}`, `{"m":[]}`, `{"m":[0]}`,
		`{"":[1]}`, `{"m":[1,null]}`, `{"m":{"x":1}}`} {
		var re *RequestError
		_, err := ParseRequestJSON(parsed(t, `{"vectors":`+bad+`}`), base)
		if !errors.As(err, &re) || re.Param != "vectors" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestVectorsReceipt keeps vectors, and fits where they are the largest there may be.
func TestVectorsReceipt(t *testing.T) {
	req := Request{Text: "a"}
	for i := range MaxVectors {
		req.Vectors = append(req.Vectors, QueryVector{
			Model:  strings.Repeat("\"", 254) + fmt.Sprint(i),
			Values: slices.Repeat([]int8{-127}, graph.MaxDims),
		})
	}
	a := &Answer{Commit: testCommit, Request: req.Resolve(), Engine: CurrentEngine(),
		Candidates: 1000}
	models := slices.Repeat([]string{strings.Repeat("x", 255)}, MaxModelsNamed)
	for i := range 1000 {
		a.Items = append(a.Items, Item{ID: num(i), Node: testCommit, Score: graph.MaxCount})
	}
	*a.Request.Limit, *a.Request.Budget = 0, 0
	for _, v := range req.Vectors {
		a.Warnings = append(a.Warnings, Warning{NoVectors, []ipld.Entry{
			{Key: paramModel, Value: ipld.StringValue(v.Model)},
			{Key: paramModels, Value: textList(models)}}})
	}
	r, query := a.Receipt()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	decoded, err := DecodeReceipt(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	again, err := decoded.Request(string(query))
	a.Request.Settled = true
	if d := diff(a.Request, again); d != "" || err != nil {
		t.Error(d, err)
	}
}
