package graph

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

func nested(depth int) ipld.Value {
	v := ipld.IntValue(1)
	for range depth {
		v = ipld.ListValue(v)
	}
	return v
}

// TestValidateNode breaks one rule of a valid node at a time.
func TestValidateNode(t *testing.T) {
	raw, record := ipld.Sum(ipld.Raw, nil), ipld.Sum(ipld.DagCBOR, nil)
	cases := []struct {
		field string
		edit  func(n *Node)
	}{
		{"id", func(n *Node) { n.ID = ID{} }},
		{"id", func(n *Node) { n.ID = ID{1} }},
		{"key", func(n *Node) { n.Key = "a\x00" }},
		{"key", func(n *Node) { n.Key = strings.ToUpper(someID) }},
		{"key", func(n *Node) { n.Key = strings.Repeat("k", MaxKey+1) }},
		{"type", func(n *Node) { n.Type = "" }},
		{"type", func(n *Node) { n.Type = "a\x00b" }},
		{"type", func(n *Node) { n.Type = "\xc3" }},
		{"summary", func(n *Node) { n.Summary = strings.Repeat("s", MaxText+1) }},
		{"context", func(n *Node) { n.Context = "\xed\xa0\x80" }},
		{"created", func(n *Node) { n.Created = MaxTime + 1 }},
		{"updated", func(n *Node) { n.Updated = At(n.Created) }},
		{"updated", func(n *Node) { n.Updated = At(MinTime - 1) }},
		{"validFrom", func(n *Node) { n.ValidFrom = At(math.MinInt64) }},
		{"validTo", func(n *Node) { n.ValidTo = n.ValidFrom }},
		{"sources", func(n *Node) { n.Sources = make([]string, 1) }},
		{"sources", func(n *Node) { n.Sources = strings.Split(strings.Repeat("x", MaxSources+1), "") }},
		{"sources", func(n *Node) { n.Sources = []string{strings.Repeat("s", MaxSource+1)} }},
		{"props", func(n *Node) { n.Props = []ipld.Entry{{Key: "b"}, {Key: "a"}} }},
		{"props", func(n *Node) { n.Props = []ipld.Entry{{Key: "a"}, {Key: "a"}} }},
		{"props", func(n *Node) { n.Props = []ipld.Entry{{Key: ""}} }},
		{"props", func(n *Node) { n.Props = make([]ipld.Entry, MaxProps+1) }},
		{"props.a", func(n *Node) { n.Props = []ipld.Entry{{Key: "a", Value: nested(33)}} }},
		{"props.a", func(n *Node) {
			n.Props = []ipld.Entry{{Key: "a", Value: ipld.FloatValue(math.NaN())}}
		}},
		{"props.a", func(n *Node) {
			n.Props = []ipld.Entry{{Key: "a", Value: ipld.ListValue(ipld.StringValue("\xff"))}}
		}},
		{"props.a", func(n *Node) {
			n.Props = []ipld.Entry{{Key: "a", Value: ipld.LinkValue(ipld.CID{})}}
		}},
		{"props.a", func(n *Node) {
			twice := ipld.MapValue(ipld.Entry{Key: "k"}, ipld.Entry{Key: "k"})
			n.Props = []ipld.Entry{{Key: "a", Value: twice}}
		}},
		{"props.a", func(n *Node) {
			n.Props = []ipld.Entry{{Key: "a", Value: ipld.MapValue(ipld.Entry{Key: "\xff"})}}
		}},
		{"content.size", func(n *Node) { n.Content = &Content{} }},
		{"content.size", func(n *Node) { n.Content = &Content{Text: "x", Size: 2} }},
		{"content.media", func(n *Node) { n.Content.Media = "text/plain" }},
		{"content.text", func(n *Node) {
			n.Content = &Content{Text: "x", Chunks: []ipld.CID{raw}, Size: MaxInline + 1}
		}},
		{"content.size", func(n *Node) {
			n.Content = &Content{Chunks: []ipld.CID{raw}, Size: MaxInline}
		}},
		{"content.chunks", func(n *Node) {
			n.Content = &Content{Chunks: []ipld.CID{raw}, Size: ipld.ChunkSize + 1}
		}},
		{"content.chunks", func(n *Node) {
			n.Content = &Content{Chunks: []ipld.CID{record}, Size: MaxInline + 1}
		}},
		{"summary", func(n *Node) { n.Extra = []ipld.Entry{{Key: "summary"}} }},
		{"kind", func(n *Node) { n.Extra = []ipld.Entry{{Key: "kind"}} }},
		{"x", func(n *Node) { n.Extra = []ipld.Entry{{Key: "x", Value: nested(64)}} }},
		{"", func(n *Node) { n.Extra = []ipld.Entry{{Key: "y"}, {Key: "x"}} }},
		{"content.size", func(n *Node) { n.Content.Extra = []ipld.Entry{{Key: "size"}} }},
	}
	for i, c := range cases {
		n := goldenNode()
		c.edit(n)
		var fe *FieldError
		if err := n.Validate(); !errors.As(err, &fe) || fe.Field != c.field {
			t.Errorf("case %d: error %v, want one about %q", i, err, c.field)
		}
	}
	n := goldenNode()
	n.Props = []ipld.Entry{{Key: "a", Value: nested(MaxPropDepth)}}
	n.Extra = []ipld.Entry{{Key: "x", Value: nested(ipld.MaxDepth - 1)}}
	if err := n.Validate(); err != nil {
		t.Fatalf("deepest values: %v", err)
	}
	if _, err := DecodeNode(n.Encode()); err != nil {
		t.Errorf("deepest values: %v", err)
	}
}

