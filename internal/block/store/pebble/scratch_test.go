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
	list := must.Get(os.ReadDir(dir))(t)
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
	s := must.Get(Open(dir, Options{Create: true}))(t)
	var files []store.Scratch
	for _, text := range []string{"one", "two"} {
		f := must.Get(s.Scratch(t.Context()))(t)
		for range 2 {
			must.Get(f.Write([]byte(text)))(t)
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
	must.Equal(t, len(scratchFiles(t, dir)), 1, "files")
	must.OK(t, s.Close())
	_, err := s.Scratch(t.Context())
	must.Fail(t, err, store.ErrClosed)

	if s, err = Open(dir, Options{ReadOnly: true}); err == nil {
		_, err = s.Scratch(t.Context())
		err = errors.Join(s.Close(), err)
	}
	must.Fail(t, err, store.ErrReadOnly, "scratch file of a store that is read")
	must.Equal(t, len(scratchFiles(t, dir)), 1, "scratch file of a store that is read")
	s = must.Get(Open(dir, Options{}))(t)
	if names := scratchFiles(t, dir); names != nil {
		t.Errorf("files %q are left", names)
	}
	if err := errors.Join(s.Close(), files[1].Close()); err == nil {
		t.Error("a file that is gone was removed") // and nothing worse
	}
}
