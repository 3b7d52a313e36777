package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// PackOptions says what another repository requests.
type PackOptions struct {
	Refs []core.Ref // branches, tags and sessions with their targets; at least one
	// Since lists commits and session records that the other repository has completely and that are here, the most
	// useful first. Commits beyond commit.MaxExportLinks are dropped.
	Since []ipld.CID
	// Progress, if set, is called now and then on the calling goroutine with the numbers of
	// blocks and bytes written so far.
	Progress func(blocks int, bytes int64)
}

// Pack writes the part of Refs that a repository with Since lacks, as a file for Receive. Work and size follow the
// difference: it compares each commit's trees with those of Since, from the roots down. The bytes are a function of
// the request and of what was erased here. It streams, and keeps some 50 bytes a block in memory.
func Pack(ctx context.Context, r *core.Repo, w io.Writer, opt PackOptions) error {
	p, err := newPacker(ctx, r, opt)
	if err == nil {
		defer p.release()
		err = p.write(w)
	}
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// packer writes one pack.
type packer struct {
	exporter
	sel      *selection
	tips     []ipld.CID            // the commits of the refs, and those that sessions name
	has      map[ipld.CID]struct{} // the same as a set
	sessions []ipld.CID            // the newest records of the refs
	have     []ipld.CID            // records of sessions in Since
	since    []*core.Snapshot
	// release ends the lease on the packed blocks, so that a slow reader does not block collections.
	release func()
}

func newPacker(ctx context.Context, r *core.Repo, opt PackOptions) (p *packer, err error) {
	p = &packer{
		exporter: newExporter(ctx, r, opt.Progress),
		sel:      &selection{refs: make(map[graph.RefName]ipld.CID)}, has: make(map[ipld.CID]struct{}),
	}
	var roots []ipld.CID
	for _, ref := range opt.Refs {
		p.sel.refs[ref.Name] = ref.Target
		roots = append(roots, ref.Target)
	}
	if p.release, err = r.Lease(ctx, append(roots, opt.Since...)...); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	for _, ref := range opt.Refs {
		if session.IsSessionRef(ref) {
			p.sessions = append(p.sessions, ref.Target)
			continue
		}
		tip, err := r.Revisions().Peel(ctx, ref.Target, ref.Target.String())
		if err == nil {
			err = p.named(tip)
		}
		if err != nil {
			return nil, err
		}
	}
	since, err := p.sinceOf(opt.Since)
	if err != nil {
		return nil, err
	}
	m := &p.sel.manifest
	m.Format, m.Scope = commit.ExportFormat, commit.ScopeAll
	if len(since) > 0 {
		m.Scope, m.Since = commit.ScopeRange, slices.Clone(since)
		slices.SortFunc(m.Since, ipld.CID.Compare)
		m.Since = slices.Compact(m.Since)
	}
	for _, c := range m.Since {
		s, err := r.At(ctx, c)
		if err != nil {
			return nil, err
		}
		p.since = append(p.since, s)
	}
	p.leaveOut()
	return p, nil
}

func (p *packer) sinceOf(list []ipld.CID) (since []ipld.CID, err error) {
	var named []ipld.CID
	for _, c := range list {
		is, err := session.IsSession(p.ctx, p.repo, c)
		if err != nil {
			return nil, err
		}
		if !is {
			since = append(since, c)
			continue
		}
		p.have = append(p.have, c)
		more, err := session.LastCommits(p.ctx, p.repo, c)
		if err != nil {
			return nil, err
		}
		named = append(named, more...)
	}
	if len(p.sessions) > 0 { // branches may not lead to the commits that these name
		since = append(since, named...)
	}
	since = Distinct(since) // many sessions name the same commits
	return since[:min(len(since), commit.MaxExportLinks)], nil
}

// Distinct removes duplicate CIDs, keeping the first.
func Distinct(list []ipld.CID) (out []ipld.CID) {
	seen := make(map[ipld.CID]bool, len(list))
	for _, c := range list {
		if !seen[c] {
			seen[c], out = true, append(out, c)
		}
	}
	return out
}

// leaveOut marks the records that the other side has with Since.
func (p *packer) leaveOut() {
	for _, c := range p.have {
		p.seen[c] = struct{}{}
	}
	for _, s := range p.since {
		for _, c := range []ipld.CID{s.Id, s.Record.Graph, s.Record.Profile, s.Record.Message.Block} {
			if c.Defined() {
				p.seen[c] = struct{}{}
			}
		}
	}
}

func (p *packer) write(w io.Writer) error {
	return p.exporter.write(w, p.sel, func(l state.Lead) ([]state.Lead, error) {
		if l.As == state.RoleNamed {
			return nil, nil // which pack writes
		}
		return p.lead(l)
	}, p.pack)
}

// pack puts all blocks except those of the manifest: sessions first, then tags, and commits in log order.
func (p *packer) pack() error {
	if err := p.records(); err != nil {
		return err
	}
	for _, ref := range p.sel.list() {
		if _, isCommit := p.has[ref.Target]; isCommit || session.IsSessionRef(ref) {
			continue
		}
		tag, err := commit.ReadTag(p.ctx, p.repo.Facts(), ref.Target)
		if err == nil {
			err = p.each(state.Lead{Cid: ref.Target, As: state.RoleTag}, state.Opt(nil, tag.Message.Block, state.RoleRaw)...)
		}
		if err != nil {
			return err
		}
	}
	for e, err := range commit.Between(p.ctx, p.repo.Facts(), p.tips, p.sel.manifest.Since) {
		if err == nil {
			err = p.commit(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) each(first state.Lead, more ...state.Lead) error {
	_, err := p.put(first)
	for _, l := range more {
		if err == nil {
			_, err = p.put(l)
		}
	}
	return err
}

// commit puts a commit and its difference to the commits of Since.
func (p *packer) commit(e commit.LogEntry) error {
	more := state.Opt(state.Opt(nil, e.Commit.Message.Block, state.RoleRaw), e.Commit.Profile, state.RoleProfile)
	vectors, digests := e.Commit.Vectors.Defined(), e.Commit.Digests.Defined()
	if err := p.each(state.Lead{Cid: e.CID, As: state.RoleCommit}, more...); err != nil {
		return err
	}
	record, err := p.put(state.Lead{Cid: e.Commit.Graph, As: state.RoleGraph})
	if err != nil || record == nil && !vectors && !digests {
		return err
	}
	s, err := p.repo.LoadState(p.ctx, state.RootsOf(e.Commit))
	if err != nil {
		return err
	}
	for _, t := range []struct {
		wanted bool
		as     state.Role
		of     func(*state.State) *prolly.Map
	}{
		{vectors, state.RoleVectors, func(s *state.State) *prolly.Map { return s.Vectors }},
		{digests, state.RoleDigests, func(s *state.State) *prolly.Map { return s.Digests }},
		{record != nil, state.RoleNodes, func(s *state.State) *prolly.Map { return s.Nodes }},
		{record != nil, state.RoleEdges, func(s *state.State) *prolly.Map { return s.Edges }},
		{record != nil, state.RoleMarks, func(s *state.State) *prolly.Map { return s.Marks }},
		{record != nil, state.RoleAdjacency, func(s *state.State) *prolly.Map { return s.Out }},
		{record != nil, state.RoleAdjacency, func(s *state.State) *prolly.Map { return s.In }},
	} {
		if t.wanted {
			if err := p.tree(s, t.as, t.of); err != nil {
				return err
			}
		}
	}
	return nil
}

// tree puts a tree's difference to those of Since.
func (p *packer) tree(s *state.State, as state.Role, of func(*state.State) *prolly.Map) error {
	var others []*prolly.Map
	for _, have := range p.since {
		others = append(others, of(have.State))
	}
	chunk := func(c ipld.CID) (bool, error) {
		block, err := p.put(state.Lead{Cid: c, As: as})
		return block != nil, err
	}
	return of(s).Beyond(p.ctx, others, chunk, func(e prolly.Entry) error {
		leaf := as.Leaf()
		if leaf == 0 {
			return nil
		}
		c, err := state.LinkItem(e.Value)
		if err != nil {
			return err
		}
		block, err := p.put(state.Lead{Cid: c, As: leaf})
		if err != nil || block == nil || as != state.RoleNodes {
			return err
		}
		return p.content(e.Key, block)
	})
}

// content puts the chunks of a node's content that no version of the node in Since has.
func (p *packer) content(key, block []byte) error {
	chunks, err := state.NodeLeads(block)
	if err != nil || len(chunks) == 0 {
		return err
	}
	have := make(map[ipld.CID]bool)
	for _, s := range p.since {
		n, _, err := s.State.Node(p.ctx, graph.ID(key))
		if errors.Is(err, store.ErrRedacted) {
			continue
		}
		if err != nil {
			return err
		}
		if n != nil && n.Content != nil {
			for _, c := range n.Content.Chunks {
				have[c] = true
			}
		}
	}
	for _, l := range chunks {
		if have[l.Cid] {
			continue
		}
		if _, err := p.put(l); err != nil {
			return err
		}
	}
	return nil
}
