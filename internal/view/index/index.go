package index

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Index answers queries about one graph. It reads parts when a query needs them. Safe for concurrent use.
type Index struct {
	src      source
	m        *Manifest
	segs     []*segment.Segment
	analyser *text.Analyzer
	titles   memo[titleNodes]
	terms    memo[termDF]
	finders  sync.Pool // of *titleFinder

	mu   sync.Mutex
	dead []segment.Bitset // of each segment, nil until it is made
	few  *titlePart       // of segments of few titles, nil until it is made
}

// Open reads a manifest and the segments' own blocks. cache may be shared with other indexes; nil means none. It
// returns an error that wraps ErrAnalyser if the manifest was made by another analyser, store.ErrNotFound if a block is
// missing, store.ErrCorrupt if one is damaged.
func Open(ctx context.Context, get store.Getter, manifest ipld.CID, cache *segment.Cache) (*Index, error) {
	m, err := ReadManifest(ctx, get, manifest)
	if err != nil {
		return nil, err
	}
	x := &Index{src: source{Format.NewReader(get, cache)}, m: m, analyser: text.English}
	if err := m.analysed(); err != nil {
		return nil, err
	}
	if x.segs, err = x.src.Segments(ctx, m.Segments); err != nil {
		return nil, err
	}
	var total Stats
	for _, s := range x.segs {
		total.add(s)
	}
	if total != m.Stats {
		return nil, segment.Corrupt("manifest %s has other sums than its segments", manifest)
	}
	x.dead = make([]segment.Bitset, len(x.segs))
	return x, nil
}

// Stats returns the collection statistics.
func (x *Index) Stats() Stats { return x.m.Stats }

// TermStats returns df, the number of nodes with a term of the analyser in any field.
func (x *Index) TermStats(ctx context.Context, term string) (int64, error) {
	h := termSum(term) >> 1 // whose last bit is always the same
	if t := x.terms.get(h); t != nil && t.term == term {
		return t.df, nil
	}
	var few [8]entry
	room := entryRoom(few[:])
	t, err := x.known(ctx, term, &room)
	if err != nil {
		return 0, err
	}
	x.terms.put(h, &termDF{strings.Clone(term), t.df})
	return t.df, nil
}

func (x *Index) checkDF(term string, df int64) error {
	if df < 0 || df > x.m.Stats.Nodes {
		return segment.Corrupt("term %q in %d of %d nodes", term, df, x.m.Stats.Nodes)
	}
	return nil
}

