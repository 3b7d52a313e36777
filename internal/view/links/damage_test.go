package links

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// faulty lies about one block, as no store does; without a lie the block is missing.
type faulty struct {
	store.Blocks
	at  ipld.CID
	lie func([]byte) []byte
}

func (f *faulty) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := f.Blocks.Get(ctx, c)
	if err != nil || c != f.at {
		return data, err
	}
	if f.lie == nil {
		return nil, &store.NotFoundError{CID: c}
	}
	return f.lie(bytes.Clone(data)), nil
}

// checkError fails if an error is not one that damage may cause.
func checkError(t testing.TB, err error) {
	t.Helper()
	must.True(t, err == nil || errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound),
		"error of no kind: %v", err)
}

// damaged is an index with blocks of every kind.
func damaged(t testing.TB) *memory {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	m := newMemory(t)
	for _, n := range []int{2000, 40, 2} {
		var nodes []Node
		for _, i := range rng.Perm(2000)[:n] {
			nodes = append(nodes, randomNode(rng, testID(i), 2000))
		}
		m.apply(nodes, UpdateOptions{})
	}
	return m
}

// TestDamage replaces each block: readers report it or return what they can, and verification finds it.
func TestDamage(t *testing.T) {
	m := damaged(t)
	rng := rand.New(rand.NewPCG(4, 4))
	sound := m.blocks
	some := effort.Pick(101, 17, 1)
	for n, c := range m.walk() {
		if n > 8 && n%some > 0 { // most are parts
			continue
		}
		for name, lie := range map[string]func([]byte) []byte{
			"missing": nil,
			"empty":   func([]byte) []byte { return nil },
			"half":    func(b []byte) []byte { return b[:len(b)/2] },
			"longer":  func(b []byte) []byte { return append(b, 0) },
			"flipped": func(b []byte) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b },
			"noise": func(b []byte) []byte {
				for i := range b {
					b[i] = byte(rng.Uint32())
				}
				return b
			},
		} {
			m.blocks = &faulty{sound, c, lie}
			x, err := Open(t.Context(), m.blocks, m.manifest, m.of, segment.NewCache(1<<20))
			checkError(t, err)
			for i := range 2000 {
				if err == nil {
					f, err := x.Find(t.Context(), testID(i))
					checkError(t, err)
					checkError(t, f.node(testID(i), new(Node)))
				}
			}
			wrong, err := Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())
			checkError(t, err)
			if err == nil && len(wrong) == 0 && name != "flipped" { // a count of kills, for one
				t.Errorf("%s in the place of block %d is not found", name, n)
			}
			err = Format.Walk(t.Context(), m.blocks, m.manifest, func(ipld.CID) error { return nil })
			checkError(t, err)
		}
	}
}

// FuzzBlocks decodes arbitrary bytes as each kind of block.
func FuzzBlocks(f *testing.F) {
	m := damaged(f)
	for n, c := range m.walk() {
		if n > 8 && n%97 > 0 {
			continue
		}
		data := must.Get(m.blocks.Get(f.Context(), c))(f)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Format.DecodeManifest(data); err == nil {
			b := Format.EncodeManifest(m)
			must.True(t, len(b) != len(data) || bytes.Equal(b, data), "manifest has two encodings: %x and %x", data, b)
		} else {
			checkError(t, err)
		}
		if s := bloom(data); s.fits() {
			s.has(testID(len(data)))
		}
		_, err := Format.Decode(ipld.CID{}, data)
		checkError(t, err)
		p, err := decodePart(data)
		if checkError(t, err); err != nil {
			return
		}
		for i := range p.len() {
			f, err := p.at(i)
			checkError(t, err)
			err = f.node(p.id(i), new(Node))
			checkError(t, err)
			at, ok := p.find(p.id(i))
			must.True(t, err != nil || (ok && at == i), "node %d is not found", i)
		}
	})
}

// metered counts blocks and bytes.
type metered struct {
	store.Blocks
	read, written work
}

type work struct{ blocks, bytes int }

