package outline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// digestSteps are change lines whose digests are kept after each of them: the first makes a tree, the others move,
// edit, add and remove facts of it.
var digestSteps = []string{
	projects(60),
	`{"node":{"key":"t7","type":"Task","summary":"Task 7 is done on 3 May."}}`,
	`{"remove":{"edge":{"type":"part-of","src":"t9","dst":"p4"}}}` + "\n" +
		`{"edge":{"type":"part-of","src":"t9","dst":"p1"}}`,
	`{"node":{"key":"p5","type":"Project","summary":"Project number 5 dredges the basin."}}` + "\n" +
		`{"edge":{"type":"part-of","src":"p5","dst":"p0"}}` + "\n" + `{"remove":{"node":"t12"}}`,
}

// TestDigestsCrash cuts power while digests are made, kept and updated. What is kept afterwards is whole: the digests
// of the newest commit, updated from what was left, are those made from nothing.
func TestDigestsCrash(t *testing.T) {
	t.Parallel()
	stride := effort.Pick(7, 2, 1)
	if effort.Race {
		stride = 19
	}
	fresh := make(map[ipld.CID]ipld.CID) // by graph
	for n := range digestSteps {
		r, _ := repokit.OverMem(t)
		for _, step := range digestSteps[:n+1] {
			repokit.Lines(t, r, step)
		}
		s := repokit.Head(t, r)
		fresh[s.Graph()] = digestsOf(t, s, outline.DigestOptions{}).Root
	}

	rng := rand.New(rand.NewPCG(repokit.CrashSeed, 2))
	points, kept := 0, 0
	var fsys *testkit.CrashFS
	fsys = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.N%stride != 0 {
			return nil
		}
		points++
		for _, percent := range []int{0, 1 + rng.IntN(99)} {
			found, err := checkDigestsCrashed(t, fsys.Clone(percent, rng), fresh)
			if err != nil {
				t.Errorf("seed %d, change %d (%s %s), %d%% of what was not synced: %v",
					repokit.CrashSeed, op.N, op.Kind, op.Path, percent, err)
			}
			if found {
				kept++
			}
		}
		return nil
	})
	r, err := care.Init(t.Context(), repokit.CrashDir, repokit.By, core.Options{FS: fsys, Logf: repokit.Logf})
	must.OK(t, err)
	for _, step := range digestSteps {
		repokit.Lines(t, r, step)
		digestsOf(t, repokit.Head(t, r), keepDigests)
	}
	must.OK(t, r.Close())
	t.Logf("%d changes, power cut at %d, digests found in %d of twice as many", fsys.Ops(), points, kept)
	must.Check(t, points >= 3 && kept != 0, "%d points tested, digests found in %d", points, kept)
	if found, err := checkDigestsCrashed(t, fsys.Clone(0, nil), fresh); err != nil || !found {
		t.Errorf("at the end: found %v, %v", found, err)
	}
}

// checkDigestsCrashed opens what a power cut left and compares the digests of its newest commit with those made from
// nothing. It reports whether there were some to begin with.
func checkDigestsCrashed(t *testing.T, fsys vfs.FS, fresh map[ipld.CID]ipld.CID) (found bool, err error) {
	r, err := repokit.OpenCrashed(fsys, repokit.Promises{})
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	_, newest, err := r.Branch(t.Context())
	if err != nil || !newest.Defined() {
		return false, err
	}
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		return false, err
	}
	d, err := outline.Open(t.Context(), s, distill.Default(), keepDigests)
	if err != nil {
		return false, err
	}
	if want := fresh[s.Graph()]; d.Root != want {
		return d.Found, fmt.Errorf("digests %s, from nothing %s", d.Root, want)
	}
	return d.Found, repokit.Clean(r)
}
