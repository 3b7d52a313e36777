package index

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// propView is one property in the course of one query: the part used last, and the documents from
// low to below high, about which it says all there is to say.
type propView struct {
	group     *propGroup // nil if none of them has the property
	low, high uint64
}

// prop returns the value of a document's property.
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

// load finds the part for a document.
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

// partStart returns the first document of a part where the part starts with the property, else
// other.
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
