// Package recall reads memories: answers to questions, what surrounds a topic, what is related to a
// memory and why, and tags for a text.
package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/extract"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/retrieve"
)

// Recall answers a question from a snapshot as Snapshot.Retrieve does, but the kind of question (why, when, who or
// what) affects the ranking. Without an intent in the request the words decide. The answer's Recall has the intent and
// the weights, its items' Recall their signals; its Verdict says whether the memory holds an answer. Filters, budget,
// sessions and receipts work as in any request, so core.Repo records and replays it. Errors are the same as in
// Snapshot.Retrieve. Safe for concurrent use; it writes nothing.
func Recall(ctx context.Context, s *core.Snapshot, q retrieve.Request) (*retrieve.Answer, error) {
	q.Intent = cmp.Or(q.Intent, retrieve.IntentAuto)
	return rank.Retrieve(ctx, s, q)
}

// findAll returns the first nodes that have something of a text, however little, without expansion. Names
// are among them, which bands leave out: links lead on from them.
func findAll(ctx context.Context, s *core.Snapshot, limit int, q retrieve.Request) (*retrieve.Answer, error) {
	q.Limit, q.Budget, q.Expand, q.Ranking = &limit, new(int), new(int), retrieve.PlainRanking
	return rank.Retrieve(ctx, s, q.Explicitly("limit", "budget", "expand"))
}

// Bounds of suggesting.
const (
	MinSuggested = 3
	MaxSuggested = 6
	suggestFrom  = 20 // memories like the text whose tags count
)

// SuggestedTag is a tag that a text may have.
type SuggestedTag struct {
	Name  string     `json:"tag"`
	Score int64      `json:"score"`   // in units of 2^-16; 0 for a tag from the text alone
	From  []graph.ID `json:"from"`    // memories that have it, best first, at most 3; none for a tag from the text alone
	Text  bool       `json:"in_text"` // whether the text itself names it
}

// Suggest returns tags for a text, at most MaxSuggested, best first: those of the most similar memories, each weighted
// by similarity and rarity, and, if these are fewer than MinSuggested, names in the text itself. Hidden memories do not
// count.
func Suggest(ctx context.Context, s *core.Snapshot, txt string) ([]SuggestedTag, error) {
	if strings.TrimSpace(txt) == "" {
		return nil, &retrieve.RequestError{Param: "text", Reason: "is blank"}
	}
	g := &suggester{s: s, tags: map[string]*SuggestedTag{}}
	if s.CID().Defined() {
		if err := g.neighbourhood(ctx, txt); err != nil {
			return nil, err
		}
	}
	out := g.best()
	secrets := memory.Credentials(guard.FindProse(txt))
	for _, e := range extract.Entities(txt, nil) {
		name := strings.TrimPrefix(strings.TrimPrefix(e.Name, "#"), "@")
		key := memory.TagKey(name)
		if e.Kind == extract.Date || e.Kind == extract.Version || e.Kind == extract.URL || key == "" ||
			secrets.Has(e) {
			continue
		}
		at := slices.IndexFunc(out, func(t SuggestedTag) bool { return memory.TagKey(t.Name) == key })
		if at >= 0 {
			out[at].Text = true
		} else if len(out) < MinSuggested || e.Kind == extract.Hashtag && len(out) < MaxSuggested {
			out = append(out, SuggestedTag{Name: name, Text: true})
		}
	}
	return out, nil
}

type suggester struct {
	s    *core.Snapshot
	tags map[string]*SuggestedTag // by key
}

func (g *suggester) neighbourhood(ctx context.Context, txt string) error {
	ans, err := findAll(ctx, g.s, suggestFrom, retrieve.Request{Text: text.FirstBytes(txt, retrieve.MaxText)})
	if err != nil {
		return err
	}
	top := int64(1)
	for _, it := range ans.Items {
		top = max(top, it.Score)
	}
	for _, it := range ans.Items {
		share := max(0, it.Score) * fixed.One / top
		if it.Tier > 0 {
			share = fixed.One
		}
		tags, err := tagsOf(ctx, g.s, it.ID)
		if err != nil {
			return err
		}
		for _, t := range tags {
			rarity, err := g.rarity(ctx, t.key)
			if err != nil {
				return err
			}
			old := g.tags[t.key]
			if old == nil {
				old = &SuggestedTag{Name: t.name}
				g.tags[t.key] = old
			}
			old.Score += int64(fixed.MulDivSat(uint64(share), uint64(rarity), fixed.One))
			if len(old.From) < 3 {
				old.From = append(old.From, it.ID)
			}
		}
	}
	return nil
}

func (g *suggester) best() []SuggestedTag {
	var out []SuggestedTag
	for _, t := range g.tags {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b SuggestedTag) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(memory.TagKey(a.Name), memory.TagKey(b.Name)))
	})
	for i, t := range out {
		if i == MaxSuggested || t.Score < out[0].Score/8 {
			return out[:i]
		}
	}
	return out
}

// rarity is the idf of clause 9.2 of a tag: of the memories that edges tag with it among all nodes.
func (g *suggester) rarity(ctx context.Context, key string) (int64, error) {
	degree, err := g.s.Adjacency().Degree(ctx, graph.NodeID(key), adjacency.In, memory.EdgeTagged)
	nodes, _, _, _ := g.s.Sizes()
	return idf(nodes, degree), err
}

// idf is the inverse document frequency of clause 9.2.
func idf(nodes, with uint64) int64 {
	return max(1, fixed.Log2(2*nodes+2)-fixed.Log2(2*min(with, nodes)+1))
}

type tag struct{ key, name string }

// tagsOf returns the tags of a memory, in the order of their keys: of its edges to Tag nodes, and of its property.
func tagsOf(ctx context.Context, s *core.Snapshot, id graph.ID) ([]tag, error) {
	n, _, err := s.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	by := map[string]string{}
	for _, name := range memory.Texts(n.Props, memory.PropTags) {
		if key := memory.TagKey(name); len(by) < memory.MaxTags && key != "" {
			by[key] = name
		}
	}
	count := 0
	for e, err := range s.Adjacency().Bucket(ctx, id, adjacency.Out, memory.EdgeTagged, nil) {
		if err != nil {
			return nil, err
		}
		if count++; count > memory.MaxTags {
			break
		}
		t, err := memory.SeenNode(ctx, s, e.Other, nil)
		if err != nil {
			return nil, err
		}
		gone, err := memory.IsEdgeHidden(ctx, s, e.Edge, nil)
		if err != nil {
			return nil, err
		}
		if t != nil && !gone && memory.TagKey(t.Summary) != "" && t.Type == memory.TypeTag {
			by[memory.TagKey(t.Summary)] = t.Summary
		}
	}
	out := make([]tag, 0, len(by))
	for key, name := range by {
		hidden, err := memory.IsHidden(ctx, s, graph.NodeID(key))
		if err != nil {
			return nil, err
		}
		if !hidden {
			out = append(out, tag{key, name})
		}
	}
	slices.SortFunc(out, func(a, b tag) int { return strings.Compare(a.key, b.key) })
	return out, nil
}
