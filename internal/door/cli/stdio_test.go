package cli

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestEndWithin has a server end when its client has gone, and be left if it does not.
func TestEndWithin(t *testing.T) {
	const long = time.Hour
	never, gone := make(chan error), make(chan struct{})
	ended := make(chan error, 1)
	ended <- io.ErrNoProgress
	must.Fail(t, serving.EndWithin(ended, nil, nil, long), io.ErrNoProgress)
	close(gone)
	must.Fail(t, serving.EndWithin(ended, gone, func() { ended <- io.ErrShortWrite }, long), io.ErrShortWrite)
	cancelled := false
	err := serving.EndWithin(never, gone, func() { cancelled = true }, time.Nanosecond)
	must.True(t, errors.Is(err, store.ErrBusy) && cancelled, "%v, cancelled: %v", err, cancelled)
}
