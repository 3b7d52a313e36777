// Package synth makes up facts for mnem-bench load: the same seed gives the same facts on every machine. Tests make
// whole memories with it, see testkit/synthkit.
package synth

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/state"
)

// MaxNodes bounds the facts or nodes of a made-up memory.
const MaxNodes = 10_000_000

const (
	firstTime   = graph.Time(1_600_000_000_000_000)
	nodeSeconds = 97 // between facts
	kindFact    = 6  // of random numbers: see NewRand
)

// Facts are made up from a seed. Safe for concurrent use.
type Facts struct {
	Seed  uint64
	Words []string // by rank, the first one empty
}

// New returns the facts of a seed.
func New(seed uint64) *Facts { return &Facts{Seed: seed, Words: words()} }

// LoadBatch is how many facts Load remembers at once.
const LoadBatch = 1000

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
func (s *Facts) Load(ctx context.Context, r *core.Repo, opt LoadOptions) error {
	m, total := remember.New(r), opt.Facts+opt.Commits
	for done := 0; done < total; {
		n := 1
		if done < opt.Facts {
			n = min(LoadBatch, opt.Facts-done)
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
func (s *Facts) Remember(ctx context.Context, m *remember.Writer, author string, i, n int) error {
	reqs := make([]remember.Request, n)
	for at := range reqs {
		reqs[at] = remember.Request{Text: s.Fact(i + at), Time: graph.At(FactTime(i + at))}
	}
	stamp := Stamp(author, "remember")
	stamp.Time = FactTime(i + n - 1)
	if _, err := m.RememberAll(ctx, remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: stamp}}, reqs); err != nil {
		return fmt.Errorf("remember facts %d to %d: %w", i, i+n-1, err)
	}
	return nil
}

// Stamp returns the stamp of a command before the first memory.
func Stamp(author, command string) state.Stamp {
	return state.Stamp{Author: author, Time: firstTime, Command: []string{command}}
}

// FactTime is when the ith node or fact was made.
func FactTime(i int) graph.Time { return firstTime + graph.Time(i)*nodeSeconds*1_000_000 }

// Fact returns a sentence as agents write them, with unique names and numbers among common words.
func (s *Facts) Fact(i int) string {
	r := NewRand(s.Seed, kindFact, uint64(i))
	word := func() string { return s.Words[100+r.Zipf(200)] }
	return fmt.Sprintf("The %s service of tenant t%d moved to host h%d in rack %d because the %s team of %s "+
		"needed %d GB for its %s", word(), i/7, i*31%9973, i%97, word(), s.Name(r, 2), i%512, word())
}

// Name returns so many capitalised words that are rather rare, as names are.
func (s *Facts) Name(r *Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		w := s.Words[r.Between(500, Vocabulary)]
		list[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(list, " ")
}
