package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of the entity lane's work in ranking version 1: clause 9.8.
const (
	maxEntityNodes   = 2048   // nodes read for all entities of a text
	maxEntityContent = 32_768 // bytes of a content in which entities count
)

// Phrases is the ability of an Index to find the documents that may have a phrase. The entity lane
// needs it.
type Phrases interface {
	// WithTerms returns the accepted documents that have each of some terms in any field, ascending,
	// or Many where they are more than most.
	WithTerms(
		ctx context.Context, terms []string, accept Accept, most int,
	) (TermsResult, error)
}

// TermsResult is the answer of Phrases.
type TermsResult struct {
	IDs  []graph.ID // ascending, nil where Many
	Many bool
	IDF  int64 // sum of idf (clause 9.2) over the distinct terms, 0 where no node has one of them
}

// entityLane is what the entity lane found out.
type entityLane struct {
	none   bool // whether the text has no entities
	common int  // entities that do not count, since too many nodes may have them
	counts []*entity
	of     map[graph.ID]uint32 // bits of those of counts that a node of the list has
}

// names returns the entities that a node of the list has, as the text has them.
func (l *entityLane) names(id graph.ID) []string {
	var out []string
	for i, e := range l.counts {
		if l.of[id]>>i&1 == 1 {
			out = append(out, e.shown)
		}
	}
	return out
}

// searchEntities asks for the list of the entity lane.
func (r *run) searchEntities(ctx context.Context) ([]Hit, error) {
	x, ok := r.x.(Phrases)
	if !ok {
		return nil, errors.New("this index finds no phrases")
	}
	a, err := text.New(Language)
	if err != nil {
		return nil, err
	}
	l := &r.entities
	all := entitiesOf(a, r.req.Text)
	l.none = len(all) == 0
	for _, e := range all {
		res, err := x.WithTerms(ctx, e.terms, r.filter.accept(ctx), maxEntityNodes)
		if err != nil {
			return nil, err
		}
		if res.Many {
			l.common++
			continue
		}
		e.idf, e.nodes = res.IDF, res.IDs
		l.counts = append(l.counts, e)
	}
	l.leaveOut()
	return r.readEntities(ctx, a)
}

// leaveOut leaves only entities whose nodes are not too many to be read, those of the fewest first.
// What is in many nodes tells little.
func (l *entityLane) leaveOut() {
	slices.SortStableFunc(l.counts, func(a, b *entity) int {
		return cmp.Compare(len(a.nodes), len(b.nodes))
	})
	sum := 0
	for i, e := range l.counts {
		if sum += len(e.nodes); sum > maxEntityNodes {
			l.common += len(l.counts) - i
			l.counts = l.counts[:i]
			return
		}
	}
}

// readEntities reads the nodes that may have entities, each once, and scores those that do.
func (r *run) readEntities(ctx context.Context, a *text.Analyzer) ([]Hit, error) {
	l := &r.entities
	maybe := map[graph.ID]uint32{}
	var ids []graph.ID
	m := newMatcher(a)
	for i, e := range l.counts {
		m.learn(e)
		for _, id := range e.nodes {
			if maybe[id] == 0 {
				ids = append(ids, id)
			}
			maybe[id] |= 1 << i
		}
	}
	var hits []Hit
	l.of = map[graph.ID]uint32{}
	for _, id := range ids {
		n, _, err := r.g.Node(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", id, err)
		}
		has, err := r.entitiesIn(ctx, m, n, l.counts, maybe[id])
		if err != nil {
			return nil, err
		}
		if has == 0 {
			continue
		}
		l.of[id] = has
		score := int64(0)
		for i, e := range l.counts {
			if has>>i&1 == 1 {
				score += e.idf
			}
		}
		hits = append(hits, Hit{id, score})
	}
	return ranked(hits), nil
}

// entitiesIn returns which of some entities, given as bits, a node has in one of its fields.
func (r *run) entitiesIn(
	ctx context.Context, m *matcher, n *graph.Node, list []*entity, maybe uint32,
) (has uint32, err error) {
	look := func(s string) {
		if has != maybe {
			has |= m.in(s, list, maybe&^has)
		}
	}
	look(n.Summary)
	look(n.Context)
	look(n.Type)
	for _, e := range n.Props {
		eachString(e.Value, look)
	}
	for _, cue := range n.Cues {
		look(cue)
	}
	if n.Content == nil || has == maybe {
		return has, nil
	}
	content, err := r.g.ContentStart(ctx, n.Content, maxEntityContent+utf8.UTFMax)
	if err != nil {
		return 0, fmt.Errorf("read content of %s: %w", n.ID, err)
	}
	look(firstBytes(content, maxEntityContent))
	return has, nil
}

// eachString calls fn with the strings of field 3 of clause 7.1.
func eachString(v ipld.Value, fn func(string)) {
	if v.Kind() == ipld.String {
		fn(v.Text())
	}
	for _, item := range v.List() {
		if item.Kind() == ipld.String {
			fn(item.Text())
		}
	}
}

// firstBytes returns the first n bytes of s, less a character that these cut.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// matcher finds entities in texts. It gives each token of an entity a number; all others are 0.
type matcher struct {
	a       *text.Analyzer
	numbers map[string]uint32
	words   map[*entity][]uint32
	tokens  []uint32 // of the text at hand
	capital []bool
}

func newMatcher(a *text.Analyzer) *matcher {
	return &matcher{a: a, numbers: map[string]uint32{}, words: map[*entity][]uint32{}}
}

func (m *matcher) learn(e *entity) {
	for _, w := range e.words {
		if m.numbers[w.token] == 0 {
			m.numbers[w.token] = uint32(len(m.numbers) + 1)
		}
		m.words[e] = append(m.words[e], m.numbers[w.token])
	}
}

// in returns which of the wanted entities a text has.
func (m *matcher) in(s string, list []*entity, wanted uint32) (has uint32) {
	m.tokens, m.capital = m.tokens[:0], m.capital[:0]
	m.a.EachSurface(s, func(w text.Surface) bool {
		m.tokens = append(m.tokens, m.numbers[w.Token])
		m.capital = append(m.capital, w.Capital)
		return true
	})
	for i, e := range list {
		if wanted>>i&1 == 1 && m.has(e) {
			has |= 1 << i
		}
	}
	return has
}

// has reports whether the text at hand has an entity: its tokens, one after the other.
func (m *matcher) has(e *entity) bool {
	words := m.words[e]
	for at := 0; at+len(words) <= len(m.tokens); at++ {
		i := 0
		for i < len(words) && m.tokens[at+i] == words[i] &&
			(m.capital[at+i] || !e.words[i].capital) {
			i++
		}
		if i == len(words) {
			return true
		}
	}
	return false
}
