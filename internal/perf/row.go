package perf

import (
	"context"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

const (
	slices10     = 10  // parts of a run of commits that are told apart
	afterSamples = 100 // questions at its end
	bulkDir      = "at-once"
	rowDir       = "one-by-one"
)

// Slice is one of ten parts of a run of commits: what one commit cost there.
type Slice struct {
	Commits int   `json:"commits"`
	Time    Stats `json:"time"` // in nanoseconds
	Blocks  int64 `json:"blocks"`
	Bytes   int64 `json:"bytes"`
}

// commits adds nodes one commit at a time to a memory without vectors and compares what became of it
// with one that got all in one commit.
func (b *bench) commits(ctx context.Context) error {
	all := b.synth.of(b.synth.Nodes + b.opt.Commits)
	once, row := filepath.Join(b.dir, bulkDir), filepath.Join(b.dir, rowDir)
	all.Dims = 0
	added := nodesOf(all.Range(b.synth.Nodes, all.Nodes))
	if err := b.make(ctx, once, joined(b.synth.Changes(), added)); err != nil {
		return err
	}
	if err := b.make(ctx, row, b.synth.Changes()); err != nil {
		return err
	}
	if err := b.addOneByOne(ctx, row, all); err != nil {
		return err
	}
	add := func(name string, unit Unit, values ...int64) {
		b.add(Figure{Group: groupCommits, Name: name, Unit: unit, Stats: statsOf(values)})
	}
	for _, when := range []string{"before gc", "after gc"} {
		if when == "after gc" {
			_, took, err := b.collect(ctx, row)
			if err != nil {
				return err
			}
			add("gc", Nanoseconds, took.wall)
		}
		size, err := diskSize(row)
		if err != nil {
			return err
		}
		add("store "+when, Bytes, size)
	}
	size, err := diskSize(once)
	if err != nil {
		return err
	}
	add("store of the same in one commit", Bytes, size)
	took, err := b.check(ctx, row)
	if err != nil {
		return err
	}
	add("fsck", Nanoseconds, took.wall)
	if err := b.compareAnswers(ctx, row, once, all); err != nil {
		return err
	}
	for _, dir := range []string{row, once} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// nodesOf yields the nodes among changes.
func nodesOf(changes repo.Changes) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		for c, err := range changes {
			if (c.Node != nil || err != nil) && !yield(c, err) {
				return
			}
		}
	}
}

// joined yields the changes of one after those of another.
func joined(lists ...repo.Changes) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, changes := range lists {
			for c, err := range changes {
				if !yield(c, err) {
					return
				}
			}
		}
	}
}

// make makes a memory in one commit.
func (b *bench) make(ctx context.Context, dir string, changes repo.Changes) error {
	r, err := repo.Init(ctx, dir, b.stamp(), repo.Options{})
	if err != nil {
		return err
	}
	_, err = r.Commit(ctx, b.told("make a memory", changes), repo.CommitOptions{
		Stamp: b.stamp(), Message: "bulk",
	})
	return closeAfter(r, err)
}

// addOneByOne commits the nodes that all has more than the memory, without their edges. Counting looks
// each block up before it is written, which is left out of the times.
func (b *bench) addOneByOne(ctx context.Context, dir string, all *Synth) error {
	r, c, err := b.openCounted(ctx, dir)
	if err != nil {
		return err
	}
	total := b.opt.Commits
	parts := min(slices10, total)
	for part := range parts {
		from, to := total*part/parts, total*(part+1)/parts
		times := make([]int64, 0, to-from)
		c.reset()
		c.looking.Store(0)
		for i := from; i < to; i++ {
			b.step("commits in a row", i, total)
			at, before := b.synth.Nodes+i, c.looking.Load()
			took, err := timed(func() error {
				_, err := r.Commit(ctx, nodesOf(all.Range(at, at+1)), repo.CommitOptions{
					Stamp: b.stamp(), Message: "one",
				})
				return err
			})
			if err != nil {
				return closeAfter(r, err)
			}
			times = append(times, took-(c.looking.Load()-before))
		}
		w, n := c.work(), int64(to-from)
		b.size.Slices = append(b.size.Slices, Slice{
			Commits: to - from, Time: statsOf(times), Blocks: (w.BlocksWritten + n/2) / n,
			Bytes: w.BytesWritten / n,
		})
	}
	return r.Close()
}

// segments records how many parts the index at the end has.
func (b *bench) segments(ctx context.Context, r *repo.Repo) error {
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return err
	}
	stats, err := s.IndexStats(ctx)
	if err != nil {
		return err
	}
	b.add(Figure{Group: groupCommits, Name: "segments of the index at the end", Unit: Count,
		Stats: statsOf([]int64{int64(stats.Segments)})})
	return nil
}

// compareAnswers asks both memories the same questions, in turns.
func (b *bench) compareAnswers(ctx context.Context, row, once string, all *Synth) error {
	return withRepo(row, repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		if err := b.segments(ctx, r); err != nil {
			return err
		}
		return withRepo(once, repo.Options{ReadOnly: true}, func(o *repo.Repo) error {
			var times [2][]int64
			for i := range afterSamples + warmUp {
				b.step("questions", i, afterSamples+warmUp)
				q, err := all.Question(i)
				if err != nil {
					return err
				}
				for at, from := range []*repo.Repo{r, o} {
					s, err := from.Snapshot(ctx, "HEAD")
					if err != nil {
						return err
					}
					took, err := ask(ctx, s, asked{name: "text"}, q)
					if err != nil {
						return err
					}
					if i >= warmUp {
						times[at] = append(times[at], took.wall)
					}
				}
			}
			b.add(Figure{
				Group: groupCommits, Name: "questions at the end", Unit: Nanoseconds,
				Stats:     statsOf(times[0]),
				Yardstick: &Yardstick{"of the same in one commit", statsOf(times[1])},
				Bound:     &Bound{Times: 1.5},
			})
			return nil
		})
	})
}
