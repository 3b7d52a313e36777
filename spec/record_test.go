package spec_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// record is the interface of all records.
type record interface{ Encode() []byte }

// decoders read the records of each layer.
var decoders = map[string]func(block []byte) (record, error){
	"node":      func(b []byte) (record, error) { return graph.DecodeNode(b) },
	"edge":      func(b []byte) (record, error) { return graph.DecodeEdge(b) },
	"mark":      func(b []byte) (record, error) { return graph.DecodeMark(b) },
	"embedding": func(b []byte) (record, error) { return graph.DecodeEmbedding(b) },
	"graph":     func(b []byte) (record, error) { return graph.DecodeGraph(b) },
	"commit":    func(b []byte) (record, error) { return commit.DecodeCommit(b) },
	"export":    func(b []byte) (record, error) { return commit.DecodeExport(b) },
	"operation": func(b []byte) (record, error) { return commit.DecodeOperation(b) },
	"redaction": func(b []byte) (record, error) { return commit.DecodeRedaction(b) },
	"tag":       func(b []byte) (record, error) { return commit.DecodeTag(b) },
	"stage":     func(b []byte) (record, error) { return commit.DecodeStage(b) },
	"receipt":   func(b []byte) (record, error) { return retrieve.DecodeReceipt(b) },
	"session":   func(b []byte) (record, error) { return retrieve.DecodeSession(b) },
	"written":   func(b []byte) (record, error) { return distill.DecodeWritten(b) },
	"profile":   func(b []byte) (record, error) { return retrieve.DecodeProfiles(b) },
}

type recordWant struct{ CID, JSON, Change, Error string }

// runRecord decodes a record and encodes it again: the same bytes, the CID, the JSON form.
func runRecord(t *testing.T, v vector) {
	var in struct{ Block string }
	var want recordWant
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	block := expand(t, in.Block)
	rec, err := decoders[v.Layer](block)
	if canonical := ipld.Check(block); (canonical != nil) != (v.Fails == "encoding") {
		t.Errorf("fails as %q, and its encoding is refused with %v", v.Fails, canonical)
	}
	if refusal(t, v, err) {
		return
	}
	must.True(t, bytes.Equal(rec.Encode(), block),
		"encoding the decoded record gives\n%x, want\n%x", rec.Encode(), block)
	same(t, "CID", ipld.Sum(ipld.DagCBOR, rec.Encode()).String(), want.CID)
	if want.JSON != "" {
		value := must.Get(ipld.DecodeValue(block))(t)
		same(t, "JSON form", string(ipld.AppendJSON(nil, value)), want.JSON)
	}
}

func runNode(t *testing.T, v vector) {
	var in struct {
		Block, Repeat string
		Times         int
	}
	parse(t, v.Input, &in)
	if in.Repeat == "" {
		runRecord(t, v)
		return
	}
	var want struct {
		Chunks  []string
		Content struct{ CID, JSON string }
	}
	parse(t, v.Expect, &want)
	content, chunks, err := graph.SplitContent(strings.Repeat(in.Repeat, in.Times), "")
	must.OK(t, err)
	got := []string{}
	for _, c := range chunks {
		got = append(got, c.CID.String())
	}
	same(t, "chunks", fmt.Sprint(got), fmt.Sprint(want.Chunks))
	node := &graph.Node{ID: graph.NodeID("k"), Key: "k", Type: "T", Content: content}
	value := must.Get(ipld.DecodeValue(node.Encode()))(t)
	inner, _ := value.Get("content")
	same(t, "content", ipld.Sum(ipld.DagCBOR, ipld.AppendValue(nil, inner)).String(), want.Content.CID)
}

func runEmbedding(t *testing.T, v vector) {
	var in struct {
		Block   string
		Numbers []string
	}
	parse(t, v.Input, &in)
	if in.Numbers == nil {
		runRecord(t, v)
		return
	}
	var xs []float64
	for _, s := range in.Numbers {
		x := must.Get(strconv.ParseFloat(s, 64))(t)
		xs = append(xs, x)
	}
	q, err := graph.Quantise(xs)
	if refusal(t, v, err) {
		return
	}
	var want struct{ Vector string }
	parse(t, v.Expect, &want)
	var got []byte
	for _, x := range q {
		got = append(got, byte(x))
	}
	same(t, "vector", hex.EncodeToString(got), want.Vector)
}

func runCommit(t *testing.T, v vector) {
	runRecord(t, v)
	var in struct{ Block string }
	var want recordWant
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	if want.Change == "" {
		return
	}
	c := must.Get(commit.DecodeCommit(expand(t, in.Block)))(t)
	id := commit.ChangeID(c)
	same(t, "change id", hex.EncodeToString(id[:]), want.Change)
}

func runOperation(t *testing.T, v vector) {
	var in struct {
		Block     string
		View      map[string]string
		Last      uint64
		Good, Bad []string
	}
	parse(t, v.Input, &in)
	switch {
	case in.View != nil:
		runView(t, v, in.View)
	case in.Last > 0:
		got := [][2]uint64{}
		for seq := uint64(1); seq <= in.Last; seq++ {
			if to := commit.Skip(seq); to != 0 {
				got = append(got, [2]uint64{seq, to})
			}
		}
		var want struct{ Skips [][2]uint64 }
		parse(t, v.Expect, &want)
		same(t, "skips", fmt.Sprint(got), fmt.Sprint(want.Skips))
	case in.Good != nil:
		for _, name := range in.Good {
			must.OK(t, graph.ValidateRef(graph.RefName(name)), name, " is refused")
		}
		for _, name := range in.Bad {
			must.Fail(t, graph.ValidateRef(graph.RefName(name)), graph.ErrInvalid, name)
		}
	default:
		runRecord(t, v)
	}
}

