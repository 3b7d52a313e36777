package care_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// bulkRepo is a repository of a bulk and two commits after it, which add to it and remove from it. No commit
// was checked that a forged one could be taken for.
func bulkRepo(t *testing.T) (*core.Repo, []*core.Snapshot) {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), repokit.RecordBy, core.Options{}))(t)
	t.Cleanup(func() { _ = r.Close() })
	var bulk strings.Builder
	for i := range 500 {
		fmt.Fprintf(&bulk, `{"node":{"key":"n%d","type":"Note","summary":"note %d"}}`+"\n", i, i)
		for _, to := range []int{i / 2, i / 3, i * 7 % (i + 1)} {
			fmt.Fprintf(&bulk, `{"edge":{"type":"to%d","src":"n%d","dst":"n%d"}}`+"\n", to%5, i, to)
		}
	}
	var list []*core.Snapshot
	for _, text := range []string{
		bulk.String(),
		`{"node":{"key":"late","type":"Note","summary":"late"}}` + "\n" + `{"edge":{"type":"to","src":"late","dst":"n3"}}`,
		`{"remove":{"node":"n499"}}`,
	} {
		_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x"), core.CommitOptions{Stamp: repokit.RecordBy})
		must.OK(t, err)
		s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
		list = append(list, s)
	}
	return r, list
}

// TestFsckOfBulks: the edges of a bulk commit are judged by those of the newest commit, and are not read again.
func TestFsckOfBulks(t *testing.T) {
	r, list := bulkRepo(t)
	report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
	must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report, err)
	f := care.NewFsck(t.Context(), r, care.FsckOptions{})
	for _, step := range []func() error{f.Stored, f.Operations, f.Refs} {
		must.OK(t, step())
	}
	must.Check(t, len(f.Bulks) == 1 && f.Bulks[0].S.Id == list[0].Id && f.LikeWhole(list[0].State),
		"%d bulks, and the first commit is none that is good by the newest", len(f.Bulks))
}

// edited returns a tree with one entry changed; a nil value removes it.
func edited(t *testing.T, m *prolly.Map, key, value []byte) *prolly.Map {
	t.Helper()
	m = must.Get(m.Edit(t.Context(), []prolly.Edit{{Key: key, Value: value}}))(t)
	return m
}

// entryOf returns an entry of a tree by its number.
func entryOf(t *testing.T, m *prolly.Map, at int) prolly.Entry {
	t.Helper()
	for kv, err := range m.Scan(t.Context(), nil, nil) {
		must.OK(t, err)
		if at--; at < 0 {
			return prolly.Entry{Key: bytes.Clone(kv.Key), Value: bytes.Clone(kv.Value)}
		}
	}
	t.Fatal("no such entry")
	return prolly.Entry{}
}

// TestFsckFindsBadBulks forges the trees of a bulk commit, of the newest commit, or of all, with correct hashes.
func TestFsckFindsBadBulks(t *testing.T) {
	weight := ipld.AppendInt(nil, 7)
	for name, forge := range map[string]func(t *testing.T, r *core.Repo, s *state.State){
		"out has another weight": func(t *testing.T, r *core.Repo, s *state.State) {
			s.Out = edited(t, s.Out, entryOf(t, s.Out, 700).Key, weight)
		},
		"in has another weight": func(t *testing.T, r *core.Repo, s *state.State) {
			s.In = edited(t, s.In, entryOf(t, s.In, 700).Key, weight)
		},
		"out has an edge that in has under another key": func(t *testing.T, r *core.Repo, s *state.State) {
			e := entryOf(t, s.In, 9)
			s.In = edited(t, edited(t, s.In, e.Key, nil), append(e.Key[:len(e.Key)-1:len(e.Key)-1], e.Key[len(e.Key)-1]^1),
				e.Value)
		},
		"an edge is kept as another": func(t *testing.T, r *core.Repo, s *state.State) {
			s.Edges = edited(t, s.Edges, entryOf(t, s.Edges, 5).Key, entryOf(t, s.Edges, 6).Value)
		},
		"an embedding is of no node": func(t *testing.T, r *core.Repo, s *state.State) {
			e := &graph.Embedding{Model: "m", DType: graph.Int8, Dims: 2, Data: []byte{127, 3}}
			link := ipld.AppendLink(nil, putRecord(t, r, e.Encode()))
			s.Vectors = edited(t, stored(t, r, s.Vectors), graph.EmbeddingKey(graph.NodeID("nowhere"), "m"), link)
		},
		"a node with edges is not there": func(t *testing.T, r *core.Repo, s *state.State) {
			id := graph.NodeID("n7")
			s.Nodes = edited(t, s.Nodes, id[:], nil)
		},
	} {
		for _, which := range [][]int{{0}, {2}, {0, 1, 2}} {
			t.Run(fmt.Sprint(name, " ", which), func(t *testing.T) {
				r, list := bulkRepo(t)
				var parents []ipld.CID
				for i, s := range list {
					at := *s.State
					at.Nodes, at.Edges, at.Out, at.In = stored(t, r, at.Nodes), stored(t, r, at.Edges), stored(t, r, at.Out),
						stored(t, r, at.In)
					for _, n := range which {
						if n == i {
							forge(t, r, &at)
						}
					}
					rec := *s.Record
					rec.Graph, rec.Parents, rec.Vectors = putRecord(t, r, at.Record().Encode()), parents, at.VectorsRoot()
					parents = []ipld.CID{putRecord(t, r, rec.Encode())}
				}
				r2 := must.Get(care.New(t.Context(), r.Store, repokit.RecordBy, core.Options{}))(t)
				_, err := r2.Branches().Create(t.Context(), "forged", parents[0].String(), core.RefOptions{Stamp: repokit.RecordBy})
				must.OK(t, err)
				report := must.Get(care.Fsck(t.Context(), r2, care.FsckOptions{}))(t)
				must.Check(t, len(report.Errors) != 0, "nothing was found")
				for _, e := range report.Errors {
					switch e.Kind {
					case care.FsckAdjacency, care.FsckRecord, care.FsckDangling, care.FsckCounts:
					default:
						t.Errorf("%s of %s: %s", e.Kind, e.CID, e.Message)
					}
				}
			})
		}
	}
}

// stored writes a tree's edits to a repository's store and returns the tree.
func stored(t *testing.T, r *core.Repo, m *prolly.Map) *prolly.Map {
	t.Helper()
	m = must.Get(prolly.NewNodes(r.Store.Facts(), nil).Load(t.Context(), m.Root()))(t)
	return m
}

func putRecord(t *testing.T, r *core.Repo, data []byte) ipld.CID {
	t.Helper()
	b := store.NewBlock(ipld.DagCBOR, data)
	must.OK(t, r.Store.Facts().Put(t.Context(), b))
	return b.CID
}
