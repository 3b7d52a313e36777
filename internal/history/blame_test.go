package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// manyVersions makes a memory of some nodes and then n commits, each changing one of them; every tenth changes node 0.
func manyVersions(t testing.TB, r *core.Repo, nodes, n int) {
	t.Helper()
	var all strings.Builder
	for i := range nodes {
		line := `{"node":{"key":"n%d","type":"T","summary":"s","props":{"a":0,"b":0}}}` + "\n"
		fmt.Fprintf(&all, line, i)
	}
	repokit.CommitBy(t, r, repokit.By, "all", all.String())
	for i := range n {
		which := 1 + i%(nodes-1)
		if i%10 == 0 {
			which = 0
		}
		line := fmt.Sprintf(`{"node":{"key":"n%d","props":{"a":%d}}}`, which, i+1)
		repokit.CommitBy(t, r, repokit.By, fmt.Sprint("v", i), line)
	}
}

// TestBlameReads counts blame's reads: for each commit the commit, the graph and the differing part of one path of
// a tree.
func TestBlameReads(t *testing.T) {
	const nodes, n = 2000, 200
	base := mem.New()
	r := must.Get(care.New(t.Context(), base, repokit.By, core.Options{}))(t)
	manyVersions(t, r, nodes, n)
	counting := testkit.NewTamper(base)
	r = must.Get(care.New(t.Context(), counting, repokit.By, core.Options{ReadOnly: true}))(t)
	s := repokit.Head(t, r)
	before := len(counting.Read())
	found := must.Get(history.Blame(t.Context(), s, graph.NodeID("n0")))(t)
	for _, f := range found {
		if want := map[string]string{"props.a": "v190", "updated": "v190"}[f.Field]; want != "" &&
			repokit.Said(t, r, f.Commit.Message) != want || want == "" && repokit.Said(t, r, f.Commit.Message) != "all" {
			t.Errorf("%s is blamed on %s", f.Field, repokit.Said(t, r, f.Commit.Message))
		}
	}
	reads := len(counting.Read()) - before
	// Consecutive nodes in the test are spread: most commits do not change the leaf.
	most := (n + 1) * 5
	must.True(t, reads <= most, "%d blocks read, want at most %d", reads, most)
}

// TestBlameNamesDamage takes a block of history away.
func TestBlameNamesDamage(t *testing.T) {
	base := mem.New()
	r := must.Get(care.New(t.Context(), base, repokit.By, core.Options{}))(t)
	first := repokit.CommitBy(t, r, repokit.By, "1", `{"node":{"key":"a","type":"T"}}`)
	repokit.CommitBy(t, r, repokit.By, "2", `{"node":{"key":"a","summary":"s"}}`)
	liar := testkit.NewTamper(base)
	liar.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		if c == first {
			return nil, store.ErrNotFound
		}
		return data, nil
	}
	r = must.Get(care.New(t.Context(), liar, repokit.By, core.Options{ReadOnly: true}))(t)
	must.Fail(t, must.Err(history.Blame(t.Context(), repokit.Head(t, r), graph.NodeID("a"))), store.ErrCorrupt)
}
