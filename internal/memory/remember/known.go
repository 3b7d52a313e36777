package remember

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// known is a memory of the snapshot, or an earlier request as it will be stored.
type known struct {
	Draft                // the draft that its node was made from, for one of the snapshot
	made      bool       // whether a request made it
	subjects  []graph.ID // that it is about, if that was asked
	asked     bool
	changed   bool
	grown     []string // properties that were added to
	foreign   []string // those in another form than a memory has: left as they are
	count     int      // of its observations; -1 if it was not asked
	analysed  *compare.Text
	read      *compare.TextTerms
	statement bool // whether a later one can replace it
}

func (k *known) words() *compare.Text {
	if k.analysed == nil {
		k.analysed = compare.Analyse(k.Text)
	}
	return k.analysed
}

func (k *known) terms(v *compare.Vocabulary) *compare.TextTerms {
	if k.read == nil {
		k.read = v.Read(k.Text)
	}
	return k.read
}

func isTexts(v ipld.Value) bool {
	return v.Kind() == ipld.List && !slices.ContainsFunc(v.List(), func(item ipld.Value) bool {
		return item.Kind() != ipld.String
	})
}

// look returns a memory by its id, nil if there is no node.
func (p *planner) look(id graph.ID) (*known, error) {
	if k, ok := p.known[id]; ok {
		return k, nil
	}
	n, err := p.linker.node(p.ctx, id)
	if n == nil || err != nil {
		return nil, err
	}
	if n.Type == state.RedactedType {
		_, c, err := p.s.Node(p.ctx, id)
		if err != nil {
			return nil, err
		}
		gone, err := p.s.Redaction(p.ctx, c)
		if err != nil || gone != nil {
			return nil, err // it was purged: a repetition makes a new memory
		}
	}
	statement := memory.IsStatement(n) && !source.IsSaid(n.Type)
	k := &known{count: -1, statement: statement, Draft: Draft{ID: id, Created: n.Created, Request: Request{
		Type: n.Type, Text: n.Summary, Importance: memory.StatedImportance(n), Tags: memory.Texts(n.Props, memory.PropTags),
		Entities: memory.Texts(n.Props, memory.PropEntities), Sources: n.Sources, Cues: n.Cues, ValidFrom: n.ValidFrom,
		ValidTo: n.ValidTo,
	}}}
	if v, ok := ipld.FindEntry(n.Props, memory.PropImportance); ok && v.Kind() != ipld.Int {
		k.foreign = append(k.foreign, memory.PropImportance)
	}
	for _, name := range []string{memory.PropTags, memory.PropEntities} {
		if v, ok := ipld.FindEntry(n.Props, name); ok && !isTexts(v) {
			k.foreign = append(k.foreign, name)
		}
	}
	if v, ok := ipld.FindEntry(n.Props, memory.PropExpires); ok && v.Kind() == ipld.String {
		if t, err := graph.ParseTime(v.Text()); err == nil {
			k.Expires = graph.At(t)
		}
	}
	p.known[id] = k
	return k, nil
}

// subjects returns the subjects of a memory, at most MaxEntities.
func (p *planner) subjects(k *known) ([]graph.ID, error) {
	if k.asked || k.made {
		return k.subjects, nil
	}
	k.asked = true
	for e, err := range p.s.Adjacency().Bucket(p.ctx, k.ID, adjacency.Out, memory.EdgeAbout, nil) {
		if err != nil {
			return nil, err
		}
		gone, err := memory.IsEdgeHidden(p.ctx, p.s, e.Edge, nil)
		if err != nil {
			return nil, err
		}
		if !gone {
			k.subjects = append(k.subjects, e.Other)
		}
		if len(k.subjects) == memory.MaxEntities {
			break
		}
	}
	return k.subjects, nil
}

// hidden returns the state that hides a memory, "" for one that is seen.
func (p *planner) hidden(id graph.ID) (graph.State, error) {
	m, err := p.marks.Now(id)
	if err != nil || m == nil || !m.State.Hides() {
		return "", err
	}
	return m.State, nil
}

