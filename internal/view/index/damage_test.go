package index

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// counter counts what is read.
type counter struct {
	store.Getter
	mu    sync.Mutex
	got   map[ipld.CID]int
	bytes int
}

func (c *counter) Get(ctx context.Context, id ipld.CID) ([]byte, error) {
	data, err := c.Getter.Get(ctx, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got[id]++
	c.bytes += len(data)
	return data, err
}

// faulty is a getter that damages one block. If it verifies, as a store does, readers see a
// *store.CorruptError; else they see the bytes.
type faulty struct {
	store.Getter
	at     ipld.CID
	damage func(data []byte) []byte
	verify bool
}

func (f *faulty) Get(ctx context.Context, id ipld.CID) ([]byte, error) {
	data, err := f.Getter.Get(ctx, id)
	if err != nil || id != f.at {
		return data, err
	}
	if f.damage == nil {
		return nil, &store.NotFoundError{CID: id}
	}
	b := store.Block{CID: id, Data: f.damage(bytes.Clone(data))}
	if f.verify {
		return nil, b.Verify()
	}
	return b.Data, nil
}

// damaged is an index with blocks of every kind, and its blocks.
func damaged(t *testing.T) (store.Blocks, ipld.CID, collection, []ipld.CID) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	docs := collection{}
	for c := range zipfDocs(900) {
		docs[c.ID] = c.New
	}
	for range 30 {
		id := randomID(rng, 1000)
		docs[id] = randomDoc(rng, id)
	}
	blocks := mem.New().Derived()
	m := build(t, blocks, docs, UpdateOptions{})
	next := mutate(rng, docs, 1000)
	for _, id := range slices.Collect(mapsKeys(docs))[:5] {
		delete(next, id)
	}
	m = update(t, blocks, m, docs, next)
	var cids []ipld.CID
	must.OK(t, Format.Walk(context.Background(), blocks, m, func(c ipld.CID) error {
		cids = append(cids, c)
		return nil
	}))
	return blocks, m, next, cids
}

func mapsKeys(docs collection) func(func(id [16]byte) bool) {
	return func(yield func(id [16]byte) bool) {
		for id := range docs {
			if !yield(id) {
				return
			}
		}
	}
}

// TestDamageUnseen damages blocks behind the store's back: every operation must end, without a
// panic, in an answer or in one of the errors of the contract, and Verify must see what changes an
// answer. (Bytes of dead documents and between posting lists change none.)
func TestDamageUnseen(t *testing.T) {
	effort.Alone(t)
	blocks, m, docs, cids := damaged(t)
	want := tryAll(t, blocks, m)
	rng := newRand(t)
	for range effort.Pick(15, 40, 800) {
		seed := rng.Uint64()
		c := cids[rng.IntN(len(cids))]
		get := &faulty{Getter: blocks, at: c, damage: func(data []byte) []byte {
			return damage(rand.New(rand.NewPCG(seed, 1)), data)
		}}
		found, err := verify(context.Background(), get, m, documents(docs))
		checkError(t, err)
		if diff := differ.Diff(want, tryAll(t, get, m)); diff != "" && err == nil && len(found) == 0 {
			t.Errorf("block %s, seed %d: damage not seen, but answers differ:\n%s", c, seed, diff)
		}
	}
}

// damage changes, cuts or lengthens data, never to what it was.
func damage(rng *rand.Rand, data []byte) []byte {
	switch rng.IntN(4) {
	case 0:
		return data[:rng.IntN(len(data))]
	case 1:
		return append(data, byte(rng.Uint32()))
	default:
		data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
		return data
	}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, ipld.ErrInvalid) &&
		!errors.Is(err, store.ErrNotFound) && !errors.Is(err, ErrAnalyser) {
		t.Errorf("error of no kind: %v", err)
	}
}

// tryAll runs every operation on an index that may be damaged and returns the answers, nil if
// there are none.
func tryAll(t *testing.T, get store.Getter, m ipld.CID) (answers []any) {
	t.Helper()
	ctx := context.Background()
	err := Format.Walk(ctx, readOnly{Getter: get}, m, func(ipld.CID) error { return nil })
	checkError(t, err)
	x, err := Open(ctx, get, m, segment.NewCache(1<<20))
	checkError(t, err)
	if err != nil {
		return nil
	}
	res, err := x.Text(ctx, "word0 word3 alpha word77 team7", acceptDoc, 20)
	checkError(t, err)
	recent, err := x.Recency(ctx, acceptDoc, 20)
	checkError(t, err)
	readings, err := x.Analyse("alpah wxrdx teams").Readings(ctx)
	checkError(t, err)
	titles, err := x.TitlesIn(ctx, "word0 word3 alpha word77 alpha beta team7")
	checkError(t, err)
	answers = append(answers, res, recent, readings, titles)
	for d, err := range x.Docs(ctx) {
		checkError(t, err)
		answers = append(answers, d.ID())
	}
	src := &source{Format.NewReader(get, new(segment.Cache))}
	_, _, err = merge(ctx, src.Reader, x.segs, true, Format.NewWriter(ctx, mem.New().Derived()))
	checkError(t, err)
	return answers
}

// seedBlocks returns the blocks of a small index, the manifest first, and of a larger one.
func seedBlocks(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, n := range []int{1, 40, 900} {
		blocks := mem.New().Derived()
		m := must.Get(Update(context.Background(), blocks, ipld.CID{}, zipfDocs(n), UpdateOptions{}))(f)
		must.OK(f, Format.Walk(context.Background(), blocks, m, func(c ipld.CID) error {
			data, err := blocks.Get(context.Background(), c)
			out = append(out, data)
			return err
		}))
	}
	return out
}

