package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/rarity"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of the order in time: clause 11.10.
const (
	maxLater   = 10               // how many of the first candidates are compared
	minShared  = 2                // terms that two texts about the same thing share at least
	laterApart = 3600 * 1_000_000 // microseconds between two memories, so that the later one may come first
	commonWord = fixed.One / 64   // share of texts of a language that have a word that says nothing of what a text is about
)

// laterFirst moves the later of two candidates about the same thing to the front if it says what the earlier one says, or
// may replace it: the later one is true more often. Neither is marked, since no caller has decided. A question about a
// time keeps its order.
func (e *examiner) laterFirst(ctx context.Context, list []held) error {
	if len(e.dated.Ranges) > 0 || e.past {
		return nil
	}
	p := e.newPairs()
	first := list[:min(maxLater, len(list))]
	for i := 1; i < len(first); i++ {
		newer := first[i]
		for at := range i {
			old := first[at]
			if old.tier != tierNone || newer.beside != nil || old.beside != nil {
				continue
			}
			leads, err := p.leads(ctx, newer, old)
			if err != nil {
				return err
			}
			if leads {
				copy(first[at+1:i+1], first[at:i])
				first[at] = newer
				newer.candidate.later = old.id
				break
			}
		}
	}
	return nil
}

type pairs struct {
	r        *pool
	a        *text.Analyzer
	model    string // of the vectors that are compared, "" for none
	said     map[graph.ID]*summary
	vectors  map[graph.ID][]int8
	matcher  *matcher
	entities []*entity           // of the question, without names in a language that capitalises nouns
	named    map[graph.ID]uint32 // which of them a candidate has
}

func (e *examiner) newPairs() *pairs {
	p := &pairs{r: e.pool, a: text.English, said: map[graph.ID]*summary{}, vectors: map[graph.ID][]int8{}, named: map[graph.ID]uint32{}}
	for _, l := range e.lists {
		if m, ok := l.lane.Model(); ok && len(l.cosines) > 0 {
			p.model = m
			break
		}
	}
	return p
}

// leads reports whether the newer of two candidates comes before the older one. Either both say nearly the same in the
// words of the question, or they are so much alike in words and meaning that the newer one may replace the older one.
func (p *pairs) leads(ctx context.Context, newer, old held) (bool, error) {
	row := p.r.row
	if newer.strength() < old.strength()*row.ofBest>>fixed.FracBits {
		return false, nil
	}
	its, err := p.summary(ctx, newer.id)
	if err != nil {
		return false, err
	}
	other, err := p.summary(ctx, old.id)
	if err != nil || its.created-other.created < laterApart {
		return false, err
	}
	strong := newer.strength() >= old.strength()*row.yields>>fixed.FracBits && newer.keeps(old) >= row.keeps
	shared, err := p.shared(ctx, its, other)
	if err != nil {
		return false, err
	}
	if strong && shared >= row.twin {
		return true, nil
	}
	if shared == 0 || newer.said || old.said { // a turn replaces nothing
		return false, nil
	}
	cos, err := p.cosine(ctx, newer, old)
	if err != nil || (shared+cos)/2 < row.replaces {
		return false, err
	}
	if strong {
		return true, nil
	}
	if p.substitutes(newer, old) {
		return false, nil
	}
	return p.names(ctx, newer, old)
}

// substitutes reports whether the newer of two candidates has another word in the place of one that the question has, with
// the same word before or after it: then it is about another thing, and not a later word about the same one.
func (p *pairs) substitutes(newer, old held) bool {
	w := old.by
	if w == nil || w.holds[old.id] == nil || w.holds[newer.id] == nil {
		return true
	}
	its, other := p.said[newer.id].words, p.said[old.id].words
	lang := rarity.LanguageOf(its)
	least := slices.Max(w.tells) / 4
	for i, t := range w.own {
		if w.tells[i] < least || w.holds[newer.id][i] > 0 || w.holds[old.id][i] == 0 {
			continue
		}
		found := false
		for at, word := range other {
			if term, ok := p.a.WordTerm(word); !ok || term != t.Term {
				continue
			}
			found = true
			for in, word := range its {
				term, ok := p.a.WordTerm(word)
				if !ok || slices.Contains(other, word) || rarity.Of(term, lang) >= commonWord {
					continue
				}
				if at > 0 && in > 0 && other[at-1] == its[in-1] ||
					at+1 < len(other) && in+1 < len(its) && other[at+1] == its[in+1] {
					return true
				}
			}
		}
		if !found { // in other words
			return true
		}
	}
	return false
}

