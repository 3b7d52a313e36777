package stage

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// memory is a Graph and an Index over maps. Its text lane counts occurrences of words in the
// summary; stop words are "the" and "of".
type memory struct {
	nodes    map[graph.ID]*graph.Node
	marks    map[graph.ID]*graph.Mark // on nodes
	edgeMark map[graph.ID]*graph.Mark
	out, in  map[graph.ID][]source.Link
	scores   map[graph.ID]int64 // where set, replaces the count of words
	shuffle  *rand.Rand         // where set, disturbs every order that nothing may depend on
	failOn   string             // name of the method that fails
	buckets  int                // calls of Bucket
	entries  int                // that Bucket returned
	vectors  map[string]map[graph.ID]fakeVector
}

func newMemory() *memory {
	return &memory{
		nodes:    map[graph.ID]*graph.Node{},
		marks:    map[graph.ID]*graph.Mark{},
		edgeMark: map[graph.ID]*graph.Mark{},
		out:      map[graph.ID][]source.Link{},
		in:       map[graph.ID][]source.Link{},
		vectors:  map[string]map[graph.ID]fakeVector{},
	}
}

// add stores a node; it has the id of its key or, without one, the given id.
func (m *memory) add(n graph.Node) graph.ID {
	if n.Key != "" {
		n.ID = graph.NodeID(n.Key)
	}
	if n.Type == "" {
		n.Type = "Note"
	}
	if err := n.Validate(); err != nil {
		panic(err)
	}
	m.nodes[n.ID] = &n
	return n.ID
}

func (m *memory) mark(id graph.ID, s graph.State) {
	m.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: s, Actor: "tester"}
}

func (m *memory) markEdge(id graph.ID, s graph.State) {
	m.edgeMark[id] = &graph.Mark{On: graph.OnEdge, ID: id, State: s, Actor: "tester"}
}

// link adds an edge and returns its id.
func (m *memory) link(src graph.ID, typ string, dst graph.ID, weight int64) graph.ID {
	id := graph.EdgeID(src, typ, dst, fmt.Sprint(len(m.out[src])))
	m.out[src] = insertLink(m.out[src], source.Link{Type: typ, Other: dst, Edge: id, Weight: weight})
	m.in[dst] = insertLink(m.in[dst], source.Link{Type: typ, Other: src, Edge: id, Weight: weight})
	return id
}

func compareLinks(a, b source.Link) int {
	if c := strings.Compare(a.Type, b.Type); c != 0 {
		return c
	}
	if c := a.Other.Compare(b.Other); c != 0 {
		return c
	}
	return a.Edge.Compare(b.Edge)
}

func insertLink(links []source.Link, l source.Link) []source.Link {
	i, _ := slices.BinarySearchFunc(links, l, compareLinks)
	return slices.Insert(links, i, l)
}

func (m *memory) fail(method string) error {
	if m.failOn == method {
		return fmt.Errorf("%s: %w", method, errBroken)
	}
	return nil
}

func (m *memory) Node(_ context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	if err := m.fail("Node"); err != nil {
		return nil, ipld.CID{}, err
	}
	n := m.nodes[id]
	if n == nil {
		return nil, ipld.CID{}, fmt.Errorf("%w: %s", source.ErrNoNode, id)
	}
	return n, ipld.Sum(ipld.DagCBOR, id[:]), nil
}

func (m *memory) Mark(_ context.Context, on graph.Target, id graph.ID) (*graph.Mark, error) {
	if on == graph.OnEdge {
		return m.edgeMark[id], m.fail("Mark")
	}
	return m.marks[id], m.fail("Mark")
}

func (m *memory) Bucket(_ context.Context, q source.BucketQuery) ([]source.Link, int, error) {
	m.buckets++
	bucket := m.out[q.Node]
	if q.Direction == retrieve.In {
		bucket = m.in[q.Node]
	}
	var all, page []source.Link
	for _, l := range bucket {
		if len(q.Types) > 0 && !slices.Contains(q.Types, l.Type) {
			continue
		}
		all = append(all, l)
		if (q.After == nil || compareLinks(l, *q.After) > 0) && len(page) < q.Limit {
			page = append(page, l)
		}
	}
	m.entries += len(page)
	if !q.Count {
		return page, 0, m.fail("Bucket")
	}
	return page, len(all), m.fail("Bucket")
}

