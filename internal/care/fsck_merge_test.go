package care_test

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestFsckMerge forges merges in progress; fsck reports the fault of each.
func TestFsckMerge(t *testing.T) {
	a := graph.Item{Kind: graph.NodeItem, ID: graph.NodeID("a")}
	nowhere := ipld.Sum(ipld.DagCBOR, []byte("nowhere"))
	type treeOf = func(map[string][]byte) ipld.CID
	type putOf = func([]byte) ipld.CID
	link := func(c ipld.CID) []byte { return ipld.AppendLink(nil, c) }
	cases := map[string]struct {
		change func(*commit.Merge, treeOf, putOf)
		want   string
	}{
		"a side that is missing": {
			func(m *commit.Merge, _ treeOf, _ putOf) { m.Theirs = nowhere }, "missing",
		},
		"a side that is no commit": {
			func(m *commit.Merge, _ treeOf, _ putOf) { m.Ours = m.Graph }, "commit",
		},
		"a graph that is missing": {
			func(m *commit.Merge, _ treeOf, _ putOf) { m.Graph = nowhere }, "missing",
		},
		"a conflict under another name": {
			func(m *commit.Merge, tree treeOf, put putOf) {
				c := &commit.Conflict{Item: a, Cause: graph.DeleteModify, Ours: m.Graph}
				m.Conflicts = tree(map[string][]byte{"node/other": link(put(c.Encode()))})
			}, "kept under",
		},
		"a conflict of a record of another kind": {
			func(m *commit.Merge, tree treeOf, put putOf) {
				c := &commit.Conflict{Item: a, Cause: graph.DeleteModify, Ours: m.Graph}
				m.Conflicts = tree(map[string][]byte{a.String(): link(put(c.Encode()))})
			}, "node",
		},
		"a conflict of a record of another id": {
			func(m *commit.Merge, tree treeOf, put putOf) {
				n := &graph.Node{ID: graph.NodeID("x"), Key: "x", Type: "T"}
				c := &commit.Conflict{Item: a, Cause: graph.DeleteModify, Ours: put(n.Encode())}
				m.Conflicts = tree(map[string][]byte{a.String(): link(put(c.Encode()))})
			}, "names a record of",
		},
		"a conflict that is no link": {
			func(m *commit.Merge, tree treeOf, _ putOf) {
				m.Conflicts = tree(map[string][]byte{a.String(): ipld.AppendInt(nil, 1)})
			}, "not a link",
		},
		"a resolution of nothing": {
			func(m *commit.Merge, tree treeOf, _ putOf) {
				m.Resolutions = tree(map[string][]byte{
					"node/x": commit.Resolution{Take: graph.TakeOurs}.Encode(),
				})
			}, "1 resolutions, of conflicts 0",
		},
		"a resolution that is none": {
			func(m *commit.Merge, tree treeOf, _ putOf) {
				m.Resolutions = tree(map[string][]byte{a.String(): ipld.AppendInt(nil, 1)})
			}, "resolution of",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
			base := repokit.Lines(t, r, `{"node":{"key":"a","type":"T"}}`).Commit
			repokit.Fork(t, r, "draft", base)
			repokit.Lines(t, r, `{"node":{"key":"a","summary":"A1"}}`)
			repokit.On(t, r, "draft", `{"node":{"key":"a","summary":"A2"}}`)
			must.Require(t, must.Err(merging.Merge(t.Context(), r, "draft", repokit.Options(""))) != nil,
				"no conflict")
			repokit.CheckClean(t, r)
			must.OK(t, repokit.ForgeMerge(t.Context(), r, "main", c.change))
			report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
			found := ""
			for _, e := range report.Errors {
				found += e.Message + "\n"
			}
			must.Check(t, strings.Contains(found, c.want), "fsck says %q, want %q in it", found, c.want)
		})
	}
}

// TestAmend replaces the newest commit; the change keeps its id.
func TestAmend(t *testing.T) {
	r := repokit.OpenMem(t)
	if _, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(repokit.TwoPeople), "x"),
		core.CommitOptions{Stamp: repokit.By, Amend: true}); err == nil {
		t.Error("amended a branch without commits")
	}
	first := repokit.Lines(t, r, repokit.TwoPeople)
	second := repokit.Lines(t, r, `{"node":{"key":"carol","type":"Person"}}`)
	old := repokit.Head(t, r).Commit()
	later := repokit.By
	later.Time += 5
	amend := func(text, message string) *core.CommitResult {
		t.Helper()
		return must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x"),
			core.CommitOptions{Stamp: later, Amend: true, Message: message, Expect: &second.Commit}))(t)
	}
	res := amend(`{"node":{"key":"dave","type":"Person"}}`, "")
	got := repokit.Head(t, r).Commit()
	if res.Nodes != (state.Counts{Added: 2}) || len(res.Parents) != 1 ||
		res.Parents[0] != first.Commit {
		t.Errorf("%+v", res)
	}
	must.Check(t, got.Change == old.Change && got.Message == old.Message && got.Height == old.Height,
		"amended to %+v, from %+v", got, old)
	second.Commit = res.Commit
	if res = amend("\n", ""); !res.NoChange || res.Commit != second.Commit {
		t.Errorf("amended to the same: %+v", res)
	}
	if res = amend("\n", "better"); res.NoChange || repokit.Said(t, r, repokit.Head(t, r).Commit().Message) != "better" {
		t.Errorf("the message stays: %+v", res)
	}
	must.Equal(t, repokit.Head(t, r).Commit().Change, old.Change, "the change has another id")
}
