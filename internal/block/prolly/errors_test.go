package prolly_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func drain[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// operations lists every read and write of a tree of 5,000 entries.
var operations = []struct {
	name string
	run  func(ctx context.Context, m, other *prolly.Map) error
}{
	{"Get", func(ctx context.Context, m, _ *prolly.Map) error {
		_, _, err := m.Get(ctx, []byte(sequence(2500)))
		return err
	}},
	{"At", func(ctx context.Context, m, _ *prolly.Map) error {
		_, _, err := m.At(ctx, 2500)
		return err
	}},
	{"Count from", func(ctx context.Context, m, _ *prolly.Map) error {
		_, err := m.Count(ctx, []byte(sequence(2500)), nil)
		return err
	}},
	{"Count to", func(ctx context.Context, m, _ *prolly.Map) error {
		_, err := m.Count(ctx, nil, []byte(sequence(2500)))
		return err
	}},
	{"Scan", func(ctx context.Context, m, _ *prolly.Map) error { return drain(m.Scan(ctx, nil, nil)) }},
	{"ScanPrefix", func(ctx context.Context, m, _ *prolly.Map) error {
		return drain(m.ScanPrefix(ctx, []byte("key/00002")))
	}},
	{"Edit", func(ctx context.Context, m, _ *prolly.Map) error {
		_, err := m.Edit(ctx, []prolly.Edit{{Key: []byte(sequence(2500))}})
		return err
	}},
	{"Diff", func(ctx context.Context, m, other *prolly.Map) error { return drain(prolly.Diff(ctx, m, other)) }},
	{"Diff back", func(ctx context.Context, m, other *prolly.Map) error { return drain(prolly.Diff(ctx, other, m)) }},
	{"Merge", func(ctx context.Context, m, other *prolly.Map) error {
		keep := func(c prolly.Conflict) ([]byte, error) { return c.Left, nil }
		_, err := prolly.Merge(ctx, other, other, m, keep)
		return err
	}},
	{"Walk", func(ctx context.Context, m, _ *prolly.Map) error {
		return m.Walk(ctx, func(ipld.CID, int) (bool, error) { return true, nil })
	}},
	{"Check", func(ctx context.Context, m, _ *prolly.Map) error { return m.Check(ctx) }},
}

func sequenceTree(t testing.TB, b *blocks, n int) *prolly.Map {
	m := model{}
	for i := range n {
		m[sequence(i)] = "\x01"
	}
	return build(t, prolly.NewNodes(b, nil), m)
}

// TestReadErrors makes every block but the roots fail.
func TestReadErrors(t *testing.T) {
	effort.Alone(t)
	failures := []struct {
		name string
		fail func(ipld.CID) error
		want error
	}{
		{"missing", func(c ipld.CID) error { return &store.NotFoundError{CID: c} }, store.ErrNotFound},
		{"corrupt", func(c ipld.CID) error { return &store.CorruptError{Want: c} }, store.ErrCorrupt},
	}
	for _, f := range failures {
		for _, op := range operations {
			t.Run(f.name+" "+op.name, func(t *testing.T) {
				b := newBlocks()
				m := sequenceTree(t, b, 5000)
				other := build(t, prolly.NewNodes(newBlocks(), nil), model{"a": "\x01"})
				root := m.Root()
				b.fail = func(c ipld.CID) error {
					if c == root {
						return nil
					}
					return f.fail(c)
				}
				must.Fail(t, op.run(ctx, m, other), f.want)
				b.fail = f.fail
				must.Fail(t, must.Err(prolly.NewNodes(b, nil).Load(ctx, root)), f.want)
			})
		}
	}
}

func TestCancelled(t *testing.T) {
	stopped, stop := context.WithCancel(ctx)
	stop()
	b := newBlocks()
	m := sequenceTree(t, b, 5000)
	small := sequenceTree(t, b, 3)
	nodes := prolly.NewNodes(b, nil)
	for _, op := range operations {
		for _, tree := range []*prolly.Map{m, small} {
			if err := op.run(stopped, tree, small); !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %d entries: %v", op.name, tree.Len(), err)
			}
		}
	}
	endless := func(yield func(prolly.Entry, error) bool) {
		for i := 0; yield(prolly.Entry{Key: []byte(sequence(i)), Value: []byte{1}}, nil); i++ {
		}
	}
	must.Fail(t, must.Err(nodes.Build(stopped, endless)), context.Canceled)
	must.Fail(t, must.Err(nodes.Load(stopped, m.Root())), context.Canceled)
}