// deadDocs returns the documents of a segment that newer segments kill.
func (x *Index) deadDocs(ctx context.Context, n int) (segment.Bitset, error) {
	x.mu.Lock()
	dead := x.dead[n]
	x.mu.Unlock()
	if dead != nil {
		return dead, nil
	}
	// Two queries may both come here: they make the same set.
	dead = segment.NewBitset(x.segs[n].Docs)
	docs := x.src.IDFinder(x.segs[n])
	for _, newer := range x.segs[n+1:] {
		err := x.src.EachID(ctx, newer, secDead, func(id graph.ID) error {
			doc, ok, err := docs.Find(ctx, id)
			if ok {
				dead.Set(doc)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	x.mu.Lock()
	x.dead[n] = dead
	x.mu.Unlock()
	return dead, nil
}

// Doc is one live document during a query. Its methods use the query's context, and documents of one query must not be
// used by several goroutines at a time. Fields are read at first use; if that fails they are zero, and Err is not nil.
// Queries check Err after each call of an Accept.
type Doc struct {
	view  *view
	n     uint32
	id    graph.ID
	known bool // whether id is, which most accepts have no use for
}

// ID returns the node's id.
func (d Doc) ID() graph.ID {
	if d.known || d.view == nil {
		return d.id
	}
	id, err := d.view.id(d.n)
	d.view.failed = cmp.Or(d.view.failed, err)
	return id
}

// Type returns the node's type.
func (d Doc) Type() string {
	typ, err := d.view.typ(d.n)
	d.view.failed = cmp.Or(d.view.failed, err)
	return typ
}

// Times returns the node's times.
func (d Doc) Times() Times {
	m, err := d.view.docMeta(d.n)
	if err != nil {
		d.view.failed = cmp.Or(d.view.failed, err)
		return Times{}
	}
	return m.times()
}

// Err returns the first error from reading ids, types or times of this or another document of the query in the same
// segment.
func (d Doc) Err() error { return d.view.failed }

// Prop returns the value of a property and whether the node has it. The error wraps
// store.ErrCorrupt if the index is damaged.
func (d Doc) Prop(name string) (ipld.Value, bool, error) { return d.view.prop(name, d.n) }

// view is one segment in the course of one query, with the parts used last.
type view struct {
	ctx  context.Context
	x    *Index
	n    int // of the segment
	seg  *segment.Segment
	dead segment.Bitset
	ids  []segment.IDPart // parts read before, nil for the others
	meta metaReader

	asked  Doc   // that a filter is asked about
	failed error // the first of reading for a Doc

	props map[string]*propView
}

func (x *Index) view(ctx context.Context, n int) (*view, error) {
	dead, err := x.deadDocs(ctx, n)
	if err != nil {
		return nil, err
	}
	return &view{ctx: ctx, x: x, n: n, seg: x.segs[n], dead: dead}, nil
}

func (v *view) id(doc uint32) (id graph.ID, err error) {
	if v.ids == nil {
		v.ids = make([]segment.IDPart, v.seg.Parts(secIDs))
	}
	part := &v.ids[doc/docsPerPart]
	if *part == nil { // those of hits are requested in the order of scores
		if *part, err = v.x.src.IDList(v.ctx, v.seg, secIDs, int(doc/docsPerPart)); err != nil {
			return id, err
		}
	}
	return graph.ID(part.At(int(doc % docsPerPart))), nil
}

func (v *view) docMeta(doc uint32) (*docMeta, error) {
	return v.meta.at(v.ctx, &v.x.src, v.seg, doc)
}

// typ returns the type of a document, without reading times.
func (v *view) typ(doc uint32) (string, error) {
	if err := v.meta.open(v.ctx, &v.x.src, v.seg, doc); err != nil {
		return "", err
	}
	return v.meta.part.typ(doc), nil
}

// Accept decides whether a live document, a *Doc, passes a request's filters. It is called on the calling goroutine, at
// most once for each document and query, in no particular order, and not for documents that could not be among the best
// anyway. It must not keep the document. If it returns an error, the query ends with that error.
type Accept = ranking.Accept

func (v *view) passes(accept Accept, n uint32) (bool, error) {
	if accept == nil {
		return true, nil
	}
	v.asked = Doc{view: v, n: n}
	ok, err := accept(&v.asked)
	return ok, cmp.Or(err, v.failed)
}

// errStop ends an iteration early.
var errStop = errors.New("stop")

// Finder looks up documents during a query: it caches the parts that the next look-up is likely to need. Not safe for
// concurrent use.
type Finder struct {
	ctx   context.Context
	x     *Index
	ids   []segment.IDFinder
	views []*view // nil until one is asked
}

// Finder returns a finder.
func (x *Index) Finder(ctx context.Context) *Finder {
	f := &Finder{
		ctx: ctx, x: x, ids: make([]segment.IDFinder, len(x.segs)), views: make([]*view, len(x.segs)),
	}
	for n, s := range x.segs {
		f.ids[n] = x.src.IDFinder(s)
	}
	return f
}

// Doc returns the live document of a node, and whether there is one.
func (f *Finder) Doc(id graph.ID) (Doc, bool, error) {
	for n := len(f.ids) - 1; n >= 0; n-- {
		doc, ok, err := f.ids[n].Find(f.ctx, id)
		if err != nil {
			return Doc{}, false, err
		}
		if !ok {
			continue
		}
		if f.views[n] == nil {
			if f.views[n], err = f.x.view(f.ctx, n); err != nil {
				return Doc{}, false, err
			}
		}
		v := f.views[n]
		if v.dead.Has(doc) {
			return Doc{}, false, nil
		}
		// The id is known: a view would read another part of ids for it.
		return Doc{view: v, n: doc, id: id, known: true}, true, nil
	}
	return Doc{}, false, nil
}
