package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

const (
	damageSeed = 5
	damageOps  = 12
)

func readFile(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	return must.Get(testkit.ReadFile(fs, name))(t)
}

func writeFile(t *testing.T, fs vfs.FS, name string, b []byte) {
	t.Helper()
	must.OK(t, testkit.WriteFile(fs, name, b))
}

// images returns a store of damageOps operations, as left by Close and by a killed process.
func images(t *testing.T) map[string]*testkit.CrashFS {
	t.Helper()
	rng := rand.New(rand.NewPCG(damageSeed, 0))
	out := make(map[string]*testkit.CrashFS)
	fs := testkit.NewCrashFS(nil, nil)
	s := openFS(t, fs, Options{Create: true, MemTableBytes: tinyMem})
	for seq := uint64(1); seq <= damageOps; seq++ {
		must.OK(t, commitOp(s, seq))
	}
	out["killed"] = testkit.NewCrashFS(fs.Clone(100, rng), nil)
	must.OK(t, s.Close())
	out["closed"] = testkit.NewCrashFS(fs.Clone(100, rng), nil)
	return out
}

func listFiles(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{repo, repo + "/" + dbName} {
		names := must.Get(fs.List(dir))(t)
		for _, name := range names {
			if name != dbName && name != "LOCK" {
				out = append(out, path.Join(dir, name))
			}
		}
	}
	return out
}

// examine opens a damaged store and reads all of it. It returns how the damage was reported: by "open", by "get",
// or "" if all data is intact. It returns an error if damage was not reported properly.
func examine(fs vfs.FS, readOnly bool) (told string, err error) {
	ctx := context.Background()
	s, err := Open(repo, Options{FS: fs, ReadOnly: readOnly, MemTableBytes: tinyMem})
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, ErrFormat) {
			return "", fmt.Errorf("open: not told as damage: %w", err)
		}
		return "open", nil
	}
	defer s.Close()
	head, err := s.Head(ctx)
	if err != nil || head != opHead(damageOps) {
		return "", fmt.Errorf("head %v: %w", head, err)
	}
	for seq := uint64(1); seq <= damageOps; seq++ {
		for _, b := range opBlocks(seq) {
			_, err := s.Facts().Get(ctx, b.CID)
			switch {
			case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrNotFound):
				if !strings.Contains(err.Error(), b.CID.String()) {
					return "", fmt.Errorf("get: does not name block %s: %w", b.CID, err)
				}
				told = "get"
			case err != nil:
				return "", fmt.Errorf("get: not told as damage: %w", err)
			}
		}
	}
	seen := 0
	err = s.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		seen++
		return b.Verify()
	})
	switch {
	case err != nil && !errors.Is(err, store.ErrCorrupt):
		return "", fmt.Errorf("iterate: not told as damage: %w", err)
	case err == nil && told == "" && seen != damageOps*perCommit:
		return "", fmt.Errorf("iterate saw %d blocks of %d", seen, damageOps*perCommit)
	case err != nil && told == "":
		told = "iterate"
	}
	return told, nil
}

// TestDamage flips a bit at, or truncates, or zeroes what follows, sampled places of every file of a store. Bits of
// a table are also flipped at even distances: which tables exist and are still read depends on the progress of
// Pebble's background work, and one that is read must be hit.
func TestDamage(t *testing.T) {
	effort.Alone(t)
	samples := effort.Pick(2, 4, 60)
	const even = 16
	rng := rand.New(rand.NewPCG(damageSeed, 1))
	flip := func(b []byte, at int) []byte { b[at] ^= 1 << rng.IntN(8); return b }
	damages := map[string]func(b []byte, at int) []byte{
		"flip": flip,
		"cut":  func(b []byte, at int) []byte { return b[:at] },
		"zero": func(b []byte, at int) []byte { clear(b[at:]); return b },
	}
	for image, base := range images(t) {
		told := make(map[string]int)
		for _, name := range listFiles(t, base) {
			size := len(readFile(t, base, name))
			try := func(kind string, damage func([]byte, int) []byte, at int) {
				fs := base.Clone(0, nil)
				writeFile(t, fs, name, damage(readFile(t, fs, name), at))
				how, err := examine(fs, rng.IntN(2) == 0)
				must.True(t, err == nil,
					"seed %d, %s, %s of %s at %d of %d: %v", damageSeed, image, kind, name, at, size, err)
				told[path.Ext(name)+" "+how]++
			}
			for range min(samples, size) {
				at := rng.IntN(size)
				for kind, damage := range damages {
					try(kind, damage, at)
				}
			}
			for i := range min(even, size) { // one that was just created is empty
				if path.Ext(name) == ".sst" {
					try("flip", flip, i*size/even)
				}
			}
		}
		must.True(t, told[".sst get"] != 0, "%s: no damage of a table was told by reading", image)
	}
}

// TestMissingFile removes each file of a store.
func TestMissingFile(t *testing.T) {
	for image, base := range images(t) {
		for _, name := range listFiles(t, base) {
			fs := base.Clone(0, nil)
			must.OK(t, fs.Remove(name))
			must.Get(examine(fs, false))(t, image, " without ", name)
		}
	}
}

// TestLogTail damages the last pages of a killed store's log. Pebble takes that for the end of the log, so the head
// file must reveal the loss.
func TestLogTail(t *testing.T) {
	fs := testkit.NewCrashFS(nil, nil)
	var acked atomic.Uint64
	s := openFS(t, fs, Options{Create: true})
	for seq := uint64(1); seq <= damageOps; seq++ {
		must.OK(t, commitOp(s, seq))
		acked.Store(seq)
	}
	defer s.Close()
	base := testkit.NewCrashFS(fs.Clone(0, nil), nil)
	tested := 0
	for _, name := range listFiles(t, base) {
		if path.Ext(name) != ".log" {
			continue
		}
		size := len(readFile(t, base, name))
		for back := 64; back < size; back += 997 { // the records that sync the last commit precede them
			clone := base.Clone(0, nil)
			b := readFile(t, clone, name)
			b[size-back] ^= 0x40
			writeFile(t, clone, name, b)
			_, err := Open(repo, Options{FS: clone, ReadOnly: true})
			must.Fail(t, err, store.ErrCorrupt, back)
			var head *HeadError
			must.True(t, !errors.As(err, &head) || head.Acknowledged == opHead(damageOps),
				"error names %v as acknowledged", head.Acknowledged)
			tested++
		}
	}
	must.True(t, tested >= 20, "%d places tested", tested)
}
