package index

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// Blocks is what an update reads and writes.
type Blocks interface {
	store.Getter
	store.Putter
}

// Options of an update. The zero value means the defaults. None but Language changes an answer.
type Options struct {
	// Language is the analyser's language where there is no base, "en" by default. An update of a
	// base keeps the base's.
	Language string
	// Fanout is how many segments of about one size become one, 8 by default, at least 2.
	Fanout int
	// SpillDocs is how many changes one segment is built from at most, 50,000 by default.
	SpillDocs int
	// SpillBytes is about how much memory a segment takes while it is built before it is written,
	// 64 MiB by default. One document may take more.
	SpillBytes int
	// CacheBytes is how many bytes of decoded parts a merge keeps, 16 MiB by default.
	CacheBytes int64
	// Later, where given, has merges made beside the updates.
	Later tiers.Later
}

const (
	defaultLanguage   = "en"
	defaultFanout     = 8
	defaultSpillDocs  = 50_000
	defaultSpillBytes = 64 << 20
	defaultCache      = 16 << 20
	// maxSpills is how many segments of one update wait for its end before they are merged.
	maxSpills = 64
)

func (o Options) withDefaults() Options {
	if o.Language == "" {
		o.Language = defaultLanguage
	}
	if o.Fanout < 2 {
		o.Fanout = defaultFanout
	}
	if o.SpillDocs <= 0 {
		o.SpillDocs = defaultSpillDocs
	}
	if o.SpillBytes <= 0 {
		o.SpillBytes = defaultSpillBytes
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCache
	}
	// A change is a document and a kill at most.
	o.SpillDocs = min(o.SpillDocs, maxDocs/2)
	return o
}

// updater is one run of Update.
type updater struct {
	ctx      context.Context
	blocks   Blocks
	opt      Options
	src      source
	analyser *text.Analyzer
	m        Manifest
	fresh    map[ipld.CID]*segment // segments of this run
	unsaved  *store.Block          // block of the newest segment, where it is not written yet
	spills   int                   // since the last merge
	changes  int                   // documents and kills of the update so far
}

// Update writes the index of a graph: that of base, the undefined CID for no index, with changes
// applied, which come ascending by id, each id at most once. It returns the CID of the manifest,
// which is base where the changes do not touch what is indexed. An error of changes ends the
// update and is returned. The blocks written before an error are garbage. It returns an error that
// wraps ErrAnalyser where base is of another analyser, and one that wraps store.ErrCorrupt
// where base is damaged or changes do not fit it and that is noticed.
//
// The same base, changes and options give the same manifest, but for the runs that Later knows.
func Update(
	ctx context.Context, blocks Blocks, base ipld.CID, changes iter.Seq2[Change, error], opt Options,
) (ipld.CID, error) {
	u := &updater{ctx: ctx, blocks: blocks, opt: opt.withDefaults()}
	u.src = source{get: blocks, cache: NewCache(u.opt.CacheBytes)}
	u.fresh = make(map[ipld.CID]*segment)
	if err := u.start(base); err != nil {
		return ipld.CID{}, err
	}
	if err := u.run(changes); err != nil {
		return ipld.CID{}, fmt.Errorf("update index: %w", err)
	}
	if base.Defined() && len(u.fresh) == 0 {
		return base, nil
	}
	if err := u.m.check(); err != nil {
		return ipld.CID{}, fmt.Errorf("update index: changes do not fit: %w", err)
	}
	block := store.NewBlock(ipld.DagCBOR, u.m.encode())
	if err := blocks.Put(ctx, block); err != nil {
		return ipld.CID{}, fmt.Errorf("write manifest: %w", err)
	}
	return block.CID, nil
}

func (u *updater) start(base ipld.CID) error {
	u.m = Manifest{Analyser: text.Version, Language: u.opt.Language}
	if base.Defined() {
		m, err := ReadManifest(u.ctx, u.blocks, base)
		if err != nil {
			return err
		}
		u.m = *m
	}
	var err error
	if u.analyser, err = u.m.analyser(); err != nil {
		return err
	}
	return u.settle()
}

// analyser returns the analyser that the index was made with.
func (m *Manifest) analyser() (*text.Analyzer, error) {
	if m.Analyser != text.Version {
		return nil, fmt.Errorf("%w: version %d, have %d", ErrAnalyser, m.Analyser, text.Version)
	}
	a, err := text.New(m.Language)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnalyser, err)
	}
	return a, nil
}

func (u *updater) run(changes iter.Seq2[Change, error]) error {
	b := newBuilder(u.analyser)
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
		if c.Analysed != nil && u.m.Language != defaultLanguage {
			return fmt.Errorf("draft of language %q for an index of %q", defaultLanguage, u.m.Language)
		}
		if err := b.add(c); err != nil {
			return err
		}
		if len(b.ids)+len(b.dead) >= u.opt.SpillDocs || b.size >= u.opt.SpillBytes {
			if err := u.spill(b, false); err != nil {
				return err
			}
			b = newBuilder(u.analyser)
		}
	}
	return u.spill(b, true)
}

// spill makes a segment of what was built. At the end of the update, and when many segments have
// come together, it merges what the tiers ask for.
func (u *updater) spill(b *builder, end bool) error {
	if !b.empty() {
		if err := u.save(); err != nil {
			return err
		}
		s, block, err := b.finish(u.ctx, u.blocks)
		if err != nil {
			return err
		}
		if err := u.push(s, block); err != nil {
			return err
		}
		u.sum(s)
		u.changes += s.docs + s.kills
		u.spills++
	}
	if u.spills > 0 && (end || u.spills >= maxSpills) {
		u.spills = 0
		run, err := u.due()
		if err == nil {
			err = u.merge(run)
		}
		if err != nil {
			return err
		}
	}
	if end {
		return u.save()
	}
	return nil
}

// push adds a segment to the manifest. Its block waits: it may be merged before anyone reads it.
func (u *updater) push(s *segment, block store.Block) error {
	u.fresh[s.cid] = s
	u.unsaved = &block
	u.m.Segments = append(u.m.Segments, tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills})
	if len(u.m.Segments) > maxSegments {
		return fmt.Errorf("%d segments, limit %d", len(u.m.Segments), maxSegments)
	}
	return nil
}

// sum adds a segment's statistics to those of the manifest. In the middle of an update they may
// be negative: removals and additions come in the order of ids.
func (u *updater) sum(s *segment) {
	st := &u.m.Stats
	st.Nodes += int64(s.docs - s.kills)
	for f := range Fields {
		st.Terms[f] += s.terms[f]
		st.Filled[f] += s.filled[f]
	}
}

// save writes the block of the newest segment.
func (u *updater) save() error {
	if u.unsaved == nil {
		return nil
	}
	err := u.blocks.Put(u.ctx, *u.unsaved)
	u.unsaved = nil
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	return nil
}

// merge makes one segment of a run of the newest segments.
func (u *updater) merge(run tiers.Run) error {
	if run.Count < 2 {
		return nil
	}
	s, block, err := u.merged(run)
	if err != nil {
		return err
	}
	if u.unsaved = nil; s.docs+s.kills > 0 {
		u.unsaved = &block
	}
	u.fresh[s.cid] = s
	return u.replace(run, s)
}