func (m *memory) IDPrefix(_ context.Context, digits string) (graph.ID, bool, error) {
	var found []graph.ID
	for id := range m.nodes {
		if strings.HasPrefix(strings.ReplaceAll(id.String(), "-", ""), digits) {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return graph.ID{}, false, m.fail("IDPrefix")
	}
	return slices.MinFunc(found, graph.ID.Compare), len(found) == 1, m.fail("IDPrefix")
}

func (m *memory) Content(_ context.Context, c *graph.Content) (string, error) {
	return c.Text, m.fail("Content")
}

func (m *memory) ContentStart(_ context.Context, c *graph.Content, _ int) (string, error) {
	return c.Text, m.fail("Content")
}

func queryTerms(query string) (terms []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		if w != "the" && w != "of" && !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
	}
	return terms
}

func (m *memory) Text(
	_ context.Context, query source.TextQuery, accept source.Accept, k int,
) (source.TextResult, error) {
	terms := queryTerms(read(query))
	res := source.TextResult{Terms: len(terms)}
	known := map[string]bool{}
	for id, n := range m.nodes {
		words := queryTermsAll(n.Summary)
		var score int64
		for _, t := range terms {
			for _, w := range words {
				if w == t {
					score++
					known[t] = true
				}
			}
		}
		if s, ok := m.scores[id]; ok && score > 0 {
			score = s
		}
		ok, err := accept(source.NodeDocument(n))
		if err != nil {
			return res, err
		}
		if score > 0 && ok {
			res.Hits = append(res.Hits, source.Hit{ID: id, Score: score})
		}
	}
	res.Known = len(known)
	res.Hits = m.cut(res.Hits, k)
	return res, m.fail("Text")
}

func (m *memory) TermScores(
	_ context.Context, query source.TextQuery, ids []graph.ID, only []int,
) ([][]int64, error) {
	terms := queryTerms(read(query))
	rows := make([][]int64, len(ids))
	for i, id := range ids {
		n := m.nodes[id]
		if n == nil {
			continue
		}
		rows[i] = make([]int64, len(terms))
		sum := int64(0)
		for _, w := range queryTermsAll(n.Summary) {
			if t := slices.Index(terms, w); t >= 0 {
				rows[i][t]++
				sum++
			}
		}
		if s, ok := m.scores[id]; ok && sum > 0 {
			for t, n := range rows[i] {
				rows[i][t] = s * n / sum // about: what matters is that each has its part
			}
		}
		if only != nil {
			row := make([]int64, len(only))
			for j, t := range only {
				row[j] = rows[i][t]
			}
			rows[i] = row
		}
	}
	return rows, m.fail("TermScores")
}

func (m *memory) TermWeights(_ context.Context, query source.TextQuery) ([]source.TermWeight, error) {
	var out []source.TermWeight
	for _, term := range queryTerms(read(query)) {
		w := source.TermWeight{Term: term}
		for _, n := range m.nodes {
			if slices.Contains(queryTermsAll(n.Summary), term) {
				w.Weight = 1 << 16 / int64(len(term))
			}
		}
		out = append(out, w)
	}
	return out, m.fail("TermWeights")
}

func (m *memory) Counts(_ context.Context, terms []string) (having []int64, nodes int64, err error) {
	having = make([]int64, len(terms))
	for i, term := range terms {
		for _, n := range m.nodes {
			if slices.Contains(queryTermsAll(n.Summary), term) {
				having[i]++
			}
		}
	}
	return having, int64(len(m.nodes)), m.fail("Counts")
}

func (m *memory) IDFs(_ context.Context, terms []string) ([]int64, error) {
	return make([]int64, len(terms)), m.fail("IDFs")
}

