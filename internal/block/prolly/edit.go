package prolly

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Edit is one change of a tree: a nil Value deletes Key, any other value is stored under it. Deleting an absent key
// changes nothing, nor does storing the value already present.
type Edit struct{ Key, Value []byte }

// editCacheBytes is the size of the temporary cache of an edit without one, so that it reads upper chunks once a level.
const editCacheBytes = 4 << 20

// Edit returns the tree with edits applied, or the tree itself if they change nothing. Keys of edits must ascend
// strictly. It writes the chunks that the tree does not have yet, each level in order, and reads the neighbors of those
// whose ends may move. It returns an error that wraps ErrInput for an edit that cannot be applied. Blocks written
// before an error are unreferenced garbage.
func (m *Map) Edit(ctx context.Context, edits []Edit) (*Map, error) {
	if m.Len() == 0 {
		return m.Fill(ctx, slices.Values(edits))
	}
	items, err := editItems(edits)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("write tree: %w", err)
	}
	nodes := m.nodes
	if nodes.cache == nil {
		nodes = NewNodes(nodes.blocks, NewCache(editCacheBytes))
	}
	w := &writer{nodes: nodes}
	old := &Map{nodes: nodes, root: m.root}
	for l := 0; l <= m.root.level && len(items) > 0; l++ {
		if items, err = rechunk(ctx, w, old, l, items); err != nil {
			return nil, err
		}
	}
	if len(items) == 0 {
		return m, nil
	}
	root, err := newRoot(ctx, w, m.root, items)
	if err != nil {
		return nil, err
	}
	return &Map{nodes: m.nodes, root: root}, nil
}

// Fill is Edit for an empty tree. The edits arrive one by one, and their keys and values must stay unchanged until Fill
// returns: it refers to them instead of copying. It returns an error that wraps ErrInput if the tree is not empty.
func (m *Map) Fill(ctx context.Context, edits iter.Seq[Edit]) (*Map, error) {
	if m.Len() > 0 {
		return nil, fmt.Errorf("%w: tree to fill has %d entries", ErrInput, m.Len())
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("write tree: %w", err)
	}
	b := &builder{ctx: ctx, w: &writer{nodes: m.nodes}}
	var check inputChecker
	for e := range edits {
		if err := check.edit(e); err != nil {
			return nil, err
		}
		if e.Value == nil {
			continue
		}
		if err := b.add(0, item{key: e.Key, value: e.Value, count: 1}); err != nil {
			return nil, err
		}
	}
	if len(b.levels) == 0 {
		return m, nil
	}
	return b.load()
}

func editItems(edits []Edit) ([]item, error) {
	var check inputChecker
	items := make([]item, len(edits))
	for i, e := range edits {
		if err := check.edit(e); err != nil {
			return nil, err
		}
		items[i] = item{key: e.Key, value: e.Value, count: 1, gone: e.Value == nil}
	}
	return items, nil
}

// newRoot builds the levels above the old root from the changes of its own entry there, and returns the new root.
func newRoot(ctx context.Context, w *writer, old *chunk, changes []item) (*chunk, error) {
	base := old.level + 1
	up := old.parentItem()
	at, replaced := slices.BinarySearchFunc(changes, up.key, func(it item, key []byte) int {
		return bytes.Compare(it.key, key)
	})
	if !replaced {
		changes = slices.Insert(changes, at, up)
	}
	entries := slices.DeleteFunc(changes, func(it item) bool { return it.gone })
	if len(entries) == 1 {
		return collapse(ctx, w, entries[0].link)
	}
	b := &builder{ctx: ctx, w: w, base: base}
	for _, it := range entries {
		if err := b.add(base, it); err != nil {
			return nil, err
		}
	}
	m, err := b.load()
	if err != nil {
		return nil, err
	}
	return m.root, nil
}

// collapse returns the lowest chunk under root that holds all entries.
func collapse(ctx context.Context, w *writer, root ipld.CID) (*chunk, error) {
	if err := w.flush(ctx); err != nil {
		return nil, err
	}
	c, _, err := w.nodes.load(ctx, root)
	for err == nil && c.level > 0 && len(c.keys) == 1 {
		c, err = w.nodes.child(ctx, c, 0)
	}
	return c, err
}

// Rechunking a level takes three steps, whose numbers return in the code.
//
//  1. The edits that fall into one stored chunk are taken together. If they only replace values,
//     or add keys that move no boundary, the chunk is held back, to be written as it is with the
//     new values and keys.
//  2. Otherwise cutting starts again at the first chunk whose end could depend on a changed entry,
//     which is this one if it only gets too long. An end depends on at most MaxEntries+1 entries
//     from the chunk's start, and on none after itself if its hash is below that of the previous
//     end (SPEC 2.2).
//  3. Cutting stops once a new chunk ends at a stored chunk's end and nothing changed has been
//     read since: from there on the rule sees the same input as when the stored chunks were cut.