func TestWriteErrors(t *testing.T) {
	b := newBlocks()
	m := sequenceTree(t, b, 500)
	b.refuse = store.ErrReadOnly
	must.Fail(t, must.Err(m.Edit(ctx, []prolly.Edit{{Key: []byte("x"), Value: []byte{1}}})), store.ErrReadOnly, "Edit")
	// Edits that leave one chunk of many, or none, take other write paths.
	var all []prolly.Edit
	for i := range 500 {
		all = append(all, prolly.Edit{Key: []byte(sequence(i))})
	}
	for _, edits := range [][]prolly.Edit{all, all[:497], all[3:]} {
		must.Fail(t, must.Err(m.Edit(ctx, edits)), store.ErrReadOnly, "Edit of ", len(edits))
	}
	nodes := prolly.NewNodes(b, nil)
	must.Fail(t, must.Err(nodes.Build(ctx, model{}.seq())), store.ErrReadOnly)
	broken := errors.New("broken source")
	_, err := nodes.Build(ctx, func(yield func(prolly.Entry, error) bool) { yield(prolly.Entry{}, broken) })
	must.True(t, err == broken, "Build passes on %v", err)
}

// nested returns an item of depth nested lists.
func nested(depth int) []byte {
	return append(bytes.Repeat([]byte{0x81}, depth-1), 0x80)
}

func TestInput(t *testing.T) {
	one := []byte{1}
	long := bytes.Repeat([]byte("k"), prolly.MaxKey)
	text := func(n int) []byte { return ipld.AppendString(nil, string(bytes.Repeat([]byte("v"), n))) }
	cases := []struct {
		name  string
		edits []prolly.Edit
		ok    bool
	}{
		{"empty key", []prolly.Edit{{Key: nil, Value: one}}, true},
		{"longest key", []prolly.Edit{{Key: long, Value: one}}, true},
		{"longer key", []prolly.Edit{{Key: append(long, 'k'), Value: one}}, false},
		{"longest value", []prolly.Edit{{Key: one, Value: text(prolly.MaxValue - 3)}}, true},
		{"longer value", []prolly.Edit{{Key: one, Value: text(prolly.MaxValue - 2)}}, false},
		{"deepest value", []prolly.Edit{{Key: one, Value: nested(62)}}, true},
		{"deeper value", []prolly.Edit{{Key: one, Value: nested(63)}}, false},
		{"empty value", []prolly.Edit{{Key: one, Value: []byte{}}}, false},
		{"two items", []prolly.Edit{{Key: one, Value: []byte{1, 1}}}, false},
		{"not canonical", []prolly.Edit{{Key: one, Value: []byte{0x18, 1}}}, false},
		{"equal keys", []prolly.Edit{{Key: one, Value: one}, {Key: one, Value: one}}, false},
		{"two empty keys", []prolly.Edit{{Value: one}, {Value: one}}, false},
		{"descending", []prolly.Edit{{Key: []byte("b"), Value: one}, {Key: []byte("a"), Value: one}}, false},
	}
	nodes := prolly.NewNodes(newBlocks(), nil)
	for _, c := range cases {
		for _, tree := range []*prolly.Map{build(t, nodes, nil), build(t, nodes, model{"q": "\x01"})} {
			next, err := tree.Edit(ctx, c.edits)
			must.True(t, (err == nil) == c.ok && (err == nil || errors.Is(err, prolly.ErrInput)),
				"%s: Edit: %v", c.name, err)
			if err == nil {
				check(t, next)
			}
		}
		_, err := nodes.Build(ctx, func(yield func(prolly.Entry, error) bool) {
			for _, e := range c.edits {
				if !yield(prolly.Entry(e), nil) {
					return
				}
			}
		})
		must.True(t, (err == nil) == c.ok && (err == nil || errors.Is(err, prolly.ErrInput)),
			"%s: Build: %v", c.name, err)
	}
}

// TestLargestChunk fills a chunk with the longest keys and with values of as many items as bytes.
func TestLargestChunk(t *testing.T) {
	value := append([]byte{0x99, 0x0f, 0x9d}, make([]byte, 0xf9d)...) // a list of 3,997 zeros
	must.Require(t, len(value) == prolly.MaxValue && ipld.Check(value) == nil, "not the largest value")
	m := model{}
	for i := range prolly.MaxEntries {
		key := bytes.Repeat([]byte{byte(i)}, prolly.MaxKey)
		m[string(key)] = string(value)
	}
	b := newBlocks()
	tree := build(t, prolly.NewNodes(b, nil), m)
	must.Require(t, tree.Height() == 1 && len(b.data) == 1, "height %d, %d blocks", tree.Height(), len(b.data))
	check(t, tree)
	must.OK(t, ipld.Check(b.data[tree.Root()]))
}
