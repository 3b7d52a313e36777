package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/memory"
)

const (
	// DefaultKeepDays and DefaultKeepBytes are how long turns are kept in sight, and how much of their texts.
	DefaultKeepDays  = 90
	DefaultKeepBytes = 256 << 20
	// retireReads is how many nodes one run looks at, which costs some 15 ms if none was read before, and retireMost
	// how many turns it retires.
	retireReads = 250
	retireMost  = 250
	// maxRetireDays is how many days the sizes of turns are counted by; what is older counts as one more.
	maxRetireDays = 1000
	maxRetireFile = 64 << 10
	retireFile    = "retire.state"
	day           = graph.Time(24 * 60 * 60 * 1_000_000)
)

// Keep says which turns stay in sight.
type Keep struct {
	Days  int   // that turns are kept; 0 for all
	Bytes int64 // of the texts of turns: the newest are kept, by whole days; 0 for all
}

// Retirement is how far the turns were searched for turns to retire. It goes through all nodes in rounds,
// at most one a day: the first counts sizes, and what it finds too much the next retires. What is older than Until was
// looked at once, so that a turn that is restored stays.
type Retirement struct {
	V     int        `json:"v"`
	Until graph.Time `json:"until"` // up to where turns were retired
	Began graph.Time `json:"began"` // the newest round
	Open  bool       `json:"open"`  // whether that round goes on
	To    graph.Time `json:"to"`    // up to where it retires turns
	From  graph.ID   `json:"from"`  // after which node it goes on
	Cap   graph.Time `json:"cap"`   // what is older is too much, as the last round counted
	Days  []int64    `json:"days"`  // bytes of turns that stay, by their age at Began
}

// readRetirement returns how far the turns were looked through: not at all if nothing says so.
func readRetirement(dir string) *Retirement {
	r := new(Retirement)
	data, err := filestate.Read(filepath.Join(dir, SpoolDir, retireFile), maxRetireFile)
	if err != nil || json.Unmarshal(data, r) != nil || r.V != spoolV || len(r.Days) > maxRetireDays+1 {
		return &Retirement{V: spoolV, Until: graph.MinTime, Cap: graph.MinTime}
	}
	return r
}

func (r *Retirement) write(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := makeSpool(dir); err != nil {
		return err
	}
	return write(filepath.Join(dir, SpoolDir, retireFile), data)
}

// step looks at some nodes at a time, and returns the changes that retire turns, and where it goes on. It alters
// nothing of r.
func (r *Retirement) step(
	ctx context.Context, s *core.Snapshot, now graph.Time, keep Keep, reads, most int,
) (list []graph.Change, _ *Retirement, err error) {
	next := *r
	next.Days = append([]int64(nil), r.Days...)
	if !next.Open && !next.begin(now, keep) {
		return nil, &next, nil
	}
	for e, err := range s.Nodes(ctx, next.From) {
		if err != nil {
			return nil, nil, err
		}
		if reads == 0 || len(list) == most {
			return list, &next, nil
		}
		reads--
		c, err := next.turn(ctx, s, e.Node, keep)
		if err != nil {
			return nil, nil, err
		}
		if c != nil {
			list = append(list, *c)
		}
		next.From = e.Node.ID
	}
	next.end(keep)
	return list, &next, nil
}

func (r *Retirement) begin(now graph.Time, keep Keep) bool {
	if r.Began != 0 && now < r.Began+day && r.Cap <= r.Until {
		return false
	}
	to := r.Until
	if keep.Days > 0 {
		to = max(to, now-graph.Time(keep.Days)*day)
	}
	if keep.Bytes > 0 {
		to = max(to, r.Cap)
	}
	r.Began, r.Open, r.To, r.From, r.Days = now, true, to, graph.ID{}, nil
	return true
}

// end ends a round, which may have counted more than is kept.
func (r *Retirement) end(keep Keep) {
	r.Until, r.Open, r.From, r.Cap = r.To, false, graph.ID{}, graph.MinTime
	sum := int64(0)
	for age, n := range r.Days {
		if sum += n; keep.Bytes > 0 && sum > keep.Bytes {
			r.Cap = r.Began - graph.Time(max(age, 1))*day // today's stay
			break
		}
	}
	r.Days = nil
}

// turn returns the change that retires a turn, nil for what stays.
func (r *Retirement) turn(ctx context.Context, s *core.Snapshot, n *graph.Node, keep Keep) (*graph.Change, error) {
	if n.Created <= r.Until || !captured(n) || memory.Pinned(n) {
		return nil, nil
	}
	m, err := s.Mark(ctx, graph.OnNode, n.ID)
	if err != nil || m != nil {
		return nil, err
	}
	if n.Created > r.To {
		age := int(min(max(0, (r.Began-n.Created)/day), maxRetireDays))
		for len(r.Days) <= age {
			r.Days = append(r.Days, 0)
		}
		r.Days[age] += textSize(n)
		return nil, nil
	}
	reason := fmt.Sprintf("more than %d bytes of turns are newer", keep.Bytes)
	if keep.Days > 0 && n.Created <= r.Began-graph.Time(keep.Days)*day {
		reason = fmt.Sprintf("a turn of more than %d days ago", keep.Days)
	}
	return &graph.Change{Mark: &graph.MarkChange{
		On: graph.MarkRef{Node: graph.Ref{ID: n.ID}}, State: graph.Retired, Reason: reason,
	}}, nil
}

// captured reports whether a node is a turn of a host whose transcripts are read.
func captured(n *graph.Node) bool {
	rest, ok := strings.CutPrefix(n.Key, "turn/")
	host, _, more := strings.Cut(rest, "/")
	return n.Type == ingest.TypeTurn && ok && more && formatOf(Host(host)) != ""
}

func textSize(n *graph.Node) int64 {
	size := int64(len(n.Summary) + len(n.Context))
	if n.Content != nil {
		size += n.Content.Size
	}
	return size
}

// Retired counts what was retired.
type Retired struct {
	Turns  int
	Commit *core.CommitResult // nil if nothing was to commit
}

// Retire retires all turns that are not kept, in one commit, however many there are, and those too that were restored.
// Nothing is noted of a trial.
func Retire(ctx context.Context, r *core.Repo, opt DrainOptions, trial bool) (*Retired, error) {
	out := &Retired{}
	var at *Retirement
	res, err := r.Decide(ctx, core.DecideOptions{CommitOptions: opt.Commit, Long: true},
		func(s *core.Snapshot) (*core.Decision, error) {
			var all []graph.Change
			at = &Retirement{V: spoolV, Until: graph.MinTime, Cap: graph.MinTime}
			for {
				some, next, err := at.step(ctx, s, opt.Commit.Time, opt.Keep, -1, -1)
				if err != nil {
					return nil, err
				}
				at, all = next, append(all, some...)
				if at.Cap <= at.Until {
					break
				}
			}
			out.Turns = len(all)
			return &core.Decision{Changes: all, Message: fmt.Sprintf("retire %d turns", len(all))}, nil
		})
	if err != nil {
		return nil, err
	}
	if !res.NoChange {
		out.Commit = res
	}
	if trial {
		return out, nil
	}
	return out, at.write(opt.Dir)
}
