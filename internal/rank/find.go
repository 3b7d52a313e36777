package rank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/index"
)

// Bounds of the search for a node by a text.
const (
	maxFound      = 256  // nodes with all words of the text
	maxCandidates = 8    // that an error names
	maxFindText   = 4096 // bytes of the text
	titleScalars  = 60   // of a candidate's title
)

// UnsureError is returned when a text fits several nodes, or has too few words to name the one that it
// fits. errors.Is(err, state.ErrInvalid) holds.
type UnsureError struct {
	Name       string // as the caller gave it
	Candidates []state.Candidate
	More       int  // matching nodes besides the candidates
	Many       bool // whether there are still more
}

// Error says how many nodes the text fits; the caller lists the candidates.
func (e *UnsureError) Error() string {
	n := len(e.Candidates) + e.More
	if e.Many {
		return fmt.Sprintf("%q fits more than %d nodes", e.Name, n)
	}
	return fmt.Sprintf("%q fits %d nodes", e.Name, n)
}

// Is reports whether target is state.ErrInvalid.
func (e *UnsureError) Is(target error) bool { return target == state.ErrInvalid }

// Find resolves the name of a node as core.Snapshot.Name does, or else a text: the exact summary of one node, or
// several words that only one node has together. A text finds only nodes whose mark, nil for none, see accepts; if it
// is the exact summary of other nodes only, the *state.NotFoundError names them and the reason. It returns the errors
// of Name, or an *UnsureError. The candidates of a *state.NotFoundError are the nodes that have a single word. It reads
// at most maxFound nodes, besides those of a search.
func Find(ctx context.Context, s *core.Snapshot, name string, see func(*graph.Mark) bool) (graph.ID, error) {
	return find(ctx, s, name, see, false)
}

// FindTitle is Find for callers that must not take one node for another: a text means a node only if it is
// its exact summary. Nodes that have all of its words are candidates of the *state.NotFoundError.
func FindTitle(ctx context.Context, s *core.Snapshot, name string, see func(*graph.Mark) bool) (graph.ID, error) {
	return find(ctx, s, name, see, true)
}

func find(
	ctx context.Context, s *core.Snapshot, name string, see func(*graph.Mark) bool, exactly bool,
) (graph.ID, error) {
	id, err := s.Name(ctx, name)
	var missing *state.NotFoundError
	forced := strings.HasPrefix(name, "key:") || strings.HasPrefix(name, "id:")
	if !errors.As(err, &missing) || forced || !s.Id.Defined() || len(name) > maxFindText {
		return id, err
	}
	f := finder{ctx: ctx, s: s, text: strings.TrimSpace(name), see: see}
	if err := s.WithIndex(ctx, f.search); err != nil {
		return id, fmt.Errorf("find %q: %w", name, err)
	}
	switch {
	case len(f.exact) == 1:
		return f.exact[0], nil
	case len(f.exact) > 1:
		return id, f.unsure(name, f.exact)
	case len(f.hidden) > 0:
		return id, f.unseen(missing)
	case exactly || !isWords(f.text):
		if missing.Candidates, err = f.candidates(f.found); err != nil {
			return id, err
		}
		return id, missing
	case len(f.found) == 1 && !f.many:
		return f.found[0], nil
	case len(f.found) == 0:
		return id, missing
	}
	return id, f.unsure(name, f.found)
}

// isWords reports whether a text is several words and not a key: it has white space, or its script has none.
func isWords(s string) bool {
	words := len(strings.Fields(s)) > 1
	text.EachFolded(s, func(_, _ int, kind text.CharClass, _ string) bool {
		words = words || kind == text.KindSingle
		return !words
	})
	return words
}

// finder looks for the nodes that a text may mean.
type finder struct {
	ctx  context.Context
	s    *core.Snapshot
	text string
	see  func(*graph.Mark) bool

	exact  []graph.ID // whose summary is the text, in id order
	hidden []graph.ID // likewise of those that see does not accept
	found  []graph.ID // that have all of its words: in id order, or of very many the best by them
	many   bool       // whether there are more
}

