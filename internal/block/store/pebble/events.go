package pebble

import (
	"errors"
	"fmt"
	"strings"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
)

// logger replaces Pebble's, whose Fatalf ends the process.
type logger struct {
	fail *failSwitch
	logf func(format string, args ...any)
}

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) { l.logf(format, args...) }

// Fatalf trips the switch and returns. Pebble expects that it does not return. Continuing is safe because nothing
// that Pebble does then reaches the disk, and every caller checks the switch before it trusts an answer.
func (l *logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err = &fatalError{text: err.Error(), cause: cause}
		}
	}
	l.logf("pebble stopped: %v", err)
	l.fail.trip(marked(err))
}

// fatalError holds the cause that Pebble formatted into its message.
type fatalError struct {
	text  string
	cause error
}

func (e *fatalError) Error() string { return e.text }

func (e *fatalError) Unwrap() error { return e.cause }

// listener replaces Pebble's, whose DataCorruption ends the process.
func listener(f *failSwitch, g *gate, logf func(format string, args ...any)) *pdb.EventListener {
	// Pebble retries a failed flush forever, and its waiters would hang. FlushEnd also reports flushes that had nothing
	// to do as failed; only one that BackgroundError reports too is a failure. Both are called under Pebble's mutex.
	var flushed error
	return &pdb.EventListener{
		DataCorruption: func(info pdb.DataCorruptionInfo) { logf("corrupt: %s", info) },
		FlushEnd:       func(info pdb.FlushInfo) { flushed = info.Err },
		BackgroundError: func(err error) {
			logf("in the background: %v", err)
			if isFull(err) {
				g.close() // otherwise Pebble would retry the same compaction forever
			}
			if flushed != nil && errors.Is(err, flushed) {
				f.trip(fmt.Errorf("flush: %w", marked(err)))
			}
		},
	}
}

// marked returns err, also wrapping store.ErrCorrupt if Pebble calls it a corruption.
func marked(err error) error {
	if err != nil && pdb.IsCorruptionError(err) {
		return corrupt(err)
	}
	return err
}

// corrupt returns err, also wrapping store.ErrCorrupt.
func corrupt(err error) error {
	return fmt.Errorf("%w: %w", store.ErrCorrupt, quietError{err})
}

// detailNoise is added to an error's text by Pebble's carrier of details. It carries no information.
const detailNoise = "\n<corruption detail carrier>"

// quietError is an error of Pebble without the noise in its text.
type quietError struct{ err error }

func (e quietError) Error() string { return strings.ReplaceAll(e.err.Error(), detailNoise, "") }
func (e quietError) Unwrap() error { return e.err }
