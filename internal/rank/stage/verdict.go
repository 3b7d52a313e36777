package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of the verdict that its row does not have: clause 11.9.
const (
	maxBanded  = 50 // candidates that are looked at; others are the rest
	maxLeading = 5  // candidates, the first, that a verdict is about
	maxAnswers = 3  // items of an answer that is known, but for chunks of documents
	maxUnsure  = 5  // items of an unsure answer
	maxUnknown = 2  // items of an unknown answer: the nearest
	maxWorded  = 4  // the same without vectors
	// An unsure answer from files shows more items, whole while the budget lasts: it may need several of them.
	maxUnsureChunks = 8
	ofBestChunk     = fixed.One * 2 / 5
	fifths          = 5
	leastTrust      = 1 << 8 // the least weight of a vector that is not trusted
	likeCrowd       = 20     // n nodes with vectors count the floor of cosines by n/(n+likeCrowd)
)

// held is a candidate's share of the question, in units of 2^-16.
type held struct {
	*candidate
	covers int64    // the share that its own words, cues and kindred words cover
	by     *wording // the wording that it matches best, nil if there is no text
	like   int64    // how far its cosine is above the memory's usual ones
}

// strength is the share of the question that a candidate accounts for by words or by meaning.
func (h held) strength() int64 {
	return fixed.One - (fixed.One-h.covers)*(fixed.One-h.like)>>fixed.FracBits
}

// examiner is the stage that says whether the candidates answer the question, and which of them are shown.
type examiner struct{ *pool }

// judge returns the verdict, nil if there is nothing to judge by, and gives the candidates their bands. It looks at all
// that was found, before the limit and the budget.
func (e *examiner) judge(ctx context.Context) (*judged, error) {
	if !e.row.bands {
		return nil, nil
	}
	// There may be neither words nor cosines to judge by, as with sparse vectors alone.
	if e.blank() || e.dated.alone || isBlank(e.req.Text) && !e.compares() {
		for _, c := range e.found {
			c.band = retrieve.BandAnswer
		}
		return nil, nil
	}
	kept, said, err := e.banded(ctx)
	if err != nil {
		return nil, err
	}
	v, err := e.verdictOf(ctx, kept)
	if err != nil {
		return nil, err
	}
	if v.verdict != retrieve.Known && len(said) > 0 {
		other, err := e.verdictOf(ctx, said)
		if err != nil {
			return nil, err
		}
		if len(kept) == 0 || other.verdict.Surer(v.verdict) {
			v = other
		}
	}
	if err := e.reason(ctx, v); err != nil {
		return nil, err
	}
	if err := e.giveBands(ctx, v); err != nil {
		return nil, err
	}
	return v, e.judgeBehind(ctx, v)
}

type judged struct {
	verdict retrieve.Verdict
	list    []held // in order; empty if nothing was found
	because string
	missing []retrieve.Lack
	covered int64
}

func (v *judged) strongest() (best int64) {
	for _, h := range v.list {
		best = max(best, h.strength())
	}
	return best
}

func (e *examiner) verdictOf(ctx context.Context, list []*candidate) (*judged, error) {
	out := &judged{verdict: retrieve.Unknown}
	if len(list) == 0 {
		return out, nil
	}
	var err error
	if out.list, err = e.hold(ctx, list); err != nil {
		return nil, err
	}
	places := e.placesOf(out.list)
	if err := e.laterFirst(ctx, out.list); err != nil {
		return nil, err
	}
	if err := e.askingLast(ctx, out.list); err != nil {
		return nil, err
	}
	if err := e.reasonFirst(ctx, out.list); err != nil {
		return nil, err
	}
	for i, h := range out.list {
		e.found[places[i]] = h.candidate
	}
	best, most := int64(0), int64(0)
	for i, h := range out.list[:min(maxLeading, len(out.list))] {
		if h.tier != tierNone {
			out.verdict = retrieve.Known
			return out, nil
		}
		if i < 2 {
			best = max(best, h.strength())
		}
		most = max(most, h.covers, h.like)
	}
	sure := e.row.sureWords
	if e.compares() {
		sure = e.row.sure
	}
	switch {
	case best >= sure:
		out.verdict = retrieve.Known
	case most >= e.row.least:
		out.verdict = retrieve.Unsure
	}
	return out, nil
}

// compares reports whether cosines can be compared.
func (p *pool) compares() bool {
	return slices.ContainsFunc(p.lists, func(l *laneList) bool { return len(l.cosines) > 0 })
}

