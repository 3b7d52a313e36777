package remember

import (
	"cmp"
	"context"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/memory/extract"
)

// Bounds of looking for causal candidates.
const (
	maxHopNodes = 4 // entities and tags of a draft at which the search starts
	maxHopEdges = 6 // edges of each of these
)

// cause is a signal of a draft and the terms of its parts.
type cause struct {
	extract.Signal
	cause, effect compare.TermSet
}

// effectOf relates a memory to a draft by one of the draft's signals.
type effectOf struct {
	id      graph.ID
	overlap int64
	signal  extract.Signal
	first   bool // the memory is the cause
}

// judge returns the signal that refers to a memory, and by which part: the signal that shares the most terms, of equal
// ones the first. If both parts share as many, the memory is the cause, as it is older. A part without terms, as in
// "Therefore …" or "This caused …", refers to earlier memories.
func judge(causes []cause, terms compare.TermSet) (sig extract.Signal, first, ok bool) {
	best := int64(0)
	for _, c := range causes {
		in, out := c.cause.Common(terms), c.effect.Common(terms)
		if len(c.cause) == 0 {
			in, out = max(in+out, 1), 0
		} else if len(c.effect) == 0 {
			in, out = 0, max(in+out, 1)
		}
		if n := max(in, out); n > best {
			best, sig, first, ok = n, c.Signal, in >= out, true
		}
	}
	return sig, first, ok
}

// causal links a draft to memories that a signal in its text refers to, and reports others within two hops. It reads
// nothing if the text has no signal.
func (l *linker) causal(ctx context.Context, d *Draft, similar []Near, previous *recent, out *Linked) error {
	signals := extract.Signals(d.Text)
	if len(signals) == 0 {
		return nil
	}
	causes := make([]cause, len(signals))
	for i, s := range signals {
		causes[i] = cause{s, l.words.TermsOf(s.Cause), l.words.TermsOf(s.Effect)}
	}
	own := l.termsOf(d)
	seen := map[graph.ID]bool{d.ID: true}
	var found []effectOf
	look := func(id graph.ID, terms compare.TermSet) {
		seen[id] = true
		if n := own.Overlap(terms); n >= causalOverlap {
			if sig, first, ok := judge(causes, terms); ok {
				found = append(found, effectOf{id, n, sig, first})
			}
		}
	}
	if previous != nil && previous.drafted {
		look(previous.id, previous.terms)
	} else if previous != nil {
		similar = append(slices.Clone(similar), Near{ID: previous.id})
	}
	for _, near := range similar {
		if seen[near.ID] {
			continue
		}
		terms, err := l.termsOfNear(ctx, near)
		if err != nil {
			return err
		}
		if terms != nil {
			look(near.ID, terms.Set)
		}
	}
	sortEffects(found)
	linked := map[graph.ID]bool{}
	for _, e := range found[:min(len(found), maxCausal)] {
		out.Links = append(out.Links, e.link(d))
		linked[e.id] = true
	}
	found = found[min(len(found), maxCausal):]
	if err := l.withinTwo(ctx, out.Links, func(id graph.ID, n *graph.Node) {
		if !seen[id] {
			look(id, l.termsOfNode(n))
		}
	}); err != nil {
		return err
	}
	sortEffects(found)
	for _, e := range found[:min(len(found), maxCandidates)] {
		out.Candidates = append(out.Candidates, Candidate{"causal", e.id, e.overlap})
	}
	return nil
}

func sortEffects(list []effectOf) {
	slices.SortFunc(list, func(a, b effectOf) int {
		return cmp.Or(cmp.Compare(b.overlap, a.overlap), a.id.Compare(b.id))
	})
}

func (e effectOf) link(d *Draft) Link {
	src, dst := graph.Ref{ID: d.ID}, graph.Ref{ID: e.id}
	if e.first {
		src, dst = dst, src
	}
	return Link{
		Type: string(e.signal.Relation), Src: src, Dst: dst,
		Why: "the text says “" + e.signal.Phrase + "”: overlap " + share(e.overlap),
	}
}

// withinTwo calls fn with the memories that share an entity or tag with the draft of some links: the
// first of each bucket.
func (l *linker) withinTwo(ctx context.Context, links []Link, fn func(graph.ID, *graph.Node)) error {
	trees := l.s.Adjacency()
	left := maxHopNodes
	for _, link := range links {
		if link.Makes == nil {
			continue
		}
		if left--; left < 0 {
			return nil
		}
		count := 0
		for e, err := range trees.Bucket(ctx, link.Dst.Target(), adjacency.In, link.Type, nil) {
			if err != nil {
				return err
			}
			if count++; count > maxHopEdges {
				break
			}
			n, err := l.seen(ctx, e.Other)
			if err != nil {
				return err
			}
			gone, err := memory.IsEdgeHidden(ctx, l.s, e.Edge, nil)
			if err != nil {
				return err
			}
			if n != nil && !gone {
				fn(e.Other, n)
			}
		}
	}
	return nil
}