// rechunker applies edits to one level of a stored tree.
type rechunker struct {
	ctx   context.Context
	w     *writer
	cur   *cursor
	edits []item
	next  int       // index of the first edit not applied yet
	held  []rewrite // step 1
	out   []item    // changes of the level above

	// State of steps 2 and 3.
	cut     cutter
	stored  []item // entries, in the level above, of the chunks read and not yet passed, in order
	fed     int    // entries given to cut
	emitted int    // entries that left cut in chunks
	dirty   int    // the newest fed entry that is changed, or that follows a removed one
	done    bool
	floor   *item // where cutting last stopped: chunks up to it are final
}

// rewrite is a stored chunk in which edits[from:to] replace values and add keys before the last.
type rewrite struct {
	c        *chunk
	from, to int
}

// rechunk applies edits, in key order, to a level of m and returns the resulting changes of the level above.
func rechunk(ctx context.Context, w *writer, m *Map, level int, edits []item) ([]item, error) {
	r := &rechunker{ctx: ctx, w: w, cur: newCursor(m, level), edits: edits}
	r.cut = cutter{level: level, emit: r.emit}
	for r.next < len(edits) {
		if err := r.group(); err != nil {
			return nil, err
		}
	}
	err := r.release(len(r.held))
	return r.out, err
}

// group applies the edits of one chunk (step 1), and more if step 2 is needed.
func (r *rechunker) group() error {
	if err := r.cur.seek(r.ctx, r.edits[r.next].key); err != nil {
		return err
	}
	c := r.cur.chunk()
	last, end := c.lastKey(), r.next
	for end < len(r.edits) && bytes.Compare(r.edits[end].key, last) <= 0 {
		end++
	}
	if r.cur.isLast() {
		end = len(r.edits)
	}
	at, changed := firstMove(c, r.edits[r.next:end])
	if at >= 0 {
		added, firm := r.additions(c, r.edits[r.next:end])
		if !firm {
			if err := r.goBack(at); err != nil {
				return err
			}
		}
		if !firm || len(c.keys)+added > MaxEntries {
			return r.region()
		}
	}
	if at >= 0 || changed {
		r.held = append(r.held, rewrite{c, r.next, end})
	}
	r.next = end
	// Step 2 goes back at most MaxEntries chunks from the one it was called for.
	if len(r.held) > 2*MaxEntries {
		return r.release(MaxEntries)
	}
	return nil
}

// firstMove returns the index in c of the first key that edits add or remove, or -1, and whether edits change anything.
func firstMove(c *chunk, edits []item) (at int, changed bool) {
	i := 0
	for e := range edits {
		for i < len(c.keys) && bytes.Compare(c.keys[i], edits[e].key) < 0 {
			i++
		}
		found := i < len(c.keys) && bytes.Equal(c.keys[i], edits[e].key)
		if found == edits[e].gone {
			return i, true
		}
		changed = changed || found && !edits[e].sameAs(c, i)
	}
	return -1, changed
}

// additions returns how many keys edits of c, the cursor's chunk, add before its last, and whether the chunk and the
// one before it still end where they do: nothing is removed, and the hash of each new key is above those of both ends.
// So a new key never has the smallest hash of a run that one of them ends, nor ends a chunk by its own hash; such a
// run can only lose entries after its end. The last chunk of a level has no end on its right.
func (r *rechunker) additions(c *chunk, edits []item) (n int, firm bool) {
	ends := uint64(0)
	hash := func(key []byte) (h uint64) {
		h, r.cut.buf = boundaryHash(r.cut.buf, r.cut.level, key)
		return h
	}
	if start, some := r.cur.before(); some {
		ends = hash(start)
	}
	if !r.cur.isLast() {
		ends = max(ends, hash(c.lastKey()))
	}
	i := 0
	for e := range edits {
		for i < len(c.keys) && bytes.Compare(c.keys[i], edits[e].key) < 0 {
			i++
		}
		there := i < len(c.keys) && bytes.Equal(c.keys[i], edits[e].key)
		if there && edits[e].gone {
			return n, false
		}
		if there || edits[e].gone { // another value, or the removal of an absent key
			continue
		}
		if n++; i == len(c.keys) || hash(edits[e].key) <= ends {
			return n, false
		}
	}
	return n, true
}

// release writes the first n held chunks.
func (r *rechunker) release(n int) error {
	for _, h := range r.held[:n] {
		items := make([]item, 0, MaxEntries)
		e := h.from
		for i, key := range h.c.keys {
			it := h.c.item(i)
			for ; e < h.to && bytes.Compare(r.edits[e].key, key) < 0; e++ {
				if !r.edits[e].gone { // else the removal of an absent key
					items = append(items, r.edits[e])
				}
			}
			if e < h.to && bytes.Equal(r.edits[e].key, key) {
				it = r.edits[e]
				e++
			}
			items = append(items, it)
		}
		up, err := r.w.add(r.ctx, h.c.level, items)
		if err != nil {
			return err
		}
		r.out = append(r.out, up)
	}
	r.held = append(r.held[:0], r.held[n:]...)
	return nil
}

