package perf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/mnem-project/mnem/repo"
)

const (
	groupCare    = "care"
	groupTotal   = "total"
	groupVersion = "version"
	// versionSamples is for each run.
	versionSamples = 4
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
	b.addCosts(groupCare, "gc", []cost{took}, 1, nil, &Bound{Most: gcMost})
	b.addHeap(groupCare, "gc: heap at its peak", heap)
	b.add(Figure{Group: groupCare, Name: "blocks that it removed", Unit: Count,
		Stats: statsOf([]int64{int64(res.Blocks)})})
	if err := b.careSize("store for each node, after gc"); err != nil {
		return err
	}
	var costs []cost
	peak = watchHeap()
	for i := range b.opt.Runs {
		b.step("fsck", i, b.opt.Runs)
		took, err := b.check(ctx, b.memory())
		if err != nil {
			peak()
			return err
		}
		costs = append(costs, took)
	}
	b.addHeap(groupCare, "fsck: heap at its peak", peak())
	b.addCosts(groupCare, "fsck", costs, 1, nil, &Bound{Most: fsckMost})
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
) (res *repo.GCResult, took cost, err error) {
	b.step("gc", 0, 0)
	err = withRepo(dir, repo.Options{}, func(r *repo.Repo) error {
		took, err = costOf(func() error {
			res, err = r.GC(ctx, repo.GCOptions{Stamp: b.stamp(), KeepOps: 1})
			return err
		})
		return err
	})
	return res, took, err
}

// check checks a repository, in which nothing may be wrong.
func (b *bench) check(ctx context.Context, dir string) (took cost, err error) {
	err = withRepo(dir, repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		took, err = costOf(func() error {
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

// total tells what the measurements of this size took together, and the memory of this program.
func (b *bench) total(context.Context) error {
	b.add(Figure{Group: groupTotal, Name: "time", Unit: Nanoseconds,
		Stats: statsOf([]int64{int64(time.Since(b.began))})})
	_, rss := ownUsage()
	b.add(rssFigure(groupTotal, "memory of the program at its peak", []int64{rss}, nil))
	return nil
}

// helloWorld is the least that a program in Go can be.
const helloWorld = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello, world\") }\n"

// version starts this program to tell its version, beside a program that says hello.
func (b *bench) version(ctx context.Context) error {
	hello, why, err := b.buildHello(ctx)
	if err != nil {
		return err
	}
	own := whole{name: "mnem version", bound: &Bound{Times: versionTimes}, rss: &Bound{Most: versionMemory},
		run: func(int) (Spent, error) { return b.mnem(ctx, "version") }}
	yard := whole{name: "hello world"}
	if hello != "" {
		yard.run = func(int) (Spent, error) { return b.run(ctx, hello) }
	}
	figures, err := b.wholes(groupVersion, b.samples(versionSamples), yard, own)
	if err != nil {
		return err
	}
	if hello == "" {
		figures = append(figures, Figure{Group: groupVersion, Name: "hello world", Unit: Nanoseconds, Why: why})
	}
	b.report.Figures = append(b.report.Figures, figures...)
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
