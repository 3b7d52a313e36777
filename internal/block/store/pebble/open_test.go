package pebble

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

// TestFormatVersion pins the format: adopting a newer one of a Pebble release is a decision.
func TestFormatVersion(t *testing.T) {
	got := [2]int{int(formatVersion), int(pdb.FormatNewest)}
	must.Equal(t, got, [2]int{24, 24}, "pinned format and Pebble's newest")
}

func TestLaterFormat(t *testing.T) {
	fs := vfs.NewMem()
	s := openFS(t, fs, Options{Create: true})
	must.OK(t, errors.Join(commitOp(s, 1), s.Close()))
	writeFile(t, fs, repo+"/db/marker.format-version.000099.025", nil)
	_, err := Open(repo, Options{FS: fs, ReadOnly: true})
	must.True(t, errors.Is(err, ErrFormat) && !errors.Is(err, store.ErrCorrupt),
		"error %v, want a later format", err)
}

func TestMissingStore(t *testing.T) {
	root := t.TempDir()
	must.OK(t, os.MkdirAll(root+"/empty", 0o700))
	for _, dir := range []string{root, root + "/none", root + "/none/deeper", root + "/empty"} {
		for _, opts := range []Options{{}, {ReadOnly: true}, {ReadOnly: true, Create: true}} {
			_, err := Open(dir, opts)
			must.True(t, errors.Is(err, store.ErrNotFound) && strings.Contains(err.Error(), dir),
				"%s: error %v, want not found, naming it", dir, err)
		}
	}
	var names []string
	must.OK(t, iofs.WalkDir(os.DirFS(root), ".", func(p string, _ iofs.DirEntry, err error) error {
		names = append(names, p)
		return err
	}), "opening nothing made something (-want +got):\n")
	must.Same(t, names, []string{".", "empty"}, "opening nothing made something")
}

// entries returns all keys and values.
func entries(t *testing.T, s *Store) map[string]string {
	t.Helper()
	out := make(map[string]string)
	must.OK(t, s.Keys(context.Background(), func(e RawEntry) error {
		out[string(e.Key)] = string(e.Value)
		return nil
	}))
	return out
}

// TestReadOnly reads a killed process's store: nothing may change, not even by recovery.
func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	live := testkit.NewCrashFS(nil, nil)
	s := openFS(t, live, Options{Create: true, MemTableBytes: tinyMem})
	for seq := uint64(1); seq <= 9; seq++ {
		must.OK(t, commitOp(s, seq))
	}
	fs := live.Clone(0, nil)
	want := entries(t, s)
	must.OK(t, s.Close())
	files := func() map[string]string {
		out := make(map[string]string)
		for _, name := range listFiles(t, fs) {
			out[name] = string(readFile(t, fs, name))
		}
		delete(out, repo+"/owner")
		return out
	}
	before := files()
	for range 2 {
		s = openFS(t, fs, Options{ReadOnly: true, MemTableBytes: tinyMem})
		must.Get(checkStore(s, 9))(t)
		must.Same(t, entries(t, s), want, "entries")
		b := storetest.Block(7, 10)
		for name, err := range map[string]error{
			"Put":     s.Facts().Put(ctx, b),
			"Commit":  s.Commit(ctx, opHead(9), opHead(10)),
			"SetCell": s.Derived().SetCell(ctx, b.CID, b.CID),
			"Clear":   s.Derived().Clear(ctx),
		} {
			must.Fail(t, err, store.ErrReadOnly, name)
		}
		must.OK(t, s.Close())
		must.Same(t, files(), before, "files (-before +after)")
	}
}

// TestReadOnlyDirectory opens a store on a file system that cannot be written.
func TestReadOnlyDirectory(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := openFS(t, mem, Options{Create: true})
	must.OK(t, errors.Join(commitOp(s, 1), s.Close()))
	refused := func(op testkit.Op) error { return &iofs.PathError{Op: op.Kind, Path: op.Path, Err: syscall.EROFS} }
	_, err := Open(repo, Options{FS: testkit.NewCrashFS(mem, refused), ReadOnly: true})
	must.True(t, errors.Is(err, syscall.EROFS) && !errors.Is(err, store.ErrBusy) &&
		strings.Contains(err.Error(), "LOCK"), "error %v, want one about the lock file", err)
	// If only the lock can be taken, reading works.
	locks := func(op testkit.Op) error {
		if op.Kind == "lock" {
			return nil
		}
		return refused(op)
	}
	s = openFS(t, testkit.NewCrashFS(mem, locks), Options{ReadOnly: true})
	must.Get(checkStore(s, 1))(t)
	must.OK(t, s.Close())
	for _, why := range []error{syscall.EROFS, syscall.EACCES} {
		must.True(t, unwritable(&iofs.PathError{Op: "open", Path: "LOCK", Err: why}), "%v does not let a store be read", why)
	}
}

