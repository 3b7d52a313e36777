package core_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// cellsOf returns the cells of a repository that is not open.
func cellsOf(t *testing.T, work string) map[ipld.CID]ipld.CID {
	t.Helper()
	st := must.Get(pebble.Open(filepath.Join(work, core.DirName), pebble.Options{ReadOnly: true}))(t)
	all := map[ipld.CID]ipld.CID{}
	err := st.Derived().(store.CellDeleter).Cells(t.Context(), func(key, value ipld.CID) error {
		all[key] = value
		return nil
	})
	if err == nil {
		err = st.Close()
	}
	must.OK(t, err)
	return all
}

// TestFrozenIndexes opens a repository with indexes of texts, links and vectors in the formats before
// package segment: read-only and rebuilt it answers the same, makes indexes of its own without a word, and a
// collection leaves nothing of the old ones.
func TestFrozenIndexes(t *testing.T) {
	work := t.TempDir()
	copyTree(t, filepath.Join(frozen, "indexed", "store"), filepath.Join(work, core.DirName))
	before := cellsOf(t, work)
	must.Require(t, len(before) >= 3, "%d cells", len(before))
	want := must.Get(os.ReadFile(filepath.Join(frozen, "indexed", "expect.txt")))(t)
	for _, readOnly := range []bool{true, false, false} {
		r := must.Get(care.Open(work, core.Options{ReadOnly: readOnly}))(t)
		got := thawAnswers(t, r)
		if os.Getenv("MNEM_REWRITE") != "" && readOnly {
			want = []byte(got)
			must.OK(t, os.WriteFile(filepath.Join(frozen, "indexed", "expect.txt"), want, 0o644))
		}
		must.Same(t, got, string(want), "read only ", readOnly)
		repokit.CheckClean(t, r)
		must.OK(t, r.Close())
		made := maps.Clone(cellsOf(t, work))
		for key := range before {
			delete(made, key)
		}
		n := len(made)
		must.Check(t, readOnly == (n == 0), "read only %v: %d indexes of the new format", readOnly, n)
	}
	r := must.Get(care.Open(work, core.Options{}))(t)
	repokit.Gc(t, r, 100)
	must.OK(t, r.Close())
	left := cellsOf(t, work)
	for key := range before {
		_, ok := left[key]
		must.Check(t, !ok, "cell %s of an old index is left", key)
	}
	must.Check(t, len(left) >= 3, "%d indexes are left", len(left))
}

// thawAnswers tells what a repository answers by texts, links and vectors.
func thawAnswers(t *testing.T, r *core.Repo) string {
	t.Helper()
	var b strings.Builder
	for i, text := range []string{
		"copper lantern near the harbour ledger 1", "velvet ferry anew", "orchard quarry saddle",
		"who knows willow tide",
	} {
		vector := make([]float64, 16)
		for k := range vector {
			vector[k] = float64((i*3+k*k)%7-3) / 4
		}
		query := must.Get(retrieve.NewQueryVector("m", vector))(t)
		for _, vectors := range [][]retrieve.QueryVector{nil, {query}} {
			a, err := rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: text, Vectors: vectors})
			must.OK(t, err)
			fmt.Fprintf(&b, "%q, %d vectors: %d candidates\n", text, len(vectors), a.Candidates)
			for _, item := range a.Items {
				fmt.Fprintf(&b, "%s %d\n", item.ID, item.Score)
			}
		}
	}
	return b.String()
}
