package prolly_test

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// The vectors under spec/vectors were written by a program that does not use this package.

// refused reports whether a vector names an error class, and fails the test unless err belongs to it.
func refused(t *testing.T, class string, err error) bool {
	t.Helper()
	want := map[string]error{"encoding": ipld.ErrInvalid, "tree": store.ErrCorrupt,
		"missing": store.ErrNotFound, "entry": prolly.ErrInput}[class]
	if class != "" && (want == nil || !errors.Is(err, want)) {
		t.Errorf("got %v, want an error of the class %s", err, class)
	}
	return class != ""
}
