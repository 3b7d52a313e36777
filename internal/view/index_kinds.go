// Package view has what is derived from a state, one kind of index a view: its name, the key of its cell, how it is
// updated from another state, verified and walked. A view holds only what can be rebuilt.
package view

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/internal/view/links"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// IndexKind is one of the derived indexes of a graph: of its texts, its links or its dense vectors. A cell names the
// manifest of the index of each state.
type IndexKind struct {
	Name    string
	Derived store.Derived
	// Key returns the key of a state's cell, undefined if there is nothing to index.
	Key func(*state.State) ipld.CID
	// Update makes the index of next from the index of base.
	Update func(
		ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state.State, later segment.Later,
	) (ipld.CID, error)
	Merge merger
	// Of returns the key of the cell of an index with such roots, and which of them are facts. It is nil
	// for texts, whose cells a collection knows.
	Of     func(roots []ipld.CID) (key ipld.CID, facts []ipld.CID)
	Format *segment.Format
	Walk   func(context.Context, segment.Blocks, ipld.CID, func(ipld.CID) error) error
	// verify returns the faults of the index of a check, and an error if the facts could not be read. It does not read
	// known records again.
	verify func(context.Context, *IndexCheck) (wrong []string, unread, err error)
	// Trees returns the trees that verify scans.
	Trees func(*state.State) []*prolly.Map
}

// IndexKinds are the derived indexes of a graph, stored in derived; f is a transaction's cache of facts.
func IndexKinds(derived store.Derived, f state.Fresh) []IndexKind {
	return []IndexKind{TextsKind(derived, f), VectorsKind(derived), LinksKind(derived, f.Trees)}
}

// TextsKind is the kind of the indexes of texts.
func TextsKind(derived store.Derived, f state.Fresh) IndexKind {
	return IndexKind{
		Name: "texts", Derived: derived, Format: index.Format, Walk: index.Format.Walk,
		Merge: index.Format.MergeWaiting, verify: verifyTexts,
		Trees: func(s *state.State) []*prolly.Map { return []*prolly.Map{s.Nodes} },
		Key: func(s *state.State) ipld.CID {
			if s.Nodes.Len() == 0 {
				return ipld.CID{}
			}
			return TextsKey(s.Root)
		},
		Update: func(
			ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state.State,
			later segment.Later,
		) (ipld.CID, error) {
			return index.Update(ctx, blocks, manifest, documents(ctx, base, next, f),
				index.UpdateOptions{Later: later})
		},
	}
}

// TextsKey is the key of the cell that names the derived block with the index of a graph's texts. Other formats,
// analysers and languages have other keys, so an index made with them is built again.
func TextsKey(graph ipld.CID) ipld.CID {
	of := fmt.Sprintf("mnem:texts:%d:%d:%s:", index.Format.Version, retrieve.AnalyserVersion, retrieve.Language)
	return ipld.Sum(ipld.Raw, append([]byte(of), graph.Bytes()...))
}

// LinksKind is the kind of the indexes of links.
func LinksKind(derived store.Derived, trees *state.FreshTrees) IndexKind {
	return IndexKind{
		Name: "links", Derived: derived, Format: links.Format, Walk: links.Format.Walk,
		Merge: links.Format.MergeWaiting, verify: verifyLinks,
		Trees: func(s *state.State) []*prolly.Map { return []*prolly.Map{s.Out, s.In} },
		Of: func(roots []ipld.CID) (ipld.CID, []ipld.CID) {
			return linksKey(links.Of{Out: roots[0], In: roots[1], Marks: roots[2]}), roots
		},
		Key: func(s *state.State) ipld.CID {
			if s.Edges.Len() == 0 {
				return ipld.CID{}
			}
			return linksKey(LinksOf(s))
		},
		Update: func(
			ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state.State,
			later segment.Later,
		) (ipld.CID, error) {
			changes := linkChanges(ctx, base, next)
			if !manifest.Defined() {
				changes = mapped(linked(ctx, next, trees.Scan), func(n links.Node) (links.Change, bool, error) {
					return links.Change{Node: n}, true, nil
				})
			}
			return links.Update(ctx, blocks, manifest, LinksOf(next), changes,
				links.UpdateOptions{Later: later})
		},
	}
}

// VectorsKind is the kind of the indexes of dense vectors.
func VectorsKind(derived store.Derived) IndexKind {
	return IndexKind{
		Name: "vectors", Derived: derived, Format: dense.Format, Walk: dense.Walk,
		verify: verifyVectors,
		Trees:  func(s *state.State) []*prolly.Map { return []*prolly.Map{s.Vectors} },
		Merge: func(
			ctx context.Context, blocks segment.Blocks, manifest ipld.CID,
		) (key, merged ipld.CID, err error) {
			return dense.Merge(ctx, blocks, manifest, &Awaited{Derived: derived})
		},
		Of: func(roots []ipld.CID) (ipld.CID, []ipld.CID) { return denseKey(roots[0]), roots[:1] },
		Key: func(s *state.State) ipld.CID {
			if s.Vectors.Len() == 0 {
				return ipld.CID{}
			}
			return denseKey(s.Vectors.Root())
		},
		Update: func(
			ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state.State,
			later segment.Later,
		) (ipld.CID, error) {
			return dense.Update(ctx, blocks, manifest, next.Vectors.Root(), embeddingChanges(ctx, base, next),
				dense.UpdateOptions{Later: later})
		},
	}
}

