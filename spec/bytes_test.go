package spec_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// byteFills make the bytes with which a field of n bytes is tested. Some are well-formed UTF-8 with more than one byte
// a character: taken for text, it has fewer characters than bytes.
func byteFills(r *rand.Rand) map[string]func(n int) []byte {
	of := func(unit string) func(n int) []byte {
		return func(n int) []byte { return []byte(strings.Repeat(unit, n/len(unit)+1)[:n]) }
	}
	return map[string]func(n int) []byte{
		"random": func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		},
		"two-byte characters":   of("é"),
		"three-byte characters": of("界"),
		"four-byte characters":  of("😁"),
		"ones and zeros":        of("\x01\x00"),
		"no UTF-8":              of("\xff\xc3"),
	}
}

// fillBytes returns v with new contents in each bytes value.
func fillBytes(v ipld.Value, fill func(n int) []byte) ipld.Value {
	switch v.Kind() {
	case ipld.Bytes:
		return ipld.BytesValue(fill(len(v.Data())))
	case ipld.List:
		items := slices.Clone(v.List())
		for i := range items {
			items[i] = fillBytes(items[i], fill)
		}
		return ipld.ListValue(items...)
	case ipld.Map:
		entries := slices.Clone(v.Entries())
		for i := range entries {
			entries[i].Value = fillBytes(entries[i].Value, fill)
		}
		return ipld.MapValue(entries...)
	}
	return v
}

// bytesAt returns where v holds bytes, as paths for people.
func bytesAt(at string, v ipld.Value, found map[string]bool) {
	switch v.Kind() {
	case ipld.Bytes:
		found[at] = true
	case ipld.List:
		for _, item := range v.List() {
			bytesAt(at+"[]", item, found)
		}
	case ipld.Map:
		for _, e := range v.Entries() {
			bytesAt(at+"."+e.Key, e.Value, found)
		}
	}
}

// anyBytes returns a record whose bytes may be any of their length, ok false if there is none: ids
// that a key decides lose it, lists of ids that have an order keep one, and every record gets bytes
// under a name that readers do not know. Floats are finite, and terms are dag-cbor.
func anyBytes(layer string, v ipld.Value) (_ ipld.Value, ok bool) {
	dtype, _ := v.Get("dtype")
	entries := []ipld.Entry{{Key: "unknownBytes", Value: ipld.BytesValue([]byte("unknown bytes"))}}
	for _, e := range v.Entries() {
		switch {
		case e.Key == "key" && (layer == "node" || layer == "edge"):
			continue
		case e.Key == "request":
			request := slices.Clone(e.Value.Entries())
			for i, p := range request {
				if p.Key == "exclude" || p.Key == "reranked" {
					request[i].Value = ipld.ListValue(p.Value.List()[0])
				}
			}
			e.Value = ipld.MapValue(request...)
		}
		entries = append(entries, e)
	}
	return ipld.MapValue(entries...), layer != "embedding" || dtype.Text() == "i8"
}

// recordVectors calls fn with the records that the vectors hold, and that are no trees.
func recordVectors(t *testing.T, fn func(v vector, record ipld.Value)) {
	t.Helper()
	for _, v := range readVectors(t) {
		var in struct{ Block string }
		var want struct{ JSON, Receipt string }
		if decoders[v.Layer] == nil || v.Fails != "" {
			continue
		}
		var record ipld.Value
		var err error
		switch {
		case json.Unmarshal(v.Input, &in) == nil && in.Block != "":
			record, err = ipld.DecodeValue(expand(t, in.Block))
		case json.Unmarshal(v.Expect, &want) == nil && want.Receipt != "" && want.JSON != "":
			record, err = ipld.ParseJSON([]byte(want.JSON))
		default:
			continue
		}
		must.OK(t, err)
		fn(v, record)
	}
}

// TestRecordsKeepAnyBytes fills every field of bytes of every record among the vectors with random
// bytes, and with bytes that look like text: the record is read, and written as it was.
func TestRecordsKeepAnyBytes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	fills := byteFills(rand.New(rand.NewPCG(seed, 1)))
	found := map[string]bool{}
	recordVectors(t, func(v vector, record ipld.Value) {
		record, ok := anyBytes(v.Layer, record)
		if !ok {
			return
		}
		bytesAt(v.Layer, record, found)
		for name, fill := range fills {
			filled := fillBytes(record, func(n int) []byte { // -128 is no dimension of a vector, and not all are 0
				b := bytes.ReplaceAll(fill(n), []byte{0x80}, []byte{0x81})
				if n > 0 && b[0] == 0 {
					b[0] = 1
				}
				return b
			})
			block := ipld.AppendValue(nil, filled)
			rec, err := decoders[v.Layer](block)
			if err != nil {
				t.Errorf("%s: %s: %v", v.Path(), name, err)
			} else if !bytes.Equal(rec.Encode(), block) {
				t.Errorf("%s: %s: written otherwise than it was read", v.Path(), name)
			}
		}
	})
	want := []string{"node.id", "node.props.map.x", "edge.id", "edge.src", "edge.dst", "mark.id",
		"mark.by", "embedding.vector", "embedding.text", "commit.change", "commit.signature",
		"receipt.items[].id", "receipt.items[].rendered",
		"receipt.request.vectors.m", "receipt.request.exclude[]", "receipt.request.reranked[].id",
		"receipt.request.where[].value", "redaction.node"}
	for layer := range decoders {
		want = append(want, layer+".unknownBytes")
	}
	for _, at := range want {
		must.True(t, found[at], "no vector of a record holds bytes at %s", at)
	}
}
