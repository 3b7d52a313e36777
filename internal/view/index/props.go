package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"sort"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// propPart is a part of "props": for each property name in it, ascending in canonical key order,
// the documents that have it.
type propPart []propGroup

// propGroup is the documents of one part with a property, ascending, and where their values are.
type propGroup struct {
	name   string
	docs   []uint32
	items  []propItem
	values []ipld.Value // distinct short scalars, decoded
}

// propItem is an encoded value, or the number of a part of "large" if data is nil.
type propItem struct {
	data  []byte
	large int32
	value int32 // its number in values, -1 if it is not there
}

// maxScalar is the longest encoding that is decoded together with its part: filters ask for short
// scalars most, for many documents, and few of them are distinct.
const maxScalar = 64

// propKey is the directory key of a part that starts at a property of a document. Names of one
// length sort bytewise and shorter names first, as everywhere in canonical records.
func propKey(name string, doc uint32) []byte {
	key := make([]byte, 0, 1+len(name)+4)
	key = append(append(key, byte(len(name))), name...)
	return binary.BigEndian.AppendUint32(key, doc)
}

func (p propPart) group(name string) *propGroup {
	i := sort.Search(len(p), func(i int) bool { return ipld.CompareKeys(p[i].name, name) >= 0 })
	if i == len(p) || p[i].name != name {
		return nil
	}
	return &p[i]
}

// find returns the position of the first document that is not below doc.
func (g *propGroup) find(doc uint32) int {
	return sort.Search(len(g.docs), func(i int) bool { return g.docs[i] >= doc })
}

// decodeProps returns a part and the bytes it keeps.
func decodeProps(data []byte, docs, large int) (propPart, int, error) {
	in := input{b: data}
	var p propPart
	size := len(data)
	for !in.done() {
		name := string(in.take(in.uint(graph.MaxPropName)))
		n := in.uint(uint64(len(data)))
		if n == 0 || len(p) > 0 && ipld.CompareKeys(p[len(p)-1].name, name) >= 0 {
			in.fail()
			break
		}
		g := propGroup{name: name}
		g.decode(&in, int(n), docs, large)
		p = append(p, g)
		size += 100 + 40*len(g.docs) + 200*len(g.values)
	}
	if in.bad {
		return nil, 0, segment.Corrupt("properties end at byte %d", in.pos)
	}
	return p, size, nil
}

func (g *propGroup) decode(in *input, n, docs, large int) {
	next := uint64(0)
	known := make(map[string]int32)
	for range n {
		doc := next + in.uint(maxDocs)
		item := propItem{value: -1}
		if width := in.uint(maxSmallItem); width > 0 {
			item.data = in.take(width)
			item.value = g.intern(in, known, item.data)
		} else {
			item.large = int32(in.uint(maxDocs))
		}
		if in.bad || doc >= uint64(docs) || item.data == nil && int(item.large) >= large {
			in.fail()
			return
		}
		g.docs = append(g.docs, uint32(doc))
		g.items = append(g.items, item)
		next = doc + 1
	}
}

// intern returns the number of a short scalar in values, -1 for any other value.
func (g *propGroup) intern(in *input, known map[string]int32, data []byte) int32 {
	if len(data) > maxScalar {
		return -1
	}
	if n, ok := known[string(data)]; ok {
		return n
	}
	v, err := ipld.DecodeValue(data)
	if err != nil {
		in.fail()
		return -1
	}
	n := int32(-1)
	if v.Kind() != ipld.List && v.Kind() != ipld.Map {
		n = int32(len(g.values))
		g.values = append(g.values, v)
	}
	known[string(data)] = n
	return n
}

// propWriter writes "props" and "large". Properties come in the order of their names, each with
// its documents ascending.
type propWriter struct {
	props *segment.Section
	large *segment.Section
	group []byte // of the name being written, without its head
	name  string
	n     int
	next  uint32
}