// FuzzParts gives any bytes to every decoder of parts.
func FuzzParts(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data, uint16(40))
	}
	f.Fuzz(func(t *testing.T, data []byte, docs uint16) {
		n := int(docs)
		if p, err := segment.DecodeIDs(data, n); err == nil && p.Len() != n {
			t.Errorf("%d ids, want %d", p.Len(), n)
		}
		if p, err := decodeLens(data, n); err == nil {
			docs := make([]docLens, n)
			for i := range min(n, docsPerPart) {
				docs[i] = p.at(uint32(i), allFields)
			}
			// Columns may be wider than need be, and a part has docsPerPart documents at most.
			b := encodeLens(docs)
			must.True(t, n > docsPerPart || len(b) <= len(data), "lengths %x come back as %x", data, b)
		}
		if p, err := decodeMeta(data, docKey(0), n); err == nil {
			must.True(t, p.n <= n, "%d documents of %d", p.n, n)
			for g := range metaGroups(p.n) {
				if _, err := p.group(nil, g); err != nil && !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("group %d: %v", g, err)
				}
			}
		}
		if p, err := decodeTitles(data); err == nil && len(p.sums) > 0 && !p.has(p.sums[len(p.sums)/2]) {
			t.Errorf("no %x among %d sums", p.sums[len(p.sums)/2], len(p.sums))
		}
		_, _, _ = decodeProps(data, n, 3)
		tryDict(t, data)
		tryPosts(data, n)
	})
}

func tryDict(t *testing.T, data []byte) {
	p, err := openDict(data)
	if err != nil {
		return
	}
	for i := range len(p.restarts) / 2 {
		for it := p.group(i); it.next(); {
			must.True(t, len(it.term) != 0 && len(it.term) <= maxTerm, "term of %d bytes", len(it.term))
		}
	}
	_, _, _ = p.find("word7")
}

func tryPosts(data []byte, docs int) {
	w := Format.NewWriter(context.Background(), mem.New().Derived())
	w.Docs = docs
	for range 2 {
		w.Section(secPosts).Buf = data
		_ = w.Section(secPosts).Cut()
	}
	seg, _, err := w.Finish()
	if err != nil {
		return
	}
	src := &source{Format.NewReader(mem.New().Derived(), nil)}
	for _, e := range []entry{{count: 300}, {count: 5, at: place{data: data}}} {
		var r postReader
		r.open(src, seg, e)
		for ok := true; ok; {
			ok, _ = r.next(context.Background())
		}
	}
}

// FuzzSegment makes an index of any bytes and asks it everything.
func FuzzSegment(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := context.Background()
		block := store.NewBlock(ipld.DagCBOR, data)
		s, err := Format.Decode(block.CID, data)
		if err != nil {
			return
		}
		blocks := mem.New().Derived()
		m := Manifest{Analyser: 1, Language: "en", List: segment.List{Segments: []segment.Ref{
			{CID: block.CID, Docs: s.Docs, Kills: s.Kills},
		}}}
		terms, filled := sumsOf(s)
		m.Stats = Stats{Nodes: int64(s.Docs - s.Kills), Terms: terms, Filled: filled}
		root := store.NewBlock(ipld.DagCBOR, encodeManifest(&m))
		if err := blocks.Put(ctx, block, root); err != nil {
			t.Skip()
		}
		x, err := Open(ctx, blocks, root.CID, nil)
		if err != nil {
			return
		}
		_, _ = x.Text(ctx, "word0 word1 word7 note team7", nil, 5)
		_, _ = x.TitlesIn(ctx, "word0 word1 word7 note team7")
		_, _ = x.ByTime(ctx, byAge, nil, 5)
		_, _, _ = x.Times(ctx, []graph.ID{{}, {1}, {0xFF}})
		_, _ = x.Types(ctx, []graph.ID{{}, {1}, {0xFF}})
		_, _ = x.Recency(ctx, func(d ranking.Document) (bool, error) {
			_, ok, err := d.Prop("team")
			return ok, err
		}, 5)
		_, _, _ = x.Doc(ctx, numberedID(0))
		_, _ = verify(ctx, blocks, root.CID, func(func(*Document, error) bool) {})
		_, _ = Update(ctx, blocks, root.CID, one(Change{
			ID: graph.ID{1}, New: node(graph.Node{ID: graph.ID{1}, Type: "T"}),
		}), UpdateOptions{Fanout: 2})
	})
}

func encodeManifest(m *Manifest) []byte { return Format.EncodeManifest(m.record()) }

func decodeManifest(data []byte) (*Manifest, error) {
	r, err := Format.DecodeManifest(data)
	if err != nil {
		return nil, err
	}
	return ofRecord(r)
}

// FuzzManifest holds that a manifest has one encoding, unknown fields apart.
func FuzzManifest(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeManifest(data)
		if err != nil {
			return
		}
		b := encodeManifest(m)
		if len(b) > len(data) || len(b) == len(data) && !bytes.Equal(b, data) {
			t.Errorf("manifest has two encodings: %x and %x", data, b)
		}
		again := must.Get(decodeManifest(b))(t, "reading back ", m)
		must.Equal(t, cmp.Diff(m, again, cmpopts.EquateComparable(ipld.CID{})), "", "reads back as another")
	})
}

// readOnly is a store that is only read.
type readOnly struct {
	store.Getter
	store.Putter
}