// titled returns the nodes with a title, none if it is no title or too many have it.
func (m *memory) titled(summary string) []graph.ID {
	title := queryTermsAll(summary)
	var ids []graph.ID
	for id, n := range m.nodes {
		if len(title) > 0 && len(title) <= 8 && slices.Equal(queryTermsAll(n.Summary), title) {
			ids = append(ids, id)
		}
	}
	if len(ids) > 4 {
		return nil
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return ids
}

func (m *memory) Mentioned(_ context.Context, text string) (longer, single []graph.ID, err error) {
	var ids []graph.ID
	for id, n := range m.nodes {
		if m.HasTitle(text, n.Summary) && len(m.titled(n.Summary)) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return nil, ids, m.fail("Mentioned")
}

func (m *memory) Mentioning(_ context.Context, summary string, most int) ([]graph.ID, error) {
	var ids []graph.ID
	if len(m.titled(summary)) == 0 {
		return nil, m.fail("Mentioning")
	}
	df := map[string]int{}
	for id, n := range m.nodes {
		words := queryTermsAll(n.Summary)
		if n.Content != nil {
			words = append(words, queryTermsAll(n.Content.Text)...)
			ids = append(ids, id) // more than have it: who asks looks for himself
		}
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			df[w]++
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	for _, w := range queryTermsAll(summary) {
		if df[w] <= most {
			return ids, m.fail("Mentioning")
		}
	}
	return nil, m.fail("Mentioning")
}

func (m *memory) TitlesNamed(_ context.Context, query source.TextQuery, ids []graph.ID) ([][]int, error) {
	text := read(query)
	terms := queryTerms(text)
	out := make([][]int, len(ids))
	for n, id := range ids {
		summary := m.nodes[id].Summary
		if !m.HasTitle(text, summary) {
			continue
		}
		for _, w := range queryTermsAll(summary) {
			if i := slices.Index(terms, w); i >= 0 && !slices.Contains(out[n], i) {
				out[n] = append(out[n], i)
			}
		}
	}
	return out, m.fail("TitlesNamed")
}

func (m *memory) HasTitle(text, summary string) bool {
	words, title := queryTermsAll(text), queryTermsAll(summary)
	for i := range words {
		if len(title) > 0 && len(title) <= 8 && len(words)-i >= len(title) &&
			slices.Equal(words[i:i+len(title)], title) {
			return true
		}
	}
	return false
}

func queryTermsAll(s string) []string { return strings.Fields(strings.ToLower(s)) }

func (m *memory) Recency(_ context.Context, accept source.Accept, k int) ([]source.Hit, error) {
	var hits []source.Hit
	for id, n := range m.nodes {
		ok, err := accept(source.NodeDocument(n))
		if err != nil {
			return nil, err
		}
		t := n.Created
		if n.Updated.Given {
			t = n.Updated.Time
		}
		if ok {
			hits = append(hits, source.Hit{ID: id, Score: max(int64(t), 0)})
		}
	}
	return m.cut(hits, k), m.fail("Recency")
}

func (m *memory) ByTime(
	_ context.Context, score func(source.Times) int64, accept source.Accept, k int,
) ([]source.Hit, error) {
	var hits []source.Hit
	for id, n := range m.nodes {
		ok, err := accept(source.NodeDocument(n))
		if err != nil {
			return nil, err
		}
		if s := score(source.NodeDocument(n).Times()); ok && s > 0 {
			hits = append(hits, source.Hit{ID: id, Score: s})
		}
	}
	return m.cut(hits, k), m.fail("ByTime")
}

func (m *memory) Times(_ context.Context, ids []graph.ID) ([]source.Times, []bool, error) {
	times, ok := make([]source.Times, len(ids)), make([]bool, len(ids))
	for i, id := range ids {
		if n := m.nodes[id]; n != nil {
			times[i], ok[i] = source.NodeDocument(n).Times(), true
		}
	}
	return times, ok, m.fail("Times")
}

func (m *memory) Types(_ context.Context, ids []graph.ID) ([]string, error) {
	types := make([]string, len(ids))
	for i, id := range ids {
		if n := m.nodes[id]; n != nil {
			types[i] = n.Type
		}
	}
	return types, m.fail("Types")
}

// cut keeps the best k hits, in a disturbed order if the memory is to disturb.
func (m *memory) cut(hits []source.Hit, k int) []source.Hit {
	slices.SortFunc(hits, func(a, b source.Hit) int {
		if a.Score != b.Score {
			return int(b.Score - a.Score)
		}
		return a.ID.Compare(b.ID)
	})
	hits = hits[:min(k, len(hits))]
	if m.shuffle != nil {
		m.shuffle.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
	}
	return hits
}

// ofAll returns a request for items of every band.
func ofAll(req retrieve.Request) retrieve.Request {
	if req.Floor == "" {
		req.Floor = retrieve.FloorRest
	}
	return req
}

// ask runs a request and fails the test on an error.
func (m *memory) ask(t testing.TB, req retrieve.Request) *retrieve.Answer {
	t.Helper()
	return must.Get(Runner{}.Run(t.Context(), m, m, testCommit, ofAll(req)))(t, "run ", req)
}

// ids returns the ids of an answer's items in order.
func ids(a *retrieve.Answer) []graph.ID {
	out := []graph.ID{}
	for _, item := range a.Items {
		out = append(out, item.ID)
	}
	return out
}

// codes returns the codes of an answer's warnings in order.
func codes(a *retrieve.Answer) []retrieve.Code {
	out := []retrieve.Code{}
	for _, w := range a.Warnings {
		out = append(out, w.Code)
	}
	return out
}

// keptParams returns the parameters of a request as a receipt has them.
func keptParams(req retrieve.Request) ipld.Value {
	receipt, _ := (&retrieve.Answer{Request: req}).Receipt()
	return receipt.Params
}

// diff reports how got differs from want, "" if it does not.
func diff(want, got any) string {
	return differ.Diff(want, got, cmp.Comparer(func(a, b ipld.CID) bool { return a == b }))
}

// num returns an id that sorts as n.
func num(n int) graph.ID {
	var id graph.ID
	binary.BigEndian.PutUint64(id[:], uint64(n)+1)
	return id
}

// seeded returns a random source and prints its seed, so that a failure can be run again.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// testCommit stands for the commit that memory is at.
var testCommit = ipld.Sum(ipld.DagCBOR, []byte("commit"))

// refusedGolden names the parameter that an error refuses, nil without an error.
func refusedGolden(t testing.TB, err error) any {
	t.Helper()
	var refused *retrieve.RequestError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		t.Fatal(err)
	}
	return map[string]any{"error": refused.Param}
}

// manyIDs returns n different ids.
func manyIDs(n int) []graph.ID {
	ids := make([]graph.ID, n)
	for i := range ids {
		ids[i] = num(i)
	}
	return ids
}

// parsed reads a JSON value of a test case.
func parsed(t testing.TB, s string) ipld.Value {
	t.Helper()
	return must.Get(ipld.ParseJSON([]byte(s)))(t, s)
}

// testProfiles are profiles of a repository.
func testProfiles() *retrieve.Profiles {
	params := func(entries ...ipld.Entry) []ipld.Entry {
		ipld.SortEntries(entries)
		return entries
	}
	number := func(name string, n int64) ipld.Entry { return ipld.Entry{Key: name, Value: ipld.IntValue(n)} }
	return &retrieve.Profiles{Default: "team", Named: map[string]retrieve.Profile{
		"team": {Types: []string{"Note", "Person"}, Params: params(number("limit", 5),
			number("adjacency", 2),
			ipld.Entry{Key: "dedup", Value: ipld.BoolValue(true)})},
		"notes": {Types: []string{"Note"}, Params: params(number("expand", 0))},
		"lanes": {Params: params(
			ipld.Entry{Key: "weights", Value: ipld.MapValue(number("text", 9), number("dense:m", 8))},
			ipld.Entry{Key: "edgeWeights", Value: ipld.MapValue(number("owns", 7))})},
		"ranks": {Params: params(ipld.Entry{Key: "fusion", Value: ipld.StringValue("rrf")})},
		"later": {Params: params(number("later", 1))},
		"chat":  {},
	}}
}

// fullRequest sets every parameter.
func fullRequest() retrieve.Request {
	return retrieve.Request{
		Vectors: vectorOf("m", 1, -2),
		Fusion:  retrieve.ScoreNorm,
		Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 0}, {Lane: retrieve.LaneDense("m"), Weight: retrieve.MaxWeight}},
		Text:    "web `alice`",
		Types:   []string{"Service", "Person", "Service"},
		Where: []retrieve.Predicate{
			{Name: "z", Op: retrieve.Missing},
			{Name: "kind", Op: retrieve.OneOf, Value: ipld.ListValue(ipld.IntValue(1), ipld.StringValue("x"))},
		},
		TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(-5), CreatedTo: graph.At(1000),
			UpdatedFrom: graph.At(0), UpdatedTo: graph.At(1001), ValidAt: graph.At(7)},

		Marks: []graph.State{graph.Retired, graph.Expired},
		Limit: new(5), Budget: new(0), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2),
			ExpandTypes: []string{"owns", "feeds"}, Direction: retrieve.Out},

		OutputOptions: retrieve.OutputOptions{Adjacency: 2, Show: []string{retrieve.ShowTimes, retrieve.ShowKey},
			SummaryCap: new(0), Order: retrieve.ByTime},
		Exclusions: retrieve.Exclusions{Exclude: []graph.ID{num(9), num(8), num(9)}, UnseenFrom: 7}, Dedup: true,
	}
}