func (w *propWriter) add(name string, doc uint32, item []byte) error {
	// The head of a group and one more item leave the part far below its limit.
	if name != w.name || w.n == 0 || len(w.props.Buf)+len(w.group) >= partSize {
		if err := w.end(); err != nil {
			return err
		}
		w.name = name
		if err := w.props.Begin(partSize, func() []byte { return propKey(name, doc) }); err != nil {
			return err
		}
	}
	w.group = putUint(w.group, uint64(doc-w.next))
	if len(item) <= maxSmallItem {
		w.group = append(putUint(w.group, uint64(len(item))), item...)
	} else {
		w.group = putUint(append(w.group, 0), uint64(w.large.Parts()))
		w.large.Buf = append(w.large.Buf, item...)
		if err := w.large.Cut(); err != nil {
			return err
		}
	}
	w.n++
	w.next = doc + 1
	return nil
}

func (w *propWriter) end() error {
	if w.n == 0 {
		return nil
	}
	b := append(putUint(w.props.Buf, uint64(len(w.name))), w.name...)
	w.props.Buf = append(putUint(b, uint64(w.n)), w.group...)
	w.group, w.n, w.next = w.group[:0], 0, 0
	return nil
}

func (r *source) props(ctx context.Context, s *segment.Segment, n int) (propPart, error) {
	return segment.Part(ctx, r.Reader, s, secProps, n, func(key, data []byte) (propPart, int, error) {
		p, size, err := decodeProps(data, s.Docs, s.Parts(secLarge))
		// A full scan would read a part under another key, and look-ups would miss it.
		if err == nil && (len(p) == 0 || !bytes.Equal(key, propKey(p[0].name, p[0].docs[0]))) {
			err = segment.Corrupt("properties begin elsewhere than the directory says")
		}
		return p, size, err
	})
}

func (r *source) item(ctx context.Context, s *segment.Segment, p propItem) ([]byte, error) {
	if p.data != nil {
		return p.data, nil
	}
	return r.Bytes(ctx, s, secLarge, int(p.large))
}

// propView is one property in the course of one query: the part used last, and the documents from
// low to below high, about which it says all there is to say.
type propView struct {
	group     *propGroup // nil if none of them has the property
	low, high uint64
}

func (v *view) prop(name string, doc uint32) (ipld.Value, bool, error) {
	if len(name) > graph.MaxPropName {
		return ipld.Value{}, false, nil
	}
	p := v.props[name]
	if p == nil {
		p = new(propView)
		if v.props == nil {
			v.props = make(map[string]*propView)
		}
		v.props[name] = p
	}
	if uint64(doc) < p.low || uint64(doc) >= p.high {
		if err := p.load(v, name, doc); err != nil {
			return ipld.Value{}, false, err
		}
	}
	if p.group == nil {
		return ipld.Value{}, false, nil
	}
	i := p.group.find(doc)
	if i == len(p.group.docs) || p.group.docs[i] != doc {
		return ipld.Value{}, false, nil
	}
	item := p.group.items[i]
	if item.value >= 0 {
		return p.group.values[item.value], true, nil
	}
	data, err := v.x.src.item(v.ctx, v.seg, item)
	if err != nil {
		return ipld.Value{}, false, err
	}
	value, err := ipld.DecodeValue(data)
	if err != nil {
		return ipld.Value{}, false, v.x.src.Wrap(v.seg, secProps, segment.Damaged(err))
	}
	return value, true, nil
}

func (p *propView) load(v *view, name string, doc uint32) error {
	src := &v.x.src
	*p = propView{}
	n, err := src.Find(v.ctx, v.seg, secProps, propKey(name, doc))
	if err != nil {
		return err
	}
	low, high := uint64(0), uint64(math.MaxUint64)
	if n >= 0 {
		part, err := src.props(v.ctx, v.seg, n)
		if err != nil {
			return err
		}
		p.group = part.group(name)
		if low, err = partStart(v, n, name, 0); err != nil {
			return err
		}
	}
	if n+1 < v.seg.Parts(secProps) {
		if high, err = partStart(v, n+1, name, high); err != nil {
			return err
		}
	}
	p.low, p.high = low, high
	return nil
}

// partStart returns the first document of a part where the part starts with the property, else other.
func partStart(v *view, n int, name string, other uint64) (uint64, error) {
	key, err := v.x.src.Key(v.ctx, v.seg, secProps, n)
	if err != nil {
		return 0, err
	}
	head := propKey(name, 0)
	head = head[:len(head)-4]
	if len(key) != len(head)+4 || !bytes.HasPrefix(key, head) {
		return other, nil
	}
	return uint64(binary.BigEndian.Uint32(key[len(head):])), nil
}