// giveBands gives the candidates of a verdict their bands: if it is known, those that cover nearly as much of the
// question as the best are answers, otherwise maybe. A second chunk of a file comes after one of each other file.
func (e *examiner) giveBands(ctx context.Context, v *judged) error {
	band, most, of := retrieve.BandMaybe, maxUnknown, e.row.ofBest
	if !e.compares() { // words alone do not match other wordings
		most, of = maxWorded, e.row.ofWords
	}
	switch v.verdict {
	case retrieve.Known:
		band, most, of = retrieve.BandAnswer, maxAnswers, e.row.ofKnown
	case retrieve.Unsure:
		most = maxUnsure
	}
	best := v.strongest()
	n := 0
	files := map[string]bool{}
	var again []held
	for _, h := range v.list {
		switch {
		case h.tier != tierNone:
			h.band = retrieve.BandAnswer
		case n < v.most(h, most) && h.strength() >= best*v.ofBest(h, of)>>fixed.FracBits:
			file, err := e.fileOf(ctx, h.candidate)
			if err != nil {
				return err
			}
			if h.again = files[file]; h.again {
				again = append(again, h)
				continue
			}
			files[file] = file != ""
			h.band = band
			n++
		}
	}
	for _, h := range again {
		if n < v.most(h, most) {
			h.band = band
			n++
		}
	}
	for _, h := range v.list {
		if h.beside != nil && h.beside.band != retrieve.BandRest && v.verdict != retrieve.Unknown {
			h.band = h.beside.band
		}
	}
	return nil
}

// most returns how many items an answer may have with a candidate: more if it is a chunk.
func (v *judged) most(h held, most int) int {
	switch {
	case h.chunk && v.verdict == retrieve.Unsure:
		return maxUnsureChunks
	case h.chunk && v.verdict == retrieve.Known:
		return maxUnsure
	}
	return most
}

// ofBest returns what share of the best strength a candidate needs: of an unsure answer less if it is a chunk.
func (v *judged) ofBest(h held, of int64) int64 {
	if v.verdict == retrieve.Unsure && h.chunk {
		return min(of, ofBestChunk)
	}
	return of
}

// fileOf returns the common key prefix of all chunks of a candidate's file, "" if it is no chunk.
func (r *request) fileOf(ctx context.Context, c *candidate) (string, error) {
	if !c.chunk {
		return "", nil
	}
	n, _, err := r.g.Node(ctx, c.id)
	if err != nil {
		return "", fmt.Errorf("read node %s: %w", c.id, err)
	}
	if !render.IsChunk(n) {
		return "", nil
	}
	file, _, _ := strings.Cut(n.Key, "#")
	return file, nil
}

// banded returns the candidates that are judged, and separately those that were only said. It gives every candidate the
// band rest.
func (e *examiner) banded(ctx context.Context) (kept, said []*candidate, err error) {
	for _, c := range e.found {
		c.band = retrieve.BandRest
	}
	for rest := e.found; len(rest) > 0 && len(kept) < maxBanded; {
		some := rest[:min(maxBanded-len(kept), len(rest))]
		rest = rest[len(some):]
		items, err := e.items(ctx, some)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range items {
			if !c.said {
				kept = append(kept, c)
			} else if len(said) < maxBanded {
				said = append(said, c)
			}
		}
	}
	return kept, said, nil
}

