package branching

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
)

// TestOpLogStreams ends the operation log after the first: what was read does not depend on how many
// there are.
func TestOpLogStreams(t *testing.T) {
	var reads [2]int64
	for i, ops := range []int{20, 400} {
		st := mem.New()
		by := state.Stamp{Author: "a", Command: []string{"init"}}
		r, err := care.New(t.Context(), st, by, core.Options{})
		must.OK(t, err)
		for n := range ops {
			line := fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, n)
			by.Command = []string{"commit"}
			_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "x"), core.CommitOptions{Stamp: by})
			must.OK(t, err)
		}
		counted := storetest.NewCounting(st.Facts())
		if r, err = care.New(t.Context(), verbkit.CountedFacts{Store: st, Reads: counted}, by, core.Options{}); err != nil {
			t.Fatal(err)
		}
		counted.Reset()
		enough := errors.New("enough")
		err = OpLog.Do(t.Context(), &verbkit.FakeHost{Kept: r}, &opLogRequest{}, func(any) error { return enough })
		must.Require(t, errors.Is(err, enough), "%v", err)
		reads[i] = counted.Counts().BlocksRead
	}
	if reads[1] > reads[0]+4 {
		t.Errorf("%d blocks read for one of 400 operations, %d for one of 20", reads[1], reads[0])
	}
}
