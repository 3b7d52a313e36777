package history_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// manyVersions makes a memory of some nodes and then n commits, each changing one of them; every tenth
// changes node 0.
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
	r, err := care.New(t.Context(), base, repokit.By, core.Options{})
	must.OK(t, err)
	manyVersions(t, r, nodes, n)
	counting := testkit.NewTamper(base)
	r, err = care.New(t.Context(), counting, repokit.By, core.Options{ReadOnly: true})
	must.OK(t, err)
	s := repokit.Head(t, r)
	before := len(counting.Read())
	found, err := history.Blame(t.Context(), s, graph.NodeID("n0"))
	must.OK(t, err)
	for _, f := range found {
		if want := map[string]string{"props.a": "v190", "updated": "v190"}[f.Field]; want != "" &&
			repokit.Said(t, r, f.Commit.Message) != want || want == "" && repokit.Said(t, r, f.Commit.Message) != "all" {
			t.Errorf("%s is blamed on %s", f.Field, repokit.Said(t, r, f.Commit.Message))
		}
	}
	reads := len(counting.Read()) - before
	t.Logf("%d blocks read over %d commits of %d nodes", reads, n, nodes)
	// Consecutive nodes in the test are spread: most commits do not change the leaf.
	if most := (n + 1) * 5; reads > most {
		t.Errorf("%d blocks read, want at most %d", reads, most)
	}
}

func TestBlameErrors(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	empty, err := r.At(ctx, ipld.CID{})
	must.OK(t, err)
	_, err = history.Blame(ctx, empty, graph.NodeID("a"))
	must.Fail(t, err, store.ErrNotFound)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T"}}`)
	_, err = history.Blame(ctx, repokit.Head(t, r), graph.NodeID("b"))
	must.Fail(t, err, store.ErrNotFound)
	if _, err := history.Blame(ctx, repokit.Head(t, r), graph.NodeID("a")); err != nil {
		t.Error(err)
	}
}

// TestBlameNamesDamage takes a block of history away.
func TestBlameNamesDamage(t *testing.T) {
	base := mem.New()
	r, err := care.New(t.Context(), base, repokit.By, core.Options{})
	must.OK(t, err)
	first := repokit.CommitBy(t, r, repokit.By, "1", `{"node":{"key":"a","type":"T"}}`)
	repokit.CommitBy(t, r, repokit.By, "2", `{"node":{"key":"a","summary":"s"}}`)
	liar := testkit.NewTamper(base)
	liar.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		if c == first {
			return nil, store.ErrNotFound
		}
		return data, nil
	}
	r, err = care.New(t.Context(), liar, repokit.By, core.Options{ReadOnly: true})
	must.OK(t, err)
	_, err = history.Blame(t.Context(), repokit.Head(t, r), graph.NodeID("a"))
	must.Fail(t, err, store.ErrCorrupt)
}

// TestHistoryOptions leaves commits out by each option and by all of them.
func TestHistoryOptions(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	stamp := func(author, agent string, hour int) state.Stamp {
		at := repokit.By.Time + graph.Time(hour)*3_600_000_000
		return state.Stamp{Author: author, Agent: agent, Time: at}
	}
	repokit.CommitBy(t, r, stamp("ada", "", 0), "one", `{"node":{"key":"a","type":"Person"}}
{"node":{"key":"b","type":"Place"}}`)
	repokit.CommitBy(t, r, stamp("ben", "bot", 1), "two", `{"edge":{"type":"in","src":"a","dst":"b"}}`)
	repokit.CommitBy(t, r, stamp("ada", "bot", 2), "three", `{"node":{"key":"a","type":"Robot"}}`)
	repokit.CommitBy(t, r, stamp("cleo", "", 3), "four",
		`{"mark":{"edge":{"type":"in","src":"a","dst":"b"},"state":"stale"}}`)
	repokit.CommitBy(t, r, stamp("cleo", "pen", 4), "five", `{"remove":{"node":"b"}}`)
	hour := func(n int) graph.OptTime { return graph.At(repokit.By.Time + graph.Time(n)*3_600_000_000) }
	for _, c := range []struct {
		name string
		opt  history.LogOptions
		want string
	}{
		{"none", history.LogOptions{}, "five four three two one"},
		{"range", history.LogOptions{Rev: "HEAD~3..HEAD~1"}, "four three"},
		{"node", history.LogOptions{Node: graph.NodeID("a")}, "five four three two one"},
		{"other node", history.LogOptions{Node: graph.NodeID("b")}, "five four two one"},
		{"type before", history.LogOptions{Types: []string{"Person"}}, "three one"},
		{"type after", history.LogOptions{Types: []string{"Robot"}}, "three"},
		{"edge type", history.LogOptions{Types: []string{"in"}}, "five four two"},
		{"types", history.LogOptions{Types: []string{"Robot", "Place"}}, "five three one"},
		{"node and type", history.LogOptions{Node: graph.NodeID("a"), Types: []string{"Place"}}, "five one"},
		{"authors", history.LogOptions{Authors: []string{"ben", "cleo"}}, "five four two"},
		{"agents", history.LogOptions{Agents: []string{"bot"}}, "three two"},
		{"since", history.LogOptions{Since: hour(3)}, "five four"},
		{"until", history.LogOptions{Until: hour(3)}, "three two one"},
		{"grep", history.LogOptions{Grep: regexp.MustCompile("^t")}, "three two"},
		{"all", history.LogOptions{Node: graph.NodeID("b"), Types: []string{"in"},
			Authors: []string{"cleo", "ben"}, Agents: []string{"bot"}, Since: hour(1), Until: hour(2),
			Grep: regexp.MustCompile("w")}, "two"},
	} {
		var got []string
		for e, err := range history.History(ctx, r, c.opt) {
			must.OK(t, err)
			got = append(got, e.Message)
		}
		must.Equal(t, strings.Join(got, " "), c.want, c.name)
	}
	for _, err := range history.History(ctx, r, history.LogOptions{Rev: "nobody"}) {
		must.Fail(t, err, store.ErrNotFound)
	}
	stopped := slices.Collect(func(yield func(int) bool) {
		for range history.Log(ctx, r, "HEAD") {
			yield(1)
			break
		}
	})
	must.Equal(t, len(stopped), 1, "a log that is left goes on")
}
