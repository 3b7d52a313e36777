package prolly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// forge stores chunks that no builder would write.
type forge map[ipld.CID][]byte

func (f forge) Get(_ context.Context, c ipld.CID) ([]byte, error) {
	if data, ok := f[c]; ok {
		return data, nil
	}
	return nil, &store.NotFoundError{CID: c}
}

func (f forge) Put(_ context.Context, blocks ...store.Block) error {
	for _, b := range blocks {
		f[b.CID] = append([]byte(nil), b.Data...)
	}
	return nil
}

// chunk stores a chunk and returns its entry in the level above.
func (f forge) chunk(level int, items ...item) item {
	data := appendChunk(nil, level, items)
	up := item{link: ipld.Sum(ipld.DagCBOR, data), key: items[len(items)-1].key}
	f[up.link] = data
	for _, it := range items {
		up.count += it.count
	}
	return up
}

// entries returns the entries numbered n to to-1.
func entries(n, to int) []item {
	var items []item
	for ; n < to; n++ {
		items = append(items, item{key: fmt.Appendf(nil, "%04d", n), value: []byte{1}, count: 1})
	}
	return items
}

// cutOf returns the length of the first chunk of entries(0, n).
func cutOf(n int) int {
	var keys [][]byte
	for _, it := range entries(0, n) {
		keys = append(keys, it.key)
	}
	return cutByDefinition(0, keys)[0]
}