// region cuts again from the cursor's chunk on.
func (r *rechunker) region() error {
	start, some := r.cur.before()
	n := len(r.held)
	for n > 0 && (!some || bytes.Compare(r.held[n-1].c.lastKey(), start) > 0) {
		n--
		r.next = r.held[n].from
	}
	absorbed := r.held[n:]
	r.held = r.held[:n]
	clear(absorbed)
	if err := r.release(n); err != nil {
		return err
	}
	var last uint64
	if some {
		last, r.cut.buf = boundaryHash(r.cut.buf, r.cut.level, start)
	}
	r.cut.restart(last)
	r.stored, r.fed, r.emitted, r.dirty, r.done = r.stored[:0], 0, 0, -1, false
	return r.feedChunks()
}

// goBack moves the cursor to the chunk where step 2 starts. seen counts the entries from the
// cursor's chunk to the one that moves.
func (r *rechunker) goBack(seen int) error {
	for {
		end, some := r.cur.before()
		if !some || (r.floor != nil && bytes.Compare(end, r.floor.key) <= 0) {
			return nil
		}
		left := r.cur.clone()
		if _, err := left.move(r.ctx, -1); err != nil {
			return err
		}
		seen += len(left.chunk().keys)
		if seen > MaxEntries || r.endsEarly(end, left) {
			return nil
		}
		r.cur = left
	}
}

// endsEarly reports whether the end of the chunk at left, with the key end, depends only on the chunk before it.
func (r *rechunker) endsEarly(end []byte, left *cursor) bool {
	start, some := left.before()
	if !some {
		return false
	}
	var h, u uint64
	h, r.cut.buf = boundaryHash(r.cut.buf, r.cut.level, end)
	u, r.cut.buf = boundaryHash(r.cut.buf, r.cut.level, start)
	return h < u
}

// feedChunks passes stored chunks and edits to the cutter until step 3 or the level's end.
func (r *rechunker) feedChunks() error {
	for {
		c := r.cur.chunk()
		r.stored = append(r.stored, c.parentItem())
		if err := r.feedChunk(c, r.cur.isLast()); err != nil || r.done {
			return err
		}
		more, err := r.cur.move(r.ctx, 1)
		if err != nil {
			return err
		}
		if !more {
			return r.feedRest()
		}
	}
}

func (r *rechunker) feedChunk(c *chunk, last bool) error {
	for i, key := range c.keys {
		if err := r.feedBelow(key); err != nil || r.done {
			return err
		}
		it, changed := c.item(i), false
		if r.next < len(r.edits) && bytes.Equal(r.edits[r.next].key, key) {
			e := r.edits[r.next]
			r.next++
			if e.gone {
				r.dirty = r.fed
				continue
			}
			if changed = !e.sameAs(c, i); changed {
				it = e
			}
		}
		it.edge = i == len(c.keys)-1 && !last
		if err := r.feed(it, changed); err != nil || r.done {
			return err
		}
	}
	return nil
}

// feedBelow feeds the new entries whose key is less than key, all of them if that is nil.
func (r *rechunker) feedBelow(key []byte) error {
	for r.next < len(r.edits) && (key == nil || bytes.Compare(r.edits[r.next].key, key) < 0) {
		e := r.edits[r.next]
		r.next++
		if e.gone {
			continue
		}
		if err := r.feed(e, true); err != nil || r.done {
			return err
		}
	}
	return nil
}

// feedRest feeds what comes after the last stored chunk and ends the level.
func (r *rechunker) feedRest() error {
	if err := r.feedBelow(nil); err != nil {
		return err
	}
	if err := r.cut.finish(); err != nil {
		return err
	}
	for _, up := range r.stored {
		r.out = append(r.out, item{key: up.key, gone: true})
	}
	return nil
}

func (r *rechunker) feed(it item, changed bool) error {
	if changed {
		r.dirty = r.fed
	}
	r.fed++
	return r.cut.add(it)
}

// emit takes a new chunk from the cutter. The cutter may call it once more after step 3 ended the region.
func (r *rechunker) emit(items []item) error {
	if r.done {
		return nil
	}
	r.emitted += len(items)
	end := items[len(items)-1]
	known := r.passStored(end.key)
	if end.edge && r.dirty < r.emitted {
		r.done, r.floor = true, &end
	}
	if known && unchanged(items) {
		return nil
	}
	up, err := r.w.add(r.ctx, r.cut.level, items)
	if err != nil {
		return err
	}
	r.out = append(r.out, up)
	return nil
}

// unchanged reports whether items are exactly the entries of one stored chunk.
func unchanged(items []item) bool {
	c := items[0].from
	if c == nil || len(c.keys) != len(items) {
		return false
	}
	for i := range items {
		if items[i].from != c {
			return false
		}
	}
	return true
}

// passStored drops the stored chunks up to key, removes from the level above those that end before it, and reports
// whether the last one ends with key.
func (r *rechunker) passStored(key []byte) bool {
	for len(r.stored) > 0 {
		order := bytes.Compare(r.stored[0].key, key)
		if order > 0 {
			return false
		}
		if order < 0 {
			r.out = append(r.out, item{key: r.stored[0].key, gone: true})
		}
		r.stored = r.stored[1:]
		if order == 0 {
			return true
		}
	}
	return false
}
