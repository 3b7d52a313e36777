package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// quarantineFile is where what a remote says was erased is kept until it is decided about.
	quarantineFile = "redactions.json"
	// MaxQuarantined is the largest number of redactions of one remote that are kept, maxQuarantine the
	// largest size of their file in bytes. What is beyond is left out, and asked for again.
	MaxQuarantined = 20_000
	maxQuarantine  = 32 << 20
	// maxRecords bounds the records in it, in bytes: in the file they are base64.
	maxRecords = 16 << 20
)

// Decision is what was decided about a redaction in quarantine.
type Decision string

const (
	Waiting  Decision = "waiting" // it has no effect, and is asked about
	Rejected Decision = "rejected"
	Accepted Decision = "accepted"
)

// Quarantined is a redaction that a remote told of.
type Quarantined struct {
	care.ToldRedaction
	Decision Decision `json:"decision"`
}

// Quarantine is what a remote says was erased, in CID order, with what was decided. The zero value is empty.
type Quarantine struct {
	Set     string        `json:"set"`  // of the remote when it was asked last
	Told    string        `json:"told"` // of the repository here when the remote was told last
	Entries []Quarantined `json:"entries"`

	size int // of the records, in bytes
}

// ReadQuarantine reads that of a remote, whose directory is given.
func ReadQuarantine(dir string) (*Quarantine, error) {
	path := filepath.Join(dir, quarantineFile)
	data, err := filestate.Read(path, maxQuarantine)
	q := &Quarantine{}
	if err != nil || data == nil {
		return q, err
	}
	if err = json.Unmarshal(data, q); err == nil {
		err = q.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, path, err)
	}
	return q, nil
}

func (q *Quarantine) check() error {
	last := ipld.CID{}
	for i := range q.Entries {
		e := &q.Entries[i]
		if err := e.Check(); err != nil {
			return err
		}
		if e.CID.Compare(last) <= 0 {
			return fmt.Errorf("%s is not in order", e.CID)
		}
		if !slices.Contains([]Decision{Waiting, Rejected, Accepted}, e.Decision) {
			return fmt.Errorf("%q is no decision", e.Decision)
		}
		last, q.size = e.CID, q.size+len(e.Record)
	}
	return nil
}

func (q *Quarantine) write(dir string) error {
	return filestate.Replace(filepath.Join(dir, quarantineFile), 0o600, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(q)
	})
}

// Count returns how many redactions there are of a decision.
func (q *Quarantine) Count(d Decision) (n int) {
	for _, e := range q.Entries {
		if e.Decision == d {
			n++
		}
	}
	return n
}

// find returns where the redaction of a block is, or belongs.
func (q *Quarantine) find(c ipld.CID) (at int, found bool) {
	return slices.BinarySearchFunc(q.Entries, c, func(e Quarantined, c ipld.CID) int { return e.CID.Compare(c) })
}

// add puts a redaction into quarantine, unless it is there, and reports whether there is room.
func (q *Quarantine) add(t care.ToldRedaction) (added, room bool) {
	at, found := q.find(t.CID)
	if found {
		return false, true
	}
	if len(q.Entries) == MaxQuarantined || q.size+len(t.Record) > maxRecords {
		return false, false
	}
	q.size += len(t.Record)
	q.Entries = slices.Insert(q.Entries, at, Quarantined{t, Waiting})
	return true, true
}

// told calls fn with what was erased at a side, until it returns false.
func told(ctx context.Context, s Side, fn func(care.ToldRedaction) bool) error {
	var after ipld.CID
	for {
		list, more, err := s.Redactions(ctx, after)
		if err != nil {
			return err
		}
		if len(list) > MaxTold {
			return ErrTooLarge
		}
		for _, t := range list {
			if err := t.Check(); err != nil {
				return err
			}
			if t.CID.Compare(after) <= 0 {
				return fmt.Errorf("%w: redactions come out of order", state.ErrInvalid)
			}
			if after = t.CID; !fn(t) {
				return nil
			}
		}
		if !more || len(list) == 0 {
			return nil
		}
	}
}

// Known returns the CIDs of what was erased at a side.
func Known(ctx context.Context, s Side) (map[ipld.CID]bool, error) {
	has := make(map[ipld.CID]bool)
	err := told(ctx, s, func(t care.ToldRedaction) bool {
		has[t.CID] = true
		return true
	})
	return has, err
}

// learn puts what was erased at the remote, and not here, into quarantine, and accepts it where that is asked
// for.
func (opt *FetchOptions) learn(ctx context.Context, here, from Side, mine, set string, out *Fetched) error {
	q, err := ReadQuarantine(opt.Dir)
	if err != nil {
		return err
	}
	if set != q.Set {
		if err := opt.ask(ctx, here, from, mine, set, q, out); err != nil {
			return err
		}
		if err := q.write(opt.Dir); err != nil {
			return err
		}
	}
	only, any := opt.trusted(q)
	if any && out.Learned+len(out.Refs) > 0 {
		got, err := q.decide(ctx, here, opt.Name, only, Accepted)
		if err != nil {
			return err
		}
		if err := q.write(opt.Dir); err != nil {
			return err
		}
		out.Erased = len(got.Erased)
	}
	out.Waiting = q.Count(Waiting)
	return nil
}

