package perf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/mnem-project/mnem/repo"
)

const (
	groupCare    = "care"
	groupVersion = "version"
	// versionSamples is for each run.
	versionSamples = 4
	versionBound   = 15_000_000
)

func closeAfter(r *repo.Repo, err error) error { return errors.Join(err, r.Close()) }

// care collects what the measurements before it left behind, and checks everything.
func (b *bench) care(ctx context.Context) error {
	if err := b.careSize("store for each node, before gc"); err != nil {
		return err
	}
	peak := watchHeap()
	res, took, err := b.collect(ctx, b.memory())
	heap := peak()
	if err != nil {
		return err
	}
	b.add(Figure{Group: groupCare, Name: "gc", Unit: Nanoseconds, Stats: statsOf([]int64{took})})
	b.addHeap(groupCare, "gc: heap at its peak", heap)
	b.add(Figure{Group: groupCare, Name: "blocks that it removed", Unit: Count,
		Stats: statsOf([]int64{int64(res.Blocks)})})
	if err := b.careSize("store for each node, after gc"); err != nil {
		return err
	}
	var times []int64
	peak = watchHeap()
	for i := range b.opt.Runs {
		b.step("fsck", i, b.opt.Runs)
		took, err := b.check(ctx, b.memory())
		if err != nil {
			peak()
			return err
		}
		times = append(times, took)
	}
	b.addHeap(groupCare, "fsck: heap at its peak", peak())
	b.add(Figure{Group: groupCare, Name: "fsck", Unit: Nanoseconds, Stats: statsOf(times)})
	return nil
}

func (b *bench) careSize(name string) error {
	n, err := diskSize(filepath.Join(b.memory(), repo.DirName))
	if err != nil {
		return err
	}
	b.add(Figure{Group: groupCare, Name: name, Unit: Bytes,
		Stats: statsOf([]int64{n / int64(b.synth.Nodes)})})
	return nil
}

// collect removes what only old operations of a repository lead to.
func (b *bench) collect(
	ctx context.Context, dir string,
) (res *repo.GCResult, took int64, err error) {
	b.step("gc", 0, 0)
	err = withRepo(dir, repo.Options{}, func(r *repo.Repo) error {
		took, err = timed(func() error {
			res, err = r.GC(ctx, repo.GCOptions{Stamp: b.stamp(), KeepOps: 1})
			return err
		})
		return err
	})
	return res, took, err
}

// check checks a repository, in which nothing may be wrong.
func (b *bench) check(ctx context.Context, dir string) (took int64, err error) {
	err = withRepo(dir, repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		took, err = timed(func() error {
			report, err := r.Fsck(ctx, repo.FsckOptions{})
			if err == nil && len(report.Errors) > 0 {
				err = fmt.Errorf("fsck: %s", report.Errors[0].Message)
			}
			return err
		})
		return err
	})
	return took, err
}

// helloWorld is the least that a program in Go can be.
const helloWorld = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello, world\") }\n"

// version starts this program to tell its version, beside a program that says hello.
func (b *bench) version(ctx context.Context) error {
	hello, why, err := b.buildHello(ctx)
	if err != nil {
		return err
	}
	var own, yard, rss []int64
	for i := range b.samples(versionSamples) + 1 {
		b.step("mnem version", i, b.samples(versionSamples))
		spent, err := b.mnem(ctx, "version")
		if err != nil {
			return err
		}
		var least Spent
		if hello != "" {
			if least, err = b.run(ctx, hello); err != nil {
				return err
			}
		}
		if i > 0 {
			own, rss = append(own, spent.Nanoseconds), append(rss, spent.RSS)
			yard = append(yard, least.Nanoseconds)
		}
	}
	f := Figure{Group: groupVersion, Name: "mnem version", Unit: Nanoseconds, Stats: statsOf(own),
		Bound: &Bound{Most: versionBound}}
	if hello != "" {
		f.Yardstick, f.Bound.Times = &Yardstick{"hello world", statsOf(yard)}, 6
	}
	list := []Figure{f.judged(), rssFigure(groupVersion, "its memory at the peak", rss, nil)}
	if hello == "" {
		list = append(list, Figure{Group: groupVersion, Name: "hello world", Unit: Nanoseconds, Why: why})
	}
	b.report.Figures = append(b.report.Figures, list...)
	return nil
}

// buildHello builds helloWorld. Where it cannot, it returns no path but why.
func (b *bench) buildHello(ctx context.Context) (path, why string, err error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", "there is no go command to build it with", nil
	}
	dir := filepath.Join(b.dir, "hello")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "hello")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.WriteFile(filepath.Join(dir, "hello.go"), []byte(helloWorld), 0o600); err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, tool, "build", "-o", path, "hello.go")
	cmd.Dir = dir
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		return "", "it does not build here", nil
	}
	return path, "", nil
}