func idsOf(list []*candidate) []graph.ID {
	ids := make([]graph.ID, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	return ids
}

// hold returns what some candidates have of the question. Of several wordings the best counts three fifths and the next
// best the rest.
func (e *examiner) hold(ctx context.Context, list []*candidate) ([]held, error) {
	ids := idsOf(list)
	out, next := make([]held, len(list)), make([]int64, len(list))
	wordings := 0
	for i, s := range append([]string{e.req.Text}, e.req.Rewrites...) {
		if isBlank(s) {
			continue
		}
		q := source.TextQuery{Text: s}
		if i == 0 {
			q.Readings = e.readings
		}
		shares, err := e.covering(ctx, q, ids)
		if err != nil {
			return nil, err
		}
		w, err := e.wording(ctx, q)
		if err != nil {
			return nil, err
		}
		wordings++
		for at, n := range shares {
			if out[at].by == nil || n > out[at].covers {
				n, out[at].covers, out[at].by = out[at].covers, n, w
			}
			next[at] = max(next[at], n)
		}
	}
	for i, c := range list {
		out[i].candidate = c
		if wordings > 1 {
			out[i].covers = ((fifths-e.row.next)*out[i].covers + e.row.next*next[i]) / fifths
		}
		for _, l := range e.lists {
			out[i].like = max(out[i].like, l.above(l.cosines[c.id]))
		}
	}
	return out, nil
}

// above returns how far a cosine of a dense lane exceeds the memory's floor, 65,536 for the same text. Models differ
// in the cosine of unrelated texts, and a few nodes do not suffice to estimate it.
func (l *laneList) above(cosine int64) int64 {
	n := int64(len(l.cosines))
	floor := l.floor * n / (n + likeCrowd)
	return share(cosine-floor, fixed.One-floor)
}

// shownBands returns the candidates that the request's floor admits, in order: within a band, one chunk of each file
// comes before further ones.
func (p *packer) shownBands() []*candidate {
	if !p.row.bands || p.req.Floor == retrieve.FloorRest {
		return p.found
	}
	var answers, more, maybes, others []*candidate
	for _, c := range p.found {
		switch {
		case c.band == retrieve.BandAnswer && c.again:
			more = append(more, c)
		case c.band == retrieve.BandAnswer:
			answers = append(answers, c)
		case c.band == retrieve.BandMaybe && p.req.Floor == retrieve.FloorMaybe:
			if c.again {
				others = append(others, c)
			} else {
				maybes = append(maybes, c)
			}
		}
	}
	return slices.Concat(answers, more, maybes, others)
}

// balance weighs the text lane against the vectors: the more of the question the text lane covers, the higher its
// weight.
func (f *finder) balance(ctx context.Context, lists []*laneList) error {
	if f.row.textMost == 0 || f.req.Fusion != retrieve.Convex || len(f.req.Weights) > 0 {
		return nil
	}
	vectors := slices.ContainsFunc(lists, func(l *laneList) bool { _, ok := l.lane.Model(); return ok })
	if !vectors {
		return nil
	}
	covered, wordings := int64(0), int64(0)
	for _, l := range lists {
		if !l.worded() {
			continue
		}
		wordings++
		n, err := f.coveredBy(ctx, l)
		if err != nil {
			return err
		}
		covered = max(covered, n)
	}
	for _, l := range lists {
		if _, ok := l.lane.Model(); ok {
			l.weight = max(leastTrust, l.trust) / int64(len(f.req.Vectors)+len(f.req.Sparse))
		} else if l.worded() {
			l.weight = covered * covered * f.row.textMost >> (2 * fixed.FracBits) / wordings
		}
	}
	return nil
}

// coveredBy returns the greatest share of a wording that one of the first of its list covers.
func (f *finder) coveredBy(ctx context.Context, l *laneList) (int64, error) {
	ids := make([]graph.ID, 0, maxCovering)
	for _, h := range l.hits[:min(maxCovering, len(l.hits))] {
		ids = append(ids, h.ID)
	}
	q := source.TextQuery{Text: f.req.Text, Readings: f.readings}
	for i, s := range f.req.Rewrites {
		if l.lane == retrieve.LaneRewrite(i+1) {
			q = source.TextQuery{Text: s}
		}
	}
	shares, err := f.covering(ctx, q, ids)
	return slices.Max(append(shares, 0)), err
}

// placeTypes are the types of nodes that package ingest writes for files and their sections, each with the prefix of
// their keys; personalProps are the properties of these that a person wrote.
var (
	placeTypes    = map[string]string{"Collection": "files:", "Document": "doc/", "Section": "doc/"}
	personalProps = []string{"aliases", "meta", "tags"}
)

// isPlace reports whether a node only stands for a file or section, whose chunks name it anyway.
func isPlace(n *graph.Node) bool {
	prefix, ok := placeTypes[n.Type]
	return ok && strings.HasPrefix(n.Key, prefix) && n.Content == nil && len(n.Cues) == 0 &&
		!slices.ContainsFunc(personalProps, func(name string) bool { _, has := ipld.FindEntry(n.Props, name); return has })
}

// onlyName reports whether to leave out a node that is only a name or a place: it tells a reader nothing that the items
// do not. One that the request names or asks for by its type is an item like others.
func (r *request) onlyName(c *candidate, n *graph.Node) bool {
	return (r.row.bands || c.recalled != nil) && c.tier == tierNone &&
		!slices.Contains(r.req.Types, n.Type) && (source.IsName(n) || r.row.bands && isPlace(n))
}

// items returns the candidates that are not only names. Of indexed nodes it reads only those whose type is one of
// names, since an answer may end long before the last candidate.
func (r *request) items(ctx context.Context, list []*candidate) ([]*candidate, error) {
	types, err := r.x.Types(ctx, idsOf(list))
	if err != nil {
		return nil, fmt.Errorf("read types of candidates: %w", err)
	}
	var out []*candidate
	for i, c := range list {
		t := types[i]
		if source.NameTypes[t] != "" || placeTypes[t] != "" || t == "" {
			n, _, err := r.g.Node(ctx, c.id)
			if err != nil {
				return nil, fmt.Errorf("read node %s: %w", c.id, err)
			}
			if r.onlyName(c, n) {
				continue
			}
			t = n.Type
		}
		c.chunk = t == render.ChunkType
		c.said = source.IsSaid(t) && len(r.req.Types) == 0
		out = append(out, c)
	}
	return out, nil
}
