package prolly

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/mnem-project/mnem/ipld"
)

// Change is one difference between two trees: the value of Key in each, nil if it is absent.
type Change struct{ Key, Old, New []byte }

// Diff returns the changes that lead from a to b, in key order. It reads the chunks that only one of the trees has,
// about two a level for each change. Changes are read-only views that may be kept. An error ends the sequence,
// which may be ranged over repeatedly.
func Diff(ctx context.Context, a, b *Map) iter.Seq2[Change, error] {
	return DiffPrefix(ctx, a, b, nil)
}

// DiffPrefix returns the changes of Diff whose keys begin with prefix. It reads only the chunks on the path there
// that the trees do not share.
func DiffPrefix(ctx context.Context, a, b *Map, prefix []byte) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		d := newDiffer(ctx, a, b)
		d.prefix = prefix
		for {
			c, ok, err := d.next()
			if err != nil {
				yield(Change{}, err)
				return
			}
			if !ok || !yield(c, nil) {
				return
			}
		}
	}
}

// Counts are numbers of keys that differ between two trees.
type Counts struct{ Added, Changed, Removed uint64 }

// CountDiff counts the changes that Diff yields. It takes the size of a subtree that only one tree has from its
// parent without reading it, so comparing with an empty tree reads nothing.
func CountDiff(ctx context.Context, a, b *Map) (Counts, error) {
	n, _, err := CountDiffWithin(ctx, a, b, math.MaxInt)
	return n, err
}

// CountDiffWithin counts like CountDiff until it has read the given number of chunks. If that is too few, exact is
// false and the counts are lower bounds: for the part that was not compared it counts how many more keys one tree
// has than the other.
func CountDiffWithin(ctx context.Context, a, b *Map, chunks int) (n Counts, exact bool, err error) {
	d := newDiffer(ctx, a, b)
	d.counts = &n
	for !d.a.ended() || !d.b.ended() {
		if d.a.read+d.b.read >= chunks {
			old, new := d.a.left(), d.b.left()
			n.Added += max(old, new) - old
			n.Removed += max(old, new) - new
			return n, false, nil
		}
		if err := ctx.Err(); err != nil {
			return n, false, fmt.Errorf("compare trees: %w", err)
		}
		c, found, err := d.step()
		switch {
		case err != nil:
			return n, false, err
		case !found:
		case c.Old == nil:
			n.Added++
		case c.New == nil:
			n.Removed++
		default:
			n.Changed++
		}
	}
	return n, true, nil
}

// differ walks two trees in parallel. Everything before the two walks has been compared.
type differ struct {
	ctx    context.Context
	a, b   walk
	prefix []byte  // of the keys to compare; nil for all
	counts *Counts // if set, subtrees that only one tree has are counted here whole
}

func newDiffer(ctx context.Context, a, b *Map) *differ {
	return &differ{ctx: ctx, a: newWalk(a), b: newWalk(b)}
}

// next returns the next change, false after the last.
func (d *differ) next() (Change, bool, error) {
	if err := d.ctx.Err(); err != nil {
		return Change{}, false, fmt.Errorf("compare trees: %w", err)
	}
	for {
		if d.prefix != nil {
			d.a.within(d.prefix)
			d.b.within(d.prefix)
		}
		if d.a.ended() && d.b.ended() {
			return Change{}, false, nil
		}
		c, found, err := d.step()
		if found || err != nil {
			return c, found, err
		}
	}
}

// step compares the entries the walks are at, and moves at least one of them forward or down.
func (d *differ) step() (c Change, found bool, err error) {
	a, b := &d.a, &d.b
	switch {
	case a.ended() || (!b.ended() && b.isBefore(a)):
		return d.one(b, false)
	case b.ended() || a.isBefore(b):
		return d.one(a, true)
	case a.level() > b.level():
		return c, false, a.down(d.ctx)
	case a.level() < b.level():
		return c, false, b.down(d.ctx)
	case a.level() > 0:
		return c, false, d.subtrees()
	}
	// Neither entry is before the other, so they have the same key.
	c = Change{Key: a.key(), Old: a.value(), New: b.value()}
	a.advance()
	b.advance()
	return c, !bytes.Equal(c.Old, c.New), nil
}

// one handles an entry that only one tree has.
func (d *differ) one(w *walk, old bool) (c Change, found bool, err error) {
	switch {
	case w.level() > 0 && d.counts == nil:
		return c, false, w.down(d.ctx)
	case w.level() > 0:
		n := &d.counts.Added
		if old {
			n = &d.counts.Removed
		}
		*n += w.top().c.counts[w.top().i]
		w.advance()
		return c, false, nil
	}
	c.Key = w.key()
	if old {
		c.Old = w.value()
	} else {
		c.New = w.value()
	}
	w.advance()
	return c, true, nil
}