// withParam returns params with one entry replaced, added or, without value, removed.
func withParam(params ipld.Value, key string, value *ipld.Value) ipld.Value {
	entries := slices.DeleteFunc(slices.Clone(params.Entries()), func(e ipld.Entry) bool { return e.Key == key })
	if value != nil {
		entries = append(entries, ipld.Entry{Key: key, Value: *value})
	}
	return ipld.MapValue(entries...)
}

// judge is a Reranker that scores by the text, or fails.
type judge struct {
	score func(text string) int64
	err   error
	short bool // leaves one score out
	texts []string
	query string
}

func (j *judge) Model() string { return "judge:1" }

func (j *judge) Rerank(_ context.Context, query string, texts []string) ([]int64, error) {
	j.query, j.texts = query, texts
	var out []int64
	for _, s := range texts {
		out = append(out, j.score(s))
	}
	if j.short {
		out = out[1:]
	}
	return out, j.err
}

// manyTerms are n terms of a length of at least 5.
func manyTerms(n, length int) []graph.Term {
	out := make([]graph.Term, n)
	for i := range out {
		out[i] = graph.Term{Term: fmt.Sprintf("%0*d", length, i), Weight: 1<<31 - 1}
	}
	return out
}

func sparseOf(model string, terms ...graph.Term) []retrieve.SparseVector {
	return []retrieve.SparseVector{{Model: model, Terms: terms}}
}

func vectorOf(model string, values ...int8) []retrieve.QueryVector {
	return []retrieve.QueryVector{{Model: model, Values: values}}
}

func (m *memory) markBy(id graph.ID, s graph.State, by graph.ID) {
	m.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: s, By: by, Actor: "tester"}
}

func keysOf(a *retrieve.Answer) (keys string) {
	for _, it := range a.Items {
		keys += it.Key
	}
	return keys
}

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

// Readings reads a word that ends in q as the one without, if only that is known.
func (m *memory) Readings(_ context.Context, text string) (readings []retrieve.Reading, err error) {
	known := map[string]bool{}
	for _, n := range m.nodes {
		for _, w := range queryTermsAll(n.Summary) {
			known[w] = true
		}
	}
	for _, t := range queryTerms(text) {
		if as := strings.TrimSuffix(t, "q"); !known[t] && known[as] {
			readings = append(readings, retrieve.Reading{Word: t + "s", Term: t, As: as})
		}
	}
	return readings, m.fail("Readings")
}

// read returns the text as if it had the terms that its own are read as.
func read(q source.TextQuery) string {
	s := q.Text
	for _, r := range q.Readings {
		s = strings.ReplaceAll(s, r.Term, r.As)
	}
	return s
}
