package spec_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/commit"
)

// runHorizon lists the operations that stay behind a horizon.
func runHorizon(t *testing.T, v vector) {
	var in struct{ Horizon uint64 }
	var want struct{ Kept []uint64 }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	same(t, "kept", fmt.Sprint(commit.Kept(in.Horizon)), fmt.Sprint(want.Kept))
}

// runRedaction reads a redaction, and where it is asked for, what is shown of it.
func runRedaction(t *testing.T, v vector) {
	var in struct{ Block string }
	var want struct{ CID, JSON, Shown, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	if want.Shown == "" {
		runRecord(t, v)
		return
	}
	rec, err := commit.DecodeRedaction(expand(t, in.Block))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "shown", rec.String(), want.Shown)
}
