package prolly

import (
	"bytes"
	"math"
	"sync/atomic"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// MaxKey is the longest key in bytes.
	MaxKey = 4096
	// MaxValue is the longest value in bytes. A chunk of MaxEntries values of 4,000 one-byte items each, with keys
	// of maximal length, still fits a block and its limit on items.
	MaxValue = 4000
)

const (
	kindTree    = "tree"
	treeVersion = 1
)

// Names of the fields of a chunk, in the order they are written.
const (
	fieldVersion = "v"
	fieldKeys    = "keys"
	fieldKind    = "kind"
	fieldLevel   = "level"
	fieldCounts  = "counts"
	fieldPrefix  = "prefix"
	fieldValues  = "values"
)

// chunk is a decoded chunk. Once cached it is shared, and immutable except for below.
type chunk struct {
	cid    ipld.CID
	level  int
	keys   [][]byte                 // whole keys
	values [][]byte                 // level 0
	links  []ipld.CID               // above level 0
	home   *Cache                   // the cache that holds the chunk, if any
	below  []atomic.Pointer[cached] // by link: the child's cache entry, once it was read and checked; in the cache home
	counts []uint64                 // above level 0
	total  uint64                   // entries of level 0 in and below the chunk
	memory int64                    // approximate, in bytes
}

func (c *chunk) lastKey() []byte { return c.keys[len(c.keys)-1] }

