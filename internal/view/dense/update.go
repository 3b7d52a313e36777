package dense

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// VectorChange is the change of the embedding of a node by a model.
type VectorChange struct {
	ID    graph.ID
	Model string
	Old   int    // dimensions of the dense vector there was, 0 for none
	New   []int8 // the dense vector there is now, nil for none
}

// UpdateOptions of an update. The zero value means the defaults. None changes an answer.
type UpdateOptions struct {
	// Fanout is how many segments of about one size become one: 2 to 8, 8 by default. More counts as 8, since the list
	// of segments must fit into its record.
	Fanout int
	// OpenGroups is how many segments are written at a time, 64 by default: each takes up to
	// 400 KiB of memory, or twice as much as three of its vectors.
	OpenGroups int
	// Later, if given, has merges made concurrently with updates.
	Later segment.Later
}

const (
	defaultOpenGroups = 64
	// mergeCache is how many bytes of parts a merge keeps.
	mergeCache = 4 << 20
)

type updater struct {
	*segment.Updater
	ctx        context.Context
	blocks     segment.Blocks
	openGroups int
	groups     *prolly.Map // of the base, nil without one
	lists      map[groupKey]*segment.List
	open       map[groupKey]*writer
	bases      map[groupKey]*segment.List // of the open ones
	rows       map[groupKey]int           // that the update has changed so far
}

// Update writes the index of a tree of embeddings, of: the index base, the undefined CID for none, with changes
// applied, which come ascending by id and model, each pair at most once. It returns the CID of the manifest. An error
// of changes ends the update and is returned. The blocks written before an error are garbage. The error wraps
// store.ErrCorrupt if base is damaged, or changes do not fit it and that is noticed.
//
// The same arguments give the same manifest, but for the runs that Later knows.
func Update(
	ctx context.Context, blocks segment.Blocks, base, of ipld.CID, changes iter.Seq2[VectorChange, error],
	opt UpdateOptions,
) (ipld.CID, error) {
	u := &updater{
		Updater: Format.NewUpdater(blocks, min(cmp.Or(opt.Fanout, maxFanout), maxFanout), opt.Later, mergeCache),
		ctx:     ctx, blocks: blocks, openGroups: cmp.Or(opt.OpenGroups, defaultOpenGroups),
		lists: map[groupKey]*segment.List{}, open: map[groupKey]*writer{},
		rows: map[groupKey]int{}, bases: map[groupKey]*segment.List{},
	}
	c, err := u.run(base, of, changes)
	if err != nil {
		return ipld.CID{}, fmt.Errorf("update index of vectors: %w", err)
	}
	return c, nil
}

func (u *updater) run(base, of ipld.CID, changes iter.Seq2[VectorChange, error]) (c ipld.CID, err error) {
	if base.Defined() {
		if _, u.groups, err = loadGroups(u.ctx, u.blocks, base); err != nil {
			return c, err
		}
	}
	if err := u.apply(changes); err != nil {
		return c, err
	}
	groups, err := u.newGroups()
	if err != nil {
		return c, err
	}
	m := &segment.Manifest{Roots: []ipld.CID{of, groups.Root()}}
	return Format.WriteManifest(u.ctx, u.blocks, m)
}

func (u *updater) apply(changes iter.Seq2[VectorChange, error]) error {
	var last []byte
	for c, err := range changes {
		if err != nil {
			return err
		}
		if err := u.ctx.Err(); err != nil {
			return err
		}
		key := graph.EmbeddingKey(c.ID, c.Model)
		if last != nil && bytes.Compare(last, key) >= 0 {
			return fmt.Errorf("change of %s by %q out of order", c.ID, c.Model)
		}
		last = key
		if c.Old > 0 {
			w, err := u.writer(groupKey{c.Model, c.Old})
			if err == nil {
				err = w.AddKill(c.ID)
			}
			if err != nil {
				return err
			}
		}
		if len(c.New) > 0 {
			w, err := u.writer(groupKey{c.Model, len(c.New)})
			if err == nil {
				err = w.add(c.ID, c.New)
			}
			if err != nil {
				return err
			}
		}
	}
	return u.close()
}

// writer returns the open segment of a group. One that is full, and others where too many are open, are closed before.
func (u *updater) writer(k groupKey) (*writer, error) {
	w := u.open[k]
	if w != nil && max(w.Docs, w.Kills) < maxRows {
		return w, nil
	}
	if w != nil || len(u.open) >= u.openGroups {
		if err := u.close(); err != nil {
			return nil, err
		}
	}
	list, known := u.lists[k]
	if !known {
		var err error
		if list, err = u.base(k); err != nil {
			return nil, err
		}
	}
	w = newWriter(Format.NewWriter(u.ctx, u.blocks), k.dims)
	u.bases[k], u.open[k] = list, w
	return w, nil
}

func sorted[T any](groups map[groupKey]T) []groupKey {
	return slices.SortedFunc(maps.Keys(groups), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.dims, b.dims))
	})
}

// close ends the open segments and does the merges that the tiers require.
func (u *updater) close() error {
	for _, k := range sorted(u.open) {
		list, w := u.bases[k], u.open[k]
		delete(u.bases, k)
		delete(u.open, k)
		s, block, err := w.Finish()
		if err != nil {
			return err
		}
		u.lists[k] = list
		if err := u.push(k, s, block); err != nil {
			return err
		}
	}
	return nil
}

