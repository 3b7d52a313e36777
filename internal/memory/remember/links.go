package remember

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
)

// LinkRule is a kind of edges that is written by rule.
type LinkRule string

// The rules, in the order in which they run.
const (
	RuleTemporal LinkRule = "temporal" // follows, near
	RuleEntity   LinkRule = "entity"   // mentions
	RuleKeyword  LinkRule = "keyword"  // tagged
	RuleCausal   LinkRule = "causal"   // causes, enables, prevents
	RuleSemantic LinkRule = "semantic" // similar
)

// Rules returns the names of all rules.
func Rules() []LinkRule {
	return []LinkRule{RuleTemporal, RuleEntity, RuleKeyword, RuleCausal, RuleSemantic}
}

// LinkOptions say which rules write edges. The zero value is all of them.
type LinkOptions struct {
	Off []LinkRule // rules that write none; also their candidates are not looked for
}

// Validate returns an error that wraps state.ErrInvalid unless all names are names of rules.
func (o LinkOptions) Validate() error {
	for _, r := range o.Off {
		if !slices.Contains(Rules(), r) {
			return &graph.FieldError{Field: "links", Reason: fmt.Sprintf(
				"no rule is called %q: they are temporal, entity, keyword, causal and semantic", r)}
		}
	}
	return nil
}

func (o LinkOptions) runs(r LinkRule) bool { return !slices.Contains(o.Off, r) }

// Bounds and thresholds of the rules: docs/internals/memories.md.
const (
	maxNear       = 2
	maxMentions   = 8 // of names that are found; those that the caller gives all count
	maxCausal     = 3
	maxSimilar    = 3
	maxCandidates = 5
	nearHours     = 24
	causalOverlap = 9_830  // .15 in units of 2^-16
	similarAt     = 52_429 // .80
	candidateAt   = 26_214 // .40
	hourMicros    = 3_600_000_000
	maxNodes      = 8192 // that a linker keeps twice, those before and those since
)

// linker writes the edges of the drafts of one commit. It reads a bounded number of blocks for each,
// however large the memory is. Not safe for concurrent use.
type linker struct {
	m      *Writer
	s      *core.Snapshot
	opt    LinkOptions
	drafts []recent                 // of this commit, the newest last
	nodes  map[graph.ID]*graph.Node // of the snapshot that were read, nil if there is none
	older  map[graph.ID]*graph.Node // likewise, before these
	words  *compare.Vocabulary
	sets   map[graph.ID]compare.TermSet // of nodes of the snapshot that share an entity with a draft
	given  map[string][]*graph.Node     // entities by the given name that their titles begin with
	marks  *memory.Marker               // pending marks of the commit; nil for none
	made   map[string]string            // keys of entities that this commit makes, by the key of a name
}

func (m *Writer) newLinker(s *core.Snapshot, opt LinkOptions) *linker {
	return &linker{m: m, s: s, opt: opt, nodes: map[graph.ID]*graph.Node{}, words: compare.NewVocabulary()}
}

// node returns a node of the snapshot, nil for none. It is read once.
func (l *linker) node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	if n, ok := l.nodes[id]; ok {
		return n, nil
	}
	n, ok := l.older[id]
	if !ok {
		var err error
		if n, _, err = l.s.Node(ctx, id); err != nil && !memory.IsMissing(err) {
			return nil, err
		}
	}
	if len(l.nodes) == maxNodes { // a large batch keeps no more than counts
		l.nodes, l.older = map[graph.ID]*graph.Node{}, l.nodes
	}
	l.nodes[id] = n
	return n, nil
}

// links returns the edges that rules write for a draft and the candidates that an agent may link. subjects are its
// subjects, similar the memories of the snapshot that resemble it, in any order. The result depends only on the commit,
// the draft, those before it in the commit, and similar.
func (l *linker) links(ctx context.Context, d *Draft, subjects []graph.ID, similar []Near) (Linked, error) {
	var out Linked
	similar = slices.Clone(similar)
	slices.SortFunc(similar, func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Text, a.Text), a.ID.Compare(b.ID))
	})
	previous, err := l.temporal(ctx, d, &out)
	if err != nil {
		return out, err
	}
	if l.opt.runs(RuleEntity) {
		if err := l.entities(ctx, d, subjects, &out); err != nil {
			return out, err
		}
	}
	if l.opt.runs(RuleKeyword) {
		l.keywords(d, &out)
	}
	if l.opt.runs(RuleCausal) {
		if err := l.causal(ctx, d, similar, previous, &out); err != nil {
			return out, err
		}
	}
	if l.opt.runs(RuleSemantic) {
		err = l.semantic(ctx, d, similar, &out)
	}
	return out, err
}