func TestKeys(t *testing.T) {
	ctx := context.Background()
	s := openMem(t)
	defer s.Close()
	gone := store.Redaction{CID: storetest.Block(99, 20).CID, Stub: []byte("stub")}
	if err := s.Redact(ctx, gone); err != nil { // first: it removes derived blocks
		t.Fatal(err)
	}
	must.OK(t, commitOp(s, 1))
	must.OK(t, s.SetNote(ctx, []byte("note")))
	unknown := []string{"a", "f", "hh", "nn", "v0", "zz", "f\x71x", "f\x00" + strings.Repeat("x", 32)}
	for _, key := range unknown {
		must.OK(t, s.db.Set([]byte(key), []byte("v"), pdb.NoSync))
	}
	got := make(map[Space]int)
	var keys []string
	must.OK(t, s.Keys(ctx, func(e RawEntry) error {
		got[e.Space]++
		keys = append(keys, string(e.Key))
		single := e.Space == Head || e.Space == Note || e.Space == Format
		must.True(t, (e.Space == Unknown || single) != e.CID.Defined(),
			"key %q in space %c has CID %s", e.Key, e.Space, e.CID)
		must.True(t, !e.CID.Defined() || slices.Equal(e.Space.key(e.CID), e.Key), "key %x of %s", e.Key, e.CID)
		return nil
	}))
	want := map[Space]int{
		Unknown: len(unknown), Cells: 1, Derived: 1, Facts: perCommit, Head: 1, Note: 1, Format: 1,
		Redactions: 1,
	}
	diff := cmp.Diff(want, got)
	must.True(t, diff == "" && slices.IsSorted(keys), "entries by space (-want +got):\n%s", diff)
	seen := 0
	err := s.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error { seen++; return b.Verify() })
	must.OK(t, err, "Iterate with unknown keys")
	must.Equal(t, seen, perCommit, "Iterate with unknown keys")
}

// TestWrongValues stores bytes that do not match their keys.
func TestWrongValues(t *testing.T) {
	ctx := context.Background()
	s := openMem(t)
	defer s.Close()
	b := storetest.Block(1, 30)
	for _, space := range []Space{Facts, Derived, Cells} {
		must.OK(t, s.db.Set(space.key(b.CID), []byte("other"), pdb.NoSync))
	}
	for _, blocks := range []store.Blocks{s.Facts(), s.Derived()} {
		var corrupt *store.CorruptError
		data, err := blocks.Get(ctx, b.CID)
		must.True(t, errors.As(err, &corrupt) && corrupt.Want == b.CID &&
			corrupt.Got == ipld.Sum(ipld.Raw, []byte("other")) && data == nil, "Get: %q, %v", data, err)
		// Putting the block repairs it.
		must.OK(t, blocks.Put(ctx, b))
		must.Get(blocks.Get(ctx, b.CID))(t)
	}
	must.Fail(t, must.Err(s.Derived().Cell(ctx, b.CID)), store.ErrCorrupt)
}

// openMem opens a new store in memory. Small memtables produce tables early.
func openMem(t testing.TB) *Store {
	t.Helper()
	return openFS(t, vfs.NewMem(), Options{Create: true, MemTableBytes: 64 << 10})
}

func openFS(t testing.TB, fs vfs.FS, opts Options) *Store {
	t.Helper()
	opts.FS = fs
	return must.Get(Open("/repo/.mnem", opts))(t)
}

func openDisk(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	return must.Get(Open(dir, opts))(t)
}

func TestConformance(t *testing.T) {
	t.Run("mem", func(t *testing.T) { storetest.Run(t, func(t *testing.T) store.Store { return openMem(t) }) })
	t.Run("disk", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store {
			return openDisk(t, t.TempDir()+"/.mnem", Options{Create: true})
		})
	})
}

// TestReadersCompactNothing: compactions begin only in a store that is written to or serves others.
func TestReadersCompactNothing(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	for n, begin := range []func(s *Store) error{
		nil,
		func(s *Store) error { return s.Facts().Put(ctx, storetest.Block(1, 100)) },
		func(s *Store) error { return s.SetOwner(Owner{}) },
	} {
		s := must.Get(Open(dir, Options{Create: true}))(t)
		must.Err(s.Facts().Has(ctx, storetest.Block(1, 100).CID))
		must.Equal(t, s.gate.isOpen(), false, "after reading, opening ", n)
		if begin != nil {
			must.OK(t, begin(s))
			must.Equal(t, s.gate.isOpen(), true, "opening ", n)
		}
		must.OK(t, s.Close())
	}
}
