package perf

import (
	"context"
	"sync"
	"time"

	"github.com/mnem-project/mnem/repo"
)

const groupReaders = "readers"

// load is what readers and writers on one repository took.
type load struct {
	mu            sync.Mutex
	reads, writes []int64
	failed        int64
}

// readers ask while writers commit, each as fast as it can.
func (b *bench) readers(ctx context.Context) error {
	return withRepo(b.memory(), repo.Options{}, func(r *repo.Repo) error {
		limit := time.Duration(b.opt.Seconds) * time.Second
		start, done := time.Now(), new(load)
		over := func() bool { return time.Since(start) >= limit || ctx.Err() != nil }
		keepOn := func(to *[]int64, work func(i int) error) {
			for i := 0; !over(); i++ {
				took, err := timed(func() error { return work(i) })
				done.mu.Lock()
				if err == nil {
					*to = append(*to, took)
				} else {
					done.failed++
					b.report.remark("beside others at %s nodes: %v", grouped(int64(b.synth.Nodes)), err)
				}
				done.mu.Unlock()
			}
		}
		var all sync.WaitGroup
		for g := range b.opt.Readers {
			all.Go(func() {
				keepOn(&done.reads, func(i int) error { return b.readNewest(ctx, r, g+i*b.opt.Readers) })
			})
		}
		for range b.opt.Writers {
			all.Go(func() {
				keepOn(&done.writes, func(int) error { return b.commitOne(ctx, r, true) })
			})
		}
		took, _ := costOf(func() error {
			for !over() {
				b.step("readers and writers", int(time.Since(start)/time.Second), b.opt.Seconds)
				time.Sleep(min(time.Second/4, limit))
			}
			all.Wait()
			return nil
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		b.addLoad(done, took)
		return nil
	})
}

// addLoad records what readers and writers took.
func (b *bench) addLoad(done *load, took cost) {
	add := func(name string, unit Unit, bound *Bound, values ...int64) {
		f := Figure{Group: groupReaders, Name: name, Unit: unit, Why: "none in the time given", Bound: bound}
		if len(values) > 0 {
			f.Stats, f.Why = statsOf(values), ""
		}
		b.add(f)
	}
	add("reads", Nanoseconds, &Bound{Most: readMost, P99: readP99}, done.reads...)
	add("writes beside them", Nanoseconds, nil, done.writes...)
	add("reads and writes that failed", Count, &Bound{None: true}, done.failed)
	add("reads done", Count, nil, int64(len(done.reads)))
	add("writes done", Count, nil, int64(len(done.writes)))
	// Both say what others on the machine did to the times above: R readers and W writers that wait for nothing
	// else take R + W times this CPU time in turn, divided by the processors.
	if n := int64(len(done.reads) + len(done.writes)); n > 0 && took.cpu > 0 {
		add("CPU for each read or write", Nanoseconds, nil, took.cpu/n)
		add("share of the processors that it got, in percent", Count, nil,
			took.cpu*100/(took.wall*int64(b.report.Machine.CPUs)))
	}
}

// readNewest asks the newest memory a question.
func (b *bench) readNewest(ctx context.Context, r *repo.Repo, i int) error {
	q, err := b.synth.Question(i)
	if err != nil {
		return err
	}
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return err
	}
	_, err = ask(ctx, s, asked{name: "text"}, q)
	return err
}
