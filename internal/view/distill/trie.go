package distill

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Blocks is where digests are read and written.
type Blocks interface {
	store.Getter
	store.Putter
}

// Read returns a digest. Its error wraps store.ErrCorrupt for a block that is none.
func Read(ctx context.Context, from store.Getter, c ipld.CID) (*Digest, error) {
	block, err := from.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	d, err := DecodeDigest(block)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return d, nil
}

// node is a node of a trie while it is edited: a digest that is as it was, or one to be written.
type node struct {
	old *Digest  // as it was; nil for a new one
	cid ipld.CID // of old

	label, at string
	entries   []Entry // of a new leaf
	kids      []kid   // of a new node above
	members   int
	size      int
}

// kid is a child: one that was not looked into, or a node. ref has the label, the members and the size of either.
type kid struct {
	ref  Kid
	node *node
}

func kidOf(n *node) kid {
	return kid{Kid{Label: n.label, Members: n.members, Totals: Totals{Size: n.size}}, n}
}

// edit is a change of a trie: an entry in place of what has its key, nil to remove that.
type edit struct {
	key   Key
	entry *Entry
}

// sortEdits puts edits in order, one for each key: an entry wins over a removal.
func sortEdits(list []edit) []edit {
	removal := func(e edit) int {
		if e.entry == nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b edit) int {
		return cmp.Or(bytes.Compare(a.key[:], b.key[:]), removal(a)-removal(b))
	})
	return slices.CompactFunc(list, func(a, b edit) bool { return a.key == b.key })
}

type trie struct {
	ctx  context.Context
	from store.Getter
	read []hashOf // digests
}

func (t *trie) load(c ipld.CID, label string) (*node, error) {
	d, err := Read(t.ctx, t.from, c)
	if err != nil {
		return nil, err
	}
	t.read = append(t.read, hashOfDigest(d))
	n := &node{old: d, cid: c, label: label, at: d.At, entries: d.Entries, members: d.Members, size: d.Size}
	for _, k := range d.Kids {
		n.kids = append(n.kids, kid{ref: k})
	}
	return n, nil
}

func (t *trie) open(k kid) (*node, error) {
	if k.node != nil {
		return k.node, nil
	}
	return t.load(k.ref.Link, k.ref.Label)
}

// update applies edits, which are in order, to a node, nil for none, and returns what becomes of it, nil for nothing.
func (t *trie) update(label string, n *node, edits []edit) (*node, error) {
	if n == nil {
		return build(label, inserts(edits)), nil
	}
	if len(edits) == 0 {
		return n, nil
	}
	if len(n.kids) == 0 {
		return build(label, applied(n.entries, edits)), nil
	}
	var kids []kid
	var beside []edit
	rest := n.kids
	for len(edits) > 0 || len(rest) > 0 {
		if len(edits) > 0 && !edits[0].key.has(n.at) {
			beside, edits = append(beside, edits[0]), edits[1:]
			continue
		}
		if len(edits) == 0 || len(rest) > 0 && rest[0].ref.Label < edits[0].key.digits(len(n.at)+1) {
			kids, rest = append(kids, rest[0]), rest[1:]
			continue
		}
		below := edits[0].key.digits(len(n.at) + 1)
		m := 1
		for m < len(edits) && edits[m].key.has(below) {
			m++
		}
		var was *node
		if len(rest) > 0 && rest[0].ref.Label == below {
			var err error
			if was, err = t.open(rest[0]); err != nil {
				return nil, err
			}
			rest = rest[1:]
		}
		next, err := t.update(below, was, edits[:m])
		if err != nil {
			return nil, err
		}
		if next != nil {
			kids = append(kids, kidOf(next))
		}
		edits = edits[m:]
	}
	return t.join(label, n.at, kids, inserts(beside))
}

func inserts(edits []edit) []Entry {
	var out []Entry
	for _, e := range edits {
		if e.entry != nil {
			out = append(out, *e.entry)
		}
	}
	return out
}

func applied(entries []Entry, edits []edit) []Entry {
	out := make([]Entry, 0, len(entries)+len(edits))
	for len(entries) > 0 || len(edits) > 0 {
		c := -1
		switch {
		case len(entries) == 0:
			c = 1
		case len(edits) > 0:
			c = bytes.Compare(entries[0].Key[:], edits[0].key[:])
		}
		if c < 0 {
			out, entries = append(out, entries[0]), entries[1:]
			continue
		}
		if c == 0 {
			entries = entries[1:]
		}
		if e := edits[0].entry; e != nil {
			out = append(out, *e)
		}
		edits = edits[1:]
	}
	return out
}

