package prolly

import (
	"bytes"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// fields are the parts of a chunk that tests break. The zero value of a field leaves it out.
type fields struct {
	kind, version, level, prefix, keys, counts, values, extra []byte
}

func listOf(items ...[]byte) []byte {
	return append(ipld.AppendList(nil, len(items)), bytes.Join(items, nil)...)
}

func byteItem(s string) []byte { return ipld.AppendBytes(nil, []byte(s)) }
func intItem(n int64) []byte   { return ipld.AppendInt(nil, n) }

func linkItem(codec ipld.Codec) []byte {
	return ipld.AppendLink(nil, ipld.Sum(codec, []byte("child")))
}

func goodLeaf() fields {
	return fields{
		kind: ipld.AppendString(nil, "tree"), version: intItem(1), level: intItem(0),
		prefix: byteItem("p"), keys: listOf(byteItem(""), byteItem("a"), byteItem("b")),
		values: listOf(intItem(1), intItem(2), byteItem("x")),
	}
}

func goodInner() fields {
	f := goodLeaf()
	f.level = intItem(1)
	f.counts = listOf(intItem(1), intItem(20), intItem(300))
	f.values = listOf(linkItem(ipld.DagCBOR), linkItem(ipld.DagCBOR), linkItem(ipld.DagCBOR))
	return f
}

func (f fields) block() []byte {
	named := []struct {
		name  string
		value []byte
	}{
		{"v", f.version}, {"keys", f.keys}, {"kind", f.kind}, {"level", f.level},
		{"counts", f.counts}, {"prefix", f.prefix}, {"values", f.values}, {"zzzzzzz", f.extra},
	}
	n := 0
	var body []byte
	for _, field := range named {
		if field.value != nil {
			n++
			body = append(ipld.AppendString(body, field.name), field.value...)
		}
	}
	return append(ipld.AppendMap(nil, n), body...)
}

func decode(block []byte) (*chunk, error) {
	return decodeChunk(ipld.Sum(ipld.DagCBOR, block), block)
}

// encode encodes a decoded chunk again.
func encode(c *chunk) []byte {
	var items []item
	for i := range c.keys {
		items = append(items, c.item(i))
	}
	return appendChunk(nil, c.level, items)
}

func FuzzChunk(f *testing.F) {
	f.Add(goodLeaf().block())
	f.Add(goodInner().block())
	f.Add(appendChunk(nil, 0, nil))
	f.Add(appendChunk(nil, 0, []item{{key: []byte("one"), value: []byte{0xf6}}}))
	f.Fuzz(func(t *testing.T, block []byte) {
		c, err := decode(block)
		if err != nil {
			must.Fail(t, err, store.ErrCorrupt)
			return
		}
		if again := encode(c); !bytes.Equal(block, again) {
			t.Fatalf("accepted % x, encodes % x", block, again)
		}
		must.OK(t, ipld.Check(block))
		for _, v := range c.values {
			must.OK(t, ipld.Check(v))
		}
	})
}

// cutByDefinition is the recursive form of SPEC 2.2: the lengths of the chunks of a run.
func cutByDefinition(level int, keys [][]byte) []int {
	if len(keys) <= MaxEntries {
		return []int{len(keys)}
	}
	best, low := 0, ^uint64(0)
	for i, k := range keys[:len(keys)-1] {
		if h, _ := boundaryHash(nil, level, k); h < low || i == 0 {
			best, low = i, h
		}
	}
	left := cutByDefinition(level, keys[:best+1])
	return append(left, cutByDefinition(level, keys[best+1:])...)
}

// TestCountsRefused has counts of links that a tree cannot have.
func TestCountsRefused(t *testing.T) {
	for _, last := range []int64{0, -1, 1<<63 - 2} {
		f := goodInner()
		f.counts = listOf(intItem(1), intItem(1), intItem(last))
		_, err := decode(f.block())
		must.Fail(t, err, store.ErrCorrupt, last)
	}
}
