package care_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view"
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
				m.Resolutions = tree(map[string][]byte{"node/x": commit.Resolution{Take: graph.TakeOurs}.Encode()})
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
			must.True(t, strings.Contains(found, c.want), "fsck says %q, want %q in it", found, c.want)
		})
	}
}

// lookable is a store that shows all its blocks at once, up to a number of them at which it is damaged.
type lookable struct {
	store.Store
	most  int // -1 for all
	times int // that it was looked at so
}

func (s *lookable) Check(
	ctx context.Context, each func(b store.Block, derived bool) error, fn func(message string) error,
) error {
	if each == nil {
		return fn("damaged")
	}
	s.times++
	left := s.most
	for derived, blocks := range []store.Blocks{s.Facts(), s.Derived()} {
		err := blocks.Iterate(ctx, ipld.CID{}, func(b store.Block) error {
			if left == 0 {
				return fmt.Errorf("%w table", store.ErrCorrupt)
			}
			left--
			return each(b, derived == 1)
		})
		if err != nil {
			return err
		}
	}
	return fn("damaged")
}

// TestFsckFindsTheSameAtOnce: for a store that iterates all blocks in one pass, fsck reports the same as for one
// that does not, and after damage it checks facts and derived blocks separately.
func TestFsckFindsTheSameAtOnce(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.Person(1)+"\n"+repokit.Person(2)+"\n"+`{"edge":{"type":"knows","src":"p1","dst":"p2"}}`)
	must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
	var facts []ipld.CID
	must.OK(t, st.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == "node" || ipld.RecordKind(b.Data) == "edge" {
			facts = append(facts, b.CID)
		}
		return nil
	}))
	bad := testkit.NewTamper(st)
	bad.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		if slices.Contains(facts[:2], c) {
			return append(slices.Clone(data[:len(data)-1]), data[len(data)-1]^1), nil
		}
		return data, nil
	}
	check := func(st store.Store) *care.FsckReport {
		r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		return must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
	}
	want := check(bad)
	must.Require(t, len(want.Errors) >= 2, "found only %v", want.Errors)
	for _, most := range []int{-1, 0, 1, want.Blocks / 2, want.Blocks - 1} {
		st := &lookable{Store: bad, most: most}
		got := check(st)
		n := len(got.Errors)
		around := slices.ContainsFunc(got.Errors, func(e care.FsckError) bool { return e.Kind == care.FsckStore })
		got.Errors = slices.DeleteFunc(got.Errors, func(e care.FsckError) bool { return e.Kind == care.FsckStore })
		must.True(t, st.times == 1 && got.Blocks == want.Blocks && around && n == len(want.Errors)+1 &&
			slices.Equal(got.Errors, want.Errors),
			"up to block %d: %d blocks, %v, want %d, %v", most, got.Blocks, got.Errors, want.Blocks, want.Errors)
	}
}

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
	must.True(t, len(f.Bulks) == 1 && f.Bulks[0].S.Id == list[0].Id && f.LikeWhole(list[0].State),
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
				must.True(t, len(report.Errors) != 0, "nothing was found")
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

// steps makes a commit of one node and one edge n times.
func steps(t *testing.T, st store.Store, n int) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	for i := range n {
		repokit.Lines(t, r, fmt.Sprintf(`{"node":{"key":"one%d","type":"Note","summary":"one more thing %d"}}
{"edge":{"type":"after","src":"one%d","dst":"one%d"}}`, i, i, i, i/2))
	}
	return r
}

// TestWorkOfFullFsck bounds how much a full check reads: it grows with the changes of the history, not with commits
// times their size.
func TestWorkOfFullFsck(t *testing.T) {
	effort.Alone(t)
	var each []float64
	for _, n := range []int{100, 400} {
		st := mem.New()
		steps(t, st, n)
		c := repokit.NewCounted(st)
		r := must.Get(care.New(t.Context(), c, repokit.By, core.Options{}))(t)
		c.FactCounts.Reset()
		c.DerivedCounts.Reset()
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{Full: true})
		must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report.Errors, err)
		read := c.FactCounts.Counts().BlocksRead + c.DerivedCounts.Counts().BlocksRead
		each = append(each, float64(read)/float64(n))
		t.Logf("%d commits: %d blocks read, %.0f for each", n, read, each[len(each)-1])
	}
	must.True(t, each[1] <= 2*each[0], "%.0f blocks read for each of 400 commits, %.0f of 100", each[1], each[0])
}

// TestFullFsckFindsOldIndexes gives a commit in the midst of a history the index of its parent.