func (c *chunk) find(key []byte) int {
	low, high := 0, len(c.keys)
	for low < high {
		if mid := (low + high) / 2; bytes.Compare(c.keys[mid], key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// item returns entry i in the form in which it enters a new chunk.
func (c *chunk) item(i int) item {
	if c.level == 0 {
		return item{key: c.keys[i], value: c.values[i], count: 1, from: c}
	}
	return item{key: c.keys[i], link: c.links[i], count: c.counts[i], from: c}
}

// parentItem returns the entry of the chunk in the level above.
func (c *chunk) parentItem() item { return item{key: c.lastKey(), link: c.cid, count: c.total} }

// appendChunk appends the encoding of one chunk.
func appendChunk(b []byte, level int, items []item) []byte {
	prefix := 0
	if n := len(items); n > 0 {
		prefix = commonPrefix(items[0].key, items[n-1].key)
	}
	fields := 6
	if level > 0 {
		fields = 7
	}
	b = ipld.AppendMap(b, fields)
	b = ipld.AppendInt(ipld.AppendString(b, fieldVersion), treeVersion)
	b = ipld.AppendList(ipld.AppendString(b, fieldKeys), len(items))
	for i := range items {
		b = ipld.AppendBytes(b, items[i].key[prefix:])
	}
	b = ipld.AppendString(ipld.AppendString(b, fieldKind), kindTree)
	b = ipld.AppendInt(ipld.AppendString(b, fieldLevel), int64(level))
	if level > 0 {
		b = ipld.AppendList(ipld.AppendString(b, fieldCounts), len(items))
		for i := range items {
			b = ipld.AppendInt(b, int64(items[i].count))
		}
	}
	b = ipld.AppendString(b, fieldPrefix)
	if len(items) == 0 {
		b = ipld.AppendBytes(b, nil)
	} else {
		b = ipld.AppendBytes(b, items[0].key[:prefix])
	}
	b = ipld.AppendList(ipld.AppendString(b, fieldValues), len(items))
	for i := range items {
		if level > 0 {
			b = ipld.AppendLink(b, items[i].link)
		} else {
			b = append(b, items[i].value...)
		}
	}
	return b
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decodeChunk decodes one chunk. It keeps no reference to block.
func decodeChunk(id ipld.CID, block []byte) (*chunk, error) {
	r := chunkReader{c: &chunk{cid: id}}
	_, err := ipld.ReadRecord(block, r.c, r.fields, nil)
	if err == nil {
		err = r.assemble()
	}
	if err != nil {
		return nil, &ShapeError{CID: id, Reason: err.Error(), Err: err}
	}
	return r.c, nil
}

// chunkReader collects a chunk's fields until all of them are read.
type chunkReader struct {
	c        *chunk
	prefix   []byte
	suffixes [][]byte
	decoder  *ipld.Decoder
}

// fields names the fields for reading.
func (r *chunkReader) fields(rec *ipld.Record) {
	rec.Begin(kindTree, treeVersion, nil)
	read := func(key string, value func(d *ipld.Decoder) error) {
		rec.Field(key, nil, func(d *ipld.Decoder) error {
			r.decoder = d
			return value(d)
		})
	}
	read(fieldKeys, func(d *ipld.Decoder) (err error) {
		r.suffixes, err = readList(d, d.Bytes)
		return err
	})
	ipld.Number(rec, fieldLevel, &r.c.level, 0, MaxLevel)
	if r.c.level > 0 {
		read(fieldCounts, func(d *ipld.Decoder) (err error) {
			r.c.counts, err = readList(d, r.count)
			return err
		})
	}
	read(fieldPrefix, func(d *ipld.Decoder) (err error) {
		r.prefix, err = d.Bytes()
		return err
	})
	read(fieldValues, r.values)
}

func readList[T any](d *ipld.Decoder, read func() (T, error)) ([]T, error) {
	n, err := d.List()
	if err != nil {
		return nil, err
	}
	if n > MaxEntries {
		return nil, d.Errorf("%d entries, limit %d", n, MaxEntries)
	}
	out := make([]T, n)
	for i := range out {
		if out[i], err = read(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *chunkReader) count() (uint64, error) {
	n, err := r.decoder.Int()
	if err == nil && (n < 1 || uint64(n) > math.MaxInt64-r.c.total) {
		err = r.decoder.Errorf("count %d below one link, or too many together", n)
	}
	r.c.total += uint64(n)
	return uint64(n), err
}

// values reads the last field. Its type depends on the level, which was read before it.
func (r *chunkReader) values(d *ipld.Decoder) (err error) {
	if r.c.level > 0 {
		r.c.links, err = readList(d, r.link)
		r.c.below = make([]atomic.Pointer[cached], len(r.c.links))
	} else {
		r.c.values, err = readList(d, r.value)
	}
	return err
}

func (r *chunkReader) link() (ipld.CID, error) {
	c, err := r.decoder.Link()
	if err == nil && c.Codec() != ipld.DagCBOR {
		err = r.decoder.Errorf("link to a raw block")
	}
	return c, err
}

func (r *chunkReader) value() ([]byte, error) {
	v, err := r.decoder.Item()
	if err == nil && len(v) > MaxValue {
		err = r.decoder.Errorf("value of %d bytes, limit %d", len(v), MaxValue)
	}
	// Each level of nesting takes a byte: short values, nearly all there are, cannot be too deep.
	if err == nil && len(v) > ipld.MaxDepth-chunkDepth {
		_, err = checkInside(nil, v)
	}
	return v, err
}

// chunkDepth is the nesting depth of a value in its chunk: a map and a list.
const chunkDepth = 2

// checkInside returns an error unless value is one canonical item that can be nested in a chunk. It uses buf as
// scratch space and returns it for reuse.
func checkInside(buf, value []byte) ([]byte, error) {
	if ipld.IsLink(value) { // most values are
		return buf, nil
	}
	buf = buf[:0]
	for range chunkDepth {
		buf = ipld.AppendList(buf, 1)
	}
	buf = append(buf, value...)
	return buf, ipld.Check(buf)
}

// assemble checks the fields against each other and joins prefix and suffixes.
func (r *chunkReader) assemble() error {
	c, d, n := r.c, r.decoder, len(r.suffixes)
	values := len(c.values)
	if c.level > 0 {
		values = len(c.links)
	} else {
		c.total = uint64(n)
	}
	switch {
	case values != n || (c.level > 0 && len(c.counts) != n):
		return d.Errorf("%d keys, %d values, %d counts", n, values, len(c.counts))
	case n == 0 && (c.level > 0 || len(r.prefix) > 0):
		return d.Errorf("no entries, yet a level or a prefix")
	}
	if n > 0 && commonPrefix(r.suffixes[0], r.suffixes[n-1]) > 0 {
		return d.Errorf("prefix is not the longest")
	}
	return r.joinKeys()
}

func (r *chunkReader) joinKeys() error {
	total := 0
	for i, s := range r.suffixes {
		if len(r.prefix)+len(s) > MaxKey {
			return r.decoder.Errorf("key of %d bytes, limit %d", len(r.prefix)+len(s), MaxKey)
		}
		if i > 0 && bytes.Compare(r.suffixes[i-1], s) >= 0 {
			return r.decoder.Errorf("key %d does not ascend", i)
		}
		total += len(r.prefix) + len(s)
	}
	for _, v := range r.c.values {
		total += len(v)
	}
	arena := make([]byte, 0, total)
	keep := func(parts ...[]byte) []byte {
		start := len(arena)
		for _, p := range parts {
			arena = append(arena, p...)
		}
		return arena[start:len(arena):len(arena)]
	}
	for i, s := range r.suffixes {
		r.suffixes[i] = keep(r.prefix, s)
	}
	for i, v := range r.c.values { // copied, so that the block, mostly keys, can be freed
		r.c.values[i] = keep(v)
	}
	r.c.keys = r.suffixes
	const perEntry, perLink, perChunk = 48, 56, 256 // slices; a link with its count and place
	r.c.memory = int64(total+perEntry*len(r.suffixes)+perLink*len(r.c.links)) + perChunk
	return nil
}
