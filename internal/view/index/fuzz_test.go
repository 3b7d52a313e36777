package index

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

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
			must.Check(t, n > docsPerPart || len(b) <= len(data), "lengths %x come back as %x", data, b)
		}
		if p, err := decodeMeta(data, docKey(0), n); err == nil {
			must.Check(t, p.n <= n, "%d documents of %d", p.n, n)
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
			must.Check(t, len(it.term) != 0 && len(it.term) <= maxTerm, "term of %d bytes", len(it.term))
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
