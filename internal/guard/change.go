package guard

import (
	"reflect"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Place is a finding in one field of a record or change.
type Place struct {
	Field string // as in "node.summary" or "node.props.team"
	Finding
	secret string
}

// Change returns apparent credentials in what a change writes, in field order: in every string except those that
// refer to existing items. For each rule and field it returns one place, with the positions of the first finding.
// Content in chunks is read in overlapping parts; positions are then relative to a part.
func Change(c *graph.Change) []Place {
	var p places
	p.fields(changeFields(), reflect.ValueOf(c).Elem())
	return p.list
}

// Node does the same for a node. It reads only content stored in the record.
func Node(n *graph.Node) []Place {
	var p places
	p.fields(nodeFields(), reflect.ValueOf(n).Elem())
	return p.list
}

// Text does the same for a text that is one field.
func Text(field, text string) []Place {
	var p places
	p.text(field, text)
	return p.list
}

// places collects findings. It makes names of fields only for findings.
type places struct {
	list []Place
	all  bool // of one rule and field all places, not the first alone
}

func (p *places) text(field, text string) { p.within(field, "", text) }

func (p *places) within(field, name, text string) {
	if len(text) < minText {
		return
	}
	for _, f := range Find(text) {
		place := Place{field, f, text[f.Start:f.End]}
		if name != "" {
			place.Field += "." + name
		}
		known := func(o Place) bool { return o.Field == place.Field && o.Rule == place.Rule }
		if p.all || !slices.ContainsFunc(p.list, known) {
			p.list = append(p.list, place)
		}
	}
}

// minText is the length of the shortest text that a rule can match.
const minText = 8

// entries reads properties and their names. Findings in nested values are reported under the property's name. The
// value of a property named like a password is read together with the name, as in a settings file.
func (p *places) entries(field string, list []ipld.Entry) {
	for _, e := range list {
		name := e.Key
		before := len(p.list)
		if p.text(field, name); len(p.list) > before {
			name = "" // must not be shown
		}
		p.value(field, name, e.Value)
		if len(p.list) == before && e.Value.Kind() == ipld.String && namesSecret(name) {
			p.named(field, name, name, e.Value.Text())
		}
	}
}

// settings are parts of the names of properties that hold credentials.
var settings = []string{"pass", "pwd", "secret", "token", "key", "credential", "auth", "kennwort"}

func namesSecret(name string) bool {
	for i := range len(name) {
		for _, word := range settings {
			if folds(name[i:], word) {
				return true
			}
		}
	}
	return false
}

// named reads a property's value as a setting with a name.
func (p *places) named(field, prop, name, text string) {
	if len(name) > beforeIs || len(text) > afterIs {
		return
	}
	at := len(name) + len(": ")
	for _, f := range Find(name + ": " + text) {
		if f.Start >= at {
			f.Start, f.End = f.Start-at, f.End-at
			if prop != "" {
				field += "." + prop
			}
			p.list = append(p.list, Place{field, f, text[f.Start:f.End]})
			return
		}
	}
}

func (p *places) value(field, name string, v ipld.Value) {
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		p.within(field, name, v.Text())
	case ipld.List:
		for _, item := range v.List() {
			p.value(field, name, item)
		}
	case ipld.Map:
		for _, e := range v.Entries() {
			before := len(p.list)
			p.within(field, name, e.Key)
			p.value(field, name, e.Value)
			if len(p.list) == before && e.Value.Kind() == ipld.String && namesSecret(e.Key) {
				p.named(field, name, e.Key, e.Value.Text())
			}
		}
	}
}
