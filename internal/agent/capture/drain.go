package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// DefaultBytes is how much of transcripts one run reads, in bytes: an agent's turn is some tens of KB of
	// them, and a command that waits for the run does so for some tens of ms.
	DefaultBytes = 1 << 20
	// missingFor is how long a transcript may not be there before its entry is given up.
	missingFor = 7 * 24 * time.Hour
)

// DrainOptions say how the spool becomes a commit.
type DrainOptions struct {
	Dir    string // .mnem
	Redact *ingest.Redactor
	Commit core.CommitOptions
	Bytes  int64 // at most, of transcripts; 0 for DefaultBytes
	All    bool  // of turns that go on, too
	Keep   Keep  // what stays in sight
}

// Drained is the result of draining the spool.
type Drained struct {
	Commit   *core.CommitResult `json:"-"`        // nil where nothing was to commit
	Sessions int                `json:"sessions"` // in which something was said
	Turns    int                `json:"turns"`    // that are new or have grown
	Redacted int                `json:"redacted"` // credentials that were taken out
	Left     int                `json:"left"`     // entries that are left for another run
	Retired  int                `json:"retired"`  // turns that are no longer in sight
	Read     int                `json:"-"`        // transcripts that were read in part or whole
}

// Drain takes in what the spool names, in one commit, and removes the entries once that is durable. What cannot
// be read now is left for another run. Turns that the memory has are left as they are, unless they have grown.
func Drain(ctx context.Context, r *core.Repo, opt DrainOptions) (*Drained, error) {
	names, err := pending(opt.Dir, opt.All)
	if err != nil || len(names) == 0 {
		return &Drained{}, err
	}
	list, left, err := readAll(ctx, names, opt)
	if err != nil {
		return nil, err
	}
	out, err := commitAll(ctx, r, list, opt)
	if errors.As(err, new(*state.SecretError)) {
		// One refused transcript must not hold up the others.
		out, err = &Drained{}, nil
		for _, one := range list {
			some, oneErr := commitAll(ctx, r, []*reading{one}, opt)
			switch {
			case errors.As(oneErr, new(*state.SecretError)):
				err = errors.Join(err, one.writePlace(resumePoint{Refused: one.size}))
				left++
			case oneErr != nil:
				return nil, oneErr
			default:
				out.Add(some)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	out.Left += left
	return out, tidy(opt.Dir)
}

// Add adds what another run took in.
func (d *Drained) Add(other *Drained) {
	if other.Commit != nil {
		d.Commit = other.Commit
	}
	d.Sessions += other.Sessions
	d.Turns += other.Turns
	d.Retired += other.Retired
	d.Redacted += other.Redacted
	d.Left += other.Left
	d.Read += other.Read
}

// readAll reads the transcripts of entries, up to a number of bytes.
func readAll(ctx context.Context, names []string, opt DrainOptions) (list []*reading, left int, err error) {
	bytes := cmp.Or(opt.Bytes, DefaultBytes)
	seen := make(map[graph.ID]bool)
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if bytes <= 0 {
			return list, left + len(names) - i, nil
		}
		e, err := readEntry(opt.Dir, name)
		if err != nil || e == nil {
			continue // it belongs to another user, or was taken by another process
		}
		read, err := e.read(opt.Redact, bytes, seen)
		switch {
		case err != nil:
			if !e.hopeless(err, opt.Commit.Time) {
				left++
			} else if err := e.done(ctx); err != nil {
				return nil, 0, err
			}
		case read == nil:
			if err := e.done(ctx); err != nil {
				return nil, 0, err
			}
		default:
			bytes -= read.next.At.Read - read.next.At.Offset
			list = append(list, read)
		}
	}
	return list, left, nil
}

// hopeless reports whether a transcript that cannot be read will not be readable later.
func (s *spooled) hopeless(err error, now graph.Time) bool {
	if errors.Is(err, chats.ErrFormat) || errors.Is(err, ErrTranscript) {
		return true
	}
	info, statErr := os.Stat(s.path)
	return errors.Is(err, fs.ErrNotExist) && statErr == nil && now.Std().Sub(info.ModTime()) > missingFor
}

// commitAll commits what was read, and then lets the spool know.
func commitAll(ctx context.Context, r *core.Repo, list []*reading, opt DrainOptions) (*Drained, error) {
	out := &Drained{}
	if len(list) == 0 {
		return out, nil
	}
	old := readRetirement(opt.Dir)
	next := old
	res, err := r.Decide(ctx, core.DecideOptions{CommitOptions: opt.Commit, Long: true},
		func(s *core.Snapshot) (*core.Decision, error) {
			out.Sessions, out.Turns, out.Retired = 0, 0, 0
			var changes []graph.Change
			for _, one := range list {
				some, turns, err := one.changes(ctx, s)
				if err != nil {
					return nil, err
				}
				if turns > 0 {
					out.Sessions++
				}
				changes, out.Turns = append(changes, some...), out.Turns+turns
			}
			message := fmt.Sprintf("capture %d turns of %d sessions", out.Turns, out.Sessions)
			if out.Turns > 0 {
				some, at, err := old.step(ctx, s, opt.Commit.Time, opt.Keep, retireReads, retireMost)
				if err != nil {
					return nil, err
				}
				changes, next, out.Retired = append(changes, some...), at, len(some)
			}
			if out.Retired > 0 {
				message += fmt.Sprintf(", retire %d", out.Retired)
			}
			return &core.Decision{Changes: changes, Message: message}, nil
		})
	if err != nil {
		return nil, err
	}
	if !res.NoChange {
		out.Commit = res
	}
	if next != old {
		if err := next.write(opt.Dir); err != nil {
			return nil, err
		}
	}
	for _, one := range list {
		out.Read++
		out.Redacted += one.taken.Redacted
		if err := one.writePlace(one.next); err != nil {
			return nil, err
		}
		if one.more {
			out.Left++
			continue
		}
		if one.later {
			err = one.wait()
		}
		if err = errors.Join(err, one.done(ctx)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changes returns what a transcript changes in a memory, and how many turns of it: those that it has not, and
// those that have grown. What was changed, hidden or erased there stays so.
func (r *reading) changes(ctx context.Context, s *core.Snapshot) (list []graph.Change, turns int, err error) {
	erased := func(id graph.ID) (n *graph.Node, gone bool, err error) {
		n, c, err := s.Node(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		red, err := s.Redaction(ctx, c)
		return n, red != nil, err
	}
	for _, t := range r.turns {
		have, gone, err := erased(t.id)
		if err != nil {
			return nil, 0, err
		}
		if gone {
			continue
		}
		if t.node != nil && (have == nil || grew(have, t.node)) {
			list = append(list, graph.Change{Node: t.node})
			turns++
		}
		if t.before != "" {
			if _, gone, err = erased(graph.NodeID(t.before)); err != nil {
				return nil, 0, err
			}
		}
		for _, e := range t.edges {
			if e.Mark != nil {
				some, err := left(ctx, s, e.Mark.On.Node, t.node != nil && have == nil)
				if err != nil {
					return nil, 0, err
				}
				list = append(list, some...)
			} else if e.Edge.Type != ingest.Next || !gone {
				list = append(list, e)
			}
		}
	}
	if turns == 0 {
		return nil, 0, nil // nothing was said
	}
	for _, c := range r.rest {
		switch {
		case c.Mark != nil:
			some, err := left(ctx, s, c.Mark.On.Node, false)
			if err != nil {
				return nil, 0, err
			}
			list = append(list, some...)
		case c.Node == nil || c.Node.Type != "": // else it says of a turn that it was left, as its mark does
			list = append(list, c)
		}
	}
	return list, turns, nil
}

// left returns the changes that hide a turn which the conversation left, if the memory has it or is given it now. One
// that a user hid or showed again stays so.
func left(ctx context.Context, s *core.Snapshot, ref graph.Ref, given bool) ([]graph.Change, error) {
	c := ingest.LeftChanges(ref.Key)
	if given {
		return c[1:], nil // the turn says so itself
	}
	n, _, err := s.Node(ctx, ref.Target())
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || ingest.IsLeft(n) || n.Type != ingest.TypeTurn {
		return nil, err
	}
	if m, err := s.Mark(ctx, graph.OnNode, n.ID); err != nil || m != nil {
		return nil, err
	}
	return c, nil
}

// grew reports whether a turn says what the memory has of it and more.
func grew(have *graph.Node, c *graph.NodeChange) bool {
	if c.Summary == nil {
		return false
	}
	text := *c.Summary
	if len(text) < len(have.Summary) || text[:len(have.Summary)] != have.Summary {
		return false
	}
	return text != have.Summary || calls(c.Props) > calls(have.Props)
}

func calls(props []ipld.Entry) int {
	v, _ := ipld.FindEntry(props, "calls")
	return len(v.List())
}
