package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

// secret returns a block with unique text.
func secret(n int) store.Block {
	text := fmt.Sprintf("the secret of number %d is kept %s", n, strings.Repeat("well ", n%50))
	return store.NewBlock(ipld.Raw, []byte(text))
}

var secretText = []byte("the secret of")

// filesWith lists the files under dir that hold text.
func filesWith(t *testing.T, dir string, text []byte) (with []string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, text) {
			with = append(with, filepath.Base(path))
		}
		if errors.Is(err, iofs.ErrNotExist) { // old options, removed in the background
			err = nil
		}
		return err
	})
	must.Require(t, err == nil && files >= 4, "%d files in %s: %v", files, dir, err)
	return with
}

// TestCompactLeavesNoBytes searches every file for erased text, after data went through memtables, reused logs, and
// several levels of tables.
func TestCompactLeavesNoBytes(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openDisk(t, dir, Options{Create: true, MemTableBytes: tinyMem, Uncompressed: true})
	defer s.Close()
	var gone []store.Redaction
	var deleted []ipld.CID
	for n := range 300 {
		must.OK(t, s.Facts().Put(ctx, secret(n), storetest.Block(n, 2000)))
		must.OK(t, s.Derived().Put(ctx, secret(n)))
		if n%2 == 0 {
			gone = append(gone, store.Redaction{CID: secret(n).CID, Stub: []byte("stub")})
		} else {
			deleted = append(deleted, secret(n).CID)
		}
	}
	must.OK(t, s.Commit(ctx, store.Head{}, opHead(1), opBlocks(1)...))
	must.Require(t, len(filesWith(t, dir, secretText)) >= 3, "the text is not where it is to be removed from")
	// A reader keeps old tables alive, but not forever: compaction waits for it.
	reading, stop := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.Facts().Iterate(ctx, ipld.CID{}, func(store.Block) error {
			close(reading)
			<-stop
			return errors.New("enough")
		})
	}()
	<-reading
	must.OK(t, s.Redact(ctx, gone...))
	must.OK(t, s.Facts().(store.Deleter).Delete(ctx, deleted...))
	must.OK(t, s.Derived().Clear(ctx))
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	must.Fail(t, s.Compact(short), context.DeadlineExceeded)
	close(stop)
	must.OK(t, s.Compact(ctx))
	with := filesWith(t, dir, secretText)
	must.True(t, len(with) == 0, "the text is still in %v", with)
	must.OK(t, s.Keys(ctx, func(e RawEntry) error {
		must.True(t, !bytes.Contains(e.Value, secretText), "key %x holds the text", e.Key)
		return nil
	}))
	must.OK(t, commitOp(s, 2), "going on")
}

// TestCrashWhileErasing cuts power at each change that redacting and compacting make.
func TestCrashWhileErasing(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(crashSeed, 2))
	var erased atomic.Bool
	var watch atomic.Bool
	points := 0
	check := func(fs vfs.FS, done bool) error {
		s, err := Open(repo, Options{FS: fs, MemTableBytes: tinyMem})
		if err != nil {
			return err
		}
		gone := 0
		for n := range 10 {
			_, err := s.Facts().Get(ctx, secret(n).CID)
			switch {
			case errors.Is(err, store.ErrRedacted):
				gone++
			case err != nil:
				return errors.Join(err, s.Close())
			}
		}
		if gone != 10 && (done || gone != 0) {
			err = fmt.Errorf("%d of 10 blocks are redacted, acknowledged %v", gone, done)
		}
		_, headErr := checkStore(s, 3)
		faults := s.Check(ctx, nil, func(m string) error { return errors.New(m) })
		return errors.Join(err, headErr, faults, s.Close())
	}
	var fs *testkit.CrashFS
	fs = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if !watch.Load() {
			return nil
		}
		points++
		done := erased.Load()
		for _, percent := range []int{0, rng.IntN(100)} {
			err := check(fs.Clone(percent, rng), done)
			must.True(t, err == nil, "seed %d, change %d (%s %s): %v", crashSeed, op.N, op.Kind, op.Path, err)
		}
		return nil
	})
	s := must.Get(Open(repo, Options{FS: fs, Create: true, MemTableBytes: tinyMem}))(t)
	var list []store.Redaction
	for n := range 10 {
		list = append(list, store.Redaction{CID: secret(n).CID, Stub: []byte("stub")})
		must.OK(t, s.Facts().Put(ctx, secret(n)))
	}
	for seq := uint64(1); seq <= 3; seq++ {
		must.OK(t, commitOp(s, seq))
	}
	watch.Store(true)
	must.OK(t, s.Redact(ctx, list...))
	erased.Store(true)
	must.OK(t, errors.Join(s.Compact(ctx), s.Close()))
	must.True(t, points >= 10, "%d points tested", points)
}