func fits(members, size int) bool {
	return members <= 1 || members <= MaxMembers && size <= MaxSize
}

// build makes a node of entries, which are in order; nil for none.
func build(label string, entries []Entry) *node {
	if len(entries) == 0 {
		return nil
	}
	n := &node{label: label, members: len(entries)}
	for _, e := range entries {
		n.size += e.Size
	}
	n.at = common(entries[0].Key, entries[len(entries)-1].Key)
	if fits(n.members, n.size) {
		n.entries = entries
		return n
	}
	for len(entries) > 0 {
		below := entries[0].Key.digits(len(n.at) + 1)
		m := 1
		for m < len(entries) && entries[m].Key.has(below) {
			m++
		}
		n.kids = append(n.kids, kidOf(build(below, entries[:m])))
		entries = entries[m:]
	}
	return n
}

func common(a, b Key) string {
	i := 0
	for i < keyDigits && a.digit(i) == b.digit(i) {
		i++
	}
	return a.digits(i)
}

// join makes a node of the children at some digits and of entries elsewhere, which are in order.
func (t *trie) join(label, at string, kids []kid, beside []Entry) (*node, error) {
	n := &node{label: label, at: at, kids: kids}
	for _, k := range kids {
		n.members += k.ref.Members
		n.size += k.ref.Size
	}
	members, size := n.members+len(beside), n.size
	for _, e := range beside {
		size += e.Size
	}
	if fits(members, size) {
		list := beside
		for _, k := range kids {
			var err error
			if list, err = t.collect(k, list); err != nil {
				return nil, err
			}
		}
		return build(label, inOrder(list)), nil
	}
	switch len(kids) {
	case 0:
		return build(label, beside), nil
	case 1: // the digits that its entries share are more
		only, err := t.open(kids[0])
		if err != nil {
			return nil, err
		}
		if n = only.relabel(label); len(beside) == 0 {
			return n, nil
		}
		if len(n.kids) == 0 {
			return build(label, inOrder(slices.Concat(n.entries, beside))), nil
		}
	}
	if len(beside) == 0 {
		return n, nil
	}
	return t.place(label, n, beside)
}

func inOrder(list []Entry) []Entry {
	slices.SortFunc(list, func(a, b Entry) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return list
}

// relabel returns a node as the one that other digits lead to.
func (n *node) relabel(label string) *node {
	if n.label == label {
		return n
	}
	moved := *n
	moved.label, moved.old, moved.cid = label, nil, ipld.CID{}
	return &moved
}

// collect appends the entries below a child, which are few.
func (t *trie) collect(k kid, list []Entry) ([]Entry, error) {
	n, err := t.open(k)
	if err != nil {
		return nil, err
	}
	list = append(list, n.entries...)
	for _, below := range n.kids {
		if list, err = t.collect(below, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// place puts a node above others and entries: together they are too many for a leaf.
func (t *trie) place(label string, n *node, beside []Entry) (*node, error) {
	shared := len(n.at)
	for _, e := range beside {
		for i := range shared {
			if e.Key.digit(i) != n.at[i] {
				shared = i
				break
			}
		}
	}
	if shared == len(n.at) { // all are below it
		edits := make([]edit, len(beside))
		for i := range beside {
			edits[i] = edit{beside[i].Key, &beside[i]}
		}
		return t.update(label, n, edits)
	}
	out := &node{label: label, at: n.at[:shared], members: n.members + len(beside), size: n.size}
	own := n.at[:shared+1]
	put := false
	for len(beside) > 0 || !put {
		if len(beside) == 0 || !put && own < beside[0].Key.digits(shared+1) {
			out.kids, put = append(out.kids, kidOf(n.relabel(own))), true
			continue
		}
		below := beside[0].Key.digits(shared + 1)
		m := 1
		for m < len(beside) && beside[m].Key.has(below) {
			m++
		}
		next := build(below, beside[:m])
		if below == own {
			var err error
			if next, err = t.place(own, n, beside[:m]); err != nil {
				return nil, err
			}
			put = true
		}
		out.kids = append(out.kids, kidOf(next))
		for _, e := range beside[:m] {
			out.size += e.Size
		}
		beside = beside[m:]
	}
	return out, nil
}