// subtrees skips two equal chunks and enters two different ones.
func (d *differ) subtrees() error {
	a, b := &d.a, &d.b
	if a.top().c.links[a.top().i] == b.top().c.links[b.top().i] {
		a.advance()
		b.advance()
		return nil
	}
	if err := a.down(d.ctx); err != nil {
		return err
	}
	return b.down(d.ctx)
}

// walk is a position in a tree: one entry of some chunk. Its level is the level of the entry's content: 0 for an entry
// of level 0, one more for each level above.
type walk struct {
	nodes *Nodes
	root  *chunk
	path  []frame // from a link to the root downwards
	read  int     // chunks below the root
}

// newWalk returns a walk at the link to the root of m.
func newWalk(m *Map) walk {
	w := walk{nodes: m.nodes, root: m.root}
	if m.Len() > 0 {
		up := m.root.parentItem()
		top := &chunk{
			level: m.root.level + 1, keys: [][]byte{up.key},
			counts: []uint64{up.count}, total: up.count,
		}
		top.links = append(top.links, up.link)
		w.path = append(w.path, frame{c: top})
	}
	return w
}

func (w *walk) ended() bool { return len(w.path) == 0 }
func (w *walk) top() *frame { return &w.path[len(w.path)-1] }
func (w *walk) level() int  { return w.top().c.level }

// key is the entry's key: the largest key of the subtree it links to.
func (w *walk) key() []byte   { return w.top().c.keys[w.top().i] }
func (w *walk) value() []byte { return w.top().c.values[w.top().i] }

func (w *walk) advance() {
	for !w.ended() {
		w.top().i++
		if w.top().i < len(w.top().c.keys) {
			return
		}
		w.path = w.path[:len(w.path)-1]
	}
}

// down enters the chunk the entry links to, at its first entry.
func (w *walk) down(ctx context.Context) error {
	if len(w.path) == 1 {
		w.path = append(w.path, frame{c: w.root})
		return nil
	}
	c, err := w.nodes.child(ctx, w.top().c, w.top().i)
	if err == nil {
		w.path = append(w.path, frame{c: c})
		w.read++
	}
	return err
}

// left returns the number of keys from the current position to the end.
func (w *walk) left() (n uint64) {
	for d, f := range w.path {
		i := f.i
		if d < len(w.path)-1 {
			i++ // the subtree of entry i is counted further down the path
		}
		if f.c.level == 0 {
			n += uint64(len(f.c.keys) - i)
			continue
		}
		for _, count := range f.c.counts[i:] {
			n += count
		}
	}
	return n
}

// within advances, without reading, past subtrees that hold no key with the prefix, and to the end once no more can
// follow.
func (w *walk) within(prefix []byte) {
	for !w.ended() && bytes.Compare(w.key(), prefix) < 0 {
		w.advance()
	}
	if w.ended() {
		return
	}
	least := w.before() // all keys are above
	if w.level() == 0 {
		least = w.key()
	}
	if bytes.Compare(least, prefix) > 0 && !bytes.HasPrefix(least, prefix) {
		w.path = nil
	}
}

// before returns the last key before the current entry, or nil if there is none.
func (w *walk) before() []byte {
	for d := len(w.path) - 1; d >= 0; d-- {
		if f := w.path[d]; f.i > 0 {
			return f.c.keys[f.i-1]
		}
	}
	return nil
}

// isBefore reports whether all keys at w are known, without reading, to be less than all keys at v.
func (w *walk) isBefore(v *walk) bool {
	if v.level() == 0 {
		return bytes.Compare(w.key(), v.key()) < 0
	}
	before := v.before()
	return before != nil && bytes.Compare(w.key(), before) <= 0
}

// Beyond walks the chunks and entries of m that none of others has at the same place. It calls chunk with each such
// chunk, parents before children and in key order, and entry with each such entry, after its chunk. If chunk
// returns false, the subtree below is skipped. For trees of one history, these are exactly the blocks that a holder
// of the others lacks. It reads the chunks it yields and those of the others that cover the same keys. The first
// error of a callback ends the walk and is returned unchanged.
func (m *Map) Beyond(
	ctx context.Context, others []*Map,
	chunk func(ipld.CID) (descend bool, err error), entry func(Entry) error,
) error {
	b := beyond{ctx: ctx, others: others, chunk: chunk, entry: entry}
	known, err := b.known(m.root.level, m.root.lastKeyOrNil(), m.root.cid)
	if err != nil || known {
		return err
	}
	descend, err := chunk(m.root.cid)
	if err != nil || !descend {
		return err
	}
	return b.below(m.nodes, m.root)
}