// TestFormatRecord opens stores with a later format record, and with an invalid one.
func TestFormatRecord(t *testing.T) {
	tests := []struct {
		name  string
		value []byte
		want  error
		text  string
	}{
		{"this", encodeFormat(FormatVersion), nil, ""},
		{"earlier", encodeFormat(1), nil, ""},
		{"later", encodeFormat(7), ErrFormat, "repository format 7 is needed, this program knows up to 2"},
		{"zero", encodeFormat(0), store.ErrCorrupt, "version 0"},
		{"garbage", []byte("x"), store.ErrCorrupt, "format record"},
	}
	for _, tt := range tests {
		fs := vfs.NewMem()
		s := openFS(t, fs, Options{Create: true})
		must.OK(t, errors.Join(commitOp(s, 1), s.db.Set(formatKey, tt.value, nil), s.Close()))
		for _, readOnly := range []bool{true, false} {
			s, err := Open("/repo/.mnem", Options{FS: fs, ReadOnly: readOnly})
			must.True(t, errors.Is(err, tt.want) && (err == nil || strings.Contains(err.Error(), tt.text)),
				"%s: %v, want %v", tt.name, err, tt.want)
			if err == nil {
				must.OK(t, s.Close())
			}
		}
	}
	must.True(t, FormatVersion == 2, "a new format version needs a frozen repository and a migration beside it")
}

// TestFormatGrows writes to a store of an earlier format, which raises its format.
func TestFormatGrows(t *testing.T) {
	fs := vfs.NewMem()
	s := openFS(t, fs, Options{Create: true})
	must.OK(t, errors.Join(commitOp(s, 1), s.db.Set(formatKey, encodeFormat(1), nil), s.Close()))
	for _, want := range []int64{1, FormatVersion} {
		s := openFS(t, fs, Options{})
		b := must.Get(s.get(formatKey))(t)
		got := must.Get(decodeFormat(b))(t)
		must.True(t, got == want, "format %d, want %d", got, want)
		must.OK(t, errors.Join(commitOp(s, uint64(want)+1), s.Close()))
	}
}

func TestCheckErasing(t *testing.T) {
	ctx := context.Background()
	s := openMem(t)
	defer s.Close()
	must.OK(t, commitOp(s, 1))
	gone := secret(1)
	must.OK(t, s.Redact(ctx, store.Redaction{CID: gone.CID, Stub: []byte("x")}))
	var got []string
	check := func() {
		got = nil
		must.OK(t, s.Check(ctx, nil, func(m string) error { got = append(got, m); return nil }))
	}
	check()
	must.True(t, len(got) == 0, "faults of a sound store: %q", got)
	must.OK(t, errors.Join(s.db.Set(Facts.key(gone.CID), gone.Data, nil), s.db.Delete(formatKey, nil)))
	check()
	must.True(t, len(got) == 2 && strings.Contains(got[0], "redacted") && strings.Contains(got[1], "format"),
		"faults: %q", got)
}

// TestReadWhileErased reads a block that is deleted but not yet known to be erased: the error says erased, not missing.
func TestReadWhileErased(t *testing.T) {
	ctx := t.Context()
	s := openDisk(t, t.TempDir(), Options{Create: true})
	defer s.Close()
	b := secret(1)
	must.OK(t, s.Facts().Put(ctx, b))
	s.eraseMu.Lock() // what Redact does, stopped halfway
	batch := s.db.NewBatch()
	must.OK(t, errors.Join(batch.Set(Redactions.key(b.CID), []byte("stub"), nil), batch.Delete(Facts.key(b.CID), nil),
		s.db.Apply(batch, pdb.Sync)))
	read := make(chan error)
	go func() {
		_, err := s.Facts().Get(ctx, b.CID)
		read <- err
	}()
	select {
	case err := <-read:
		t.Errorf("it was read before it is known: %v", err)
		s.eraseMu.Unlock()
		return
	case <-time.After(20 * time.Millisecond): // it waits, or has not begun
	}
	s.redacted.Store(&map[ipld.CID]bool{b.CID: false})
	s.eraseMu.Unlock()
	must.Fail(t, <-read, store.ErrRedacted)
}

// TestReadWhileItComes reads a block of an open redaction at the moment it arrives.
func TestReadWhileItComes(t *testing.T) {
	ctx := t.Context()
	s := openDisk(t, t.TempDir(), Options{Create: true})
	defer s.Close()
	b := secret(1)
	must.OK(t, s.Redact(ctx, store.Redaction{CID: b.CID, Stub: []byte("stub"), Open: true}))
	must.Fail(t, must.Err(s.Facts().Get(ctx, b.CID)), store.ErrRedacted)
	must.OK(t, s.Facts().Put(ctx, b))
	if err := s.absent(ctx, b.CID); err != nil { // of a Get that looked before it arrived
		t.Error(err)
	}
	must.Fail(t, s.absent(ctx, secret(2).CID), store.ErrNotFound)
}
