package perf

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/repo"
)

const (
	groupRemember   = "remember"
	rememberSamples = 20    // for each run
	rememberBatch   = 1_000 // memories remembered at once, no more than there are nodes
)

// fact returns the text of a memory: a sentence as agents write them, with names and numbers of its own
// among words that many have.
func (b *bench) fact(i int) string {
	r := newSource(b.synth.Seed, kindFact, uint64(i))
	word := func() string { return b.synth.words[100+r.zipf(200)] }
	return fmt.Sprintf("The %s service of tenant t%d moved to host h%d in rack %d because the %s team of %s "+
		"needed %d GB for its %s", word(), i/7, i*31%9973, i%97, word(), b.synth.name(r, 2), i%512, word())
}

// remember keeps memories one by one and many at once.
func (b *bench) remember(ctx context.Context) error {
	err := withRepo(b.memory(), repo.Options{}, func(r *repo.Repo) error {
		m, at := memory.New(r), 0
		keep := func(n int) (cost, error) {
			reqs := make([]memory.RememberRequest, n)
			for i := range reqs {
				reqs[i].Text = b.fact(at)
				at++
			}
			opt := memory.RememberOptions{CommitOptions: repo.CommitOptions{Stamp: b.stamp()}}
			return costOf(func() error {
				_, err := m.RememberAll(ctx, opt, reqs)
				return err
			})
		}
		if _, err := keep(10); err != nil { // warms up
			return err
		}
		for _, part := range []struct {
			name     string
			n, times int
			bound    *Bound
		}{
			{"remember", 1, b.samples(rememberSamples), upTo(b.synth.Nodes, rememberMost)},
			{"remember many at once, for each", min(rememberBatch, b.synth.Nodes), b.opt.Runs + 1,
				upTo(b.synth.Nodes, batchMost)},
		} {
			var costs []cost
			for i := range part.times {
				b.step(part.name, i, part.times)
				c, err := keep(part.n)
				if err != nil {
					return err
				}
				costs = append(costs, c)
			}
			b.addCosts(groupRemember, part.name, costs, int64(part.n), nil, part.bound)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.countRemember(ctx)
}

// countRemember counts what remembering one memory reads and writes, with nothing cached.
func (b *bench) countRemember(ctx context.Context) error {
	r, c, err := b.openCounted(ctx, b.memory())
	if err != nil {
		return err
	}
	opt := memory.RememberOptions{CommitOptions: repo.CommitOptions{Stamp: b.stamp()}}
	_, err = memory.New(r).Remember(ctx, opt, memory.RememberRequest{Text: b.fact(MaxNodes)})
	if err == nil {
		b.addWork(groupRemember, "remember, nothing cached", []Work{c.work()}, nil)
	}
	return closeAfter(r, err)
}