func (w *work) add(n int) { w.blocks, w.bytes = w.blocks+1, w.bytes+n }

func (m *metered) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := m.Blocks.Get(ctx, c)
	m.read.add(len(data))
	return data, err
}

func (m *metered) Put(ctx context.Context, blocks ...store.Block) error {
	for _, b := range blocks {
		m.written.add(len(b.Data))
	}
	return m.Blocks.Put(ctx, blocks...)
}

// usual returns a node with three edges on each side.
func usual(rng *rand.Rand, id graph.ID, n int) Node {
	bucket := func() (b Bucket) {
		for _, typ := range []string{"about", "next", "refers"} {
			b.Entries = append(b.Entries, HalfEdge{typ, testID(rng.IntN(n)), graph.MaxWeight, false})
			b.Degree++
		}
		return b
	}
	return Node{id, bucket(), bucket()}
}

// TestCosts bounds how much looking up a node reads and how much changing two nodes, as an edge does, writes and
// reads: about as much with four times as many nodes.
func TestCosts(t *testing.T) {
	const updates, dirBytes = 64, 256 * 64 // a directory of 256 parts
	for _, n := range []int{5_000, 20_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		m := newMemory(t)
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i] = usual(rng, testID(i), n)
		}
		m.apply(nodes, UpdateOptions{})
		blocks := &metered{Blocks: m.blocks}
		m.blocks = blocks
		for range 20 {
			x := m.open(new(segment.Cache))
			blocks.read = work{}
			m.same(x, testID(rng.IntN(n)))
			must.True(t, blocks.read.blocks <= 2 && blocks.read.bytes <= partSize+dirBytes,
				"%d nodes: looking one up reads %v", n, blocks.read)
		}
		var read, written work
		for range updates {
			blocks.read, blocks.written = work{}, work{}
			i := rng.IntN(n - 1)
			m.apply([]Node{usual(rng, testID(i), n), usual(rng, testID(i+1), n)}, UpdateOptions{})
			read.blocks, read.bytes = read.blocks+blocks.read.blocks, read.bytes+blocks.read.bytes
			written.blocks += blocks.written.blocks
			written.bytes += blocks.written.bytes
		}
		x := m.open(new(segment.Cache))
		t.Logf("%d nodes: %d updates read %v and wrote %v; %d segments", n, updates, read, written, len(x.segs))
		must.True(t, written.bytes <= updates*3000 && written.blocks <= updates*5/2 && read.blocks <= updates*4,
			"%d nodes: %d updates read %v and wrote %v", n, updates, read, written)
		must.True(t, len(x.segs) <= 12, "%d segments", len(x.segs))
	}
}

// TestFilters bounds the cost of looking up nodes of the oldest of several large segments: for the others it reads
// their Bloom filters, and hardly a part.
func TestFilters(t *testing.T) {
	const n, asked = 8000, 400
	rng := rand.New(rand.NewPCG(1, 1))
	m := newMemory(t)
	for turn := range 4 {
		var nodes []Node
		for i := turn; i < n; i += 4 {
			nodes = append(nodes, usual(rng, testID(i), n))
		}
		m.apply(nodes, UpdateOptions{Fanout: 8})
	}
	blocks := &metered{Blocks: m.blocks}
	m.blocks = blocks
	x := m.open(segment.NewCache(64 << 20))
	must.Require(t, len(x.segs) == 4, "%d segments", len(x.segs))
	before := blocks.read.blocks
	parts := map[string]bool{}
	for range asked {
		id := testID(4 * rng.IntN(n/4))
		m.same(x, id)
		p, _, err := segment.Covering(t.Context(), x.src.Reader, x.segs[0], secNodes, id[:], decodeNodes)
		must.OK(t, err)
		parts[string(p.first())] = true
	}
	read := blocks.read.blocks - before
	t.Logf("%d nodes in %d parts: %d blocks", asked, len(parts), read)
	if read > len(parts)+20 { // a directory of each segment, three filters, and false positives
		t.Errorf("%d nodes in %d parts: %d blocks read", asked, len(parts), read)
	}
}
