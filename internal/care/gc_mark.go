package care

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// waveMost is the largest number of blocks read in one pass in CID order. The larger it is, the more of them share
// a table block; each takes 50 bytes of memory.
const waveMost = 1 << 18

// waveGroup is how many of them are read at a time, with several groups concurrently.
const waveGroup = 1024

type marker struct {
	ctx      context.Context
	facts    store.Blocks
	progress func(what string, done int)
	marked   state.CidMap[uint32] // by block, the number of known links to it; 0 is not marked
	n        int                  // number of marked blocks
	sum      uint64               // of the hashes of these
	Texts    state.CidSet         // cells of the indexes of texts of the graphs among them
	seed     maphash.Seed
}

// NewMarker returns an empty marker. progress, which must not be nil, is called now and then with the number of
// marked blocks.
func NewMarker(ctx context.Context, r *core.Repo, progress func(string, int)) *marker {
	return &marker{ctx: ctx, facts: r.Store.Facts(), progress: progress, seed: maphash.MakeSeed()}
}

// hash returns the number that represents a block in sums, keyed by this collection's seed.
func (m *marker) hash(c ipld.CID) uint64 {
	return maphash.Bytes(m.seed, c.Append(make([]byte, 0, ipld.CIDLen)))
}

func (m *marker) has(c ipld.CID) bool {
	by := m.marked.Find(c)
	return by != nil && *by > 0
}

// add marks a block and reports whether it was not marked before.
func (m *marker) add(c ipld.CID) bool {
	by := m.marked.Value(c)
	if *by > 0 {
		return false
	}
	*by = 1
	m.count(c)
	return true
}

// more counts one more reason to keep a block, and reports whether it is the first.
func (m *marker) more(c ipld.CID) bool {
	by := m.marked.Value(c)
	if *by++; *by > 1 {
		return false
	}
	m.count(c)
	return true
}

func (m *marker) count(c ipld.CID) {
	m.n++
	m.sum += m.hash(c)
	if m.n%core.ProgressEvery == 0 {
		m.progress("blocks in use", m.n)
	}
}

// less counts one reason less, and reports whether none is left.
func (m *marker) less(c ipld.CID) bool {
	by := m.marked.Find(c)
	if by == nil || *by == 0 {
		return false
	}
	if *by--; *by > 0 {
		return false
	}
	m.n--
	m.sum -= m.hash(c)
	return true
}

// operations marks the operations from head to the horizon with everything reachable from their views, and, alone,
// those kept beyond it.
func (m *marker) operations(head ipld.CID, horizon uint64) error {
	var views []reached
	for c := head; c.Defined() && !m.has(c); {
		o, err := commit.ReadOperation(m.ctx, state.Linked{Blocks: m.facts}, c)
		if err != nil {
			return err
		}
		if o.Seq < horizon {
			break
		}
		m.add(c)
		if m.more(o.View) {
			views = append(views, reached{state.Lead{Cid: o.View, As: state.RoleAny}, o.Seq})
		}
		if o.Seq == horizon {
			if err := m.beyond(o); err != nil {
				return err
			}
			break
		}
		c = o.Parent
	}
	return m.reach(views)
}

// beyond marks the operations behind the horizon on the paths of skip links: commit.Kept.
func (m *marker) beyond(o *commit.Operation) error {
	for {
		next := o.Skip
		if o.Seq%2 == 1 {
			next = o.Parent
		}
		if !next.Defined() || !m.add(next) {
			return nil
		}
		var err error
		if o, err = commit.ReadOperation(m.ctx, state.Linked{Blocks: m.facts}, next); err != nil {
			return err
		}
	}
}

// lease marks everything reachable from a leased block, if that still exists.
func (m *marker) lease(c ipld.CID) error {
	if m.has(c) {
		m.more(c)
		return nil
	}
	has, err := m.facts.Has(m.ctx, c)
	if err != nil || !has {
		return err
	}
	m.add(c)
	return m.reach([]reached{{Lead: state.Lead{Cid: c, As: state.RoleAny}}})
}

// reached is a link to a newly marked block, and the operation by which it was found, 0 for a lease.
type reached struct {
	state.Lead
	seq uint64
}

// reach marks blocks and everything reachable from them. It repeatedly takes the newest unread blocks, up to one wave,
// and reads them in CID order, which is storage order, on all processors: in link order each would need a seek.
func (m *marker) reach(todo []reached) error {
	var wave []reached
	limit := parallel.Limit[[]reached]{Bytes: 2 * runtime.GOMAXPROCS(0), Size: func([]reached) int { return 1 }}
	for len(todo) > 0 {
		first := max(0, len(todo)-waveMost)
		wave = append(wave[:0], todo[first:]...)
		todo = todo[:first]
		slices.SortFunc(wave, func(a, b reached) int { return a.Cid.Compare(b.Cid) })
		for found := range parallel.Map(slices.Chunk(wave, waveGroup), limit, m.readGroup) {
			for _, c := range found.texts {
				m.Texts.Add(c)
			}
			for _, l := range found.next {
				if m.add(l.Cid) && !leaf(l.As) {
					todo = append(todo, l)
				}
			}
			if found.err != nil {
				return found.err
			}
		}
	}
	return nil
}

type groupRead struct {
	next  []reached
	texts []ipld.CID // cells
	err   error
}

func (m *marker) readGroup(group []reached) (out groupRead) {
	at := -1
	cids := func(yield func(ipld.CID) bool) {
		for at = range group {
			if !yield(group[at].Cid) {
				return
			}
		}
	}
	out.err = store.GetEach(m.ctx, m.facts, cids, func(_ ipld.CID, block []byte, err error) error {
		from := &group[at]
		next, text, err := readLeads(from.Lead, block, err)
		for _, l := range next {
			out.next = append(out.next, reached{l, from.seq})
		}
		if text.Defined() {
			out.texts = append(out.texts, text)
		}
		if err != nil && from.seq > 0 {
			err = fmt.Errorf("refs of operation %d: %w", from.seq, err)
		}
		return err
	})
	return out
}

