package index

import (
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Document is a node as the index sees it.
type Document struct {
	Node    *graph.Node
	Content string // the whole text of Node.Content, "" if there is none
}

// Change is the change of one node: Old is nil for a new node and New for a removed one. Old must be the document that
// the base was built with: its terms leave the statistics.
type Change struct {
	ID       graph.ID
	Old, New *Document
	// Analysed is the new node if a Draft has it: then New and Old are nil.
	Analysed *Analysed
}

// eachText calls fn with every text of a field, in order.
func (d *Document) eachText(fn func(field int, s string)) {
	n := d.Node
	fn(FieldSummary, n.Summary)
	fn(FieldContext, n.Context)
	fn(FieldContent, d.Content)
	for _, e := range n.Props {
		if e.Value.Kind() == ipld.String {
			fn(FieldProps, e.Value.Text())
		}
		for _, item := range e.Value.List() {
			if item.Kind() == ipld.String {
				fn(FieldProps, item.Text())
			}
		}
	}
	fn(FieldType, n.Type)
	for _, cue := range n.Cues {
		fn(FieldCues, cue)
	}
}

func (d *Document) meta() docMeta {
	n := d.Node
	return docMeta{
		typ: n.Type, created: n.Created, updated: n.Updated,
		validFrom: n.ValidFrom, validTo: n.ValidTo,
	}
}

// same reports whether the index holds the same about two documents.
func (d *Document) same(e *Document) bool {
	return d.meta() == e.meta() && d.Content == e.Content &&
		d.Node.Summary == e.Node.Summary && d.Node.Context == e.Node.Context &&
		slices.Equal(d.Node.Cues, e.Node.Cues) &&
		slices.EqualFunc(d.Node.Props, e.Node.Props, func(a, b ipld.Entry) bool {
			return a.Key == b.Key && a.Value.Equal(b.Value)
		})
}
