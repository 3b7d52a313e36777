package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// UpdateOptions of an update. The zero value means the defaults. None changes an answer.
type UpdateOptions struct {
	// Fanout is how many segments of about one size become one, 8 by default, at least 2.
	Fanout int
	// SpillDocs is how many changes one segment is built from at most, 50,000 by default.
	SpillDocs int
	// SpillBytes is about how much memory a segment takes while it is built before it is written,
	// 64 MiB by default. One document may take more.
	SpillBytes int
	// CacheBytes is how many bytes of decoded parts a merge keeps, 16 MiB by default.
	CacheBytes int64
	// Later, if given, has merges made concurrently with updates.
	Later segment.Later
}

const (
	language          = "en" // of all indexes
	defaultFanout     = 8
	defaultSpillDocs  = 50_000
	defaultSpillBytes = 64 << 20
	defaultCache      = 16 << 20
	// maxSpills is how many segments of one update wait for its end before they are merged.
	maxSpills = 64
)

func (o UpdateOptions) withDefaults() UpdateOptions {
	o.Fanout = cmp.Or(o.Fanout, defaultFanout)
	o.SpillDocs = min(cmp.Or(o.SpillDocs, defaultSpillDocs), maxDocs/2) // a change is a document and a kill at most
	o.SpillBytes = cmp.Or(o.SpillBytes, defaultSpillBytes)
	o.CacheBytes = cmp.Or(o.CacheBytes, defaultCache)
	return o
}

type updater struct {
	*segment.Updater
	ctx     context.Context
	put     store.Putter
	opt     UpdateOptions
	m       Manifest
	spills  int // since the last merge
	changes int // documents and kills of the update so far
}

// Update writes the index of a graph: the index base, the undefined CID for none, with changes applied. Changes ascend
// by id, each id at most once. It returns the CID of the manifest, which is base if the changes do not touch indexed
// fields. An error of changes ends the update and is returned. Blocks written before an error are garbage. It returns
// an error that wraps ErrAnalyser if another analyser made base, and one that wraps store.ErrCorrupt if it notices that
// base is damaged or that changes do not fit it.
//
// The same base, changes and options give the same manifest, except for the runs that Later knows.
func Update(
	ctx context.Context, blocks segment.Blocks, base ipld.CID, changes iter.Seq2[Change, error], opt UpdateOptions,
) (ipld.CID, error) {
	u := &updater{ctx: ctx, put: blocks, opt: opt.withDefaults()}
	u.Updater = Format.NewUpdater(blocks, u.opt.Fanout, u.opt.Later, u.opt.CacheBytes)
	u.m = Manifest{Analyser: text.Version, Language: language}
	if base.Defined() {
		m, err := ReadManifest(ctx, blocks, base)
		if err != nil {
			return ipld.CID{}, err
		}
		u.m = *m
	}
	var err error
	if err = u.m.analysed(); err == nil {
		err = u.Settle(ctx, &u.m.List)
	}
	if err != nil {
		return ipld.CID{}, err
	}
	if err := u.run(changes); err != nil {
		return ipld.CID{}, fmt.Errorf("update index: %w", err)
	}
	if base.Defined() && !u.Changed() {
		return base, nil
	}
	if err := u.m.check(); err != nil {
		return ipld.CID{}, fmt.Errorf("update index: changes do not fit: %w", err)
	}
	return Format.WriteManifest(ctx, blocks, u.m.record())
}

// analysed returns an error unless the index was made by this analyser.
func (m *Manifest) analysed() error {
	if m.Analyser != text.Version {
		return fmt.Errorf("%w: version %d, have %d", ErrAnalyser, m.Analyser, text.Version)
	}
	if m.Language != language {
		return fmt.Errorf("%w: language %q", ErrAnalyser, m.Language)
	}
	return nil
}

func (u *updater) run(changes iter.Seq2[Change, error]) error {
	b := newBuilder(text.English)
	var last *graph.ID
	for c, err := range changes {
		if err != nil {
			return err
		}
		if err := u.ctx.Err(); err != nil {
			return err
		}
		if last != nil && bytes.Compare(last[:], c.ID[:]) >= 0 {
			return fmt.Errorf("change of %s after that of %s", c.ID, *last)
		}
		id := c.ID
		last = &id
		if c.Analysed == nil && c.Old == nil && c.New == nil || c.Old != nil && c.New != nil && c.Old.same(c.New) {
			continue
		}
		if err := b.add(c); err != nil {
			return err
		}
		if len(b.ids)+len(b.dead) >= u.opt.SpillDocs || b.size >= u.opt.SpillBytes {
			if err := u.spill(b, false); err != nil {
				return err
			}
			b = newBuilder(text.English)
		}
	}
	return u.spill(b, true)
}

// spill makes a segment of the built documents. At the end of the update, and when many segments have accumulated, it
// does the merges that the tiers require.
func (u *updater) spill(b *builder, end bool) error {
	if !b.empty() {
		s, block, err := b.finish(Format.NewWriter(u.ctx, u.put))
		if err == nil {
			err = u.Add(u.ctx, &u.m.List, s, block)
		}
		if err != nil {
			return err
		}
		u.m.Stats.add(s)
		u.changes += s.Ref().Size()
		u.spills++
	}
	if u.spills > 0 && (end || u.spills >= maxSpills) {
		u.spills = 0
		if err := u.Compact(u.ctx, &u.m.List, u.changes); err != nil {
			return err
		}
	}
	if end {
		return u.Save(u.ctx)
	}
	return nil
}

// add adds a segment's statistics. In the middle of an update they may be negative: removals and additions come in the
// order of ids.
func (st *Stats) add(s *segment.Segment) {
	st.Nodes += int64(s.Docs - s.Kills)
	terms, filled := sumsOf(s)
	for f := range Fields {
		st.Terms[f] += terms[f]
		st.Filled[f] += filled[f]
	}
}
