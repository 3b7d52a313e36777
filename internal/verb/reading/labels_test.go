package reading

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
)

// TestLabelsReadEachNodeOnce names the nodes of a memory in no order, each several times, as edges do:
// the more there are the more is read, and no more for each.
func TestLabelsReadEachNodeOnce(t *testing.T) {
	const nodes = 10_000
	st := mem.New()
	counted := verbkit.CountedFacts{Store: st, Reads: storetest.NewCounting(st.Facts())}
	r, err := care.New(t.Context(), counted, state.Stamp{Author: "a", Command: []string{"test"}}, core.Options{})
	must.OK(t, err)
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T"}}`+"\n", i)
	}
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(b.String()), "x"),
		core.CommitOptions{Stamp: state.Stamp{Author: "a", Command: []string{"test"}}})
	must.OK(t, err)
	s := must.Get(r.At(t.Context(), res.Commit))(t)
	l := NewLabels(s)
	name := func() {
		t.Helper()
		for i := range 3 * nodes {
			want := fmt.Sprintf("n%d", i*7919%nodes)
			if got, err := l.Key(t.Context(), graph.NodeID(want)); err != nil || string(got) != want {
				t.Fatalf("%q, %v, want %q", got, err, want)
			}
		}
	}
	counted.Reads.Reset()
	name()
	if read := counted.Reads.Counts().BlocksRead; read < nodes || read > nodes+nodes/5 {
		t.Errorf("%d blocks are read for the names of %d nodes", read, nodes)
	}
	// With room for few the names are the same, and what is remembered is bounded.
	l = NewLabels(s)
	l.most = 100 * labelSize
	name()
	if n := len(l.known) + len(l.older); n > 200 {
		t.Errorf("%d labels are remembered", n)
	}
}
