package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/links"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/segment"
	"github.com/mnem-project/mnem/store"
)

// indexKind is one of the indexes beside a graph: of its texts, its links or its dense vectors. A cell
// names the manifest of the index of each state.
type indexKind struct {
	name    string
	derived store.Derived
	// key returns the key of a state's cell, undefined where there is nothing to index.
	key func(*state) ipld.CID
	// update makes the index of next from that of base.
	update func(
		ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state, later segment.Later,
	) (ipld.CID, error)
	merge merger
	// of returns the key of the cell of an index with such roots, and which of them are facts. It is nil
	// for texts, whose cells a collection knows.
	of     func(roots []ipld.CID) (key ipld.CID, facts []ipld.CID)
	format *segment.Format
	walk   func(context.Context, segment.Blocks, ipld.CID, func(ipld.CID) error) error
	// verify returns what is wrong with the index of a check, and why what it is of could not be read. What
	// is known of records is not read again.
	verify func(context.Context, *indexCheck) (wrong []string, unread, err error)
	// trees are those that verify scans.
	trees func(*state) []*prolly.Map
}

// indexKinds are the indexes beside a graph, kept in derived; f is what a transaction knows of the facts.
func indexKinds(derived store.Derived, f fresh) []indexKind {
	return []indexKind{textsKind(derived, f), vectorsKind(derived), linksKind(derived, f.trees)}
}

// textsKind is the kind of the indexes of texts.
func textsKind(derived store.Derived, f fresh) indexKind {
	return indexKind{
		name: "texts", derived: derived, format: index.Format, walk: walkOf(index.Format),
		merge: index.Merge, verify: verifyTexts,
		trees: func(s *state) []*prolly.Map { return []*prolly.Map{s.nodes} },
		key: func(s *state) ipld.CID {
			if s.nodes.Len() == 0 {
				return ipld.CID{}
			}
			return textsKey(s.root)
		},
		update: func(
			ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state,
			later segment.Later,
		) (ipld.CID, error) {
			return index.Update(ctx, blocks, manifest, documents(ctx, base, next, f),
				index.Options{Later: later})
		},
	}
}

// textsKey is the key of the cell that says which derived block has the index of the texts of a graph.
// Another form of it, analyser or language has other keys: what such an index holds is made anew.
func textsKey(graph ipld.CID) ipld.CID {
	of := fmt.Sprintf("mnem:texts:%d:%d:%s:", index.Format.Version, retrieve.AnalyserVersion, retrieve.Language)
	return ipld.Sum(ipld.Raw, append([]byte(of), graph.Bytes()...))
}

// linksKind is the kind of the indexes of links.
func linksKind(derived store.Derived, trees *freshTrees) indexKind {
	return indexKind{
		name: "links", derived: derived, format: links.Format, walk: walkOf(links.Format),
		merge: links.Merge, verify: verifyLinks,
		trees: func(s *state) []*prolly.Map { return []*prolly.Map{s.out, s.in} },
		of: func(roots []ipld.CID) (ipld.CID, []ipld.CID) {
			return linksKey(links.Of{Out: roots[0], In: roots[1], Marks: roots[2]}), roots
		},
		key: func(s *state) ipld.CID {
			if s.edges.Len() == 0 {
				return ipld.CID{}
			}
			return linksKey(s.linksOf())
		},
		update: func(
			ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state,
			later segment.Later,
		) (ipld.CID, error) {
			changes := linkChanges(ctx, base, next)
			if !manifest.Defined() {
				changes = newLinks(next.linked(ctx, trees.scan))
			}
			return links.Update(ctx, blocks, manifest, next.linksOf(), changes,
				links.Options{Later: later})
		},
	}
}

// vectorsKind is the kind of the indexes of dense vectors.
func vectorsKind(derived store.Derived) indexKind {
	return indexKind{
		name: "vectors", derived: derived, format: dense.Format, walk: dense.Walk,
		verify: verifyVectors,
		trees:  func(s *state) []*prolly.Map { return []*prolly.Map{s.vectors} },
		merge: func(
			ctx context.Context, blocks segment.Blocks, manifest ipld.CID,
		) (key, merged ipld.CID, err error) {
			return dense.Merge(ctx, blocks, manifest, &awaited{derived: derived})
		},
		of: func(roots []ipld.CID) (ipld.CID, []ipld.CID) { return denseKey(roots[0]), roots[:1] },
		key: func(s *state) ipld.CID {
			if s.vectors.Len() == 0 {
				return ipld.CID{}
			}
			return denseKey(s.vectors.Root())
		},
		update: func(
			ctx context.Context, blocks *store.Stage, manifest ipld.CID, base, next *state,
			later segment.Later,
		) (ipld.CID, error) {
			return dense.Update(ctx, blocks, manifest, next.vectors.Root(),
				embeddingChanges(ctx, base, next), dense.Options{Later: later})
		},
	}
}

// walkOf returns the function that walks an index of a format.
func walkOf(
	f *segment.Format,
) func(context.Context, segment.Blocks, ipld.CID, func(ipld.CID) error) error {
	return func(ctx context.Context, b segment.Blocks, c ipld.CID, fn func(ipld.CID) error) error {
		return f.Walk(ctx, b, c, fn)
	}
}

