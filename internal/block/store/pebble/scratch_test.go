package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func scratchFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must.OK(t, err)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), scratchPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestScratch writes two scratch files at the same time; one is left behind.
func TestScratch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, Options{Create: true})
	must.OK(t, err)
	var files []store.Scratch
	for _, text := range []string{"one", "two"} {
		f, err := s.Scratch(t.Context())
		must.OK(t, err)
		for range 2 {
			_, err := f.Write([]byte(text))
			must.OK(t, err)
		}
		files = append(files, f)
	}
	for i, want := range []string{"neo", "wot"} {
		b := make([]byte, 3)
		if _, err := files[i].ReadAt(b, 1); err != nil || string(b) != want {
			t.Errorf("file %d has %q there, %v, want %q", i, b, err, want)
		}
	}
	must.OK(t, files[0].Close())
	if names := scratchFiles(t, dir); len(names) != 1 {
		t.Errorf("files %q, want one", names)
	}
	must.OK(t, s.Close())
	_, err = s.Scratch(t.Context())
	must.Fail(t, err, store.ErrClosed)

	if s, err = Open(dir, Options{ReadOnly: true}); err == nil {
		_, err = s.Scratch(t.Context())
		err = errors.Join(s.Close(), err)
	}
	if !errors.Is(err, store.ErrReadOnly) || len(scratchFiles(t, dir)) != 1 {
		t.Errorf("scratch file of a store that is read: %v", err)
	}
	s, err = Open(dir, Options{})
	must.OK(t, err)
	if names := scratchFiles(t, dir); names != nil {
		t.Errorf("files %q are left", names)
	}
	if err := errors.Join(s.Close(), files[1].Close()); err == nil {
		t.Error("a file that is gone was removed") // and nothing worse
	}
}