// apart returns the differences between a draft and a memory other than their texts.
func (p *planner) apart(d *Draft, k *known) ([]Difference, error) {
	var out []Difference
	if !d.About.IsZero() {
		subjects, err := p.subjects(k)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(subjects, d.About.Target()) {
			old := ""
			if len(subjects) > 0 {
				old = subjects[0].String()
			}
			out = append(out, Difference{Kind: DiffersSubject, A: d.About.String(), B: old})
		}
	}
	if d.Type != k.Type {
		out = append(out, Difference{Kind: DiffersType, A: d.Type, B: k.Type})
	}
	if d.ValidFrom != k.ValidFrom || d.ValidTo != k.ValidTo {
		out = append(out, Difference{Kind: DiffersValidity, A: span(d.ValidFrom, d.ValidTo),
			B: span(k.ValidFrom, k.ValidTo)})
	}
	both := slices.ContainsFunc(d.Entities, func(e string) bool {
		return slices.Contains(k.Entities, e)
	})
	if len(d.Entities) > 0 && len(k.Entities) > 0 && !both {
		out = append(out, Difference{Kind: DiffersEntities, A: d.Entities[0], B: k.Entities[0]})
	}
	return out, nil
}

func span(from, to graph.OptTime) string {
	if !from.Given && !to.Given {
		return ""
	}
	return from.String() + ".." + to.String()
}

