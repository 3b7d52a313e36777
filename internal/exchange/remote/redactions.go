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
	// quarantineFile stores a remote's redactions until they are decided.
	quarantineFile = "redactions.json"
	// MaxQuarantined is the largest number of redactions of one remote in quarantine, maxQuarantine the largest
	// size of their file in bytes. Redactions beyond that are dropped, and requested again later.
	MaxQuarantined = 20_000
	maxQuarantine  = 32 << 20
	// maxRecords bounds the records in it, in bytes; the file stores them as base64.
	maxRecords = 16 << 20
)

// Decision is the decision about a quarantined redaction.
type Decision string

const (
	Waiting  Decision = "waiting" // has no effect; the user is asked
	Rejected Decision = "rejected"
	Accepted Decision = "accepted"
)

// Quarantined is a redaction reported by a remote.
type Quarantined struct {
	care.ToldRedaction
	Decision Decision `json:"decision"`
}

// Quarantine holds a remote's redactions, in CID order, with their decisions. The zero value is empty.
type Quarantine struct {
	Set     string        `json:"set"`  // of the remote when it was asked last
	Told    string        `json:"told"` // the local set when the remote was last informed
	Entries []Quarantined `json:"entries"`

	size int // of the records, in bytes
}

// ReadQuarantine reads a remote's quarantine from its directory.
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

// Count returns the number of redactions with a decision.
func (q *Quarantine) Count(d Decision) (n int) {
	for _, e := range q.Entries {
		if e.Decision == d {
			n++
		}
	}
	return n
}

// find returns the index of a block's redaction, or where to insert it.
func (q *Quarantine) find(c ipld.CID) (at int, found bool) {
	return slices.BinarySearchFunc(q.Entries, c, func(e Quarantined, c ipld.CID) int { return e.CID.Compare(c) })
}

// add puts a redaction into quarantine, unless it is there, and reports whether it fits.
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

// told calls fn with each redaction of a side, until it returns false.
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

// learn puts redactions of the remote that are new here into quarantine, and accepts them if the options say so.
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
	if any && out.Learned.Learned+len(out.Refs) > 0 {
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

// trusted returns the redactions to accept without asking, nil meaning all that wait, and whether there are any.
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
			out.Learned.Learned++
		}
		if !room {
			q.Set = ""
		}
		return room
	})
}

// decide decides the waiting redactions, or the named ones.
func (q *Quarantine) decide(
	ctx context.Context, here Side, name string, only []ipld.CID, as Decision,
) (*care.AcceptedRedactions, error) {
	named := setOf(only)
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
	left := setOf(out.Left)
	for _, i := range at {
		if !left[q.Entries[i].CID] {
			q.Entries[i].Decision = as
		}
	}
	return out, nil
}

func setOf[K comparable](list []K) map[K]bool {
	set := make(map[K]bool, len(list))
	for _, k := range list {
		set[k] = true
	}
	return set
}

// AcceptAll has a side accept any number of redactions.
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

// Decide accepts or rejects the waiting redactions in a remote's quarantine, or those of the named blocks. Accepted
// blocks are erased if refs of the remote reach them, and otherwise continue to wait.
func Decide(
	ctx context.Context, here Side, opt TransferOptions, only []ipld.CID, as Decision,
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
	return out, err
}

// tell has the remote erase what was erased here, if requested, or otherwise checks whether there is anything new
// to report.
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
	if set != "" { // an older server has no such set
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
