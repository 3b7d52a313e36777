package exchange

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// PlaceSession adds the change that places a session's chain next to the local ones.
func (im *Importer) PlaceSession(v *core.View, to ipld.CID, done []core.RefChange) ([]core.RefChange, error) {
	get := im.Over.Facts()
	z, err := session.ReadSession(im.Ctx, get, to)
	if err != nil {
		return done, err
	}
	chains := im.Placed[z.Record.Name]
	if chains == nil {
		chains = &session.Placed{Seen: make(map[ipld.CID]bool)}
		im.Placed[z.Record.Name] = chains
	}
	if has, err := chains.Has(im.Ctx, get, z); err != nil || has {
		return done, err
	}
	chains.Seen[to], chains.Reading = true, append(chains.Reading, z)
	at := func(prefix string) (map[graph.RefName]ipld.CID, error) {
		refs := make(map[graph.RefName]ipld.CID)
		for ref, err := range v.List(im.Ctx, prefix) {
			if err != nil {
				return nil, err
			}
			refs[ref.Name] = ref.Target
		}
		for _, c := range done {
			if strings.HasPrefix(string(c.Ref), prefix) {
				refs[c.Ref] = c.To
			}
		}
		return refs, nil
	}
	change, moves, err := session.PlaceSession(im.Ctx, get, to, at)
	if err != nil || !moves {
		return done, err
	}
	for i := range done {
		if done[i].Ref == change.Ref { // one chain extends the other
			done[i].To = change.To
			return done, nil
		}
	}
	return append(done, change), nil
}

// grows reports whether a chain contains the newest record of another.
func (im *Importer) grows(from, to ipld.CID) (bool, error) {
	get := im.Over.Facts()
	a, err := session.ReadSession(im.Ctx, get, from)
	if err != nil {
		return false, err
	}
	b, err := session.ReadSession(im.Ctx, get, to)
	if err != nil {
		return false, err
	}
	_, ok, err := session.GrownFrom(im.Ctx, get, b, []session.KeptChain{{Tip: a}})
	return ok, err
}

// trustSessions marks session records that the file links to and that refs of the repository reach: they were
// checked on arrival. tips are the repository's newest records.
func (im *Importer) trustSessions(tips []ipld.CID) error {
	open, low := make(map[ipld.CID]bool), int64(graph.MaxCount)
	for c, as := range im.outside {
		if as == state.RoleSession {
			open[c] = true
		}
	}
	for _, c := range tips { // most chains grow from one that is here
		if open[c] {
			im.f.Seen[c] = true
			delete(open, c)
		}
	}
	get := im.Repo.Facts()
	for c := range open {
		e, err := session.ReadSession(im.Ctx, get, c)
		if err != nil {
			return err
		}
		low = min(low, e.Record.Seq)
	}
	for _, c := range tips {
		for e := (session.SessionEntry{Record: &retrieve.Session{Prev: c, Seq: low + 1}}); e.Record.Seq > low && len(open) > 0; {
			var err error
			if e, err = session.ReadSession(im.Ctx, get, e.Record.Prev); err != nil {
				return err
			}
			if open[e.CID] {
				im.f.Seen[e.CID] = true
				delete(open, e.CID)
			}
			if err := im.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// records puts the session records beyond those of Since, with their receipts and texts, and collects the commits
// that they name.
func (p *packer) records() error {
	for _, tip := range p.sessions {
		for c := tip; c.Defined(); {
			block, err := p.put(state.Lead{Cid: c, As: state.RoleSession})
			if err != nil {
				return err
			}
			if block == nil { // it is there, or another session began with it
				break
			}
			rec, err := retrieve.DecodeSession(block)
			if err != nil {
				return fmt.Errorf("read session %s: %w: %w", c, store.ErrCorrupt, err)
			}
			if err := p.named(rec.Commit); err != nil {
				return err
			}
			if err := p.receipt(rec.Receipt); err != nil {
				return err
			}
			c = rec.Prev
		}
	}
	return nil
}

// named adds a commit that a record names, unless it is undefined.
func (p *packer) named(c ipld.CID) error {
	if _, known := p.has[c]; known || !c.Defined() {
		return nil
	}
	p.has[c] = struct{}{}
	p.tips = append(p.tips, c)
	return p.ctx.Err()
}

// receipt puts a receipt and its texts. The nodes that it names belong to its commits.
func (p *packer) receipt(c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	next, err := p.lead(state.Lead{Cid: c, As: state.RoleReceipt})
	if err != nil {
		return err
	}
	for _, l := range next {
		switch l.As {
		case state.RoleCommit:
			err = p.named(l.Cid)
		case state.RoleRaw:
			_, err = p.put(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