func TestFullFsckFindsOldIndexes(t *testing.T) {
	st := mem.New()
	r := steps(t, st, 40)
	graphs := func(rev string) ipld.CID {
		s := must.Get(r.Snapshot(t.Context(), rev))(t)
		return s.Graph()
	}
	check := func(want bool) {
		t.Helper()
		report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{Full: true}))(t)
		found := false
		for _, e := range report.Errors {
			found = found || e.Kind == care.FsckIndex
		}
		must.True(t, found == want, "damaged %v, found %v", want, report.Errors)
	}
	check(false)
	derived := st.Derived()
	for _, back := range []int{3, 9, 20, 30} {
		of, before := graphs(fmt.Sprintf("main~%d", back)), graphs(fmt.Sprintf("main~%d", back+1))
		kept := must.Get(derived.Cell(t.Context(), repokit.TextsKey(of)))(t)
		wrong := must.Get(derived.Cell(t.Context(), repokit.TextsKey(before)))(t)
		must.OK(t, derived.SetCell(t.Context(), repokit.TextsKey(of), wrong))
		check(true)
		must.OK(t, derived.SetCell(t.Context(), repokit.TextsKey(of), kept))
	}
	check(false)
}

// TestFsckReadsRecordsOnce counts how often a check with indexes of texts, links and vectors reads nodes, edges and
// embeddings: once each, except nodes with content in separate blocks.
func TestFsckReadsRecordsOnce(t *testing.T) {
	const n, dense = 300, "dense embedding" // read again for its sketch, which an index has instead of it
	st := mem.New()
	r := repokit.OverStore(t, st)
	var text strings.Builder
	for i := range n {
		text.WriteString(repokit.Person(i) + "\n")
		fmt.Fprintf(&text, `{"edge":{"type":"knows","src":"p%d","dst":"p%d"}}`+"\n", i, i*7%n)
		fmt.Fprintf(&text, `{"embedding":{"node":"p%d","model":"m","vector":[1,0.%d]}}`+"\n", i, i+1)
		fmt.Fprintf(&text, `{"embedding":{"node":"p%d","model":"s","sparse":{"a":9,"b":%d}}}`+"\n", i, i+1)
	}
	repokit.Lines(t, r, text.String())
	truth := testkit.NewTamper(st)
	var mu sync.Mutex
	read := make(map[string]map[ipld.CID]int)
	truth.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		kind := ""
		if c.Codec() == ipld.DagCBOR {
			kind = ipld.RecordKind(data)
		}
		if e, err := graph.DecodeEmbedding(data); err == nil && e.DType != graph.Sparse {
			kind = dense
		}
		if read[kind] == nil {
			read[kind] = make(map[ipld.CID]int)
		}
		read[kind][c]++
		return data, nil
	}
	r = repokit.OverStore(t, truth)
	clear(read)
	report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
	must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report.Errors, err)
	for kind, want := range map[string]int{graph.KindNode: 1, graph.KindEdge: 1, graph.KindEmbedding: 1, dense: 2} {
		must.True(t, len(read[kind]) == n, "%d records read that are of kind %s, want %d", len(read[kind]), kind, n)
		for c, times := range read[kind] {
			must.Equal(t, times, want, kind, " ", c, " is read")
		}
	}
}

// TestFsckNamesWhatIndexesLack gives the newest commit the previous commit's index of texts: faults known only by a
// node's number must be reported like those read from it.
func TestFsckNamesWhatIndexesLack(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"text":    {`{"node":{"key":"p1","type":"Person","summary":"somebody else"}}`, "postings differ"},
		"node":    {`{"node":{"key":"more","type":"Person","summary":"one more"}}`, "not in the index"},
		"removal": {`{"remove":{"node":"p1"}}`, "in the index, but not in the graph"},
	} {
		t.Run(name, func(t *testing.T) {
			st := mem.New()
			r := repokit.OverStore(t, st)
			graphOf := func() ipld.CID { return repokit.TextsKey(repokit.Head(t, r).Graph()) }
			for i := range 20 {
				repokit.Lines(t, r, repokit.Person(i))
			}
			old := must.Get(st.Derived().Cell(t.Context(), graphOf()))(t)
			repokit.Lines(t, r, c.line)
			var derived store.Derived = st.Derived()
			must.OK(t, derived.SetCell(t.Context(), graphOf(), old))
			report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
			found := false
			for _, e := range report.Errors {
				found = found || e.Kind == care.FsckIndex && strings.Contains(e.Message, c.want)
			}
			must.True(t, found, "want %q: %v", c.want, report.Errors)
		})
	}
}

