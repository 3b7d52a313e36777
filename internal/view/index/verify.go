package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Mismatch is one difference between an index and its graph.
type Mismatch struct {
	ID   graph.ID // the node, zero if the difference is in a sum
	What string   // the difference, with the index's value and the right one
}

func (m Mismatch) String() string {
	if m.ID.IsZero() {
		return m.What
	}
	return fmt.Sprintf("node %s: %s", m.ID, m.What)
}

// maxMismatches is how many differences Verify names: one damage may show in every node.
const maxMismatches = 100

// verifier is one run of Verify.
type verifier struct {
	ctx    context.Context
	x      *Index
	expect *Expectations
	read   DocumentReader

	words [][]uint64 // for each segment and document, the sum over its postings
	props [][]uint64 // likewise of its properties
	sums  [][]uint32 // of the titles of each segment and of their beginnings
	found []Mismatch
	seed  maphash.Seed // of words
	stats Stats
	// parts are the parts with lengths, of each segment, while postings are read. Postings refer to all of them
	// repeatedly, and a smaller cache would read them all for each term.
	parts [][]*lenPart
}

// Verify compares an index with the documents of its graph, which come ascending by id: every live document with its
// columns, lengths and postings, every df and every sum. It returns the differences, at most 100, none for a correct
// index. Damage that prevents reading is an error that wraps store.ErrCorrupt or store.ErrNotFound; an error of docs is
// returned. Documents are analysed on all processors while the next are read; a document known by its number alone is
// read only if the index does not match that. It keeps 20 bytes for each document of the index in memory, and while it
// reads postings the lengths, up to 4 bytes for each field.
func (x *Expectations) Verify(
	ctx context.Context, get store.Getter, manifest ipld.CID, docs iter.Seq2[Wanted, error], read DocumentReader,
) ([]Mismatch, error) {
	at, err := Open(ctx, get, manifest, segment.NewCache(defaultCache))
	if err != nil {
		return nil, err
	}
	v := &verifier{ctx: ctx, x: at, expect: x, read: read, seed: x.seed}
	err = v.terms()
	if err == nil {
		err = v.columns()
	}
	if err == nil {
		err = v.documents(docs)
	}
	if err != nil {
		return nil, fmt.Errorf("verify index: %w", err)
	}
	if v.stats != at.m.Stats {
		v.add(graph.ID{}, "statistics are %v, should be %v", at.m.Stats, v.stats)
	}
	return v.found, nil
}

func (v *verifier) add(id graph.ID, format string, args ...any) {
	if len(v.found) < maxMismatches {
		v.found = append(v.found, Mismatch{ID: id, What: fmt.Sprintf(format, args...)})
	}
}

// word returns a number that stands for a term in a document with its occurrences. The words of a document are added
// up, in any order. The hash has a random key, so no stored data can be made to match it, and chance agreement is
// negligible.
func word[T string | []byte](seed maphash.Seed, term T, tf *[Fields]uint32) uint64 {
	var buf [maxTerm + 4*Fields]byte
	b := append(buf[:0], term...)
	for _, n := range tf {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return maphash.Bytes(seed, b)
}

// terms reads all postings, adding up the words of each document and the df of each term.
func (v *verifier) terms() error {
	all := make([]*mergeTerm, len(v.x.segs))
	dead := make([]segment.Bitset, len(all))
	for i, s := range v.x.segs {
		// Reading the ids proves that there are as many documents as the segment says.
		err := v.x.src.EachID(v.ctx, s, secIDs, func(graph.ID) error { return nil })
		if err != nil {
			return err
		}
		v.words, v.sums = append(v.words, make([]uint64, s.Docs)), append(v.sums, nil)
		v.parts = append(v.parts, make([]*lenPart, (s.Docs+docsPerPart-1)/docsPerPart))
		all[i] = &mergeTerm{i: i}
		all[i].src, all[i].seg = &v.x.src, s
		if dead[i], err = v.x.deadDocs(v.ctx, i); err != nil {
			return err
		}
		if err := all[i].advance(v.ctx); err != nil {
			return err
		}
	}
	var with []*mergeTerm
	for {
		with = leastTerm(with[:0], all)
		if len(with) == 0 {
			v.parts = nil
			return v.titles()
		}
		df, live := 0, 0
		term := string(with[0].term)
		for _, t := range with {
			df += t.count - t.neg
			if strings.HasPrefix(term, titleMark) {
				v.sums[t.i] = appendSums(v.sums[t.i], term)
			}
			n, err := v.postings(t, term, dead[t.i])
			if err != nil {
				return err
			}
			live += n
		}
		if df != live {
			v.add(graph.ID{}, "term %q is in %d nodes, should be in %d", term, df, live)
		}
		for _, t := range with {
			if err := t.advance(v.ctx); err != nil {
				return err
			}
		}
	}
}

// titles compares the sums of the titles of each segment with its terms.
func (v *verifier) titles() error {
	for i, s := range v.x.segs {
		var have []uint32
		for n := range s.Parts(secTitles) {
			p, err := v.x.src.titles(v.ctx, s, n)
			if err != nil {
				return err
			}
			have = append(have, p.sums...)
		}
		slices.Sort(v.sums[i])
		if want := slices.Compact(v.sums[i]); !slices.Equal(want, have) {
			v.add(graph.ID{}, "segment %s has %d sums of titles and beginnings, which are not the %d of its titles",
				s.CID, len(have), len(want))
		}
	}
	return nil
}

// postings reads one term in one segment and returns how many live documents have it. It also
// holds each block against its bounds.
func (v *verifier) postings(t *mergeTerm, term string, dead segment.Bitset) (live int, err error) {
	if err := v.ctx.Err(); err != nil {
		return 0, err
	}
	t.posts.open(t.src, t.seg, t.entry)
	for {
		ok, err := t.posts.next(v.ctx)
		if !ok {
			return live, err
		}
		var real bounds
		for i := range t.posts.n {
			p := &t.posts.posts[i]
			lens := &v.parts[t.i][p.doc/docsPerPart]
			if *lens == nil {
				if *lens, err = t.src.lens(v.ctx, t.seg, int(p.doc/docsPerPart)); err != nil {
					return 0, err
				}
			}
			of := (*lens).at(p.doc, allFields)
			real.add(&p.tf, &of)
			v.words[t.i][p.doc] += word(v.seed, term, &p.tf)
			if !dead.Has(p.doc) {
				live++
			}
		}
		if !t.posts.term && real != t.posts.head.bounds {
			v.add(graph.ID{}, "term %q has a block with bounds %v, should be %v", term,
				t.posts.head.bounds, real)
		}
	}
}

// columns reads all properties, adding up their words for each document.
func (v *verifier) columns() error {
	for i, s := range v.x.segs {
		v.props = append(v.props, make([]uint64, s.Docs))
		for n := range s.Parts(secProps) {
			part, err := v.x.src.props(v.ctx, s, n)
			if err != nil {
				return err
			}
			if err := v.column(i, s, part); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) column(i int, s *segment.Segment, part propPart) error {
	for g := range part {
		for k, doc := range part[g].docs {
			item, err := v.x.src.item(v.ctx, s, part[g].items[k])
			if err != nil {
				return err
			}
			v.props[i][doc] += propWord(v.seed, part[g].name, item)
		}
	}
	return v.ctx.Err()
}

// propWord is to a property what word is to a term.
func propWord(seed maphash.Seed, name string, item []byte) uint64 {
	b := make([]byte, 0, 256)
	b = append(append(append(b, byte(len(name))), name...), item...)
	return maphash.Bytes(seed, b)
}
