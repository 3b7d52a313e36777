package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of altitudes in ranking version 2: clause 29.6.
const (
	maxGrouped  = 64 // candidates whose digests are looked at
	maxDigests  = 3  // of scopes and clusters in an answer
	maxQuoted   = 20 // candidates that digests may cover although they are not shown
	digestShare = 2  // part of the budget that all digests may take

	digestAnswers = fixed.One / 2     // of the question that the text of a digest accounts for, to be an answer
	digestMaybe   = fixed.One * 3 / 8 // the same, to be one that may be
)

// broad are the phrases of broad questions, folded to lower case, with spaces for everything but letters and digits of
// ASCII.
var broad = []string{
	" what do we know ", " what do you know ", " what is known ", " what s known ", " overview ", " summarize ",
	" summarise ", " summary of ", " sum up ", " tell me about ", " tell us about ", " everything about ",
	" all about ", " what is going on ", " what s going on ", " big picture ", " main points ", " in general ",
	" state of ", " status of ", " brief me ", " catch me up ", " background on ", " history of ",
}

// foldBroad returns the beginning of a text in the form of the phrases.
func foldBroad(s string) string {
	s = text.FirstScalars(s, maxBroad)
	words := strings.FieldsFunc(render.LowerASCII(s), func(c rune) bool {
		return c < 0x80 && !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return " " + strings.Join(words, " ") + " "
}

func asksBroadly(s string) bool {
	line := foldBroad(s)
	return slices.ContainsFunc(broad, func(p string) bool { return strings.Contains(line, p) })
}

func subject(s string) string {
	line := foldBroad(s)
	for _, p := range broad {
		line = strings.ReplaceAll(line, p, " ")
	}
	return line
}

// maxBroad is how much of a text says how broadly it asks, in scalars.
const maxBroad = 4096

type rankedDigest struct {
	*source.Digest
	known int64        // how much of the question its text accounts for
	below []*candidate // of those that are looked at
}

// band returns the band of a digest by the share of the question that its text covers.
func (d *rankedDigest) band() retrieve.Band {
	switch {
	case d.known >= digestAnswers:
		return retrieve.BandAnswer
	case d.known >= digestMaybe:
		return retrieve.BandMaybe
	}
	return retrieve.BandRest
}

// digests puts the digests into the answer that the altitude asks for, and returns the candidates that are
// packed as items: those that no digest covers.
func (p *packer) digests(ctx context.Context, found []*candidate) ([]*candidate, error) {
	g, ok := p.g.(source.Digested)
	at := p.req.Altitude
	if at == retrieve.AltitudeEntity || !ok || at == retrieve.AltitudeAuto && !asksBroadly(p.req.Text) {
		return found, nil
	}
	q, err := p.newQuoter(ctx, g, found)
	if err != nil {
		return nil, err
	}
	fits := at != retrieve.AltitudeAuto
	if fits {
		if fits, err = p.allFit(ctx, found); err != nil {
			return nil, err
		}
	}
	var list []*rankedDigest
	if !fits {
		if list, err = q.ranked(ctx, p.found[:min(maxGrouped, len(p.found))]); err != nil {
			return nil, err
		}
	}
	if at == retrieve.AltitudeRoot || at == retrieve.AltitudeAuto && (q.unsaid() || len(p.found) == 0) {
		root, err := g.RootDigest(ctx)
		if err != nil {
			return nil, err
		}
		if root != nil {
			if _, err := q.put(ctx, &rankedDigest{Digest: root, known: q.known(root)}); err != nil {
				return nil, err
			}
		}
	}
	for n := 0; n < maxDigests && len(list) > 0; list = list[1:] {
		put, err := q.put(ctx, list[0])
		if err != nil {
			return nil, err
		}
		if put {
			n++
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(c *candidate) bool { return q.covered[c.id] }), nil
}

// quoter chooses the digests of an answer and their printed sentences.
type quoter struct {
	*packer
	from    source.Digested
	asked   *wording          // the terms of the query
	shown   map[graph.ID]bool // candidates that become items if no digest covers them
	best    map[graph.ID]bool // candidates that a digest may cover instead
	counts  map[graph.ID]int  // sentences of facts
	covered map[graph.ID]bool
	room    int // tokens left for digests
}

func (p *packer) newQuoter(ctx context.Context, g source.Digested, found []*candidate) (*quoter, error) {
	q := &quoter{
		packer: p, from: g, shown: map[graph.ID]bool{}, best: map[graph.ID]bool{}, counts: map[graph.ID]int{},
		covered: map[graph.ID]bool{}, room: *p.req.Budget / digestShare,
	}
	for _, c := range found {
		q.shown[c.id] = true
	}
	for _, c := range p.found[:min(maxQuoted, len(p.found))] {
		q.best[c.id] = true
	}
	var err error
	if q.asked, err = p.wording(ctx, source.TextQuery{Text: subject(p.req.Text)}); err != nil {
		return nil, err
	}
	return q, nil
}

// unsaid reports whether the text asks broadly for nothing that the memory has a term of.
func (q *quoter) unsaid() bool {
	return !slices.ContainsFunc(q.asked.own, func(t source.TermWeight) bool { return t.Weight > 0 })
}

// known returns how much of the question the text of a digest accounts for.
func (q *quoter) known(d *source.Digest) int64 {
	said := d.Written
	if said == "" {
		parts := make([]string, len(d.Sentences))
		for i, s := range d.Sentences {
			parts[i] = s.Text
		}
		said = strings.Join(parts, " ")
	}
	has := map[string]bool{}
	for _, term := range text.English.Terms(said) {
		has[term] = true
	}
	row := make([]int64, 0, len(q.asked.own)+len(q.asked.kin))
	add := func(term string) {
		n := int64(0)
		if has[term] {
			n = 1
		}
		row = append(row, n)
	}
	for _, t := range q.asked.own {
		add(t.Term)
	}
	for _, t := range q.asked.kin {
		add(t.Term)
	}
	holds := make([]int64, len(q.asked.own))
	q.asked.credit(holds, row, q.row.kinKnown)
	return q.asked.accounted(holds)
}

// ranked returns the digests above candidates, the root's aside, by how much of the question their texts
// account for; of equal ones by their first candidate, and the nearest first.
func (q *quoter) ranked(ctx context.Context, looked []*candidate) ([]*rankedDigest, error) {
	var out []*rankedDigest
	at := map[string]*rankedDigest{}
	for _, c := range looked {
		above, err := q.from.Digests(ctx, c.id)
		if err != nil {
			return nil, err
		}
		for _, d := range above {
			if d.Root {
				continue
			}
			one := at[d.Name]
			if one == nil {
				one = &rankedDigest{Digest: d, known: q.known(d)}
				at[d.Name], out = one, append(out, one)
			}
			one.below = append(one.below, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *rankedDigest) int { return cmp.Compare(b.known, a.known) })
	return out, nil
}

// allFit reports whether the candidates that are shown fit into limit and budget.
func (p *packer) allFit(ctx context.Context, shown []*candidate) (bool, error) {
	if *p.req.Limit > 0 && len(shown) > *p.req.Limit {
		return false, nil
	}
	if *p.req.Budget == 0 {
		return true, nil
	}
	sum := 0
	for _, c := range shown {
		n, _, err := p.g.Node(ctx, c.id)
		if err != nil {
			return false, fmt.Errorf("read node %s: %w", c.id, err)
		}
		mark, err := p.g.Mark(ctx, graph.OnNode, c.id)
		if err != nil {
			return false, fmt.Errorf("read mark on node %s: %w", c.id, err)
		}
		s, err := p.render(ctx, n, mark, formWhole)
		if err != nil {
			return false, err
		}
		tokens, err := p.tokens(s.text)
		if err != nil {
			return false, err
		}
		if sum += tokens; sum > *p.req.Budget {
			return false, nil
		}
	}
	return true, nil
}

// put adds a digest to the answer if it has something to print and that fits.
func (q *quoter) put(ctx context.Context, d *rankedDigest) (bool, error) {
	quoted, covers, err := q.quoted(ctx, d)
	if err != nil || len(quoted.Sentences) == 0 && quoted.Written == "" {
		return false, err
	}
	it := retrieve.DigestItem{
		Name: d.Name, Source: d.Source, Facts: d.Facts, Found: len(d.below), Covers: covers, Score: d.known,
		Band: d.band(), Rendered: render.RenderDigest(quoted),
	}
	if it.Tokens, err = q.tokens(it.Rendered); err != nil {
		return false, err
	}
	a := q.answer
	if a.TokensBudget > 0 && it.Tokens > q.room {
		return false, nil
	}
	q.room -= it.Tokens
	for _, id := range covers {
		q.covered[id] = true
	}
	a.TokensUsed += it.Tokens
	a.Digests = append(a.Digests, it)
	return true, nil
}

// quoted returns a digest with the sentences to print, and the facts that these cover, ascending: candidates to show
// whose sentences it has completely, and for an answer also the best of the others. Each fact is covered by one digest
// only. The root's digest is printed unchanged.
func (q *quoter) quoted(ctx context.Context, d *rankedDigest) (*source.Digest, []graph.ID, error) {
	if d.Root && d.Written != "" {
		return d.Digest, nil, nil
	}
	said := map[graph.ID]int{}
	for _, s := range d.Sentences {
		said[s.Fact]++
	}
	covers := map[graph.ID]bool{}
	for id, n := range said {
		if q.covered[id] {
			continue
		}
		if !q.shown[id] {
			covers[id] = !d.Root && d.band() == retrieve.BandAnswer && q.best[id]
			continue
		}
		all, err := q.sentences(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		covers[id] = n == all
	}
	maps.DeleteFunc(covers, func(_ graph.ID, is bool) bool { return !is })
	out := *d.Digest
	if !d.Root {
		out.Sentences = slices.DeleteFunc(slices.Clone(d.Sentences), func(s source.DigestSentence) bool {
			return !covers[s.Fact]
		})
	}
	return &out, slices.SortedFunc(maps.Keys(covers), graph.ID.Compare), nil
}

// sentences returns how many sentences a fact has.
func (q *quoter) sentences(ctx context.Context, id graph.ID) (int, error) {
	n, ok := q.counts[id]
	if !ok {
		var err error
		if n, err = q.from.Sentences(ctx, id); err != nil {
			return 0, err
		}
		q.counts[id] = n
	}
	return n, nil
}
