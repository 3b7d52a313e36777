package repokit

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// OnStore works on the store of a closed repository.
func OnStore(t testing.TB, dir string, readOnly bool, fn func(*pebble.Store) error) {
	t.Helper()
	s, err := pebble.Open(dir+"/"+core.DirName, pebble.Options{ReadOnly: readOnly})
	must.OK(t, err)
	must.OK(t, errors.Join(fn(s), s.Close()))
}

// ClearIndexes forgets the indexes of a closed repository.
func ClearIndexes(t testing.TB, dir string) {
	t.Helper()
	OnStore(t, dir, false, func(s *pebble.Store) error { return s.Derived().Clear(t.Context()) })
}
