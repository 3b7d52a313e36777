package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

const (
	groupCommit   = "commit"
	commitSamples = 20 // for each run
	countSamples  = 8  // likewise, where only counted
)

// oneNode yields a node that was not there before, with an edge to an earlier one if wanted.
func (b *bench) oneNode(edge bool) iter.Seq2[graph.Change, error] {
	i := b.synth.Nodes + int(b.added.Add(1)) - 1
	return func(yield func(graph.Change, error) bool) {
		n, err := b.synth.Node(i)
		if !yield(graph.Change{Node: n}, err) || err != nil || !edge {
			return
		}
		to := newSource(b.synth.Seed, kindEdge, uint64(i)).below(b.synth.Nodes)
		yield(graph.Change{Edge: &graph.EdgeChange{
			Type: "about", Src: graph.Ref{Key: n.Key}, Dst: graph.Ref{Key: b.synth.Key(to)},
		}}, nil)
	}
}

func (b *bench) commitOne(ctx context.Context, r *repo.Repo, edge bool) error {
	_, err := r.Commit(ctx, b.oneNode(edge), repo.CommitOptions{Stamp: b.stamp(), Message: "one"})
	return err
}

// commits of one node, and of one node with an edge, beside synced writes to a Pebble that holds
// what the memory does.
func (b *bench) commit(ctx context.Context) error {
	db, err := openRaw(b.raw(), false)
	if err != nil {
		return err
	}
	var syncs, nodes, edges []int64
	err = withRepo(b.memory(), repo.Options{}, func(r *repo.Repo) error {
		for range 3 { // warm up
			if err := b.commitOne(ctx, r, true); err != nil {
				return err
			}
		}
		for i := range b.samples(commitSamples) {
			b.step("commits of one node", i, b.samples(commitSamples))
			for _, turn := range []struct {
				to *[]int64
				fn func() error
			}{
				{&syncs, func() error { return b.syncedWrite(db, i) }},
				{&nodes, func() error { return b.commitOne(ctx, r, false) }},
				{&edges, func() error { return b.commitOne(ctx, r, true) }},
			} {
				took, err := timed(turn.fn)
				if err != nil {
					return err
				}
				*turn.to = append(*turn.to, took)
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	yard := &Yardstick{"one synced write", statsOf(syncs)}
	bound := &Bound{Times: commitTimes, Plus: commitPlus}
	b.add(Figure{Group: groupCommit, Name: "commit of one node", Unit: Nanoseconds,
		Stats: statsOf(nodes), Yardstick: yard, Bound: bound})
	b.add(Figure{Group: groupCommit, Name: "commit of one node and edge", Unit: Nanoseconds,
		Stats: statsOf(edges), Yardstick: yard, Bound: bound})
	return b.countCommits(ctx)
}

// syncedWrite writes one block of the size of a node's record.
func (b *bench) syncedWrite(db *pdb.DB, i int) error {
	n, err := b.synth.Node(b.synth.Nodes + i)
	if err != nil {
		return err
	}
	data := []byte(n.Content.Text)
	key := ipld.Sum(ipld.Raw, binary.BigEndian.AppendUint64(data, uint64(i)))
	return db.Set(key.Bytes(), data, pdb.Sync)
}

// countCommits counts what they read and write.
func (b *bench) countCommits(ctx context.Context) error {
	r, c, err := b.openCounted(ctx, b.memory())
	if err != nil {
		return err
	}
	work := [2][]Work{}
	for i := range 2 * b.samples(countSamples) {
		c.reset()
		if err := b.commitOne(ctx, r, i%2 == 1); err != nil {
			return errors.Join(err, r.Close())
		}
		work[i%2] = append(work[i%2], c.work())
	}
	for i, name := range []string{"one node", "one node and edge"} {
		b.addWork(groupCommit, "commit of "+name, work[i],
			&Bound{Most: []int64{nodeBytes, edgeBytes}[i]})
	}
	return r.Close()
}

// addWork records what was written and read.
func (b *bench) addWork(group, name string, list []Work, written *Bound) {
	for _, f := range []struct {
		what  string
		unit  Unit
		of    func(Work) int64
		bound *Bound
	}{
		{"bytes written", Bytes, func(w Work) int64 { return w.BytesWritten }, written},
		{"blocks written", Count, func(w Work) int64 { return w.BlocksWritten }, nil},
		{"bytes read", Bytes, func(w Work) int64 { return w.BytesRead }, nil},
		{"blocks read", Count, func(w Work) int64 { return w.BlocksRead }, nil},
	} {
		values := make([]int64, len(list))
		var sum int64
		for i, w := range list {
			values[i] = f.of(w)
			sum += values[i]
		}
		if sum > 0 {
			b.add(Figure{Group: group, Name: fmt.Sprintf("%s: %s", name, f.what), Unit: f.unit,
				Stats: statsOf(values), Bound: f.bound})
		}
	}
}
