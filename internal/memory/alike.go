package memory

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/state"
)

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
	// nearWords and nearVectors are the nearness from which memories are reported, by words alone and with vectors:
	// .066 and .130.
	nearWords   = 4_325
	nearVectors = 8_520
	// leadWords and leadVectors are how often the lead over the next memory counts: what many memories resemble replaces none.
	leadWords, leadVectors = 1, 2
	// settleWords and settleVectors are the nearness, with the lead, from which one memory may replace another: .235
	// and .460.
	settleWords   = 15_401
	settleVectors = 30_147
	// sitting is the longest time between memories of one sitting: their author knows both.
	sitting = 6 * 3600 * 1_000_000
)

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
func IsNear(nearness int64, vectors bool) bool {
	if vectors {
		return nearness >= nearVectors
	}
	return nearness >= nearWords
}

// MayReplace reports whether a memory may be replaced by another one that was written so long after it. next is the
// nearness of the nearest other memory.
func MayReplace(nearness, next int64, vectors bool, after graph.Time) bool {
	if after < sitting {
		return false
	}
	if vectors {
		return nearness+leadVectors*(nearness-next) >= settleVectors
	}
	return nearness+leadWords*(nearness-next) >= settleWords
}

// IsStatement reports whether a node has the form that Remember writes: a text without a key.
func IsStatement(n *graph.Node) bool {
	return n.Key == "" && n.Summary != "" && n.Content == nil && n.Type != state.RedactedType &&
		len(n.Summary) <= 4*MaxText
}