// base returns the segments of a group in the base, with those merged concurrently in place of their run.
func (u *updater) base(k groupKey) (*segment.List, error) {
	l := new(segment.List)
	if u.groups == nil {
		return l, nil
	}
	item, ok, err := u.groups.Get(u.ctx, k.bytes())
	if err == nil && ok {
		*l, err = decodeSegments(item)
	}
	if err == nil {
		err = u.Settle(u.ctx, l)
	}
	return l, err
}

// push adds a segment to a group, which it may be merged with.
func (u *updater) push(k groupKey, s *segment.Segment, block store.Block) error {
	l := u.lists[k]
	u.rows[k] += s.Ref().Size()
	if err := u.Add(u.ctx, l, s, block); err != nil {
		return err
	}
	if live(l.Segments) < 0 {
		return segment.Corrupt("more vectors are gone than there were")
	}
	if rows := stored(l.Segments); rows > maxGroupRows {
		return fmt.Errorf("group of %d vectors, dead ones included, over %d: rebuild the index "+
			"without a base", rows, maxGroupRows)
	}
	if err := u.Compact(u.ctx, l, u.rows[k]); err != nil {
		return err
	}
	return u.Save(u.ctx)
}

// newGroups writes the tree of groups. Without a base there is no empty tree to edit: it would be garbage at once.
func (u *updater) newGroups() (*prolly.Map, error) {
	edits := u.edits()
	if u.groups != nil {
		return u.groups.Edit(u.ctx, edits)
	}
	return prolly.NewNodes(u.blocks, nil).Build(u.ctx, func(yield func(prolly.Entry, error) bool) {
		for _, e := range edits {
			if e.Value != nil && !yield(prolly.Entry(e), nil) {
				return
			}
		}
	})
}

// edits are the changes of the tree of groups. A group without vectors is gone.
func (u *updater) edits() []prolly.Edit {
	edits := make([]prolly.Edit, 0, len(u.lists))
	for _, k := range sorted(u.lists) {
		e := prolly.Edit{Key: k.bytes()}
		if live(u.lists[k].Segments) > 0 {
			e.Value = segment.EncodeList(u.lists[k])
		}
		edits = append(edits, e)
	}
	return edits
}

// Merge makes one segment of a run that a manifest notes, as segment.Format.MergeRun does: of the first
// in the order of groups that later does not know yet.
func Merge(
	ctx context.Context, blocks segment.Blocks, manifest ipld.CID, later segment.Later,
) (key, merged ipld.CID, err error) {
	_, groups, err := loadGroups(ctx, blocks, manifest)
	if err != nil {
		return key, merged, err
	}
	for l, err := range eachList(ctx, groups) {
		var made ipld.CID
		if err == nil {
			made, err = l.Made(ctx, later, Format.Name)
		}
		if err != nil {
			return key, merged, err
		}
		if l.Run.Count > 0 && !made.Defined() {
			return Format.MergeRun(ctx, blocks, &l)
		}
	}
	return key, merged, nil
}

// writer writes the parts of one segment: rows and kills, each ascending by id.
type writer struct {
	*segment.Writer
	full   int // bytes of sketches in a part
	sketch *sketcher
	row    []byte // scratch
}

func newWriter(to *segment.Writer, dims int) *writer {
	to.Sums[sumDims] = int64(dims)
	width := sketchBits(dims) / 8
	return &writer{to, sketchPart / width * width, newSketcher(dims), make([]byte, 0, rowHead+dims)}
}

func (w *writer) add(id graph.ID, vector []int8) error {
	hash := sha256.Sum256(appendRow(w.row[:0], id, vector))
	w.Sums[sumVectors] += int64(binary.LittleEndian.Uint64(hash[:]) & vectorsMask)
	w.Sums[sumVectors] &= vectorsMask
	return w.addSketch(id, w.sketch.bytes(vector))
}

func (w *writer) addSketch(id graph.ID, sketch []byte) error {
	if err := w.AddDoc(id); err != nil {
		return err
	}
	s := w.Section(secSketch)
	err := s.Begin(w.full, func() []byte { return nil })
	s.Buf = append(s.Buf, sketch...)
	return err
}

// merge writes the parts of one segment made of several that follow each other, the oldest first,
// and returns it with its block. Kills of vectors within the run are carried out and those of older
// ones kept; if nothing is older (oldest) there are none.
func merge(
	ctx context.Context, r *segment.Reader, segs []*segment.Segment, oldest bool, to *segment.Writer,
) (*segment.Segment, store.Block, error) {
	dims := segs[0].Sums[sumDims]
	w := newWriter(to, int(dims))
	from := make([]sketches, len(segs))
	for i, s := range segs {
		if s.Sums[sumDims] != dims {
			return nil, store.Block{}, segment.Corrupt("vectors of %d and %d dimensions", s.Sums[sumDims], dims)
		}
		w.Sums[sumVectors] = (w.Sums[sumVectors] + s.Sums[sumVectors]) & vectorsMask
		from[i] = sketches{r: reader{r}, t: tableOf(s)}
	}
	err := r.MergeIDs(ctx, segs, oldest, w.AddKill, func(id graph.ID, i, n int) error {
		sketch, err := from[i].at(ctx, n)
		if err != nil {
			return err
		}
		return w.addSketch(id, sketch)
	})
	if err != nil {
		return nil, store.Block{}, err
	}
	return w.Finish()
}