// trusted returns what is accepted without being asked about: nil for all that wait; and whether there is any.
func (opt *FetchOptions) trusted(q *Quarantine) (only []ipld.CID, any bool) {
	if opt.AcceptPurge {
		return nil, q.Count(Waiting) > 0
	}
	for _, e := range q.Entries {
		if e.Decision == Waiting && opt.Trusted != nil && opt.Trusted(e.ToldRedaction) {
			only = append(only, e.CID)
		}
	}
	return only, len(only) > 0
}

// ask asks the remote what was erased there.
func (opt *FetchOptions) ask(
	ctx context.Context, here, from Side, mine, set string, q *Quarantine, out *Fetched,
) error {
	q.Set = set
	if set == mine || set == "" {
		return nil
	}
	has, err := Known(ctx, here)
	if err != nil {
		return err
	}
	return told(ctx, from, func(t care.ToldRedaction) bool {
		if has[t.CID] {
			return true
		}
		added, room := q.add(t)
		if added {
			out.Learned++
		}
		if !room {
			q.Set = ""
		}
		return room
	})
}

// decide decides about what waits, or about what is named.
func (q *Quarantine) decide(
	ctx context.Context, here Side, name string, only []ipld.CID, as Decision,
) (*care.AcceptedRedactions, error) {
	named := cidSet(only)
	var at []int
	var list []care.ToldRedaction
	for i, e := range q.Entries {
		if named[e.CID] && e.Decision != Accepted || only == nil && e.Decision == Waiting {
			at = append(at, i)
			if as == Accepted {
				list = append(list, e.ToldRedaction)
			}
		}
	}
	out, err := AcceptAll(ctx, here, list, name)
	if err != nil {
		return nil, err
	}
	left := cidSet(out.Left)
	for _, i := range at {
		if !left[q.Entries[i].CID] {
			q.Entries[i].Decision = as
		}
	}
	return out, nil
}

func cidSet(list []ipld.CID) map[ipld.CID]bool {
	set := make(map[ipld.CID]bool, len(list))
	for _, c := range list {
		set[c] = true
	}
	return set
}

// AcceptAll has a side accept redactions, as many as there are.
func AcceptAll(
	ctx context.Context, s Side, list []care.ToldRedaction, tracking string,
) (*care.AcceptedRedactions, error) {
	out := &care.AcceptedRedactions{}
	for len(list) > 0 {
		n := min(len(list), MaxTold)
		got, err := s.Accept(ctx, list[:n], tracking)
		if err != nil {
			return nil, err
		}
		out.Erased, out.Closed = append(out.Erased, got.Erased...), append(out.Closed, got.Closed...)
		out.Left, out.Pending = append(out.Left, got.Left...), out.Pending || got.Pending
		out.Denied = cmp.Or(out.Denied, got.Denied)
		list = list[n:]
	}
	return out, nil
}

// Decide accepts or rejects what waits in the quarantine of a remote, or the redactions of the blocks that
// are named. What is accepted is erased where refs of the remote reach it, and else waits on.
func Decide(
	ctx context.Context, here Side, opt Options, only []ipld.CID, as Decision,
) (out *care.AcceptedRedactions, err error) {
	err = opt.locked(ctx, "fetch", func() error {
		q, err := ReadQuarantine(opt.Dir)
		if err != nil {
			return err
		}
		for _, c := range only {
			if _, known := q.find(c); !known {
				return &state.NotFoundError{What: "redaction", Name: c.String()}
			}
		}
		if out, err = q.decide(ctx, here, opt.Name, only, as); err != nil {
			return err
		}
		return q.write(opt.Dir)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// tell has what was erased here erased at the remote, where that is asked for, or finds out whether there is
// anything new to be told.
func (opt *PushOptions) tell(ctx context.Context, here, to Side, mine, set string, out *Pushed) error {
	if mine == "" || mine == set {
		return nil
	}
	return opt.locked(ctx, "fetch", func() error { return opt.tellNews(ctx, here, to, mine, set, out) })
}

func (opt *PushOptions) tellNews(ctx context.Context, here, to Side, mine, set string, out *Pushed) error {
	q, err := ReadQuarantine(opt.Dir)
	if err != nil {
		return err
	}
	if !opt.Redactions && q.Told == mine {
		return nil
	}
	has := make(map[ipld.CID]bool)
	if set != "" { // a server that is older knows of none, and has no answer
		if has, err = Known(ctx, to); err != nil {
			return err
		}
	}
	var list []care.ToldRedaction
	err = told(ctx, here, func(t care.ToldRedaction) bool {
		if !has[t.CID] {
			list = append(list, t)
		}
		return true
	})
	if err != nil {
		return err
	}
	if out.Untold = len(list) > 0 && !opt.Redactions; !out.Untold {
		got, err := AcceptAll(ctx, to, list, "")
		if err != nil {
			return err
		}
		out.Erased = len(got.Erased)
	}
	q.Told = mine
	return q.write(opt.Dir)
}
