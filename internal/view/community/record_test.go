package community

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

var outTree = ipld.Sum(ipld.DagCBOR, []byte{0xa0})

// decode reads what Encode returned.
func decode(record []byte, parts [][]byte) (*Partition, error) {
	r, err := DecodeRecord(record)
	if err != nil {
		return nil, err
	}
	return r.Decode(func(c ipld.CID) ([]byte, error) {
		for _, b := range parts {
			if ipld.Sum(ipld.Raw, b) == c {
				return b, nil
			}
		}
		return nil, errors.New("no such part")
	})
}

func TestRecord(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var large []Edge
	for i := range 60_000 { // of more than one part
		large = append(large, edge(2*i, 2*i+1))
	}
	for _, list := range [][]Edge{nil, clique(0, 5), randomEdges(r, 300), large} {
		p := find(t, list)
		record, parts := p.Encode(outTree)
		must.OK(t, ipld.Check(record))
		got := must.Get(decode(record, parts))(t)
		if got.Len() != p.Len() || got.Len() > 0 && !reflect.DeepEqual(got, p) {
			t.Errorf("%d communities come back as %d others", p.Len(), got.Len())
		}
		again, _ := got.Encode(outTree)
		must.True(t, bytes.Equal(again, record), "the record of what was read is another")
	}
}

func TestRecordRefuses(t *testing.T) {
	p := find(t, append(append(clique(0, 4), clique(4, 9)...), edge(3, 4)))
	_, parts := p.Encode(outTree)
	list := parts[0]
	with := func(edit func(b []byte) []byte) []byte { return edit(bytes.Clone(list)) }
	cases := map[string][]byte{
		"cut":        list[:len(list)-1],
		"more":       append(bytes.Clone(list), 0),
		"one member": append(bytes.Clone(list), append([]byte{1}, list[1:20]...)...),
		"huge":       {0xff, 0xff, 0xff, 0xff, 0x0f},
		"long form":  with(func(b []byte) []byte { return append([]byte{b[0] | 0x80, 0}, b[1:]...) }),
		"twice":      append(bytes.Clone(list), list[len(list)/2+1:]...),
		"order": with(func(b []byte) []byte {
			b[16], b[35] = b[35], b[16]
			return b
		}),
	}
	for name, b := range cases {
		q := &Record{Out: outTree, Count: p.Len(), Nodes: p.Nodes(), Parts: []ipld.CID{ipld.Sum(ipld.Raw, b)}}
		_, err := q.Decode(func(ipld.CID) ([]byte, error) { return b, nil })
		must.Fail(t, err, ErrInvalid, name)
	}
	q := &Record{Out: outTree, Count: p.Len() + 1, Nodes: p.Nodes()}
	must.Fail(t, must.Err(q.Decode(nil)), ErrInvalid)
	gone := errors.New("gone")
	q.Parts = []ipld.CID{outTree}
	_, err := q.Decode(func(ipld.CID) ([]byte, error) { return nil, gone })
	must.True(t, err == gone, "a missing part gives %v", err)
}

func FuzzRecord(f *testing.F) {
	p := must.Get(Find(f.Context(), each(clique(0, 4))))(f)
	record, parts := p.Encode(outTree)
	f.Add(record, parts[0])
	f.Add([]byte{0xa0}, []byte{2})
	f.Fuzz(func(t *testing.T, record, part []byte) {
		if r, err := DecodeRecord(record); err == nil {
			r.Parts = nil
			_, _ = r.Decode(nil)
		}
		// The list alone, under a head that fits whatever it says.
		r := &Record{Out: outTree, Parts: []ipld.CID{ipld.Sum(ipld.Raw, part)}}
		s := scanner{rest: part}
		for len(s.rest) > 0 && s.err == nil {
			r.Nodes += len(s.community())
			r.Count++
		}
		got, err := r.Decode(func(ipld.CID) ([]byte, error) { return part, nil })
		if err != nil {
			return
		}
		_, again := got.Encode(outTree)
		must.True(t, bytes.Equal(bytes.Join(again, nil), part), "%x is written as %x", part, again)
	})
}
