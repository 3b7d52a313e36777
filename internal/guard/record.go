package guard

import (
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Record returns apparent credentials in a record of any kind: in every string, of known and unknown fields, and in
// bytes that encode a map. A field is named by its kind and member, as in "session.task". Trees are not read: their
// keys are ids and names of refs. A block that is no record has no places.
func Record(block []byte) []Place {
	var p places
	p.record(block)
	return p.list
}

// record reads a record.
func (p *places) record(block []byte) {
	kind := ipld.PeekKind(block)
	if kind == kindTree {
		return
	}
	v, err := ipld.DecodeValue(block)
	if err != nil || v.Kind() != ipld.Map {
		return
	}
	if other := otherKinds[kind]; other != "" {
		kind = other
	} else if p.text("record", kind); kind == "" || len(p.list) > 0 {
		kind = "record"
	}
	for _, e := range v.Entries() {
		p.member(kind, e)
	}
}

const kindTree = "tree"

// otherKinds are kinds with other names in fields.
var otherKinds = map[string]string{"written": "digest"}

// member reads one member of a record.
func (p *places) member(kind string, e ipld.Entry) {
	before := len(p.list)
	name := kind + "." + e.Key
	if p.text(kind, e.Key); len(p.list) > before {
		name = kind // must not be shown
	}
	if name == "node.content" && e.Value.Kind() == ipld.Map {
		for _, part := range e.Value.Entries() {
			field := name + "." + part.Key
			if short := shortNames[field]; short != "" {
				field = short
			}
			p.item(field, part.Value)
		}
		return
	}
	p.item(name, e.Value)
}

// item reads the value of a member.
func (p *places) item(name string, v ipld.Value) {
	switch v.Kind() {
	case ipld.Map:
		p.entries(name, v.Entries())
	case ipld.List:
		for _, each := range v.List() {
			p.item(name, each)
		}
	case ipld.Bytes:
		if text := v.Text(); text != "" && text[0]>>5 == majorMap {
			if inner, err := ipld.DecodeValue([]byte(text)); err == nil { // as the terms of an embedding
				p.item(name, inner)
				return
			}
		}
		p.text(name, v.Text())
	default:
		p.value(name, "", v)
	}
}

// majorMap begins the head of a map in CBOR.
const majorMap = 5

// Without returns the findings of Record in a record, except those that another one has in the same field.
func Without(block, other []byte) []Place {
	now, had := places{all: true}, places{all: true}
	now.record(block)
	had.record(other)
	type credential struct{ field, rule, secret string }
	known := make(map[credential]bool)
	for _, p := range had.list {
		known[credential{p.Field, p.Rule, p.secret}] = true
	}
	return slices.DeleteFunc(now.list, func(p Place) bool { return known[credential{p.Field, p.Rule, p.secret}] })
}
