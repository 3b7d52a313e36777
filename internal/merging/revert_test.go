package merging_test

import (
	"errors"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// whole are nodes with edges, marks and an embedding.
const whole = `
{"node":{"key":"a","type":"T","summary":"A"}}
{"node":{"key":"b","type":"T","summary":"B"}}
{"node":{"key":"c","type":"T","summary":"C"}}
{"edge":{"type":"e","src":"a","dst":"b"}}
{"edge":{"type":"e","src":"b","dst":"b"}}
{"edge":{"type":"e","src":"b","dst":"c","weight":0.5}}
{"mark":{"edge":{"type":"e","src":"a","dst":"b"},"state":"stale"}}
{"embedding":{"node":"b","model":"m","vector":[1,0]}}`

// TestRestore removes nodes and restores them: a fully restored graph equals the original.
func TestRestore(t *testing.T) {
	r := repokit.OpenMem(t)
	opt := core.CommitOptions{Stamp: repokit.By}
	repokit.Lines(t, r, whole)
	first := repokit.Head(t, r)
	repokit.Lines(t, r, `{"remove":{"node":"b"}}`)
	res := must.Get(merging.Restore(t.Context(), r, first.CID().String(), []string{"b"}, opt))(t)
	now := repokit.Head(t, r)
	must.Equal(t, res.Graph, first.Graph(), "what was restored is not what it was")
	must.Equal(t, now.Commit().Vectors, first.Commit().Vectors, "what was restored is not what it was")
	// An edge between two restored nodes comes back whichever is named first; one to a node that
	// stays removed does not.
	repokit.Lines(t, r, `{"remove":{"node":"a"}}
{"remove":{"node":"b"}}
{"remove":{"node":"c"}}
{"node":{"key":"d","type":"T"}}`)
	must.Get(merging.Restore(t.Context(), r, first.CID().String(), []string{"c", "b"}, opt))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{3, 2, 0, 1}, "sizes")
	// A node that exists is reset, and loses a mark that it did not have.
	repokit.Lines(t, r, `{"node":{"key":"b","summary":"B1"}}
{"mark":{"node":"b","state":"forgotten"}}`)
	must.Get(merging.Restore(t.Context(), r, first.CID().String(), []string{"b"}, opt))(t)
	s := repokit.Head(t, r)
	m, err := s.Mark(t.Context(), graph.OnNode, graph.NodeID("b"))
	must.Check(t, err == nil && m == nil && repokit.NodeByKey(t, s, "b").Summary == "B", "mark %+v, %v", m, err)
	again, err := merging.Restore(t.Context(), r, first.CID().String(), []string{"b"}, opt)
	must.Check(t, err == nil && again.NoChange, "restored twice: %+v, %v", again, err)
	for _, names := range [][]string{nil, {"nobody"}} {
		_, err := merging.Restore(t.Context(), r, first.CID().String(), names, opt)
		must.Check(t, errors.Is(err, state.ErrInvalid) || errors.Is(err, store.ErrNotFound),
			"%v: %v", names, err)
	}
}

// TestRevertIsIdentity reverts new commits, and then the reverts.
func TestRevertIsIdentity(t *testing.T) {
	for _, change := range []string{
		`{"remove":{"node":"b"}}`,
		`{"node":{"key":"a","summary":"A1","props":{"n":1}}}`,
		`{"node":{"key":"d","type":"T"}}` + "\n" + `{"edge":{"type":"e","src":"d","dst":"b"}}`,
		`{"edge":{"type":"e","src":"b","dst":"c","weight":0.25}}`,
		`{"mark":{"node":"c","state":"retired"}}`,
		`{"remove":{"mark":{"edge":{"type":"e","src":"a","dst":"b"}}}}`,
		`{"embedding":{"node":"b","model":"m","vector":[0,1]}}`,
		`{"remove":{"embedding":{"node":"b","model":"m"}}}`,
	} {
		r := repokit.OpenMem(t)
		repokit.Lines(t, r, whole)
		before := repokit.Head(t, r)
		later := repokit.By
		later.Time += 1_000_000
		res := repokit.Lines(t, r, change)
		after := repokit.Head(t, r)
		opt := repokit.Options("")
		opt.Stamp = later
		for i, want := range []*core.Snapshot{before, after} {
			must.Get(merging.Revert(t.Context(), r, "HEAD", opt))(t, change)
			now := repokit.Head(t, r)
			must.Check(t, now.Graph() == want.Graph() && now.Commit().Vectors == want.Commit().Vectors,
				"%s: revert %d of %s is not the identity", change, i, res.Commit)
		}
	}
}