func (f *finder) search(x *index.Index) error {
	f.exact, f.hidden, f.found, f.many = nil, nil, nil, false
	titled, err := x.TitlesIn(f.ctx, f.text)
	if err != nil {
		return err
	}
	var terms []string
	for _, t := range x.Query(f.text) {
		terms = append(terms, t.Term)
	}
	accept := func(d source.Document) (bool, error) {
		m, err := f.s.Mark(f.ctx, graph.OnNode, d.ID())
		return err == nil && f.see(m), err
	}
	view := newIndexView(f.s, x)
	if f.found, f.many, err = x.WithTerms(f.ctx, terms, accept, maxFound); err != nil {
		return err
	}
	if f.many {
		got, err := view.Text(f.ctx, source.TextQuery{Text: f.text}, accept, maxFound)
		if err != nil {
			return err
		}
		for _, h := range got.Hits {
			f.found = append(f.found, h.ID)
		}
	}
	both := slices.SortedFunc(slices.Values(slices.Concat(titled, f.found)), graph.ID.Compare)
	for _, id := range slices.Compact(both) {
		n, _, err := f.s.Node(f.ctx, id)
		if err != nil {
			return err
		}
		m, err := f.s.Mark(f.ctx, graph.OnNode, id)
		if err != nil {
			return err
		}
		switch {
		case n.Summary != f.text:
		case f.see(m):
			f.exact = append(f.exact, id)
		default:
			f.hidden = append(f.hidden, id)
		}
	}
	return nil
}

// unseen returns the error about nodes that the text means and that marks hide.
func (f *finder) unseen(missing *state.NotFoundError) error {
	m, err := f.s.Mark(f.ctx, graph.OnNode, f.hidden[0])
	if err != nil || m == nil {
		return cmp.Or(err, error(missing))
	}
	missing.Hidden, missing.ID = m.State, f.hidden[0]
	if len(f.hidden) > 1 {
		missing.Candidates, err = f.candidates(f.hidden)
	}
	return cmp.Or(err, error(missing))
}

func (f *finder) unsure(name string, list []graph.ID) error {
	err := &UnsureError{Name: name, Many: f.many && len(f.exact) == 0}
	var failed error
	if err.Candidates, failed = f.candidates(list); failed != nil {
		return failed
	}
	err.More = len(list) - len(err.Candidates)
	return err
}

func (f *finder) candidates(list []graph.ID) (out []state.Candidate, err error) {
	for _, id := range list[:min(len(list), maxCandidates)] {
		n, _, err := f.s.Node(f.ctx, id)
		if err != nil {
			return nil, err
		}
		c := state.Candidate{Title: CalledBy(n)}
		if cut := text.FirstScalars(c.Title, titleScalars); len(cut) < len(c.Title) {
			c.Title = cut + "…"
		}
		c.Title = text.EscapeLine(c.Title)
		if c.ID, err = render.ShortID(f.ctx, graphView{State: f.s.State, s: f.s}, id); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// CalledBy returns the text that names a node, "" if it holds what looks like a credential.
func CalledBy(n *graph.Node) string {
	said := n.Summary
	said = cmp.Or(said, n.Key)
	if len(guard.Find(said)) > 0 {
		return ""
	}
	return said
}

// TitlesIn returns the nodes whose titles (short summaries) stand in a text, in id order: clause 10.
func TitlesIn(ctx context.Context, s *core.Snapshot, text string) (ids []graph.ID, err error) {
	if !s.Id.Defined() {
		return nil, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) (err error) {
		ids, err = x.TitlesIn(ctx, text)
		return err
	})
	return ids, err
}

// Texts returns the best k nodes by the words of a text, of those that accept takes, in the order
// (score descending, id ascending): the text lane of clause 9.1 and no more of a retrieval. It costs
// the less the smaller k is. What marks hide is accept's affair. For accept see retrieve.Accept.
func Texts(
	ctx context.Context, s *core.Snapshot, text string, accept source.Accept, k int,
) (found []source.Hit, err error) {
	if !s.Id.Defined() || k < 1 {
		return nil, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) error {
		got, err := newIndexView(s, x).Text(ctx, source.TextQuery{Text: text}, accept, k)
		found = got.Hits
		return err
	})
	return found, err
}