// wrote records a draft that will be in the commit, so that later ones can follow it.
func (l *linker) wrote(d *Draft) {
	if len(l.drafts) == 2*recentNodes { // a large batch keeps no more than counts
		l.drafts = slices.Delete(l.drafts, 0, recentNodes)
	}
	l.drafts = append(l.drafts, recent{
		id: d.ID, created: d.Created, sources: d.Sources, agent: d.Agent, task: d.Task, terms: l.termsOf(d),
		drafted: true,
	})
}

// seen returns a node of the snapshot that no mark hides, nil for none.
func (l *linker) seen(ctx context.Context, id graph.ID) (*graph.Node, error) {
	if hidden, err := l.hides(ctx, id); err != nil || hidden {
		return nil, err
	}
	return l.node(ctx, id)
}

// termsOf returns the terms of a draft's text, which is read once.
func (l *linker) termsOf(d *Draft) compare.TermSet {
	if d.terms == nil || d.terms.Of != l.words { // another linker read it
		d.terms = l.words.Read(d.Text)
	}
	return d.terms.Set
}

// termsOfNear returns the terms of a memory, nil for one without a text, or that is hidden or not there.
func (l *linker) termsOfNear(ctx context.Context, near Near) (*compare.TextTerms, error) {
	if near.known != nil {
		if hidden, err := l.hides(ctx, near.ID); err != nil || hidden {
			return nil, err
		}
		return near.known.terms(l.words), nil
	}
	n, err := l.seen(ctx, near.ID)
	if n == nil || err != nil || n.Summary == "" {
		return nil, err
	}
	return l.words.Read(n.Summary), nil
}

// termsOfNode returns the terms of a node of the snapshot, which is read once while it is in use.
func (l *linker) termsOfNode(n *graph.Node) compare.TermSet {
	set, ok := l.sets[n.ID]
	if !ok {
		if l.sets == nil || len(l.sets) == maxNodes {
			l.sets = map[graph.ID]compare.TermSet{}
		}
		set = l.words.TermsOf(n.Summary)
		l.sets[n.ID] = set
	}
	return set
}

// hides reports whether a mark of the snapshot, or of the commit that is being made, hides a node.
func (l *linker) hides(ctx context.Context, id graph.ID) (bool, error) {
	if l.marks != nil {
		m, err := l.marks.Now(id)
		if err != nil || m != nil && m.State.Hides() {
			return true, err
		}
	}
	m, err := l.s.Mark(ctx, graph.OnNode, id)
	return m != nil && m.State.Hides(), err
}

func (l *linker) semantic(ctx context.Context, d *Draft, similar []Near, out *Linked) error {
	list := slices.Clone(similar)
	slices.SortFunc(list, func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), a.ID.Compare(b.ID))
	})
	written, candidates := 0, 0
	for _, near := range list {
		if near.Cosine < candidateAt || candidates == maxCandidates {
			break
		}
		n, err := l.seen(ctx, near.ID)
		if err != nil {
			return err
		}
		switch {
		case n == nil || near.ID == d.ID:
		case near.Cosine < similarAt:
			out.Candidates = append(out.Candidates, Candidate{"semantic", near.ID, near.Cosine})
			candidates++
		case written < maxSimilar:
			written++
			out.Links = append(out.Links, Link{
				Type: memory.EdgeSimilar, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{ID: near.ID},
				Weight: uint32(min(near.Cosine, fixed.One)),
				Why:    "vectors alike: cosine " + share(near.Cosine),
			})
		}
	}
	return nil
}

// share writes a number of units of 2^-16 with two decimals, cut.
func share(x int64) string {
	hundredths := x * 100 / fixed.One
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}
