package care_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

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
		must.Check(t, err == nil, "change %d (%s %s): %v", op.N, op.Kind, op.Path, err)
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
	if gone, err := textAfterCut(fs.Clone(0, rng)); !gone || err != nil {
		t.Errorf("after it was acknowledged: gone %v, %v", gone, err)
	}
	must.Check(t, points >= 5 && purged != 0, "%d points, %d openings purged", points, purged)
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
