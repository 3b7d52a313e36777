package repo_test

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// TestFsckMerge forges merges in progress; fsck names what is wrong with each.
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
			r, err := repo.New(t.Context(), mem.New(), by, repo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			base := lines(t, r, `{"node":{"key":"a","type":"T"}}`).Commit
			fork(t, r, "draft", base)
			lines(t, r, `{"node":{"key":"a","summary":"A1"}}`)
			on(t, r, "draft", `{"node":{"key":"a","summary":"A2"}}`)
			if _, err := r.Merge(t.Context(), "draft", options("")); err == nil {
				t.Fatal("no conflict")
			}
			checkClean(t, r)
			if err := r.ForgeMerge(t.Context(), "main", c.change); err != nil {
				t.Fatal(err)
			}
			report, err := r.Fsck(t.Context(), repo.FsckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, e := range report.Errors {
				found += e.Message + "\n"
			}
			if !strings.Contains(found, c.want) {
				t.Errorf("fsck says %q, want %q in it", found, c.want)
			}
		})
	}
}

// TestAmend replaces the newest commit; the change keeps its id.
func TestAmend(t *testing.T) {
	r := openMem(t)
	if _, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(twoPeople), "x"),
		repo.CommitOptions{Stamp: by, Amend: true}); err == nil {
		t.Error("amended a branch without commits")
	}
	first := lines(t, r, twoPeople)
	second := lines(t, r, `{"node":{"key":"carol","type":"Person"}}`)
	old := head(t, r).Commit()
	later := by
	later.Time += 5
	amend := func(text, message string) *repo.CommitResult {
		t.Helper()
		res, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), "x"),
			repo.CommitOptions{Stamp: later, Amend: true, Message: message, Expect: &second.Commit})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := amend(`{"node":{"key":"dave","type":"Person"}}`, "")
	got := head(t, r).Commit()
	if res.Nodes != (repo.Counts{Added: 2}) || len(res.Parents) != 1 ||
		res.Parents[0] != first.Commit {
		t.Errorf("%+v", res)
	}
	if got.Change != old.Change || got.Message != old.Message || got.Height != old.Height {
		t.Errorf("amended to %+v, from %+v", got, old)
	}
	second.Commit = res.Commit
	if res = amend("\n", ""); !res.NoChange || res.Commit != second.Commit {
		t.Errorf("amended to the same: %+v", res)
	}
	if res = amend("\n", "better"); res.NoChange || said(t, r, head(t, r).Commit().Message) != "better" {
		t.Errorf("the message stays: %+v", res)
	}
	if head(t, r).Commit().Change != old.Change {
		t.Error("the change has another id")
	}
}
