package spec_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// bulk describes many entries: README.md, "Trees".
type bulk struct {
	Prefix, Seed string
	Count        int
}

func (b *bulk) entries(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for i := range b.Count {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", b.Seed, i))
		key := string(expand(t, b.Prefix)) + string(sum[:12])
		out[key] = ipld.AppendInt(nil, int64(i))
	}
	return out
}

// listed reads entries that are written out as pairs of key and value.
func listed(t *testing.T, pairs [][2]string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, p := range pairs {
		out[string(expand(t, p[0]))] = expand(t, p[1])
	}
	return out
}

func ascending(entries map[string][]byte) iter.Seq2[prolly.Entry, error] {
	keys := make([]string, 0, len(entries))
	for k := range entries {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return func(yield func(prolly.Entry, error) bool) {
		for _, k := range keys {
			if !yield(prolly.Entry{Key: []byte(k), Value: entries[k]}, nil) {
				return
			}
		}
	}
}

type treeInput struct {
	Bulk    *bulk
	Entries [][2]string
	Block   *string
	Root    string
	Blocks  []string
}

type treeWant struct {
	Root   string
	CID    string
	Count  uint64
	Chunks [][]int
	Blocks []struct{ CID, Block string }
}

func runTree(t *testing.T, v vector) {
	var in treeInput
	parse(t, v.Input, &in)
	st := mem.New().Facts()
	nodes := prolly.NewNodes(st, nil)
	if in.Block != nil || in.Root != "" {
		runTreeBlock(t, v, in, st, nodes)
		return
	}
	entries := listed(t, in.Entries)
	if in.Bulk != nil {
		entries = in.Bulk.entries(t)
	}
	m, err := nodes.Build(t.Context(), ascending(entries))
	if refusal(t, v, err) {
		return
	}
	var want treeWant
	parse(t, v.Expect, &want)
	same(t, "root", m.Root().String(), want.Root)
	same(t, "count", fmt.Sprint(m.Len()), fmt.Sprint(want.Count))
	same(t, "entries of chunks", fmt.Sprint(shape(t, st, m)), fmt.Sprint(want.Chunks))
	for _, b := range want.Blocks {
		c := must.Get(ipld.ParseCID(b.CID))(t)
		data, err := st.Get(t.Context(), c)
		must.True(t, err == nil && bytes.Equal(data, expand(t, b.Block)), "block %s is %x, %v", b.CID, data, err)
	}
	oneByOne(t, nodes, entries, want.Root)
}

// oneByOne builds the same tree by single edits, the last key first.
func oneByOne(t *testing.T, nodes *prolly.Nodes, entries map[string][]byte, root string) {
	t.Helper()
	if len(entries) > 300 {
		return
	}
	m, err := nodes.Build(t.Context(), ascending(nil))
	must.OK(t, err)
	var all []prolly.Entry
	for e := range ascending(entries) {
		all = append(all, e)
	}
	for _, e := range slices.Backward(all) {
		m, err = m.Edit(t.Context(), []prolly.Edit{{Key: e.Key, Value: e.Value}})
		must.Require(t, err == nil, "%v", err)
	}
	same(t, "root after single edits", m.Root().String(), root)
}

// shape is the number of entries of each chunk, level by level from 0.
func shape(t *testing.T, g store.Getter, m *prolly.Map) [][]int {
	t.Helper()
	var sizes [][]int
	must.OK(t, m.Walk(t.Context(), func(c ipld.CID, level int) (bool, error) {
		data, err := g.Get(t.Context(), c)
		if err != nil {
			return false, err
		}
		value, err := ipld.DecodeValue(data)
		if err != nil {
			return false, err
		}
		keys, _ := value.Get("keys")
		for len(sizes) <= level {
			sizes = append(sizes, nil)
		}
		sizes[level] = append(sizes[level], len(keys.List()))
		return true, nil
	}))
	return sizes
}

// runTreeBlock loads a root that is given as a block and reads all that it links to.
func runTreeBlock(t *testing.T, v vector, in treeInput, st store.Blocks, nodes *prolly.Nodes) {
	root := in.Root
	if in.Block != nil {
		root = *in.Block
	}
	b := store.NewBlock(ipld.DagCBOR, expand(t, root))
	put := []store.Block{b}
	for _, other := range in.Blocks {
		put = append(put, store.NewBlock(ipld.DagCBOR, expand(t, other)))
	}
	must.OK(t, st.Put(t.Context(), put...))
	m, err := nodes.Load(t.Context(), b.CID)
	if err == nil && in.Root != "" {
		err = scan(t.Context(), m)
	}
	if refusal(t, v, err) {
		return
	}
	var want treeWant
	parse(t, v.Expect, &want)
	same(t, "CID", m.Root().String(), want.CID)
}

func scan(ctx context.Context, m *prolly.Map) error {
	for _, err := range m.Scan(ctx, nil, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

// edit is a list of removals and settings applied to entries.
type edit struct {
	Remove []string
	Set    [][2]string
}

func (e edit) edits(t *testing.T) []prolly.Edit {
	t.Helper()
	var out []prolly.Edit
	for _, k := range e.Remove {
		out = append(out, prolly.Edit{Key: expand(t, k)})
	}
	for k, value := range listed(t, e.Set) {
		out = append(out, prolly.Edit{Key: []byte(k), Value: value})
	}
	slices.SortFunc(out, func(a, b prolly.Edit) int { return bytes.Compare(a.Key, b.Key) })
	return out
}

func build(t *testing.T, nodes *prolly.Nodes, b *bulk) *prolly.Map {
	t.Helper()
	return must.Get(nodes.Build(t.Context(), ascending(b.entries(t))))(t)
}

func edited(t *testing.T, m *prolly.Map, e edit) *prolly.Map {
	t.Helper()
	return must.Get(m.Edit(t.Context(), e.edits(t)))(t)
}

func runDiff(t *testing.T, v vector) {
	var in struct {
		Left, Right *bulk
		Edit        *edit
	}
	var want struct {
		Left, Right string
		Changes     []json.RawMessage
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	nodes := prolly.NewNodes(mem.New().Facts(), nil)
	left := build(t, nodes, in.Left)
	var right *prolly.Map
	if in.Edit != nil {
		right = edited(t, left, *in.Edit)
	} else {
		right = build(t, nodes, in.Right)
	}
	same(t, "left", left.Root().String(), want.Left)
	same(t, "right", right.Root().String(), want.Right)
	var edits []prolly.Edit
	i := 0
	for c, err := range prolly.Diff(t.Context(), left, right) {
		must.OK(t, err)
		must.Require(t, i < len(want.Changes), "change %d is one too many: key %x", i, c.Key)
		var w struct{ Key, Left, Right string }
		parse(t, want.Changes[i], &w)
		same(t, "change", fmt.Sprintf("%x %x %x", c.Key, c.Old, c.New),
			fmt.Sprintf("%s %s %s", w.Key, w.Left, w.Right))
		edits = append(edits, prolly.Edit{Key: slices.Clone(c.Key), Value: slices.Clone(c.New)})
		i++
	}
	same(t, "number of changes", fmt.Sprint(i), fmt.Sprint(len(want.Changes)))
	applied := must.Get(left.Edit(t.Context(), edits))(t)
	same(t, "left with the changes applied", applied.Root().String(), want.Right)
}

func runMerge(t *testing.T, v vector) {
	var in struct {
		Base        *bulk
		Left, Right edit
	}
	var want struct {
		Root      string
		Conflicts []string
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	nodes := prolly.NewNodes(mem.New().Facts(), nil)
	base := build(t, nodes, in.Base)
	left, right := edited(t, base, in.Left), edited(t, base, in.Right)
	for range 2 { // a merge does not know its left from its right
		conflicts := []string{}
		m := must.Get(prolly.Merge(t.Context(), base, left, right,
			func(c prolly.Conflict) ([]byte, error) {
				conflicts = append(conflicts, hex.EncodeToString(c.Key))
				return c.Base, nil
			}))(t)
		same(t, "conflicts", fmt.Sprint(conflicts), fmt.Sprint(want.Conflicts))
		if want.Root != "" {
			same(t, "root", m.Root().String(), want.Root)
		}
		left, right = right, left
	}
}
