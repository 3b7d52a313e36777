package perf

import (
	"context"
	"path/filepath"

	"github.com/mnem-project/mnem/repo"
)

const (
	groupStart   = "start"
	startSamples = 6 // for each run
)

// whole is work that is measured as a process of its own.
type whole struct {
	name  string
	run   func(i int) (Spent, error) // for the ith time
	bound *Bound
	rss   *Bound
}

// wholes measures processes in turns with a yardstick: the time of each, its CPU time and its memory.
// The first turn warms the system's cache.
func (b *bench) wholes(
	group string, turns int, yard whole, list ...whole,
) ([]Figure, error) {
	spent := make([][]Spent, len(list)+1)
	for i := range turns + 1 {
		b.step(group+": new processes", i, turns)
		for at, w := range append([]whole{yard}, list...) {
			if w.run == nil { // there is no yardstick here
				continue
			}
			s, err := w.run(i)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				spent[at] = append(spent[at], s)
			}
		}
	}
	against := func(of func(Spent) int64) *Yardstick {
		if yard.run == nil {
			return nil
		}
		return &Yardstick{yard.name, statsOf(each(spent[0], of))}
	}
	wall, cpu := func(s Spent) int64 { return s.Nanoseconds }, func(s Spent) int64 { return s.CPU }
	var figures []Figure
	for at, w := range list {
		mine := spent[at+1]
		figures = append(figures,
			Figure{Group: group, Name: w.name, Unit: Nanoseconds, Stats: statsOf(each(mine, wall)),
				Yardstick: against(wall), Bound: w.bound},
			Figure{Group: group, Name: w.name + cpuSuffix, Unit: Nanoseconds, Stats: statsOf(each(mine, cpu)),
				Yardstick: against(cpu)},
			rssFigure(group, w.name+": memory at the peak", each(mine, func(s Spent) int64 { return s.RSS }), w.rss))
	}
	for i := range figures {
		figures[i] = figures[i].judged()
	}
	return figures, nil
}

// each returns one value of each of some.
func each[T any](list []T, of func(T) int64) []int64 {
	values := make([]int64, len(list))
	for i, v := range list {
		values[i] = of(v)
	}
	return values
}

// rssFigure is about peak memories of processes.
func rssFigure(group, name string, rss []int64, bound *Bound) Figure {
	f := Figure{Group: group, Name: name, Unit: Bytes, Bound: bound}
	if rss[0] < 0 {
		f.Why = "this system does not tell"
		return f
	}
	f.Stats = statsOf(rss)
	return f
}

// opening is the yardstick of a process that reads a memory: one that opens the same database read-only
// and reads one block.
func (b *bench) opening(ctx context.Context) whole {
	return whole{name: "opens the store, reads a block", run: func(int) (Spent, error) {
		return b.self(ctx, OpenCommand, filepath.Join(b.memory(), repo.DirName, "db"))
	}}
}

// start runs whole processes of verbs that read a few blocks.
func (b *bench) start(ctx context.Context) error {
	verb := func(name string, args ...string) whole {
		return whole{name: name, bound: &Bound{Times: startTimes}, run: func(int) (Spent, error) {
			return b.mnem(ctx, append([]string{"-R", b.memory()}, args...)...)
		}}
	}
	figures, err := b.wholes(groupStart, b.samples(startSamples), b.opening(ctx),
		verb("mnem get", "get", b.synth.Key(b.synth.Nodes/2)), verb("mnem log", "log"), verb("mnem status", "status"))
	b.size.Figures = append(b.size.Figures, figures...)
	return err
}
