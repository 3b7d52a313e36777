package cli

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
)

// TestEndWithin has a server end when its client has gone, and be left where it does not.
func TestEndWithin(t *testing.T) {
	const long = time.Hour
	never, gone := make(chan error), make(chan struct{})
	ended := make(chan error, 1)
	ended <- io.ErrNoProgress
	if err := endWithin(ended, nil, nil, long); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	close(gone)
	if err := endWithin(ended, gone, func() { ended <- io.ErrShortWrite }, long); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	cancelled := false
	err := endWithin(never, gone, func() { cancelled = true }, time.Nanosecond)
	if !errors.Is(err, store.ErrBusy) || !cancelled {
		t.Errorf("%v, cancelled: %v", err, cancelled)
	}
}