func TestCheck(t *testing.T) {
	at := cutOf(40)
	cases := []struct {
		name   string
		make   func(f forge) item
		reason string // "" for a good tree
	}{
		{"good", func(f forge) item {
			return f.chunk(1, f.chunk(0, entries(0, at)...), f.chunk(0, entries(at, 40)...))
		}, ""},
		{"one leaf", func(f forge) item { return f.chunk(0, entries(0, 32)...) }, ""},
		{"cut before", func(f forge) item {
			return f.chunk(1, f.chunk(0, entries(0, at-1)...), f.chunk(0, entries(at-1, 40)...))
		}, "a chunk ends after"},
		{"cut behind", func(f forge) item {
			return f.chunk(1, f.chunk(0, entries(0, at+1)...), f.chunk(0, entries(at+1, 40)...))
		}, "a chunk ends after"},
		{"cut needlessly", func(f forge) item {
			return f.chunk(1, f.chunk(0, entries(0, 5)...), f.chunk(0, entries(5, 10)...))
		}, "a chunk ends after"},
		{"cut needlessly above", func(f forge) item {
			a, b := f.chunk(0, entries(0, at)...), f.chunk(0, entries(at, 40)...)
			return f.chunk(2, f.chunk(1, a), f.chunk(1, b))
		}, "a chunk ends after"},
		{"root of one", func(f forge) item {
			return f.chunk(1, f.chunk(0, entries(0, 9)...))
		}, "root above level 0 with one entry"},
		{"level left out", func(f forge) item {
			return f.chunk(2, f.chunk(0, entries(0, at)...), f.chunk(0, entries(at, 40)...))
		}, "level 0 below level 2"},
		{"wrong count", func(f forge) item {
			a, b := f.chunk(0, entries(0, at)...), f.chunk(0, entries(at, 40)...)
			a.count++
			return f.chunk(1, a, b)
		}, "its parent counts"},
		{"wrong key", func(f forge) item {
			a, b := f.chunk(0, entries(0, at)...), f.chunk(0, entries(at, 40)...)
			b.key = []byte("9")
			return f.chunk(1, a, b)
		}, "last key is not"},
		{"overlap", func(f forge) item {
			return f.chunk(1, f.chunk(0, entries(0, at)...), f.chunk(0, entries(at-1, 40)...))
		}, "first key is not above"},
		{"empty child", func(f forge) item {
			empty := appendChunk(nil, 0, nil)
			c := item{link: ipld.Sum(ipld.DagCBOR, empty), key: []byte("!"), count: 1}
			f[c.link] = empty
			return f.chunk(1, c, f.chunk(0, entries(0, 9)...))
		}, "0 entries, its parent counts 1"},
		{"not a chunk", func(f forge) item {
			c := item{link: ipld.Sum(ipld.DagCBOR, []byte{0xa0}), key: []byte("!"), count: 1}
			f[c.link] = []byte{0xa0}
			return f.chunk(1, c, f.chunk(0, entries(0, 9)...))
		}, "not a tree record"},
	}
	for _, c := range cases {
		f := forge{}
		root := c.make(f)
		m, err := NewNodes(f, nil).Load(context.Background(), root.link)
		if err == nil {
			err = m.Check(context.Background())
			good, n := false, uint64(0)
			for _, err := range m.ScanChecked(context.Background(), &good) {
				if n++; err != nil {
					n--
				}
			}
			if good != (err == nil) || good && n != m.Len() {
				t.Errorf("%s: good %v after %d entries of %d, Check says %v", c.name, good, n, m.Len(), err)
			}
			good = false
			for range m.ScanChecked(context.Background(), &good) {
				break
			}
			must.True(t, !good, "%s: good after one entry", c.name)
		}
		var shape *ShapeError
		switch {
		case c.reason == "":
			must.OK(t, err, c.name)
		case !errors.As(err, &shape) || !errors.Is(err, store.ErrCorrupt) ||
			!strings.Contains(err.Error(), c.reason) || f[shape.CID] == nil:
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestEditsTellShapes applies a tree's differences from another to that other tree. The result is the tree itself
// if it has the canonical shape, and never a tree of another shape. The check of a history relies on this.
func TestEditsTellShapes(t *testing.T) {
	ctx := context.Background()
	at := cutOf(40)
	two := func(f forge, cut int) item {
		return f.chunk(1, f.chunk(0, entries(0, cut)...), f.chunk(0, entries(cut, 40)...))
	}
	trees := map[string]func(f forge) item{
		"good": func(f forge) item { return two(f, at) }, "before": func(f forge) item { return two(f, at-1) },
		"behind":     func(f forge) item { return two(f, at+1) },
		"needlessly": func(f forge) item { return f.chunk(1, f.chunk(0, entries(0, 5)...), f.chunk(0, entries(5, 10)...)) },
		"above": func(f forge) item {
			a, b := f.chunk(0, entries(0, at)...), f.chunk(0, entries(at, 40)...)
			return f.chunk(2, f.chunk(1, a), f.chunk(1, b))
		},
	}
	for name, make := range trees {
		for _, n := range []int{1, 5, 10, at, at + 1, 39, 40} {
			f := forge{}
			nodes := NewNodes(f, nil)
			from := must.Get(nodes.Build(ctx, func(yield func(Entry, error) bool) {
				for _, it := range entries(0, n) {
					if !yield(Entry{Key: it.key, Value: it.value}, nil) {
						return
					}
				}
			}))(t)
			to := must.Get(nodes.Load(ctx, make(f).link))(t)
			var edits []Edit
			for c, err := range Diff(ctx, from, to) {
				must.OK(t, err)
				edits = append(edits, Edit{Key: c.Key, Value: c.New})
			}
			again, err := from.Edit(ctx, edits)
			same := err == nil && again.Root() == to.Root()
			must.True(t, same == (name == "good"), "%s, from %d entries: the same %v, %v", name, n, same, err)
		}
	}
}

// TestCheckReadsTheStore changes a block that is already cached.
func TestCheckReadsTheStore(t *testing.T) {
	f := forge{}
	at := cutOf(40)
	leaf := f.chunk(0, entries(0, at)...)
	root := f.chunk(1, leaf, f.chunk(0, entries(at, 40)...))
	m := must.Get(NewNodes(f, NewCache(1<<20)).Load(context.Background(), root.link))(t)
	must.OK(t, m.Check(context.Background()))
	_, ok, err := m.Get(context.Background(), []byte("0000"))
	must.Require(t, ok && err == nil, "%v %v", ok, err)
	delete(f, leaf.link)
	_, ok, err = m.Get(context.Background(), []byte("0000"))
	must.True(t, ok && err == nil, "not in the cache: %v, %v", ok, err)
	must.Fail(t, m.Check(context.Background()), store.ErrNotFound)
}

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
		again := encode(c)
		must.Require(t, bytes.Equal(block, again), "accepted % x, encodes % x", block, again)
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