func runView(t *testing.T, v vector, view map[string]string) {
	var want struct{ Root string }
	parse(t, v.Expect, &want)
	entries := map[string][]byte{}
	for name, target := range view {
		entries[name] = ipld.AppendString(nil, target)
		if c, err := ipld.ParseCID(target); err == nil {
			entries[name] = ipld.AppendLink(nil, c)
		}
	}
	m := must.Get(prolly.NewNodes(mem.New().Facts(), nil).Build(t.Context(), ascending(entries)))(t)
	same(t, "root", m.Root().String(), want.Root)
}

type idsInput struct {
	NodeKey *string
	Node    string
	N       uint64
	Edge    *struct{ Src, Type, Dst, Key string }
	UUID    *string
}

func runIDs(t *testing.T, v vector) {
	var in idsInput
	var want struct{ ID, UUID, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	var id graph.ID
	switch {
	case in.NodeKey != nil:
		id = graph.NodeID(*in.NodeKey)
	case in.Edge != nil:
		src, dst := graph.ID(expand(t, in.Edge.Src)), graph.ID(expand(t, in.Edge.Dst))
		id = graph.EdgeID(src, in.Edge.Type, dst, in.Edge.Key)
	case in.UUID != nil:
		var err error
		id, err = graph.ParseID(*in.UUID)
		if refusal(t, v, err) {
			return
		}
	default:
		id = graph.ContentID(contentRecord(t, in.Node), in.N)
	}
	same(t, "id", hex.EncodeToString(id[:]), want.ID)
	if want.UUID != "" {
		same(t, "text form", id.String(), want.UUID)
	}
}

// contentRecord is the record C of clause 4.1 for a node given in JSON form without its id.
func contentRecord(t *testing.T, text string) []byte {
	t.Helper()
	value := must.Get(ipld.ParseJSON([]byte(text)))(t)
	entries := slices.Clone(value.Entries())
	id := graph.NodeID("any")
	entries = append(entries, ipld.Entry{Key: "id", Value: ipld.BytesValue(id[:])})
	if _, given := value.Get("created"); !given {
		entries = append(entries, ipld.Entry{Key: "created", Value: ipld.IntValue(0)})
	}
	n := must.Get(graph.DecodeNode(ipld.AppendValue(nil, ipld.MapValue(entries...))))(t)
	return n.Canonical()
}

type adjacencyInput struct{ Nodes, Edges, Marks []string }

// runAdjacency builds the trees of a graph from its records.
func runAdjacency(t *testing.T, v vector) {
	var in adjacencyInput
	parse(t, v.Input, &in)
	trees := map[string]map[string][]byte{"nodes": {}, "edges": {}, "marks": {}, "out": {}, "in": {}}
	put := func(tree string, key, block []byte) {
		trees[tree][string(key)] = ipld.AppendLink(nil, ipld.Sum(ipld.DagCBOR, block))
	}
	for _, h := range in.Nodes {
		n := must.Get(graph.DecodeNode(expand(t, h)))(t)
		put("nodes", n.ID[:], n.Encode())
	}
	for _, h := range in.Edges {
		e := must.Get(graph.DecodeEdge(expand(t, h)))(t)
		put("edges", e.ID[:], e.Encode())
		trees["out"][string(adjacency.OutKey(e))] = adjacency.Value(e)
		trees["in"][string(adjacency.InKey(e))] = adjacency.Value(e)
	}
	for _, h := range in.Marks {
		m := must.Get(graph.DecodeMark(expand(t, h)))(t)
		put("marks", graph.MarkKey(m.On, m.ID), m.Encode())
	}
	checkAdjacency(t, v, trees)
}

func checkAdjacency(t *testing.T, v vector, trees map[string]map[string][]byte) {
	t.Helper()
	var want struct {
		Graph, JSON, OutRoot, InRoot string
		Out, In                      []string
	}
	parse(t, v.Expect, &want)
	nodes := prolly.NewNodes(mem.New().Facts(), nil)
	roots := map[string]ipld.CID{}
	for name, entries := range trees {
		m := must.Get(nodes.Build(t.Context(), ascending(entries)))(t)
		roots[name] = m.Root()
	}
	if want.Graph == "" {
		for side, keys := range map[string][]string{"out": want.Out, "in": want.In} {
			i := 0
			for e := range ascending(trees[side]) {
				same(t, side, hex.EncodeToString(e.Key), keys[i])
				i++
			}
		}
		same(t, "root of out", roots["out"].String(), want.OutRoot)
		same(t, "root of in", roots["in"].String(), want.InRoot)
		return
	}
	g := &graph.Graph{Nodes: roots["nodes"], Edges: roots["edges"], Marks: roots["marks"],
		Out: roots["out"], In: roots["in"], Counts: graph.Counts{
			Nodes: uint64(len(trees["nodes"])), Edges: uint64(len(trees["edges"])),
			Marks: uint64(len(trees["marks"]))}}
	same(t, "graph", ipld.Sum(ipld.DagCBOR, g.Encode()).String(), want.Graph)
}