type beyond struct {
	ctx    context.Context
	others []*Map
	chunk  func(ipld.CID) (bool, error)
	entry  func(Entry) error
}

// lastKeyOrNil is lastKey, but returns nil for the empty chunk.
func (c *chunk) lastKeyOrNil() []byte {
	if len(c.keys) == 0 {
		return nil
	}
	return c.lastKey()
}

// below walks the children of a chunk that the others lack. The recursion is as deep as the tree.
func (b *beyond) below(nodes *Nodes, c *chunk) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	for i, key := range c.keys {
		if c.level == 0 {
			if err := b.one(Entry{key, c.values[i]}); err != nil {
				return err
			}
			continue
		}
		known, err := b.known(c.level-1, key, c.links[i])
		if err != nil {
			return err
		}
		if known {
			continue
		}
		descend, err := b.chunk(c.links[i])
		if err != nil {
			return err
		}
		if !descend {
			continue
		}
		k, err := nodes.child(b.ctx, c, i)
		if err != nil {
			return err
		}
		if err := b.below(nodes, k); err != nil {
			return err
		}
	}
	return nil
}

// one yields an entry unless one of the others has it.
func (b *beyond) one(e Entry) error {
	for _, o := range b.others {
		value, ok, err := o.Get(b.ctx, e.Key)
		if err != nil {
			return err
		}
		if ok && bytes.Equal(value, e.Value) {
			return nil
		}
	}
	return b.entry(e)
}

// known reports whether one of the others has the chunk id at the same level and key.
func (b *beyond) known(level int, key []byte, id ipld.CID) (bool, error) {
	for _, o := range b.others {
		at, err := o.chunkAt(b.ctx, level, key)
		if err != nil || at == id {
			return err == nil, err
		}
	}
	return false, nil
}

// chunkAt returns the chunk of a level that covers a key, or an undefined CID if there is none.
func (m *Map) chunkAt(ctx context.Context, level int, key []byte) (at ipld.CID, err error) {
	c := m.root
	if c.level < level {
		return at, nil
	}
	for c.level > level {
		i := c.find(key)
		if i == len(c.keys) {
			return at, nil
		}
		if c.level == level+1 {
			return c.links[i], nil
		}
		if c, err = m.nodes.child(ctx, c, i); err != nil {
			return at, err
		}
	}
	return c.cid, nil
}

// Conflict is a key that both sides of a merge changed to different values. Nil means that the key is absent there.
type Conflict struct{ Key, Base, Left, Right []byte }

// Merge returns the tree that has, for each key, the value of the side that differs from base. For each conflict it
// calls resolve, in key order, on the calling goroutine; resolve returns the merged value (nil: absent), and its
// first error ends the merge and is returned unchanged. The three trees are walked in parallel; memory is
// proportional to the changes in right. The result is written through left's Nodes.
func Merge(ctx context.Context, base, left, right *Map, resolve func(Conflict) ([]byte, error)) (*Map, error) {
	m := merger{resolve: resolve}
	m.left.differ = newDiffer(ctx, base, left)
	m.right.differ = newDiffer(ctx, base, right)
	for {
		if err := m.left.fill(); err != nil {
			return nil, err
		}
		if err := m.right.fill(); err != nil {
			return nil, err
		}
		if !m.right.some {
			return left.Edit(ctx, m.edits)
		}
		if err := m.step(); err != nil {
			return nil, err
		}
	}
}

type merger struct {
	left, right side
	edits       []Edit // what to do to left
	resolve     func(Conflict) ([]byte, error)
}

// side is a cursor over one side's changes.
type side struct {
	*differ
	change Change
	some   bool
}

func (s *side) fill() (err error) {
	if !s.some {
		s.change, s.some, err = s.differ.next()
	}
	return err
}

// step takes the change with the smaller key, or both if the keys are equal. The right side must have one.
func (m *merger) step() error {
	l, r := m.left.change, m.right.change
	order := 1
	if m.left.some {
		order = bytes.Compare(l.Key, r.Key)
	}
	m.left.some = m.left.some && order > 0
	if order < 0 {
		return nil
	}
	m.right.some = false
	merged := r.New
	if order == 0 && !bytes.Equal(l.New, r.New) {
		var err error
		merged, err = m.resolve(Conflict{Key: r.Key, Base: l.Old, Left: l.New, Right: r.New})
		if err != nil {
			return err
		}
	}
	m.edits = append(m.edits, Edit{Key: r.Key, Value: merged})
	return nil
}