func TestValidateOthers(t *testing.T) {
	expect := func(field string, err error) {
		t.Helper()
		var fe *FieldError
		if !errors.As(err, &fe) || fe.Field != field {
			t.Errorf("error %v, want one about %q", err, field)
		}
	}
	for _, c := range []struct {
		field string
		edit  func(e *Edge)
	}{
		{"id", func(e *Edge) { e.ID[0]++ }},
		{"id", func(e *Edge) { e.Key = "other" }},
		{"src", func(e *Edge) { e.Src = ID{} }},
		{"dst", func(e *Edge) { e.Dst = ID{} }},
		{"type", func(e *Edge) { e.Type = "\x00" }},
		{"weight", func(e *Edge) { e.Weight = 0 }},
		{"weight", func(e *Edge) { e.Weight = MaxWeight + 1 }},
		{"props", func(e *Edge) { e.Props = make([]ipld.Entry, 1) }},
		{"src", func(e *Edge) { e.Extra = []ipld.Entry{{Key: "src"}} }},
	} {
		e := goldenEdge()
		c.edit(e)
		expect(c.field, e.Validate())
	}
	for _, c := range []struct {
		field string
		edit  func(m *Mark)
	}{
		{"on", func(m *Mark) { m.On = "nodes" }},
		{"state", func(m *Mark) { m.State = "gone" }},
		{"by", func(m *Mark) { m.State = Stale }},
		{"reason", func(m *Mark) { m.Reason = strings.Repeat("r", MaxReason+1) }},
		{"actor", func(m *Mark) { m.Actor = "" }},
		{"actor", func(m *Mark) { m.Actor = "a\x1b[0m" }},
		{"time", func(m *Mark) { m.Time = math.MaxInt64 }},
	} {
		m := goldenMark()
		c.edit(m)
		expect(c.field, m.Validate())
	}
	for _, c := range []struct {
		field string
		edit  func(e *Embedding)
	}{
		{"model", func(e *Embedding) { e.Model = "a\x00" }},
		{"dtype", func(e *Embedding) { e.DType = "f16" }},
		{"dims", func(e *Embedding) { e.Dims = 0 }},
		{"dims", func(e *Embedding) { e.Dims = MaxDims + 1 }},
		{"dims", func(e *Embedding) { e.DType, e.Dims = Sparse, MaxTerms+1 }},
		{"vector", func(e *Embedding) { e.Dims++ }},
		{"vector", func(e *Embedding) { e.Data = []byte{1, 0x80, 0} }},
		{"vector", func(e *Embedding) { e.Data = make([]byte, 3) }},
		{"vector", func(e *Embedding) { e.DType = Float32 }},
		{"vector", func(e *Embedding) { e.DType, e.Data = Float32, make([]byte, 12) }},
		{"vector", func(e *Embedding) { e.DType, e.Data = Float32, bytes.Repeat([]byte{255}, 12) }},
		{"vector", func(e *Embedding) { e.DType, e.Data = Sparse, []byte{0xa0} }},
		{"vector", func(e *Embedding) {
			e.DType, e.Data, e.Dims = Sparse, []byte{0xa1, 0x61, 't', 0}, 1
		}},
		{"vector", func(e *Embedding) { e.DType, e.Data, e.Dims = Sparse, []byte{0xa1, 0x60, 1}, 1 }},
		{"vector", func(e *Embedding) { e.DType, e.Data = Sparse, nil }},
	} {
		e := goldenEmbedding(t)
		c.edit(e)
		expect(c.field, e.Validate())
	}
	g := goldenGraph()
	g.Counts.Marks = MaxCount + 1
	expect("counts", g.Validate())
	g = goldenGraph()
	g.In = ipld.Sum(ipld.Raw, nil)
	expect("in", g.Validate())
}

