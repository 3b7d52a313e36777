package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// maxStem is how many bytes of a session's name begin the name of an additional chain: with a CID after it, and a
// remote's name before it, the result is still a valid ref name.
const maxStem = 64

// BesideSession returns the name under which an additional chain of a session is stored: first is its first record
// that no other chain has.
func BesideSession(session string, first ipld.CID) string {
	return sessionStem(session) + "." + first.String()
}

// sessionStem returns the common beginning of the names of a session's chains.
func sessionStem(session string) string {
	if len(session) <= maxStem {
		return session
	}
	return strings.TrimRight(text.FirstBytes(session, maxStem), "/.")
}

// KeptChain is a stored chain of a session.
type KeptChain struct {
	ref graph.RefName
	Tip SessionEntry
}

// PlaceSession decides where another repository's chain of a session is stored (SPEC 13.5): to is its newest
// record, and at returns all refs with a prefix. ok is false if it is here already.
func PlaceSession(
	ctx context.Context, get store.Getter, to ipld.CID, at func(prefix string) (map[graph.RefName]ipld.CID, error),
) (change core.RefChange, ok bool, err error) {
	z, err := ReadSession(ctx, get, to)
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
	if c, grown, err := GrownFrom(ctx, get, z, kept); err != nil || grown {
		return core.RefChange{Ref: c.ref, From: c.Tip.CID, To: to}, grown && c.Tip.CID != to, err
	}
	shared := int64(0)
	for _, c := range kept {
		n, err := sharedRecords(ctx, get, z, c.Tip)
		if err != nil || n == z.Record.Seq+1 {
			return change, false, err
		}
		shared = max(shared, n)
	}
	if !refs[own].Defined() {
		return core.RefChange{Ref: own, To: to}, true, nil
	}
	first, err := recordAt(ctx, get, z, shared)
	if err != nil {
		return change, false, err
	}
	change = core.RefChange{Ref: graph.RefName(graph.Sessions + BesideSession(z.Record.Name, first.CID)), To: to}
	if refs[change.Ref].Defined() {
		return change, false, fmt.Errorf("session %q: %w: what is at %s is no chain of it: remove that session, and take it in "+
			"again", z.Record.Name, fs.ErrExist, change.Ref)
	}
	return change, true, nil
}

func chainsOf(
	ctx context.Context, get store.Getter, session string, refs map[graph.RefName]ipld.CID,
) (out []KeptChain, err error) {
	for ref, c := range refs {
		tip, err := ReadSession(ctx, get, c)
		if err != nil {
			return nil, err
		}
		if tip.Record.Name == session {
			out = append(out, KeptChain{ref, tip})
		}
	}
	return out, nil
}

// Placed holds the records of chains of one session that a request has placed: each chain is read once, down to the
// lowest record to be placed after it.
type Placed struct {
	Seen    map[ipld.CID]bool
	Reading []SessionEntry // the lowest record that was read of each chain
}

// Has reports whether a record is in a chain that was placed.
func (p *Placed) Has(ctx context.Context, get store.Getter, z SessionEntry) (bool, error) {
	var more []SessionEntry
	for _, e := range p.Reading {
		met := false
		for !met && e.Record.Seq > z.Record.Seq {
			var err error
			if e, err = ReadSession(ctx, get, e.Record.Prev); err != nil {
				return false, err
			}
			met = p.Seen[e.CID] // another chain has the rest
			p.Seen[e.CID] = true
		}
		if !met {
			more = append(more, e)
		}
	}
	p.Reading = more
	return p.Seen[z.CID], nil
}

// GrownFrom returns the longest chain that z extends. It reads z down to the shortest chain.
func GrownFrom(ctx context.Context, get store.Getter, z SessionEntry, kept []KeptChain) (c KeptChain, ok bool, err error) {
	tips, low := make(map[ipld.CID]KeptChain), z.Record.Seq+1
	for _, k := range kept {
		if k.Tip.Record.Seq <= z.Record.Seq {
			tips[k.Tip.CID], low = k, min(low, k.Tip.Record.Seq)
		}
	}
	for e := z; ; {
		if c, ok = tips[e.CID]; ok || e.Record.Seq <= low {
			return c, ok, nil
		}
		if e, err = ReadSession(ctx, get, e.Record.Prev); err != nil {
			return c, false, err
		}
	}
}

// sharedRecords returns the length of the common beginning of two chains.
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
			if *e, err = ReadSession(ctx, get, e.Record.Prev); err != nil {
				return 0, err
			}
		}
	}
	return a.Record.Seq + 1, nil
}

func recordAt(ctx context.Context, get store.Getter, e SessionEntry, seq int64) (SessionEntry, error) {
	var err error
	for err == nil && e.Record.Seq > seq {
		e, err = ReadSession(ctx, get, e.Record.Prev)
	}
	return e, err
}

// LastCommits returns the commits that the newest record of a session names: those of its receipt, or the pinned one.
func LastCommits(ctx context.Context, r *core.Repo, tip ipld.CID) ([]ipld.CID, error) {
	e, err := ReadSession(ctx, r.Facts(), tip)
	if err != nil {
		return nil, err
	}
	var out []ipld.CID
	if e.Record.Commit.Defined() {
		out = append(out, e.Record.Commit)
	}
	if e.Record.Receipt.Defined() {
		rec, err := read(ctx, r.Facts(), e.Record.Receipt, retrieve.KindReceipt, retrieve.DecodeReceipt)
		if err != nil {
			return nil, err
		}
		out = append(out, rec.Commits...)
	}
	return out, nil
}

// IsSessionRef reports whether a ref names a session.
func IsSessionRef(r core.Ref) bool { return strings.HasPrefix(string(r.Name), graph.Sessions) }

// IsSession reports whether a block is a session record of this repository.
func IsSession(ctx context.Context, r *core.Repo, c ipld.CID) (bool, error) {
	block, err := r.Facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return false, &state.NotFoundError{What: "block", Name: c.String()}
	}
	return err == nil && ipld.RecordKind(block) == retrieve.KindSession, err
}

// HasRecord reports whether the repository has a session record.
func HasRecord(ctx context.Context, r *core.Repo, c ipld.CID) (bool, error) {
	is, err := IsSession(ctx, r, c)
	if IsMissing(err) {
		return false, nil
	}
	return is, err
}
