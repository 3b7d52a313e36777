package perf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/pebble"
)

// Options says what is measured. Bounds are checked by Validate.
type Options struct {
	Nodes   []int    // sizes of memories, ascending, each 200 to MaxNodes
	Dims    int      // of vectors, 0 for none, at most MaxDims
	Hub     int      // edges to one node beside the others, fewer than the smallest size
	Seed    uint64   // at most MaxSeed
	Runs    int      // how often what is long is repeated, 1 to MaxRuns; what is short, more often
	Only    []string // names of measurements; empty for all
	Commits int      // commits of one node in a row, 0 to MaxCommits; 0 leaves that out
	Readers int      // readers beside writers, 0 to MaxReaders; 0 leaves that out
	Writers int      // writers beside them, 1 to MaxReaders
	Seconds int      // how long they run, 1 to MaxSeconds

	Dir     string // where the temporary directory is made; "" for the system's place
	Program string // this program, with WatchCommand and OpenCommand
	Mnem    string // the program that is measured as whole processes, where Starts tells so
	// Progress, where given, is called as work goes on, on the calling goroutine.
	Progress func(what string, done, total int)
	// Measured, where given, is called after each measurement with all that was measured so far. An error
	// of it ends the run.
	Measured func(*Report) error
}

// Bounds of Options.
const (
	MinNodes   = 200
	MaxSizes   = 16
	MaxRuns    = 1000
	MaxCommits = 1_000_000
	MaxReaders = 256
	MaxSeconds = 3600
	MaxSeed    = 1<<53 - 1 // so that every reader of JSON can read it
)

// ErrOption marks every error about an option out of its bounds.
var ErrOption = errors.New("invalid option")

// OptionError says which option was refused and why. errors.Is(err, ErrOption) holds.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return "--" + e.Option + ": " + e.Reason }

// Is reports whether target is ErrOption.
func (e *OptionError) Is(target error) bool { return target == ErrOption }

// Validate returns an *OptionError unless every option is within its bounds.
func (o *Options) Validate() error {
	bad := func(option, format string, args ...any) error {
		return &OptionError{option, fmt.Sprintf(format, args...)}
	}
	if len(o.Nodes) == 0 || len(o.Nodes) > MaxSizes {
		return bad("nodes", "want 1 to %d sizes", MaxSizes)
	}
	for _, n := range o.Nodes {
		if n < MinNodes || n > MaxNodes {
			return bad("nodes", "%d is outside %d to %d", n, MinNodes, MaxNodes)
		}
	}
	if !slices.IsSorted(o.Nodes) || len(slices.Compact(slices.Clone(o.Nodes))) < len(o.Nodes) {
		return bad("nodes", "sizes must ascend")
	}
	if o.Seed > MaxSeed {
		return bad("seed", "%d is over %d", o.Seed, uint64(MaxSeed))
	}
	for _, r := range []struct {
		option       string
		n, low, high int
	}{
		{"dims", o.Dims, 0, MaxDims}, {"hub", o.Hub, 0, o.Nodes[0] - 1}, {"runs", o.Runs, 1, MaxRuns},
		{"commits", o.Commits, 0, MaxCommits}, {"readers", o.Readers, 0, MaxReaders}, {"writers", o.Writers, 1, MaxReaders},
		{"seconds", o.Seconds, 1, MaxSeconds},
	} {
		if r.n < r.low || r.n > r.high {
			return bad(r.option, "%d is outside %d to %d", r.n, r.low, r.high)
		}
	}
	for _, name := range o.Only {
		i := slices.IndexFunc(measurements, func(m measurement) bool { return m.name == name })
		switch {
		case i < 0:
			return bad("only", "%q is none of %s", name, strings.Join(Names(), ", "))
		case name == groupCommits && o.Commits == 0:
			return bad("only", "commits wants --commits K")
		case name == groupReaders && o.Readers == 0:
			return bad("only", "readers wants --readers R")
		}
	}
	return nil
}

// measurement is one thing to be measured at each size, or once.
type measurement struct {
	name, what string
	run        func(*bench, context.Context) error
	once       bool // not about a size: with the first only
	alone      bool // not about the memory that bulk makes
	raw        bool // beside what bulk writes raw
	starts     bool // starts the program that is measured
	heap       bool // works within this process, and as a whole says how much heap it takes
}

// Starts reports whether a wanted measurement starts the program that is measured.
func (o *Options) Starts() bool { return o.needs(func(m measurement) bool { return m.starts }) }

// needs reports whether a wanted measurement is one of some.
func (o *Options) needs(some func(measurement) bool) bool {
	return slices.ContainsFunc(measurements, func(m measurement) bool {
		return o.wants(m.name) && some(m)
	})
}

// Names of measurements that are asked for by options of their own.
const (
	groupBulk    = "bulk"
	groupCommits = "commits"
)

// Names lists the measurements in their order.
func Names() []string {
	var names []string
	for _, m := range measurements {
		names = append(names, m.name)
	}
	return names
}

