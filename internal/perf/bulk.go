package perf

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/pebble"
)

// embedBatch is how many vectors are committed at a time, at least: a tenth of a larger memory, as
// each commit touches most chunks of their tree.
const embedBatch = 10_000

// bulk makes the memory that everything else measures, and measures that where it is wanted: first
// once to count, to warm up and to remember the blocks, then as often as runs say beside the same
// blocks written raw.
func (b *bench) bulk(ctx context.Context) error {
	if !b.opt.needs(func(m measurement) bool { return m.raw }) {
		if err := b.make(ctx, b.memory(), b.synth.Changes()); err != nil {
			return err
		}
		return b.embed(ctx, false)
	}
	written, err := b.countBulk(ctx)
	if err != nil {
		return err
	}
	wanted := b.opt.wants(groupBulk)
	if !wanted { // what was counted will do
		if _, err := b.rawOnce(ctx); err != nil {
			return err
		}
		return b.embed(ctx, false)
	}
	if err := b.timeBulk(ctx, written); err != nil {
		return err
	}
	return b.embed(ctx, true)
}

// timeBulk makes the memory as often as runs say.
func (b *bench) timeBulk(ctx context.Context, written Work) error {
	runs := b.opt.Runs
	var commits, raws, heaps []int64
	for i := range runs {
		b.step("bulk commit", i, runs)
		for _, dir := range []string{b.memory(), b.raw()} {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		generated, err := timed(func() error { return drain(b.synth.Changes()) })
		if err != nil {
			return err
		}
		took, heap, err := b.bulkOnce(ctx)
		if err != nil {
			return err
		}
		raw, err := b.rawOnce(ctx)
		if err != nil {
			return err
		}
		commits, raws = append(commits, took-generated), append(raws, int64(raw))
		heaps = append(heaps, heap)
	}
	nodes := int64(b.synth.Nodes)
	b.add(Figure{
		Group: groupBulk, Name: "bulk commit", Unit: Nanoseconds, Stats: statsOf(commits),
		Yardstick: &Yardstick{"the same blocks, raw", statsOf(raws)}, Bound: &Bound{Times: bulkTimes},
	})
	b.add(Figure{Group: groupBulk, Name: "heap at its peak", Unit: Bytes, Stats: statsOf(heaps),
		Bound: &Bound{Most: bulkHeap}})
	b.add(Figure{Group: groupBulk, Name: "blocks for each node", Unit: Count,
		Stats: statsOf([]int64{(written.BlocksWritten + nodes/2) / nodes})})
	b.add(Figure{Group: groupBulk, Name: "bytes of blocks for each node", Unit: Bytes,
		Stats: statsOf([]int64{written.BytesWritten / nodes})})
	if err := b.parse(ctx); err != nil {
		return err
	}
	return b.sizeFigure("store for each node", b.memory())
}

// told yields changes and tells how many came.
func (b *bench) told(what string, changes repo.Changes) repo.Changes {
	const every = 1024
	return func(yield func(graph.Change, error) bool) {
		n, total := 0, b.synth.Nodes+b.synth.Edges()
		for c, err := range changes {
			if n++; n%every == 0 {
				b.step(what, min(n, total), total)
			}
			if !yield(c, err) {
				return
			}
		}
		b.step(what+", its trees and index", 0, 0)
	}
}

func drain(changes iter.Seq2[graph.Change, error]) error {
	for _, err := range changes {
		if err != nil {
			return err
		}
	}
	return nil
}

// countBulk makes the memory once over a counter that remembers all blocks.
func (b *bench) countBulk(ctx context.Context) (w Work, err error) {
	b.step("bulk commit, counted", 0, 0)
	r, c, err := b.openCounted(ctx, b.memory())
	if err != nil {
		return w, err
	}
	log, err := newBlockLog(b.log())
	if err != nil {
		return w, errors.Join(err, r.Close())
	}
	c.put = log.add
	changes := b.told("bulk commit, counted", b.synth.Changes())
	_, err = r.Commit(ctx, changes, repo.CommitOptions{Stamp: b.stamp(), Message: "bulk"})
	w = c.work()
	return w, errors.Join(err, log.close(), r.Close())
}

// bulkOnce makes the memory and returns how long the commit took and how much heap it had at most
// beyond what there was.
func (b *bench) bulkOnce(ctx context.Context) (took, heap int64, err error) {
	r, err := repo.Init(ctx, b.memory(), b.stamp(), repo.Options{})
	if err != nil {
		return 0, 0, err
	}
	peak := watchHeap()
	took, err = timed(func() error {
		_, err := r.Commit(ctx, b.told("bulk commit", b.synth.Changes()), repo.CommitOptions{
			Stamp: b.stamp(), Message: "bulk",
		})
		return err
	})
	heap = peak()
	return took, heap, errors.Join(err, r.Close())
}

func (b *bench) rawOnce(ctx context.Context) (took time.Duration, err error) {
	st, err := pebble.Open(filepath.Join(b.memory(), repo.DirName), pebble.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	took, err = writeRaw(ctx, st, b.log(), b.raw())
	return took, errors.Join(err, st.Close())
}

// watchHeap looks at the heap until the function it returns is called, which returns how much
// larger it was at most than at first, garbage that was not collected yet included.
func watchHeap() (stop func() int64) {
	const objects = "/memory/classes/heap/objects:bytes" // read without stopping anything
	read := func() int64 {
		s := []metrics.Sample{{Name: objects}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	runtime.GC()
	before := read()
	most := before
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, read())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(done)
		<-stopped
		return max(most, read()) - before
	}
}

// parse measures reading the lines of all changes.
func (b *bench) parse(ctx context.Context) error {
	path := filepath.Join(b.dir, "lines")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	_, err = WriteLines(out, b.synth.Changes())
	if err := errors.Join(err, out.Flush(), f.Close()); err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }() // Run removes all
	var times []int64
	for i := range b.opt.Runs {
		b.step("parse lines", i, b.opt.Runs)
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		took, err := timed(func() error {
			return drain(interruptible(ctx, repo.ReadChanges(in, "lines")))
		})
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
		times = append(times, took)
	}
	b.add(Figure{Group: groupBulk, Name: "parsing of its lines, apart", Unit: Nanoseconds,
		Stats: statsOf(times)})
	return nil
}

// interruptible ends a stream when ctx does.
func interruptible(
	ctx context.Context, changes iter.Seq2[graph.Change, error],
) iter.Seq2[graph.Change, error] {
	return func(yield func(graph.Change, error) bool) {
		for c, err := range changes {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// sizeFigure records how many bytes a repository that is closed has on disk for each node.
func (b *bench) sizeFigure(name, dir string) error {
	n, err := diskSize(filepath.Join(dir, repo.DirName))
	if err != nil {
		return err
	}
	b.add(Figure{Group: groupBulk, Name: name, Unit: Bytes,
		Stats: statsOf([]int64{n / int64(b.synth.Nodes)})})
	return nil
}

// embed gives all nodes vectors, some thousands a commit.
func (b *bench) embed(ctx context.Context, wanted bool) error {
	if b.synth.Dims == 0 {
		return nil
	}
	var times []int64
	batch := max(embedBatch, b.synth.Nodes/10)
	err := withRepo(b.memory(), repo.Options{}, func(r *repo.Repo) error {
		for from := 0; from < b.synth.Nodes; from += batch {
			b.step("vectors", from, b.synth.Nodes)
			to := min(from+batch, b.synth.Nodes)
			took, err := timed(func() error {
				_, err := r.Commit(ctx, b.synth.Embeddings(from, to), repo.CommitOptions{
					Stamp: b.stamp(), Message: "vectors",
				})
				return err
			})
			if err != nil {
				return err
			}
			times = append(times, took/int64(to-from))
		}
		return nil
	})
	if err != nil || !wanted {
		return err
	}
	b.add(Figure{Group: groupBulk, Name: "commit of vectors, for each", Unit: Nanoseconds,
		Stats: statsOf(times)})
	return b.sizeFigure("store for each node, with vectors", b.memory())
}
