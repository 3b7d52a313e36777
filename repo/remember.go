package repo

import (
	"context"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/retrieve"
)

// Memory is something to remember. Only Text is required.
type Memory struct {
	Text       string
	Type       string   // "" for fact
	Importance int      // 1 to 5; 0 for 3
	Tags       []string // names of topics
	Cues       []string // words that might be used to search for it and that it does not contain
	Sources    []string // origins: file:, url:, conversation:, manual: or any other text
	// About is the subject, by its key or id; Property is the property of the subject that the memory states. A later
	// memory of the same subject and property supersedes this one.
	About, Property string
	Supersedes      []string // memories that this one replaces, by name
}

// Remembered describes the result for one memory.
type Remembered struct {
	ID         graph.ID // of the memory that is stored, an earlier one if it says the same
	Action     string   // added, duplicate, updated, superseded or conflict
	Similar    []graph.ID
	Superseded []graph.ID // marked as replaced by this one
}

// Remember stores memories in one commit, or in none if nothing is new. A text that repeats an existing memory is
// recorded on that memory; superseded memories stay, with a mark. If it refuses one memory it refuses all.
func (r *Repo) Remember(ctx context.Context, memories ...Memory) ([]Remembered, error) {
	if err := r.canWrite(); err != nil {
		return nil, err
	}
	reqs := make([]remember.Request, len(memories))
	for i, m := range memories {
		reqs[i] = remember.Request{
			Text: m.Text, Type: m.Type, Importance: m.Importance, Tags: m.Tags, Cues: m.Cues, Sources: m.Sources,
			About: m.About, Property: m.Property, Supersedes: m.Supersedes,
		}
	}
	if m := r.meaning; m != nil && len(reqs) <= state.MeaningNodes {
		see := func(texts []string) ([][]int8, error) { return m.Vectors(ctx, texts) }
		if err := remember.See(reqs, m.Model(), see); err != nil {
			return nil, err
		}
	}
	opt := remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: r.stamp("remember")}}
	res, err := remember.New(r.core).RememberAll(ctx, opt, reqs)
	if err != nil {
		return nil, conflicting(err)
	}
	out := make([]Remembered, len(res.Memories))
	for i, m := range res.Memories {
		out[i] = Remembered{ID: m.ID, Action: string(m.Action), Superseded: m.Superseded}
		for _, s := range m.Similar {
			out[i].Similar = append(out[i].Similar, s.ID)
		}
	}
	return out, nil
}

// Recall answers the question in the request's Text. The kind of question (why, when, who or what) decides the ranking.
// Filters and budget of the request apply.
func (s *Snapshot) Recall(ctx context.Context, q retrieve.Request) (*retrieve.Answer, error) {
	q, err := asked(ctx, s.meaning, q)
	if err != nil {
		return nil, err
	}
	return recall.Recall(ctx, s.core, q)
}

// Process says which process has the repository open, for the others that use it.
type Process struct {
	Build string // the name and version of the program
	PID   int
	Since string // when it opened the repository, RFC 3339
	Temp  string // the system's directory for temporary files
}

// Answer serves the commands of other processes on the repository in dir/.mnem, which this process has open, until stop
// is called. Call stop before Close. Commands still running then have the grace time to end.
func (r *Repo) Answer(dir string, p Process) (stop func(grace time.Duration) error, err error) {
	opt := peers.HostOptions{Build: p.Build, PID: p.PID, Since: p.Since, Temp: p.Temp}
	if r.meaning != nil {
		opt.Meaning = r.meaning
	}
	o, err := peers.Answer(dir, r.core, opt)
	if err != nil {
		return nil, err
	}
	return o.Close, nil
}