// cosine returns the cosine of the vectors of two candidates, 0 if either has none.
func (p *pairs) cosine(ctx context.Context, a, b held) (int64, error) {
	x, err := p.vector(ctx, a)
	if err != nil || x == nil {
		return 0, err
	}
	y, err := p.vector(ctx, b)
	return cosine(x, y), err
}

func (p *pairs) vector(ctx context.Context, h held) ([]int8, error) {
	if v, ok := p.vectors[h.id]; ok || !p.hasVector(h) {
		return v, nil
	}
	e, err := p.r.embedding(ctx, h.id, p.model)
	if err != nil {
		return nil, err
	}
	p.vectors[h.id] = e.Int8()
	return p.vectors[h.id], nil
}

// hasVector reports whether the dense lane has found a candidate.
func (p *pairs) hasVector(h held) bool {
	for _, l := range p.r.lists {
		if m, ok := l.lane.Model(); ok && m == p.model {
			_, found := l.cosines[h.id]
			return found
		}
	}
	return false
}

// names reports whether the newer of two candidates has all names, numbers and quoted phrases of the question that the
// older one has.
func (p *pairs) names(ctx context.Context, newer, old held) (bool, error) {
	if p.matcher == nil {
		lang := languageOf(p.r.req.Text)
		p.matcher = newMatcher(p.a)
		for _, e := range entitiesOf(p.a, p.r.req.Text) {
			if e.kind != retrieve.LackName || lang == nil || !lang.Nouns {
				p.entities = append(p.entities, e)
				p.matcher.learn(e)
			}
		}
	}
	for _, h := range []held{newer, old} {
		if _, ok := p.named[h.id]; ok {
			continue
		}
		n, _, err := p.r.g.Node(ctx, h.id)
		if err != nil {
			return false, fmt.Errorf("read node %s: %w", h.id, err)
		}
		if p.named[h.id], err = p.r.entitiesIn(ctx, p.matcher, n, p.entities); err != nil {
			return false, err
		}
	}
	return p.named[old.id]&^p.named[newer.id] == 0, nil
}

// summary returns what the summary of a candidate says.
func (p *pairs) summary(ctx context.Context, id graph.ID) (*summary, error) {
	if s := p.said[id]; s != nil {
		return s, nil
	}
	n, _, err := p.r.g.Node(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", id, err)
	}
	said := text.FirstScalars(n.Summary, maxCompared)
	s := &summary{created: n.Created, terms: p.a.Terms(said)}
	p.a.EachSurface(said, func(w text.Surface) bool {
		s.words = append(s.words, strings.Clone(w.Token))
		return true
	})
	slices.Sort(s.terms)
	s.terms = slices.Compact(s.terms)
	p.said[id] = s
	return s, nil
}

// shared returns how much of the weight of the lighter of two summaries both have, 0 for a single term. Few pairs share
// more, and only their terms are weighed.
func (p *pairs) shared(ctx context.Context, a, b *summary) (weight int64, err error) {
	var both []int
	for i, term := range a.terms {
		if _, ok := slices.BinarySearch(b.terms, term); ok {
			both = append(both, i)
		}
	}
	if len(both) < minShared {
		return 0, nil
	}
	for _, s := range []*summary{a, b} {
		if s.weights == nil {
			if s.weights, err = p.r.x.IDFs(ctx, s.terms); err != nil {
				return 0, fmt.Errorf("weigh the terms of summaries: %w", err)
			}
		}
	}
	for _, i := range both {
		weight += a.weights[i]
	}
	return share(weight, min(sumOf(a.weights), sumOf(b.weights))), nil
}

// keeps returns how much of the older candidate's match the newer one has too. It takes the better of both candidates'
// best wordings, since these may differ.
func (h held) keeps(old held) int64 {
	most := int64(-1)
	for _, w := range []*wording{old.by, h.by} {
		if w != nil {
			most = max(most, w.keeps(old.id, h.id))
		}
	}
	if most < 0 {
		return fixed.One
	}
	return most
}

// placesOf returns the positions of some candidates, in their order, among all.
func (e *examiner) placesOf(list []held) []int {
	out := make([]int, 0, len(list))
	for i, c := range e.found {
		if len(out) < len(list) && c == list[len(out)].candidate {
			out = append(out, i)
		}
	}
	return out
}

// summary has the words of a node's summary.
type summary struct {
	created graph.Time
	words   []string // in their order
	terms   []string // ascending, each once
	weights []int64  // of the terms, once they are needed
}