// Describe returns what a measurement is about, "" for one that does not exist.
func Describe(name string) string {
	for _, m := range measurements {
		if m.name == name {
			return m.what
		}
	}
	return ""
}

func (o *Options) wants(name string) bool {
	switch {
	case name == groupCommits && o.Commits == 0, name == groupReaders && o.Readers == 0:
		return false
	}
	return len(o.Only) == 0 || slices.Contains(o.Only, name)
}

// Run measures. Whatever it returns, it leaves nothing behind. Options must be valid.
func Run(ctx context.Context, opt Options) (report *Report, err error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	if opt.Measured == nil {
		opt.Measured = func(*Report) error { return nil }
	}
	dir, err := os.MkdirTemp(opt.Dir, "mnem-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a place to work: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	report = newReport(&opt)
	synth := NewSynth(opt.Seed, opt.Nodes[0], opt.Hub, opt.Dims)
	for i, n := range opt.Nodes {
		b := &bench{
			opt: &opt, synth: synth.of(n), first: i == 0, report: report,
			began: time.Now(), dir: filepath.Join(dir, fmt.Sprint(n)), processes: newProcesses(opt.Program, opt.Mnem, dir),
		}
		b.size = &Size{Nodes: n, Edges: b.synth.Edges(), Figures: []Figure{}, Slices: []Slice{}}
		report.Sizes = append(report.Sizes, b.size)
		if err := b.all(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, err
		}
		if err := os.RemoveAll(b.dir); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// bench measures at one size.
type bench struct {
	*processes
	opt    *Options
	report *Report
	size   *Size
	synth  *Synth
	first  bool   // whether this is the first size
	dir    string // of this size, all its own
	began  time.Time
	added  atomic.Int64 // nodes that were added one by one, so that each is new
}

// memory is the repository that is measured, raw the yardstick with the same blocks.
func (b *bench) memory() string { return filepath.Join(b.dir, "memory") }
func (b *bench) raw() string    { return filepath.Join(b.dir, "raw") }
func (b *bench) log() string    { return filepath.Join(b.dir, "blocks") }

func (b *bench) all(ctx context.Context) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if b.opt.needs(func(m measurement) bool { return !m.alone }) {
		if err := b.bulk(ctx); err != nil {
			return fmt.Errorf("make a memory of %d nodes: %w", b.synth.Nodes, err)
		}
		if err := b.opt.Measured(b.report); err != nil {
			return err
		}
	}
	for _, m := range measurements {
		if m.run == nil || !b.opt.wants(m.name) || m.once && !b.first {
			continue
		}
		b.step(m.name, 0, 0)
		peak := func() int64 { return 0 }
		if m.heap {
			peak = watchHeap()
		}
		err := m.run(b, ctx)
		heap := peak()
		if err != nil {
			return fmt.Errorf("measure %s at %d nodes: %w", m.name, b.synth.Nodes, err)
		}
		if m.heap {
			b.addHeap(m.name, "heap at its peak", heap)
		}
		if err := b.opt.Measured(b.report); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) step(what string, done, total int) {
	b.opt.Progress(fmt.Sprintf("%s nodes: %s", grouped(int64(b.synth.Nodes)), what), done, total)
}

// samples is how many short things are measured for each run.
func (b *bench) samples(each int) int { return each * b.opt.Runs }

// add records a figure.
func (b *bench) add(f Figure) { b.size.Figures = append(b.size.Figures, f.judged()) }

// addHeap records how much heap work took at most, beyond what there was.
func (b *bench) addHeap(group, name string, heap int64) {
	b.add(Figure{Group: group, Name: name, Unit: Bytes, Stats: statsOf([]int64{heap})})
}

// stamp is who and when of all that is written: after everything that is made up.
func (b *bench) stamp() repo.Stamp {
	return repo.Stamp{
		Author: "bench", Command: []string{"bench", "perf"},
		Time: firstTime + graph.Time(MaxNodes)*nodeSeconds*1_000_000,
	}
}

// withRepo opens the repository in a directory as the program does, and closes it.
func withRepo(dir string, opt repo.Options, fn func(*repo.Repo) error) error {
	r, err := repo.Open(dir, opt)
	if err != nil {
		return err
	}
	err = fn(r)
	return errors.Join(err, r.Close())
}

// openCounted opens the repository in a directory, made if need be, over a counter. Its caches are
// empty.
func (b *bench) openCounted(ctx context.Context, dir string) (*repo.Repo, *counted, error) {
	st, err := pebble.Open(filepath.Join(dir, repo.DirName), pebble.Options{Create: true})
	if err != nil {
		return nil, nil, err
	}
	c := &counted{Store: st}
	r, err := repo.New(ctx, c, b.stamp(), repo.Options{})
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	c.reset()
	return r, c, nil
}

// timed returns how long fn took, in nanoseconds.
func timed(fn func() error) (int64, error) {
	start := time.Now()
	err := fn()
	return int64(time.Since(start)), err
}

// diskSize is how many bytes the files under a directory have.
func diskSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // gone meanwhile
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
