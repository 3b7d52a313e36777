package verb

import (
	"errors"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSlowKey has one run sign many records with a key that does not answer in time: it waits for the first one alone.
func TestSlowKey(t *testing.T) {
	hangs, asked := make(chan struct{}), make(chan struct{}, 100)
	by := &signer{made: state.Signatures{}, under: map[string]chan signature{}}
	by.sign = func(record []byte) ([]byte, error) {
		asked <- struct{}{}
		<-hangs
		return record, nil
	}
	sign := by.within(time.Millisecond)
	for i := range byte(cap(asked)) {
		var lacks *state.UnsignedError
		if _, err := sign([]byte{i}); !errors.As(err, &lacks) || string(lacks.Records[0]) != string([]byte{i}) {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	<-asked
	must.True(t, len(asked) == 0, "%d more records were given to the key", len(asked))
	close(hangs)
	for i := range byte(cap(asked)) {
		must.OK(t, by.wait(t.Context(), []byte{i}))
		if got, err := sign([]byte{i}); err != nil || string(got) != string([]byte{i}) {
			t.Errorf("record %d: %v, %v", i, got, err)
		}
	}
}
