package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// maxStem is how many bytes of a session's name begin that of a chain beside it: with a CID after it, and the name of a
// remote before it, that is a name of a ref still.
const maxStem = 64

// BesideSession returns the name under which a chain of a session is kept beside others: first is its first record that
// none of these has.
func BesideSession(session string, first ipld.CID) string {
	return sessionStem(session) + "." + first.String()
}

// sessionStem returns how the names of all chains of a session begin.
func sessionStem(session string) string {
	if len(session) <= maxStem {
		return session
	}
	cut := strings.ToValidUTF8(session[:maxStem], "") // of a character that is cut
	return strings.TrimRight(cut, "/.")
}

// keptChain is a chain of a session that is here.
type keptChain struct {
	ref graph.RefName
	tip SessionEntry
}

// placeSession decides where a chain of a session goes that another repository has (SPEC 13.5): to is its newest record,
// and at tells of all refs with a prefix. ok is false where it is here already.
func placeSession(
	ctx context.Context, get store.Getter, to ipld.CID, at func(prefix string) (map[graph.RefName]ipld.CID, error),
) (change RefChange, ok bool, err error) {
	z, err := readSession(ctx, get, to)
	if err != nil {
		return change, false, err
	}
	own := graph.RefName(graph.Sessions + z.Record.Name)
	refs, err := at(graph.Sessions + sessionStem(z.Record.Name))
	if err != nil {
		return change, false, err
	}
	kept, err := chainsOf(ctx, get, z.Record.Name, refs)
	if err != nil {
		return change, false, err
	}
	if c, grown, err := grownFrom(ctx, get, z, kept); err != nil || grown {
		return RefChange{Ref: c.ref, From: c.tip.CID, To: to}, grown && c.tip.CID != to, err
	}
	shared := int64(0)
	for _, c := range kept {
		n, err := sharedRecords(ctx, get, z, c.tip)
		if err != nil || n == z.Record.Seq+1 {
			return change, false, err
		}
		shared = max(shared, n)
	}
	if !refs[own].Defined() {
		return RefChange{Ref: own, To: to}, true, nil
	}
	first, err := recordAt(ctx, get, z, shared)
	if err != nil {
		return change, false, err
	}
	change = RefChange{Ref: graph.RefName(graph.Sessions + BesideSession(z.Record.Name, first.CID)), To: to}
	if refs[change.Ref].Defined() {
		return change, false, fmt.Errorf("session %q: %w: what is at %s is no chain of it: remove that session, and take it in "+
			"again", z.Record.Name, fs.ErrExist, change.Ref)
	}
	return change, true, nil
}

// chainsOf returns the chains of a session among refs.
func chainsOf(
	ctx context.Context, get store.Getter, session string, refs map[graph.RefName]ipld.CID,
) (out []keptChain, err error) {
	for ref, c := range refs {
		tip, err := readSession(ctx, get, c)
		if err != nil {
			return nil, err
		}
		if tip.Record.Name == session {
			out = append(out, keptChain{ref, tip})
		}
	}
	return out, nil
}

// placed is the records of chains of one session that a request has placed: each chain is read once, as far down as the
// lowest record that is to be placed after it.
type placed struct {
	seen    map[ipld.CID]bool
	reading []SessionEntry // the lowest record that was read of each chain
}

// has reports whether a record is in a chain that was placed.
func (p *placed) has(ctx context.Context, get store.Getter, z SessionEntry) (bool, error) {
	var more []SessionEntry
	for _, e := range p.reading {
		met := false
		for !met && e.Record.Seq > z.Record.Seq {
			var err error
			if e, err = readSession(ctx, get, e.Record.Prev); err != nil {
				return false, err
			}
			met = p.seen[e.CID] // another chain has the rest
			p.seen[e.CID] = true
		}
		if !met {
			more = append(more, e)
		}
	}
	p.reading = more
	return p.seen[z.CID], nil
}