// nearby returns the memories of the snapshot that share the rarest words of a draft with it, and
// those whose vectors are close, at most maxNearby, with the cosines of the latter.
func (p *planner) nearby(d *Draft) ([]*known, map[graph.ID]int64, error) {
	if !p.s.CID().Defined() {
		return p.freshNearby(d), nil, nil
	}
	query, err := p.rare.Query(d.Text)
	if err != nil {
		return nil, nil, err
	}
	var ids []graph.ID
	var cosines map[graph.ID]int64
	if d.Vector != nil && d.Vector.DType != graph.Sparse {
		ids, cosines, err = memory.NearVector(p.ctx, p.s, retrieve.Request{Text: query}, d.Vector, maxNearby)
	} else if query != "" {
		ids, err = memory.NearText(p.ctx, p.s, query, maxNearby, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	out := make([]*known, 0, len(ids))
	for _, id := range ids {
		k, err := p.look(id)
		if err != nil {
			return nil, nil, err
		}
		if k != nil && k.Text != "" {
			out = append(out, k)
		}
	}
	return append(out, p.freshNearby(d)...), cosines, nil
}

// freshNearby returns the memories that requests before made and that share the rarest words of a draft with it.
func (p *planner) freshNearby(d *Draft) []*known {
	p.linker.termsOf(d)
	return p.fresh.nearby(d.terms.Order)
}

// ObservationKey returns the key of the edge that says that a wording came from sources: the first
// 16 bytes, in hex digits, of SHA-256("mnem:observed:" + wording + for each source NUL and it).
func ObservationKey(wording string, sources []string) string {
	h := sha256.New()
	h.Write([]byte("mnem:observed:" + wording))
	for _, s := range sources {
		h.Write([]byte("\x00" + s))
	}
	return hex.EncodeToString(h.Sum(nil)[:graph.IDLen])
}

func (p *planner) observations(k *known) (int, error) {
	if k.count < 0 {
		n, err := p.s.Adjacency().Degree(p.ctx, k.ID, adjacency.Out, memory.EdgeObserved)
		if err != nil {
			return 0, err
		}
		k.count = int(n)
	}
	return k.count, nil
}

func hasEdge(ctx context.Context, s *core.Snapshot, id graph.ID) (bool, error) {
	_, _, err := s.Edge(ctx, id)
	if memory.IsMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// chain lists the memories of one type and text that were looked up so far: their ids are the first next ones of ID. A
// batch that states one text about many subjects looks up each once.
type chain struct {
	list []*known
	next uint64
}

// exact returns the visible memory that has a draft's very text, nil for none; then the draft gets the first free id.
// state is the mark that hides a memory of the same text, "" for none.
func (p *planner) exact(d *Draft, always bool) (same *known, state graph.State, err error) {
	first := ID(d.Type, d.Text, 0)
	c := p.chains[first]
	if c == nil {
		c = new(chain)
		p.chains[first] = c
	}
	for i := 0; ; i++ {
		if i == len(c.list) || always {
			k, err := p.extend(c, d)
			if err != nil || k == nil {
				return nil, state, err
			}
			if always {
				continue
			}
		}
		k := c.list[i]
		if k.Type != d.Type || k.Text != d.Text {
			continue // it was edited since
		}
		if other, err := p.apart(d, k); err != nil {
			return nil, state, err
		} else if len(other) > 0 {
			continue // it says it of something else
		}
		by, err := p.hidden(k.ID)
		if err != nil {
			return nil, state, err
		}
		if by == "" {
			return k, "", nil
		}
		state = by
	}
}

// extend looks at the next memory of a chain. If there is none, its id is free: the draft gets it.
func (p *planner) extend(c *chain, d *Draft) (*known, error) {
	d.ID = ID(d.Type, d.Text, c.next)
	k, err := p.look(d.ID)
	if err != nil || k == nil {
		return nil, err
	}
	c.list = append(c.list, k)
	c.next++
	return k, nil
}

// maxFresh bounds the earlier requests examined for one word, since most of them may have it.
const maxFresh = 256

// fresh finds the memories that requests before made in the same commit: no index has them yet.
type fresh struct {
	list   []*known
	having [][]int32 // by term number, indexes in list, ascending
	shared []uint8   // for each of list, how many terms it shares with the current text
	rarest []uint32  // scratch buffers
	met    []int32
}

// add adds a memory of some terms, each once.
func (f *fresh) add(terms []uint32, k *known) {
	n := int32(len(f.list))
	f.list = append(f.list, k)
	for _, term := range terms {
		if more := int(term) + 1 - len(f.having); more > 0 {
			f.having = append(f.having, make([][]int32, more)...)
		}
		f.having[term] = append(f.having[term], n)
	}
}

// nearby returns the memories that share the most of the rarest of some terms, each once, at most maxNearby, the most
// alike first and of those the newest. It looks at maxFresh of the newest of each of maxQuery terms.
func (f *fresh) nearby(of []uint32) []*known {
	if len(f.list) == 0 {
		return nil
	}
	terms := f.rarest[:0]
	for _, term := range of {
		if int(term) < len(f.having) && len(f.having[term]) > 0 {
			terms = append(terms, term)
		}
	}
	f.rarest = terms
	slices.SortStableFunc(terms, func(a, b uint32) int {
		return cmp.Compare(len(f.having[a]), len(f.having[b]))
	})
	f.shared = append(f.shared, make([]uint8, len(f.list)-len(f.shared))...)
	met := f.met[:0]
	for _, term := range terms[:min(memory.MaxQuery, len(terms))] {
		at := f.having[term]
		for _, n := range at[max(0, len(at)-maxFresh):] {
			if f.shared[n]++; f.shared[n] == 1 {
				met = append(met, n)
			}
		}
	}
	order := func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.shared[b], f.shared[a]), cmp.Compare(b, a))
	}
	best := make([]int32, 0, maxNearby+1)
	for _, n := range met {
		if len(best) == maxNearby && order(best[maxNearby-1], n) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, n, order)
		best = slices.Insert(best, at, n)
		best = best[:min(maxNearby, len(best))]
	}
	f.met = met
	out := make([]*known, len(best))
	for i, n := range best {
		out[i] = f.list[n]
	}
	for _, n := range met {
		f.shared[n] = 0
	}
	return out
}
