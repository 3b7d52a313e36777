package synth

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/state"
)

// loadBatch is how many facts Load remembers at once.
const loadBatch = 1000

// LoadOptions say what Load writes.
type LoadOptions struct {
	Author  string
	Facts   int // that are remembered in batches
	Commits int // further facts, each in its own commit
	// Progress, if given, is called after each write on the calling goroutine.
	Progress func(what string, done, total int)
}

// Load fills a repository as agents do over time: each fact has its own time, and the last ones are commits of one
// fact. Tables, indexes and history then have the shape of a memory that grew.
func (s *Synth) Load(ctx context.Context, r *core.Repo, opt LoadOptions) error {
	m, total := remember.New(r), opt.Facts+opt.Commits
	for done := 0; done < total; {
		n := 1
		if done < opt.Facts {
			n = min(loadBatch, opt.Facts-done)
		}
		if err := s.Remember(ctx, m, opt.Author, done, n); err != nil {
			return err
		}
		done += n
		if opt.Progress != nil {
			opt.Progress("remember facts", done, total)
		}
	}
	return nil
}

// Remember writes n facts from the ith on in one commit.
func (s *Synth) Remember(ctx context.Context, m *remember.Writer, author string, i, n int) error {
	reqs := make([]remember.Request, n)
	for at := range reqs {
		reqs[at] = remember.Request{Text: s.Fact(i + at), Time: graph.At(factTime(i + at))}
	}
	stamp := Stamp(author, "remember")
	stamp.Time = factTime(i + n - 1)
	if _, err := m.RememberAll(ctx, remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: stamp}}, reqs); err != nil {
		return fmt.Errorf("remember facts %d to %d: %w", i, i+n-1, err)
	}
	return nil
}

// Stamp returns the stamp of a command before the first memory.
func Stamp(author, command string) state.Stamp {
	return state.Stamp{Author: author, Time: firstTime, Command: []string{command}}
}

// factTime is when the ith node or fact was made.
func factTime(i int) graph.Time { return firstTime + graph.Time(i)*nodeSeconds*1_000_000 }

// Fact returns a sentence as agents write them, with unique names and numbers among common words.
func (s *Synth) Fact(i int) string {
	r := newSource(s.Seed, kindFact, uint64(i))
	word := func() string { return s.words[100+r.zipf(200)] }
	return fmt.Sprintf("The %s service of tenant t%d moved to host h%d in rack %d because the %s team of %s "+
		"needed %d GB for its %s", word(), i/7, i*31%9973, i%97, word(), s.name(r, 2), i%512, word())
}
