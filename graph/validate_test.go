package graph

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestValidateMadeValues refuses values that no block holds, and unknown fields that are known: a program can make them.
func TestValidateMadeValues(t *testing.T) {
	twice := ipld.MapValue(ipld.Entry{Key: "k"}, ipld.Entry{Key: "k"})
	for name, v := range map[string]ipld.Value{
		"no number": ipld.FloatValue(math.NaN()), "no UTF-8": ipld.ListValue(ipld.StringValue("\xff")),
		"no link": ipld.LinkValue(ipld.CID{}), "a key twice": twice, "within": ipld.ListValue(twice),
		"a key that is no UTF-8": ipld.MapValue(ipld.Entry{Key: "\xff"}),
	} {
		n := goldenNode()
		n.Props = []ipld.Entry{{Key: "a", Value: v}}
		var fe *FieldError
		err := n.Validate()
		must.True(t, errors.As(err, &fe) && fe.Field == "props.a", "%s: error %v, want one about props.a", name, err)
	}
	for field, extra := range map[string][]ipld.Entry{
		"summary": {{Key: "summary"}}, "kind": {{Key: "kind"}}, "": {{Key: "y"}, {Key: "x"}},
	} {
		n := goldenNode()
		n.Extra = extra
		var fe *FieldError
		err := n.Validate()
		must.True(t, errors.As(err, &fe) && fe.Field == field, "%v: error %v, want one about %q", extra, err, field)
	}
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
		_, decoded := DecodeNode(n.Encode())
		must.True(t, (err == nil) == ok && (decoded == nil) == ok, "%d items: %v, decoded %v", items, err, decoded)
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
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		must.OK(t, r.Validate(), "decoded record is invalid")
		again := r.Encode()
		must.True(t, bytes.Equal(again, block), "%x encodes to %x", block, again)
	})
}

func FuzzDecodeNode(f *testing.F) {
	long, _, err := SplitContent(strings.Repeat("x", MaxInline+1), "text/html")
	must.OK(f, err)
	fuzzDecode(f, DecodeNode, goldenNode(), &Node{ID: ID{1}, Type: "T", Content: long})
}

func FuzzDecodeEdge(f *testing.F) { fuzzDecode(f, DecodeEdge, goldenEdge()) }

func FuzzDecodeMark(f *testing.F) { fuzzDecode(f, DecodeMark, goldenMark()) }

func FuzzDecodeEmbedding(f *testing.F) {
	float := &Embedding{Model: "m", DType: Float32, Dims: 1, Data: []byte{0, 0, 128, 63}}
	sparse := must.Get(NewSparse("s", []SparseWeight{{"a", 1}, {"b", 2}}, [32]byte{}))(f)
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
			must.Fail(t, err, ErrInvalid)
			return
		}
		must.OK(t, c.Validate(), "change is invalid")
		switch {
		case c.Node != nil:
			if n, err := c.Node.Make(1); err == nil {
				must.Get(DecodeNode(n.Encode()))(t)
			}
		case c.Edge != nil:
			if e, err := c.Edge.Make(1); err == nil {
				must.Get(DecodeEdge(e.Encode()))(t)
			}
		case c.Embedding != nil:
			must.OK(t, must.Get(c.Embedding.Make([32]byte{}))(t).Validate(), "embedding cannot be")
		case c.Mark != nil:
			must.OK(t, must.Get(c.Mark.Make("a", 1))(t).Validate(), "mark cannot be")
		}
	})
}