// TestKnownRecords: a record is known under its own id and kind alone, and entries of edges add up.
func TestKnownRecords(t *testing.T) {
	k := view.NewKnownRecords()
	id := func(i int) (id graph.ID) {
		binary.BigEndian.PutUint64(id[8:], uint64(i))
		return id
	}
	sum := uint64(0)
	var items [][]byte
	for i := range 3000 {
		e := &graph.Edge{ID: id(i + 1), Type: "to", Src: id(1 + i/2), Dst: id(1 + i%7),
			Weight: 1 + uint32(i), Created: 1}
		b := store.NewBlock(ipld.DagCBOR, e.Encode())
		r, ok := k.Read(b.CID, b.Data)
		must.Require(t, ok, "edge %d is not known", i)
		k.Add(r)
		k.Add(r)
		items = append(items, ipld.AppendLink(nil, b.CID))
		sum += k.Entry('o', adjacency.OutKey(e), adjacency.Value(e))
		sum += k.Entry('i', adjacency.InKey(e), adjacency.Value(e))
	}
	for i, item := range items {
		key := id(i + 1)
		entries, ok := k.Has(state.RoleEdge, key[:], item)
		sum -= entries
		must.Require(t, ok, "edge %d is not known", i)
		_, ok = k.Has(state.RoleNode, key[:], item)
		must.Require(t, !ok, "edge %d is known as a node", i)
		_, ok = k.Has(state.RoleEdge, key[:], items[(i+1)%len(items)])
		must.Require(t, !ok, "edge %d is known under another id", i)
		_, ok = k.Has(state.RoleEdge, key[:], ipld.AppendInt(nil, 1))
		must.Require(t, !ok, "a number is known")
	}
	must.Equal(t, sum, 0, "entries of edges and of trees differ")
	_, ok := (*view.KnownRecords)(nil).Has(state.RoleEdge, nil, items[0])
	must.True(t, !ok, "nothing knows a record")
}

// TestKnownRecordsMemory bounds the memory for each record.
func TestKnownRecordsMemory(t *testing.T) {
	const n = 300_000
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, k := heap(), view.NewKnownRecords()
	for i := range n {
		c := repokit.Numbered(ipld.DagCBOR, i)
		k.Add(view.KnownRecord{Record: k.Record(state.RoleNode, c.Bytes(), c)})
	}
	each := (heap() - before) / n
	must.True(t, each <= 36, "%d bytes for each record", each)
	runtime.KeepAlive(k)
}

// branched makes a branch n times.
func branched(t *testing.T, st store.Store, n int) {
	t.Helper()
	r := steps(t, st, 1)
	for i := range n {
		must.Get(r.Branches().Create(t.Context(), fmt.Sprintf("b%d", i*7919%n), "main", repokit.RefOptions))(t)
	}
}

// TestWorkOfFsckOfOperations bounds how much a check of the log reads: it grows with what operations changed, not
// with operations times refs.
func TestWorkOfFsckOfOperations(t *testing.T) {
	var each []float64
	for _, n := range []int{150, 900} {
		st := mem.New()
		branched(t, st, n)
		c := repokit.NewCounted(st)
		r := must.Get(care.New(t.Context(), c, repokit.By, core.Options{TreeCache: 1 << 20}))(t)
		c.FactCounts.Reset()
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{Full: true})
		must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report.Errors, err)
		each = append(each, float64(c.FactCounts.Counts().BlocksRead)/float64(n))
		t.Logf("%d operations: %.1f blocks read for each", n, each[len(each)-1])
	}
	must.True(t, each[1] <= 1.5*each[0], "%.1f blocks read for each of 900 operations, %.1f of 150", each[1], each[0])
}

// TestFsckMissesOldViews removes single chunks of the refs of older operations.
func TestFsckMissesOldViews(t *testing.T) {
	base := mem.New()
	branched(t, base, 120)
	truth := testkit.NewTamper(base)
	var chunks []ipld.CID
	err := base.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == "tree" && bytes.Contains(b.Data, []byte("heads/")) {
			chunks = append(chunks, b.CID)
		}
		return nil
	})
	must.Require(t, err == nil && len(chunks) >= 120, "%v %v", len(chunks), err)
	for i, gone := range chunks {
		if i%8 != 0 {
			continue
		}
		truth.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
			if c == gone {
				return nil, store.ErrNotFound
			}
			return data, nil
		}
		r, err := care.New(t.Context(), truth, repokit.By, core.Options{})
		if err != nil {
			continue // of the newest operation: it cannot be opened
		}
		report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
		must.True(t, len(report.Errors) != 0, "nothing is said of a chunk that is gone, %s", gone)
	}
}