func leaf(r state.Role) bool {
	switch r {
	case state.RoleEdge, state.RoleMark, state.RoleEmbedding, state.RoleWritten, state.RoleProfile, state.RoleRaw:
		return true
	}
	return false
}

// readLeads returns the links of a block and, for a graph, the cell of its index of texts. err is the error of
// reading the block.
func readLeads(l state.Lead, block []byte, err error) (next []state.Lead, text ipld.CID, _ error) {
	switch {
	case errors.Is(err, store.ErrRedacted):
		return nil, text, nil
	case errors.Is(err, store.ErrNotFound):
		return nil, text, &state.MissingError{CID: l.Cid}
	case err != nil:
		return nil, text, err
	}
	kind := ""
	if l.As == state.RoleAny {
		kind = ipld.PeekKind(block)
	}
	if l.As == state.RoleGraph || kind == graph.KindGraph {
		text = view.TextsKey(l.Cid)
	}
	next, err = ownLeads(l, kind, block)
	if err != nil {
		err = fmt.Errorf("block %s: %w: %w", l.Cid, store.ErrCorrupt, err)
	}
	return next, text, err
}

// ownLeads returns the links of a block by its role or, if that is open, by its kind. For an unknown kind these are
// all its links: a record of a later version must not lose its blocks.
func ownLeads(l state.Lead, kind string, block []byte) ([]state.Lead, error) {
	if l.As != state.RoleAny {
		next, _, err := state.Leads(l, block)
		return next, err
	}
	if l.Cid.Codec() == ipld.Raw {
		return nil, nil
	}
	switch kind {
	case commit.KindStage:
		s, err := commit.DecodeStage(block)
		if err != nil {
			return nil, err
		}
		out := []state.Lead{{Cid: s.Graph, As: state.RoleGraph}}
		return state.Opt(state.Opt(out, s.Base, state.RoleCommit), s.Vectors, state.RoleVectors), nil
	case graph.KindEdge, graph.KindMark, graph.KindEmbedding, distill.KindWritten, retrieve.KindProfile:
		return nil, nil
	}
	for _, r := range []state.Role{state.RoleCommit, state.RoleTag, state.RoleSession, state.RoleReceipt, state.RoleGraph, state.RoleNode} {
		if kind == r.String() {
			next, _, err := state.Leads(state.Lead{Cid: l.Cid, As: r}, block)
			return next, err
		}
	}
	var out []state.Lead
	err := ipld.Links(l.Cid, block, func(c ipld.CID) error {
		out = append(out, state.Lead{Cid: c, As: state.RoleAny})
		return nil
	})
	return out, err
}

// oldest returns the sequence number of the oldest operation to keep. It reads the log, and uses eight bytes of
// memory for each operation.
func (g *Collector) oldest(head store.Head) (uint64, error) {
	var times []graph.Time // of the operations, newest first
	for e, err := range commit.Operations(g.Ctx, g.Repo.Facts(), head.Operation) {
		if err != nil {
			return 0, err
		}
		times = append(times, e.Operation.Time)
		if g.Opt.Grace == 0 && len(times) == g.Opt.KeepOps {
			break
		}
	}
	keep := len(times)
	if g.Opt.Grace > 0 {
		keep = max(min(keep, g.Opt.KeepOps), graced(times, g.Repo.Now(g.Opt.Stamp), g.Opt.Grace))
	}
	return head.Seq + 1 - uint64(keep), nil
}

// graced returns how many of the newest operations a grace period keeps. times holds their times, newest first; it
// is overwritten. The refs left by an operation existed until the next one, so each is kept if the next is within
// the grace period.
//
// A time in the future, or before that of an earlier operation, is not from a clock: programs that took it from a
// caller have recorded such. Such an operation counts as done when the next one was, and the newest of all as done now.
func graced(times []graph.Time, now graph.Time, grace time.Duration) int {
	const odd = graph.Time(-1 << 63)
	last := odd // of the operations before
	for i := len(times) - 1; i >= 0; i-- {
		if times[i] < last || times[i] > now {
			times[i] = odd
		} else {
			last = times[i]
		}
	}
	done, since := now, now-graph.Time(grace.Microseconds()) // when the next one was done
	for i, at := range times {
		if done < since {
			return i
		}
		if at != odd {
			done = at
		}
	}
	return len(times)
}

// GCDue reports whether the log of operations is more than twice as long as a collection would leave it, so that
// the garbage probably exceeds the rest. It reads one operation, and a few more if the log is long.
func GCDue(ctx context.Context, r *core.Repo, opt GCOptions) (bool, error) {
	head, err := r.Store.Head(ctx)
	if err != nil || head.Seq == 0 {
		return false, err
	}
	newest, err := commit.ReadOperation(ctx, r.Facts(), head.Operation)
	if err != nil {
		return false, err
	}
	if opt.KeepOps <= 0 {
		opt.KeepOps = DefaultKeepOps
	}
	length := head.Seq - max(newest.Horizon, 1)
	if length < 2*uint64(opt.KeepOps) || opt.Grace == 0 {
		return length >= 2*uint64(opt.KeepOps), nil
	}
	// Otherwise each write would collect if all of a long log is within the grace period.
	middle, err := commit.OperationAt(ctx, r.Facts(), head.Operation, head.Seq-length/2)
	return err == nil && middle.Operation.Time < r.Now(opt.Stamp)-graph.Time(opt.Grace.Microseconds()), err
}
