package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// MaxNearest is how many earlier memories are reported.
	MaxNearest = 3
	// mostWords and mostVectors bound the candidates for these, by words and by vectors.
	mostWords, mostVectors = 16, 8
)

// Later is a memory that may replace an earlier one.
type Later struct {
	ID      graph.ID // zero unless the snapshot has it
	Text    string
	Cues    []string
	Created graph.Time
	Vector  *graph.Embedding // dense; nil for none
}

// Earlier is a memory that may be replaced.
type Earlier struct {
	Text    string
	Cues    []string
	Created graph.Time
}

// Nearest is an earlier memory about the same thing as a later one, which may replace it.
type Nearest struct {
	ID   graph.ID `json:"id"`
	Date string   `json:"date"` // YYYY-MM-DD
	Text string   `json:"text"`

	near    int64
	created graph.Time
}

// Nearest returns at most MaxNearest earlier memories of the snapshot that a later one may replace, by their words, cues
// and vectors. It also returns the id of the first if that is near enough to ask the caller, else zero. earlier returns
// a memory by its id, nil for one that cannot be replaced. Nearest changes nothing: only the author can decide.
func (w *RareWords) Nearest(
	l *Later, earlier func(graph.ID) (*Earlier, error),
) (found []Nearest, settle graph.ID, err error) {
	if !w.s.CID().Defined() {
		return nil, settle, nil
	}
	defer w.except(nil)
	if !l.ID.IsZero() { // as if the snapshot did not have it yet
		_, own := w.Words(l.Text + "\n" + strings.Join(l.Cues, "\n"))
		w.except(own)
	}
	ids, cosines, err := w.nearer(l)
	if err != nil {
		return nil, settle, err
	}
	var said *Wording
	vectors := len(cosines) > 0 // one scale for all, so that their nearness compares
	for _, id := range ids {
		old, err := earlier(id)
		if err != nil {
			return nil, settle, err
		}
		if old == nil || id == l.ID || old.Created > l.Created {
			continue
		}
		if said == nil {
			if said, err = w.Wording(l.Text, l.Cues); err != nil {
				return nil, settle, err
			}
		}
		its, err := w.Wording(old.Text, old.Cues)
		if err != nil {
			return nil, settle, err
		}
		near := Nearness(said.Like(its), cosines[id], vectors)
		found = append(found, Nearest{id, old.Created.String()[:len("2006-01-02")], old.Text, near, old.Created})
	}
	slices.SortFunc(found, func(a, b Nearest) int {
		return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(b.created, a.created), a.ID.Compare(b.ID))
	})
	if i := replaced(found, vectors, l.Created); i >= 0 {
		first := found[i]
		settle = first.ID
		found = slices.Insert(slices.Delete(found, i, i+1), 0, first)
	}
	found = slices.DeleteFunc(found, func(n Nearest) bool { return n.ID != settle && !IsNear(n.near, vectors) })
	return found[:min(len(found), MaxNearest)], settle, nil
}

// replaced returns the place of the memory that one of a time may replace, -1 for none. The list is sorted, the nearest first.
func replaced(list []Nearest, vectors bool, now graph.Time) int {
	return slices.IndexFunc(list, func(n Nearest) bool {
		next := int64(0)
		for _, other := range list[:min(2, len(list))] {
			if other.ID != n.ID {
				next = other.near
				break
			}
		}
		return MayReplace(n.near, next, vectors, now-n.created)
	})
}

// nearer returns, by id, the memories of the snapshot with the rarest words of a memory and its cues, and those with
// close vectors, with their cosines.
func (w *RareWords) nearer(l *Later) (ids []graph.ID, cosines map[graph.ID]int64, err error) {
	query, err := w.Query(l.Text + "\n" + strings.Join(l.Cues, "\n"))
	if err != nil {
		return nil, nil, err
	}
	before := func(d source.Document) bool { return d.ID() != l.ID && d.Times().Created <= l.Created }
	if query != "" {
		if ids, err = NearText(w.ctx, w.s, query, mostWords, before); err != nil {
			return nil, nil, err
		}
	}
	if l.Vector != nil && l.Vector.DType != graph.Sparse {
		req := retrieve.Request{}
		if !l.ID.IsZero() {
			req.Exclude, req.CreatedTo = []graph.ID{l.ID}, graph.At(l.Created+1)
		}
		var more []graph.ID
		if more, cosines, err = NearVector(w.ctx, w.s, req, l.Vector, mostVectors); err != nil {
			return nil, nil, err
		}
		ids = append(ids, more...)
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids), cosines, nil
}