func verifyTexts(ctx context.Context, c *IndexCheck) (wrong []string, unread, err error) {
	expect := c.Known.Texts
	if expect == nil {
		expect = index.NewExpectations()
	}
	read := func(ctx context.Context, id graph.ID) (*index.Document, error) {
		d, err := Document(ctx, c.State, id)
		if err != nil {
			unread = err
		}
		return d, err
	}
	docs := noting(wantedDocuments(ctx, c.State, c.scan, c.Known), &unread)
	wrong, err = expect.Verify(ctx, c.Derived, c.Manifest, docs, read)
	return wrong, unread, err
}

func verifyLinks(ctx context.Context, c *IndexCheck) (wrong []string, unread, err error) {
	wrong, err = links.Verify(ctx, c.Derived, c.Manifest, LinksOf(c.State),
		noting(linked(ctx, c.State, c.scan), &unread))
	return wrong, unread, err
}

func verifyVectors(ctx context.Context, c *IndexCheck) (wrong []string, unread, err error) {
	read := func(ctx context.Context, model string, ids []graph.ID) ([][]int8, error) {
		vectors, err := DenseVectors(ctx, c.State, model, ids)
		if err != nil {
			unread = err
		}
		return vectors, err
	}
	wrong, err = dense.Verify(ctx, c.Derived, c.Manifest, c.State.Vectors.Root(), read, c.Known.dense,
		noting(wantedVectors(ctx, c.State, c.scan, c.Known), &unread))
	return wrong, unread, err
}

// Manifest returns the manifest of a state's index, the undefined CID if there is nothing to index.
// The error wraps store.ErrNotFound if none was made.
func (k IndexKind) Manifest(ctx context.Context, s *state.State) (ipld.CID, error) {
	key := k.Key(s)
	if !key.Defined() {
		return key, nil
	}
	c, err := k.Derived.Cell(ctx, key)
	if err != nil {
		err = fmt.Errorf("find index of %s: %w", k.Name, err)
	}
	return c, err
}

// IndexCheck is an index that is compared with what it is of.
type IndexCheck struct {
	Kind     IndexKind
	State    *state.State
	Commit   ipld.CID // that has the state
	Derived  store.Derived
	Manifest ipld.CID
	Known    *KnownRecords
	Scanned  map[ipld.CID]*bool // the roots of trees that were scanned, and whether all was good
	// Watch, unless nil, sees the entries of a tree as they are scanned.
	Watch func(context.Context, *prolly.Map, iter.Seq2[prolly.Entry, error]) iter.Seq2[prolly.Entry, error]

	Wrong       []string
	Unread, Err error
}

// Run verifies the index and sets Wrong, Unread and Err: what is wrong with it, why a fact could not be
// read, and why the check could not end.
func (c *IndexCheck) Run(ctx context.Context) {
	c.Wrong, c.Unread, c.Err = c.Kind.verify(ctx, c)
}

// scan is a scanner that checks trees as well.
func (c *IndexCheck) scan(ctx context.Context, m *prolly.Map) iter.Seq2[prolly.Entry, error] {
	good := new(bool)
	c.Scanned[m.Root()] = good
	entries := m.ScanChecked(ctx, good)
	if c.Watch == nil {
		return entries
	}
	return c.Watch(ctx, m, entries)
}

// noting yields what seq does and keeps its error.
func noting[T any](seq iter.Seq2[T, error], failed *error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if err != nil {
				*failed = err
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// Opened are the newest used of what is derived, by what each is of, the most recent last.
type Opened[X any] struct{ list []opened[X] }

type opened[X any] struct {
	of ipld.CID
	x  X
}

// Get returns what was kept of a key and makes it the most recent.
func (o *Opened[X]) Get(of ipld.CID) (x X, ok bool) {
	i := slices.IndexFunc(o.list, func(e opened[X]) bool { return e.of == of })
	if i < 0 {
		return x, false
	}
	e := o.list[i]
	o.list = append(slices.Delete(o.list, i, i+1), e)
	return e.x, true
}

// Put keeps x as the most recent, in place of an earlier one of the same key, or of the least recent one if there are
// most.
func (o *Opened[X]) Put(of ipld.CID, x X, most int) {
	o.list = slices.DeleteFunc(o.list, func(e opened[X]) bool { return e.of == of })
	if len(o.list) == most {
		o.list = slices.Delete(o.list, 0, 1)
	}
	o.list = append(o.list, opened[X]{of, x})
}

// Clear drops all.
func (o *Opened[X]) Clear() { o.list = nil }

// Document returns a node with its whole content, nil if there is none: what was erased, or has
// content that was, is no document.
func Document(ctx context.Context, s *state.State, id graph.ID) (*index.Document, error) {
	item, _, err := s.Nodes.Get(ctx, id[:])
	if err != nil {
		return nil, err
	}
	d, err := readDocument(ctx, s, item)
	if err != nil {
		return nil, err
	}
	return completeDocument(ctx, s, d)
}

// IndexStats describes an index.
type IndexStats struct {
	Manifest ipld.CID // undefined if there is no index yet
	Segments int
	index.Stats
}