// beside adds to changes that of placing the chain of a session.
func (im *importer) beside(v *view, to ipld.CID, done []RefChange) ([]RefChange, error) {
	get := im.over.facts()
	z, err := readSession(im.ctx, get, to)
	if err != nil {
		return done, err
	}
	chains := im.placed[z.Record.Name]
	if chains == nil {
		chains = &placed{seen: make(map[ipld.CID]bool)}
		im.placed[z.Record.Name] = chains
	}
	if has, err := chains.has(im.ctx, get, z); err != nil || has {
		return done, err
	}
	chains.seen[to], chains.reading = true, append(chains.reading, z)
	at := func(prefix string) (map[graph.RefName]ipld.CID, error) {
		refs := make(map[graph.RefName]ipld.CID)
		for ref, err := range v.list(im.ctx, prefix) {
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
	change, moves, err := placeSession(im.ctx, get, to, at)
	if err != nil || !moves {
		return done, err
	}
	for i := range done {
		if done[i].Ref == change.Ref { // two chains of which one grew from the other
			done[i].To = change.To
			return done, nil
		}
	}
	return append(done, change), nil
}

// grows reports whether a chain has the newest record of another.
func (im *importer) grows(from, to ipld.CID) (bool, error) {
	get := im.over.facts()
	a, err := readSession(im.ctx, get, from)
	if err != nil {
		return false, err
	}
	b, err := readSession(im.ctx, get, to)
	if err != nil {
		return false, err
	}
	_, ok, err := grownFrom(im.ctx, get, b, []keptChain{{tip: a}})
	return ok, err
}

// grownFrom returns the chain whose newest record is the newest of z that is one. It reads z down to the shortest chain.
func grownFrom(ctx context.Context, get store.Getter, z SessionEntry, kept []keptChain) (c keptChain, ok bool, err error) {
	tips, low := make(map[ipld.CID]keptChain), z.Record.Seq+1
	for _, k := range kept {
		if k.tip.Record.Seq <= z.Record.Seq {
			tips[k.tip.CID], low = k, min(low, k.tip.Record.Seq)
		}
	}
	for e := z; ; {
		if c, ok = tips[e.CID]; ok || e.Record.Seq <= low {
			return c, ok, nil
		}
		if e, err = readSession(ctx, get, e.Record.Prev); err != nil {
			return c, false, err
		}
	}
}

// sharedRecords returns how many records two chains begin with in common.
func sharedRecords(ctx context.Context, get store.Getter, a, b SessionEntry) (n int64, err error) {
	for a.CID != b.CID {
		at := max(a.Record.Seq, b.Record.Seq)
		for _, e := range []*SessionEntry{&a, &b} {
			if e.Record.Seq < at {
				continue
			}
			if at == 0 {
				return 0, nil
			}
			if *e, err = readSession(ctx, get, e.Record.Prev); err != nil {
				return 0, err
			}
		}
	}
	return a.Record.Seq + 1, nil
}

// recordAt returns the record of a chain with a number.
func recordAt(ctx context.Context, get store.Getter, e SessionEntry, seq int64) (SessionEntry, error) {
	var err error
	for err == nil && e.Record.Seq > seq {
		e, err = readSession(ctx, get, e.Record.Prev)
	}
	return e, err
}

// trustSessions marks records of sessions that the file leads to and that refs of the repository reach: they were
// checked when they came. tips are the newest ones of the repository.
func (im *importer) trustSessions(tips []ipld.CID) error {
	open, low := make(map[ipld.CID]bool), int64(graph.MaxCount)
	for c, as := range im.outside {
		if as == roleSession {
			open[c] = true
		}
	}
	for _, c := range tips { // most chains grow from one that is here
		if open[c] {
			im.f.seen[c] = true
			delete(open, c)
		}
	}
	get := im.repo.facts()
	for c := range open {
		e, err := readSession(im.ctx, get, c)
		if err != nil {
			return err
		}
		low = min(low, e.Record.Seq)
	}
	for _, c := range tips {
		for e := (SessionEntry{Record: &retrieve.Session{Prev: c, Seq: low + 1}}); e.Record.Seq > low && len(open) > 0; {
			var err error
			if e, err = readSession(im.ctx, get, e.Record.Prev); err != nil {
				return err
			}
			if open[e.CID] {
				im.f.seen[e.CID] = true
				delete(open, e.CID)
			}
			if err := im.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastCommits returns the commits that the newest record of a session names: what its receipt is of, or what it is
// pinned to.
func (r *Repo) lastCommits(ctx context.Context, tip ipld.CID) ([]ipld.CID, error) {
	e, err := readSession(ctx, r.facts(), tip)
	if err != nil {
		return nil, err
	}
	var out []ipld.CID
	if e.Record.Commit.Defined() {
		out = append(out, e.Record.Commit)
	}
	if e.Record.Receipt.Defined() {
		rec, err := read(ctx, r.facts(), e.Record.Receipt, retrieve.KindReceipt, retrieve.DecodeReceipt)
		if err != nil {
			return nil, err
		}
		out = append(out, rec.Commits...)
	}
	return out, nil
}

// records puts the records of sessions beyond those of Since, with their receipts and texts, and notes the commits
// that they name.
func (p *packer) records() error {
	for _, tip := range p.sessions {
		for c := tip; c.Defined(); {
			block, err := p.put(lead{c, roleSession})
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

// named notes a commit that a record names, undefined for none.
func (p *packer) named(c ipld.CID) error {
	if _, known := p.has[c]; known || !c.Defined() {
		return nil
	}
	p.has[c] = struct{}{}
	p.tips = append(p.tips, c)
	return p.ctx.Err()
}

// receipt puts a receipt and its texts. The nodes that it names are those of its commits.
func (p *packer) receipt(c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	block, err := p.put(lead{c, roleReceipt})
	if err != nil || block == nil {
		return err
	}
	next, _, err := leads(lead{c, roleReceipt}, block)
	if err != nil {
		return fmt.Errorf("read receipt %s: %w: %w", c, store.ErrCorrupt, err)
	}
	for _, l := range next {
		switch l.as {
		case roleCommit:
			err = p.named(l.cid)
		case roleRaw:
			_, err = p.put(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isSession reports whether a ref is that of a session.
func (r Ref) isSession() bool { return strings.HasPrefix(string(r.Name), graph.Sessions) }

// isSession reports whether a block is a record of a session that is here.
func (r *Repo) isSession(ctx context.Context, c ipld.CID) (bool, error) {
	block, err := r.facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return false, &NotFoundError{What: "block", Name: c.String()}
	}
	return err == nil && ipld.RecordKind(block) == retrieve.KindSession, err
}

// HasRecord reports whether a record of a session is here.
func (r *Repo) HasRecord(ctx context.Context, c ipld.CID) (bool, error) {
	is, err := r.isSession(ctx, c)
	if isMissing(err) {
		return false, nil
	}
	return is, err
}
