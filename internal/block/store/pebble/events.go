package pebble

import (
	"errors"
	"fmt"
	"strings"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
)

// logger takes the place of Pebble's, whose Fatalf ends the process.
type logger struct {
	fuse *fuse
	logf func(format string, args ...any)
}

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) { l.logf(format, args...) }

// Fatalf blows the fuse and returns. Pebble expects that it does not return; going on is safe
// because nothing it does then reaches the disk, and every caller checks the fuse before it
// believes an answer.
func (l *logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err = &fatalError{text: err.Error(), cause: cause}
		}
	}
	l.logf("pebble stopped: %v", err)
	l.fuse.blow(marked(err))
}

// fatalError keeps the cause that Pebble formatted into its message.
type fatalError struct {
	text  string
	cause error
}

func (e *fatalError) Error() string { return e.text }

func (e *fatalError) Unwrap() error { return e.cause }

// listener takes the place of Pebble's, whose DataCorruption ends the process.
func listener(f *fuse, g *gate, logf func(format string, args ...any)) *pdb.EventListener {
	// Pebble retries a failed flush without end, and whoever waits for it would hang. FlushEnd
	// also tells of flushes that had nothing to do, as if they had failed; only what is told to
	// BackgroundError too is a failure. Both are called under Pebble's mutex.
	var flushed error
	return &pdb.EventListener{
		DataCorruption: func(info pdb.DataCorruptionInfo) { logf("corrupt: %s", info) },
		FlushEnd:       func(info pdb.FlushInfo) { flushed = info.Err },
		BackgroundError: func(err error) {
			logf("in the background: %v", err)
			if isFull(err) {
				g.close() // or else Pebble would try the same compaction again and again
			}
			if flushed != nil && errors.Is(err, flushed) {
				f.blow(fmt.Errorf("flush: %w", marked(err)))
			}
		},
	}
}

// marked returns err, wrapping store.ErrCorrupt as well where Pebble calls it a corruption.
func marked(err error) error {
	if err != nil && pdb.IsCorruptionError(err) {
		return corrupt(err)
	}
	return err
}

// corrupt returns err, wrapping store.ErrCorrupt too.
func corrupt(err error) error {
	return fmt.Errorf("%w: %w", store.ErrCorrupt, quietError{err})
}

// detailNoise is what Pebble's carrier of details adds to the text of an error, and tells nothing.
const detailNoise = "\n<corruption detail carrier>"

// quietError is an error of Pebble without the noise in its text.
type quietError struct{ err error }

func (e quietError) Error() string { return strings.ReplaceAll(e.err.Error(), detailNoise, "") }
func (e quietError) Unwrap() error { return e.err }
