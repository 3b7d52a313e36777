package prolly_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/ipld"
)

// The vectors under spec/vectors were written by a program that does not use this package.

type bulkVector struct {
	Prefix, Seed string
	Count        int
}

type editVector struct {
	Remove []string
	Set    [][2]string
}

type treeVector struct {
	Fails string
	Input struct {
		Bulk    *bulkVector
		Entries [][2]string
		Block   *string
		Root    string
		Blocks  []string
	}
	Expect struct {
		Root, CID string
		Count     uint64
		Chunks    [][]int
		Blocks    []struct{ CID, Block string }
	}
}

// readVectors runs the vectors of a layer, input and expectation each decoded into a T.
func readVectors[T any](t *testing.T, layer string, run func(t *testing.T, v T)) {
	t.Helper()
	for _, c := range cases.Read(t, filepath.Join("..", "..", "..", "spec", "vectors", layer+".jsonl")) {
		t.Run(c.Name, func(t *testing.T) {
			data, err := json.Marshal(map[string]any{"input": c.Input, "expect": c.Expect, "fails": c.Fails})
			if err != nil {
				t.Fatal(err)
			}
			var v T
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			run(t, v)
		})
	}
}

func expand(t *testing.T, text string) string {
	t.Helper()
	return string(cases.Bytes(t, text))
}

func (b bulkVector) model(t *testing.T) model {
	prefix := expand(t, b.Prefix)
	m := model{}
	for i := range b.Count {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", b.Seed, i))
		m[prefix+string(sum[:12])] = string(ipld.AppendInt(nil, int64(i)))
	}
	return m
}

func (e editVector) edits(t *testing.T) []prolly.Edit {
	changes := map[string][]byte{}
	for _, k := range e.Remove {
		changes[expand(t, k)] = nil
	}
	for _, kv := range e.Set {
		changes[expand(t, kv[0])] = []byte(expand(t, kv[1]))
	}
	return editsOf(changes)
}

func TestTreeVectors(t *testing.T) {
	readVectors(t, "tree", func(t *testing.T, v treeVector) {
		switch {
		case v.Input.Block != nil:
			blockVector(t, v)
		case v.Input.Blocks != nil:
			checkVector(t, v)
		default:
			shapeVector(t, v)
		}
	})
}

// refused reports whether a vector names an error class, and fails the test unless err belongs to it.
func refused(t *testing.T, class string, err error) bool {
	t.Helper()
	want := map[string]error{"encoding": ipld.ErrInvalid, "tree": store.ErrCorrupt,
		"missing": store.ErrNotFound, "entry": prolly.ErrInput}[class]
	if class != "" && (want == nil || !errors.Is(err, want)) {
		t.Errorf("got %v, want an error of the class %s", err, class)
	}
	return class != ""
}

// blockVector decodes one block.
func blockVector(t *testing.T, v treeVector) {
	b := newBlocks()
	block := store.NewBlock(ipld.DagCBOR, []byte(expand(t, *v.Input.Block)))
	if err := b.Put(ctx, block); err != nil {
		t.Fatal(err)
	}
	_, err := prolly.NewNodes(b, nil).Load(ctx, block.CID)
	if refused(t, v.Fails, err) {
		return
	}
	if err != nil || block.CID.String() != v.Expect.CID {
		t.Errorf("%s: %v", block.CID, err)
	}
}

// checkVector checks a tree that is given by its blocks, the root first.
func checkVector(t *testing.T, v treeVector) {
	b := newBlocks()
	var root ipld.CID
	for i, text := range append([]string{v.Input.Root}, v.Input.Blocks...) {
		block := store.NewBlock(ipld.DagCBOR, []byte(expand(t, text)))
		if err := b.Put(ctx, block); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			root = block.CID
		}
	}
	m, err := prolly.NewNodes(b, nil).Load(ctx, root)
	if err == nil {
		err = m.Check(ctx)
	}
	if !refused(t, v.Fails, err) {
		t.Errorf("the vector names no class of error, got %v", err)
	}
}

// shapeVector builds a tree.
func shapeVector(t *testing.T, v treeVector) {
	m := model{}
	if v.Input.Bulk != nil {
		m = v.Input.Bulk.model(t)
	}
	for _, kv := range v.Input.Entries {
		m[expand(t, kv[0])] = expand(t, kv[1])
	}
	b := newBlocks()
	tree, err := prolly.NewNodes(b, nil).Build(ctx, m.seq())
	if refused(t, v.Fails, err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if tree.Root().String() != v.Expect.Root || tree.Len() != v.Expect.Count ||
		tree.Height() != len(v.Expect.Chunks) {
		t.Errorf("root %s, %d entries, height %d", tree.Root(), tree.Len(), tree.Height())
	}
	chunks := 0
	for _, level := range v.Expect.Chunks {
		chunks += len(level)
	}
	if chunks != len(b.data) {
		t.Errorf("%d chunks, want %d", len(b.data), chunks)
	}
	for _, want := range v.Expect.Blocks {
		c, err := ipld.ParseCID(want.CID)
		if err != nil || string(b.data[c]) != expand(t, want.Block) {
			t.Errorf("block %s: % x, %v", want.CID, b.data[c], err)
		}
	}
	check(t, tree)
}

func TestDiffVectors(t *testing.T) {
	type vector struct {
		Input struct {
			Left  bulkVector
			Right *bulkVector
			Edit  editVector
		}
		Expect struct {
			Left, Right string
			Changes     []struct{ Key, Left, Right string }
		}
	}
	readVectors(t, "tree-diff", func(t *testing.T, v vector) {
		nodes := prolly.NewNodes(newBlocks(), nil)
		left := build(t, nodes, v.Input.Left.model(t))
		right := edit(t, left, v.Input.Edit.edits(t))
		if v.Input.Right != nil {
			right = build(t, nodes, v.Input.Right.model(t))
		}
		if left.Root().String() != v.Expect.Left || right.Root().String() != v.Expect.Right {
			t.Errorf("roots %s, %s", left.Root(), right.Root())
		}
		want := []prolly.Change{}
		for _, c := range v.Expect.Changes {
			want = append(want, prolly.Change{
				Key: []byte(expand(t, c.Key)), Old: side(t, c.Left), New: side(t, c.Right),
			})
		}
		got := append([]prolly.Change{}, diff(t, left, right)...)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// side is a value, nil if the text is empty.
func side(t *testing.T, text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(expand(t, text))
}

func TestMergeVectors(t *testing.T) {
	type vector struct {
		Input struct {
			Base        bulkVector
			Left, Right editVector
		}
		Expect struct {
			Root      string
			Conflicts []string
		}
	}
	readVectors(t, "tree-merge", func(t *testing.T, v vector) {
		nodes := prolly.NewNodes(newBlocks(), nil)
		base := build(t, nodes, v.Input.Base.model(t))
		left := edit(t, base, v.Input.Left.edits(t))
		right := edit(t, base, v.Input.Right.edits(t))
		got := []string{}
		merged, err := prolly.Merge(ctx, base, left, right,
			func(c prolly.Conflict) ([]byte, error) {
				got = append(got, hex.EncodeToString(c.Key))
				return c.Left, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v.Expect.Conflicts, got); d != "" {
			t.Error(d)
		}
		if v.Expect.Root != "" && merged.Root().String() != v.Expect.Root {
			t.Errorf("root %s, want %s", merged.Root(), v.Expect.Root)
		}
	})
}