func verifyTexts(ctx context.Context, c *indexCheck) (wrong []string, unread, err error) {
	expect := c.known.texts
	if expect == nil {
		if expect, err = index.NewExpectations(retrieve.Language); err != nil {
			return nil, nil, err
		}
	}
	read := func(ctx context.Context, id graph.ID) (*index.Document, error) {
		d, err := c.state.document(ctx, id)
		if err != nil {
			unread = err
		}
		return d, err
	}
	docs := noting(wantedDocuments(ctx, c.state, c.scan, c.known), &unread)
	found, err := expect.Verify(ctx, c.derived, c.manifest, docs, read)
	for _, m := range found {
		wrong = append(wrong, m.String())
	}
	return wrong, unread, err
}

func verifyLinks(ctx context.Context, c *indexCheck) (wrong []string, unread, err error) {
	wrong, err = links.Verify(ctx, c.derived, c.manifest, c.state.linksOf(),
		noting(c.state.linked(ctx, c.scan), &unread))
	return wrong, unread, err
}

func verifyVectors(ctx context.Context, c *indexCheck) (wrong []string, unread, err error) {
	wrong, err = dense.Verify(ctx, c.derived, c.manifest, c.state.vectors.Root(), c.known.dense,
		noting(c.state.wantedVectors(ctx, c.scan, c.known), &unread))
	return wrong, unread, err
}

// manifest returns the manifest of a state's index, the undefined CID where there is nothing to index.
// The error wraps store.ErrNotFound where none was made.
func (k indexKind) manifest(ctx context.Context, s *state) (ipld.CID, error) {
	key := k.key(s)
	if !key.Defined() {
		return key, nil
	}
	c, err := k.derived.Cell(ctx, key)
	if err != nil {
		err = fmt.Errorf("find index of %s: %w", k.name, err)
	}
	return c, err
}

// writeKind makes the index of next from that of base, whose manifest is given, and remembers it. Its
// caller holds writer or indexMu.
func (r *Repo) writeKind(
	ctx context.Context, k indexKind, manifest ipld.CID, base, next *state,
) (ipld.CID, error) {
	buffer := store.NewStageBehind(k.derived, stageLimit)
	defer buffer.Wait()
	later := &awaited{derived: k.derived}
	c, err := k.update(ctx, buffer, manifest, base, next, later)
	if err == nil {
		err = buffer.Flush(ctx)
	}
	if err == nil {
		err = k.derived.SetCell(ctx, k.key(next), c)
	}
	if err != nil {
		return c, fmt.Errorf("index of %s: %w", k.name, err)
	}
	if later.missing {
		r.merges.start(k.derived, k.merge, c)
	}
	return c, nil
}

// changeKind writes the index of next, a change of base, beside the commit being made. Where base has
// none the first retrieval makes it: a commit costs its change.
func (r *Repo) changeKind(ctx context.Context, k indexKind, base, next *state) error {
	if key := k.key(next); !key.Defined() || key == k.key(base) {
		return nil
	}
	manifest, err := k.manifest(ctx, base)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = r.writeKind(ctx, k, manifest, base, next)
	}
	return err
}

// ensure returns the manifest of the snapshot's index of a kind and what has its blocks: the one made
// with its commit, or else one made now from that of the nearest ancestor that has one, kept where
// the repository is open for writing. Its caller holds indexMu.
func (s *Snapshot) ensure(
	ctx context.Context, k indexKind,
) (blocks segment.Blocks, manifest ipld.CID, err error) {
	manifest, err = k.manifest(ctx, s.state)
	if err == nil && manifest.Defined() || err != nil && !errors.Is(err, store.ErrNotFound) {
		return k.derived, manifest, err
	}
	base := s.state // there is nothing to index
	if err != nil {
		if manifest, base, err = s.nearest(ctx, k); err != nil {
			return nil, manifest, err
		}
	}
	if !s.repo.ro && k.key(s.state).Defined() {
		written, err := s.repo.writeKind(ctx, k, manifest, base, s.state)
		if !errors.Is(err, store.ErrNoRoom) { // or else it is made in memory alone
			return k.derived, written, err
		}
	}
	buffer := store.NewStage(k.derived, 0)
	later := &awaited{derived: k.derived} // a merge would be thrown away
	manifest, err = k.update(ctx, buffer, manifest, base, s.state, later)
	return buffer, manifest, err
}

// nearest walks first parents to a commit whose state has an index of a kind. Without one it returns no
// index and the empty state.
func (s *Snapshot) nearest(ctx context.Context, k indexKind) (ipld.CID, *state, error) {
	r := s.repo
	for rec := s.commit; rec != nil && len(rec.Parents) > 0; {
		parent, err := r.At(ctx, rec.Parents[0])
		if err != nil {
			return ipld.CID{}, nil, err
		}
		manifest, err := k.manifest(ctx, parent.state)
		if err == nil {
			return manifest, parent.state, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return ipld.CID{}, nil, err
		}
		rec = parent.commit
	}
	empty, err := r.loadState(ctx, roots{})
	return ipld.CID{}, empty, err
}