// NearText returns the visible nodes that have most of some words, of those that fits accepts; nil accepts all. It ranks
// by words alone, so that no more is read than what the best of them need: names and times make no text like another.
func NearText(
	ctx context.Context, s *core.Snapshot, words string, most int, fits func(source.Document) bool,
) ([]graph.ID, error) {
	hits, err := rank.Texts(ctx, s, words, func(d source.Document) (bool, error) {
		if fits != nil && !fits(d) {
			return false, nil
		}
		m, err := s.Mark(ctx, graph.OnNode, d.ID())
		return IsShown(m), err
	}, most)
	ids := make([]graph.ID, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, err
}

// NearVector adds a vector to a request, and returns the nodes that it finds and the cosines of those that the vector found.
func NearVector(
	ctx context.Context, s *core.Snapshot, req retrieve.Request, v *graph.Embedding, most int,
) ([]graph.ID, map[graph.ID]int64, error) {
	req.Limit, req.Budget, req.Expand, req.SummaryCap = &most, new(0), new(0), new(1)
	req.Spelling, req.Settled, req.Floor = retrieve.SpellingOff, true, retrieve.FloorRest
	req.Ranking = retrieve.PlainRanking // memories that say the same share words, so kindred words are not needed
	if req.Text != "" {
		req.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: fixed.One}, {Lane: retrieve.LaneTime}}
	}
	req.Vectors = []retrieve.QueryVector{{Model: v.Model, Values: v.Int8()}}
	answer, err := rank.Retrieve(ctx, s, req)
	if err != nil {
		return nil, nil, err
	}
	ids, cosines := make([]graph.ID, len(answer.Items)), map[graph.ID]int64{}
	for i, item := range answer.Items {
		ids[i] = item.ID
		for _, hit := range item.Lanes {
			if hit.Lane == retrieve.LaneDense(v.Model) {
				cosines[item.ID] = min(max(hit.Score, 0), fixed.One)
			}
		}
	}
	return ids, cosines, nil
}

// LaterOf returns a memory of the snapshot as one that may replace others, with its first dense embedding.
func LaterOf(ctx context.Context, s *core.Snapshot, n *graph.Node) (*Later, error) {
	out := &Later{ID: n.ID, Text: n.Summary, Cues: n.Cues, Created: n.Created}
	var err error
	out.Vector, err = s.DenseEmbedding(ctx, n.ID)
	return out, err
}

// Constants of the likeness that decides whether one memory may replace another, fitted to labelled memories.
const (
	ownTenths = 10 // weight of a word of the text, in tenths
	cueTenths = 7  // of a cue
	// headPercent divides a likeness by so many percent for each word before the first common word, counted in both
	// texts, at most maxHead words: texts begin with their subject.
	headPercent = 6
	maxHead     = 20
	// likeTenths and cosineTenths weigh likeness and cosine in a nearness.
	likeTenths, cosineTenths = 6, 4
	// sitting is the longest time between memories of one sitting: their author knows both.
	sitting = 6 * 3600 * 1_000_000
)

// nearness has the thresholds of nearness.
type nearness struct {
	near   int64 // from which memories are reported
	settle int64 // with the lead, from which one memory may replace another
	lead   int64 // how often the lead over the next memory counts: what many memories resemble replaces none
}

var (
	byWords   = nearness{near: 4_325, settle: 15_401, lead: 1} // .066 and .235
	byVectors = nearness{near: 8_520, settle: 30_147, lead: 2} // .130 and .460
)

func nearnessBy(vectors bool) nearness {
	if vectors {
		return byVectors
	}
	return byWords
}

// Wording holds a memory's distinct terms with their weights, for comparison.
type Wording struct {
	terms map[string]wordOf
	total int64
}

type wordOf struct {
	weight int64 // how rare the term is, in units of 2^-16
	tenths int64
	at     int // index among the terms of the text
}

// Wording reads a text and its cues. The memory's own words weigh by how few nodes of the snapshot have them.
func (w *RareWords) Wording(text string, cues []string) (*Wording, error) {
	_, own := w.Words(text)
	_, more := w.Words(strings.Join(cues, "\n"))
	out := &Wording{terms: make(map[string]wordOf, len(own)+len(more))}
	for i, list := range [][]string{own, more} {
		weights, err := w.weights(list)
		if err != nil {
			return nil, err
		}
		tenths := []int64{ownTenths, cueTenths}[i]
		for at, term := range list {
			if _, ok := out.terms[term]; !ok {
				out.terms[term] = wordOf{weights[at], tenths, at}
				out.total += weights[at] * tenths / ownTenths
			}
		}
	}
	return out, nil
}

// weights returns the weights of terms: the rarer the term, the greater the logarithm. The current memory counts too.
func (w *RareWords) weights(terms []string) ([]int64, error) {
	counts, err := w.having(terms)
	nodes := w.nodes
	if w.own != nil {
		nodes--
	}
	for i, n := range counts {
		counts[i] = fixed.Log2(uint64(nodes+n+3)) - fixed.Log2(uint64(n+1))
	}
	return counts, err
}