// TestBlockLimit checks around the exact size that Validate agrees with the decoder.
func TestBlockLimit(t *testing.T) {
	n := &Node{ID: ID{1}, Type: "T"}
	sized := func(length int) *Node {
		value := ipld.BytesValue(make([]byte, length))
		n.Props = []ipld.Entry{{Key: "a", Value: value}}
		return n
	}
	fits := ipld.MaxBlock - len(sized(1<<17).Encode()) + 1<<17
	for length, ok := range map[int]bool{fits: true, fits + 1: false} {
		err := sized(length).Validate()
		if _, decoded := DecodeNode(n.Encode()); (err == nil) != ok || (decoded == nil) != ok {
			t.Errorf("block of %d bytes: %v, decoded %v", len(n.Encode()), err, decoded)
		}
	}
	// Many small items reach the limit of items before that of bytes.
	for items, ok := range map[int]bool{ipld.MaxItems - 20: true, ipld.MaxItems: false} {
		n.Props = []ipld.Entry{{Key: "a", Value: ipld.ListValue(make([]ipld.Value, items)...)}}
		err := n.Validate()
		if _, decoded := DecodeNode(n.Encode()); (err == nil) != ok || (decoded == nil) != ok {
			t.Errorf("%d items: %v, decoded %v", items, err, decoded)
		}
	}
}

// fuzzDecode checks that whatever decodes is valid and encodes to the same bytes.
func fuzzDecode[T record](f *testing.F, decode func([]byte) (T, error), seeds ...record) {
	for _, r := range seeds {
		f.Add(r.Encode())
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		r, err := decode(block)
		if err != nil {
			if !errors.Is(err, ipld.ErrInvalid) {
				t.Errorf("error does not wrap ipld.ErrInvalid: %v", err)
			}
			return
		}
		if err := r.Validate(); err != nil {
			t.Errorf("decoded record is invalid: %v", err)
		}
		if again := r.Encode(); !bytes.Equal(again, block) {
			t.Errorf("%x encodes to %x", block, again)
		}
	})
}

func FuzzDecodeNode(f *testing.F) {
	long, _, err := SplitContent(strings.Repeat("x", MaxInline+1), "text/html")
	if err != nil {
		f.Fatal(err)
	}
	fuzzDecode(f, DecodeNode, goldenNode(), &Node{ID: ID{1}, Type: "T", Content: long})
}

func FuzzDecodeEdge(f *testing.F) { fuzzDecode(f, DecodeEdge, goldenEdge()) }

func FuzzDecodeMark(f *testing.F) { fuzzDecode(f, DecodeMark, goldenMark()) }

func FuzzDecodeEmbedding(f *testing.F) {
	float := &Embedding{Model: "m", DType: Float32, Dims: 1, Data: []byte{0, 0, 128, 63}}
	sparse, err := NewSparse("s", []SparseWeight{{"a", 1}, {"b", 2}}, [32]byte{})
	if err != nil {
		f.Fatal(err)
	}
	fuzzDecode(f, DecodeEmbedding, float, sparse)
}

func FuzzDecodeGraph(f *testing.F) { fuzzDecode(f, DecodeGraph, goldenGraph()) }

// FuzzParseChange checks that a parsed change is valid and that what it makes is.
func FuzzParseChange(f *testing.F) {
	f.Add([]byte(`{"node":{"type":"T","summary":"s","props":{"a":[1.5,null,{"b":"c"}]}}}`))
	f.Add([]byte(`{"edge":{"type":"t","src":"a","dst":"b","weight":0.5,"unset":["props.x"]}}`))
	f.Add([]byte(`{"embedding":{"node":"a","model":"m","vector":[1,-2.5,0]}}`))
	f.Add([]byte(`{"mark":{"node":"a","state":"superseded","by":"b","time":"2026-01-01"}}`))
	f.Add([]byte(`{"remove":{"edge":{"type":"t","src":"a","dst":"b","all":true}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := ParseChange(line)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("error is not ErrInvalid: %v", err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("change is invalid: %v", err)
		}
		switch {
		case c.Node != nil:
			if n, err := c.Node.Make(1); err == nil {
				if _, err := DecodeNode(n.Encode()); err != nil {
					t.Error(err)
				}
			}
		case c.Edge != nil:
			if e, err := c.Edge.Make(1); err == nil {
				if _, err := DecodeEdge(e.Encode()); err != nil {
					t.Error(err)
				}
			}
		case c.Embedding != nil:
			if e, err := c.Embedding.Make([32]byte{}); err != nil || e.Validate() != nil {
				t.Errorf("embedding cannot be made: %v", err)
			}
		case c.Mark != nil:
			if m, err := c.Mark.Make("a", 1); err != nil || m.Validate() != nil {
				t.Errorf("mark cannot be made: %v", err)
			}
		}
	})
}
