package care_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

const purgeDir = "/r/.mnem"

// openVFS opens a repository in a file system.
func openVFS(fs vfs.FS) (*core.Repo, *pebble.Store, error) {
	st, err := pebble.Open(purgeDir, pebble.Options{
		FS: fs, Create: true, Uncompressed: true, MemTableBytes: 64 << 10,
	})
	if err != nil {
		return nil, nil, err
	}
	r, err := care.New(context.Background(), st, repokit.By, core.Options{})
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return r, st, nil
}

// afterCut opens what a power cut left, which finishes a started purge, and checks that it was done completely or
// not at all.
func afterCut(fs vfs.FS, acked bool) (purged bool, err error) {
	ctx := context.Background()
	r, st, err := openVFS(fs)
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return false, err
	}
	_, _, err = s.Node(ctx, graph.NodeID("zed"))
	purged = errors.Is(err, store.ErrNotFound)
	if err != nil && !purged {
		return false, err
	}
	if !purged && acked {
		return false, errors.New("the node is back")
	}
	if note, err := st.Note(ctx); note != nil || err != nil {
		return false, fmt.Errorf("note %x: %w", note, err)
	}
	report, err := care.Fsck(ctx, r, care.FsckOptions{Full: true})
	if err != nil || len(report.Errors) > 0 {
		return false, fmt.Errorf("fsck: %v: %w", report.Errors, err)
	}
	if !purged {
		return false, nil
	}
	n := 0
	for rec, err := range r.OpLog().All(ctx) {
		if err != nil {
			return false, err
		}
		if rec.Operation.Command[0] == "purge" {
			n++
		}
	}
	if n != 1 {
		return false, fmt.Errorf("%d operations of one purge", n)
	}
	return true, noText(fs, repokit.SecretSummary, "vermilion", repokit.SecretProp)
}

// noText returns an error if a file contains a text.
func noText(fs vfs.FS, texts ...string) error {
	files, err := testkit.Files(fs, purgeDir)
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "LOCK") {
			continue
		}
		b, err := testkit.ReadFile(fs, name)
		if errors.Is(err, iofs.ErrNotExist) {
			continue // obsolete, and removed concurrently
		}
		if err != nil {
			return err
		}
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				return fmt.Errorf("%q is in %s", text, name)
			}
		}
	}
	return nil
}

// TestPurgeCrash cuts power at the changes that a purge makes.
func TestPurgeCrash(t *testing.T) {
	const seed = 77
	stride := effort.Pick(4, 4, 1)
	rng := rand.New(rand.NewPCG(seed, 0))
	var watch, acked atomic.Bool
	points, done := 0, 0
	var fs *testkit.CrashFS
	fs = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if !watch.Load() || op.N%stride != 0 {
			return nil
		}
		points++
		for _, percent := range []int{0, rng.IntN(100)} {
			purged, err := afterCut(fs.Clone(percent, rng), acked.Load())
			must.True(t, err == nil,
				"seed %d, change %d (%s %s), %d%%: %v", seed, op.N, op.Kind, op.Path, percent, err)
			if purged {
				done++
			}
		}
		return nil
	})
	r, _, err := openVFS(fs)
	must.OK(t, err)
	repokit.Lines(t, r, repokit.NodeLine("bob", "")+"\n"+repokit.SecretNode("zed"))
	for n := range 5 {
		repokit.Lines(t, r, repokit.NodeLine("bob", fmt.Sprintf(`,"summary":%q`, strings.Repeat("y ", 9000+n))))
	}
	watch.Store(true)
	repokit.Lines(t, r, `{"node":{"key":"zed","summary":"more of vermilion"}}`)
	repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "cut"})
	acked.Store(true)
	must.OK(t, r.Close())
	must.True(t, points >= 10 && done != 0, "%d points, %d openings purged", points, done)
}

// TestPurgeTextCrash cuts power at changes that a purge of a text makes: the next opening has finished it or not
// begun it, although its note does not contain the text.
func TestPurgeTextCrash(t *testing.T) {
	const stride = 3
	rng := rand.New(rand.NewPCG(78, 0))
	var watch atomic.Bool // the hook is called by Pebble's own goroutines too
	points, purged := 0, 0
	var fs *testkit.CrashFS
	fs = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if !watch.Load() || op.N%stride != 0 {
			return nil
		}
		points++
		gone, err := textAfterCut(fs.Clone(0, rng))
		must.True(t, err == nil, "change %d (%s %s): %v", op.N, op.Kind, op.Path, err)
		if gone {
			purged++
		}
		return nil
	})
	r, _, err := openVFS(fs)
	must.OK(t, err)
	repokit.Lines(t, r, repokit.NodeLine("zed", `,"summary":"`+repokit.SecretSummary+`"`)+"\n"+repokit.NodeLine("bob", ""))
	watch.Store(true)
	_, err = care.PurgeText(t.Context(), r, repokit.SecretSummary, care.PurgeOptions{Stamp: repokit.By, Reason: "cut"})
	must.OK(t, err)
	watch.Store(false)
	must.OK(t, r.Close())
	gone, err := textAfterCut(fs.Clone(0, rng))
	must.True(t, gone && err == nil, "after it was acknowledged: gone %v, %v", gone, err)
	must.True(t, points >= 5 && purged != 0, "%d points, %d openings purged", points, purged)
}

// textAfterCut opens what a power cut left and reports whether the text is gone. If it is, no file contains it.
func textAfterCut(fs vfs.FS) (gone bool, err error) {
	ctx := context.Background()
	r, st, err := openVFS(fs)
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if note, err := st.Note(ctx); note != nil || err != nil {
		return false, fmt.Errorf("note %x: %w", note, err)
	}
	report, err := care.Fsck(ctx, r, care.FsckOptions{Full: true})
	if err != nil || len(report.Errors) > 0 {
		return false, fmt.Errorf("fsck: %v: %w", report.Errors, err)
	}
	for e, err := range r.Redactions().All(ctx) {
		if err != nil {
			return false, err
		}
		gone = gone || e.Record.Reason == "cut"
	}
	if !gone {
		return false, nil
	}
	return true, noText(fs, repokit.SecretSummary)
}