// Like returns how alike two memories are, in units of 2^-16: the weight of the common terms, divided by the geometric
// mean of the weights of both. The later the common terms begin, the lower it is.
func (a *Wording) Like(b *Wording) int64 {
	shared := int64(0)
	headA, headB := maxHead, maxHead
	for term, x := range a.terms {
		y, ok := b.terms[term]
		if !ok {
			continue
		}
		shared += x.weight * x.tenths * y.tenths / (ownTenths * ownTenths)
		if x.tenths == ownTenths {
			headA = min(headA, x.at)
		}
		if y.tenths == ownTenths {
			headB = min(headB, y.at)
		}
	}
	mean := int64(fixed.Isqrt(uint64(a.total))) * int64(fixed.Isqrt(uint64(b.total)))
	if shared == 0 || mean == 0 {
		return 0
	}
	like := min(shared*fixed.One/mean, fixed.One)
	return like * 100 / int64(100+headPercent*min(headA+headB, maxHead))
}

// Nearness is how near a memory is to a later one, 0 to 65,536 in units of 2^-16: by words alone, or by the cosine of their
// vectors too, which is 0 for a memory without one.
func Nearness(like, cosine int64, vectors bool) int64 {
	if !vectors {
		return like
	}
	return (like*likeTenths + cosine*cosineTenths) / (likeTenths + cosineTenths)
}

// IsNear reports whether a nearness is worth telling.
func IsNear(nearness int64, vectors bool) bool { return nearness >= nearnessBy(vectors).near }

// MayReplace reports whether a memory may be replaced by another one that was written so long after it. next is the
// nearness of the nearest other memory.
func MayReplace(nearness, next int64, vectors bool, after graph.Time) bool {
	by := nearnessBy(vectors)
	return after >= sitting && nearness+by.lead*(nearness-next) >= by.settle
}

// IsStatement reports whether a node has the form that Remember writes: a text without a key.
func IsStatement(n *graph.Node) bool {
	return n.Key == "" && n.Summary != "" && n.Content == nil && n.Type != state.RedactedType &&
		len(n.Summary) <= 4*MaxText
}

// A search for similar texts costs the same however large the memory is: it looks for the rarest words,
// maxQuery at most, and beyond leastQuery only while all together are in maxHave memories.
const (
	MaxQuery   = 24
	leastQuery = 4
	MaxHave    = 2048
	maxCounts  = 1 << 16 // of terms that are kept
)

// RareWords picks the words of texts that few nodes of a snapshot have, to search for similar memories.
type RareWords struct {
	ctx    context.Context
	s      *core.Snapshot
	counts map[string]int64 // of nodes that have a term
	nodes  int64            // that there are, once terms were counted
	own    map[string]bool  // terms of the one node that counts as missing, nil for none
}

// NewRareWords returns a RareWords of a snapshot. It counts nodes when they are asked for.
func NewRareWords(ctx context.Context, s *core.Snapshot) *RareWords {
	return &RareWords{ctx: ctx, s: s, counts: map[string]int64{}}
}

// Query returns the words of a text to search for: the rarest of those that the memory has, "" for none.
func (w *RareWords) Query(s string) (string, error) {
	words, terms := w.Words(s)
	counts, err := w.having(terms)
	if err != nil {
		return "", err
	}
	order := make([]int, 0, len(terms))
	for i, n := range counts {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	query, have := "", int64(0)
	for n, i := range order[:min(MaxQuery, len(order))] {
		if have += counts[i]; n >= leastQuery && have > MaxHave {
			break
		}
		query += words[i] + " "
	}
	return query, nil
}

// having returns how many nodes have each term. It looks up each term once for all memories of a call, and bounds the
// cached counts.
func (w *RareWords) having(terms []string) ([]int64, error) {
	if len(w.counts) > maxCounts {
		clear(w.counts)
	}
	var missing []string
	for _, term := range terms {
		if _, ok := w.counts[term]; !ok {
			missing = append(missing, term)
		}
	}
	if len(missing) > 0 {
		found, nodes, err := rank.TermCounts(w.ctx, w.s, missing)
		if err != nil {
			return nil, err
		}
		w.nodes = nodes
		for i, term := range missing {
			w.counts[term] = found[i]
		}
	}
	out := make([]int64, len(terms))
	for i, term := range terms {
		if out[i] = w.counts[term]; w.own[term] {
			out[i] = max(0, out[i]-1)
		}
	}
	return out, nil
}

// except excludes a node of the snapshot with some terms from the counts, nil for none.
func (w *RareWords) except(terms []string) {
	w.own = nil
	if len(terms) > 0 {
		w.own = make(map[string]bool, len(terms))
	}
	for _, term := range terms {
		w.own[term] = true
	}
}

// Words returns the distinct terms of a text in the order of their first occurrence, each with a word that has the
// term.
func (w *RareWords) Words(s string) (words, terms []string) {
	seen := map[string]bool{}
	text.English.EachWord(s, func(word string, _ bool) bool {
		if term, ok := text.English.WordTerm(word); ok && !seen[term] {
			seen[term] = true
			words, terms = append(words, word), append(terms, term)
		}
		return true
	})
	return words, terms
}
