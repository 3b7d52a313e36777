package memory

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/state"
)

// Constants of the likeness by which a memory may take the place of another one, as measured on labelled memories.
const (
	ownTenths = 10 // weight of a word of the text, in tenths
	cueTenths = 7  // of a cue
	// headPercent is by how many percent a likeness is divided for each word that stands before the first one in
	// common, of both texts together, maxHead at most: texts begin with what they are about.
	headPercent = 6
	maxHead     = 20
	// settleWords and settleVectors are the likeness from which one memory may replace another, of words alone and of
	// words and vectors: .170 and .340.
	settleWords   = 11_170
	settleVectors = 22_282
	// nearPart is the part of these, in 64ths, from which a memory is called near.
	nearPart = 25
	// sitting is how far apart in time what one sitting wrote is at most: who writes both knows both.
	sitting = 6 * 3600 * 1_000_000
)

// Wording is what a memory says, as it is compared with others: distinct terms with their weights.
type Wording struct {
	terms map[string]wordOf
	total int64
}

type wordOf struct {
	weight int64 // how rare the term is, in units of 2^-16
	tenths int64
	at     int // place among the terms of the text
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

// weights returns how much terms tell: the logarithm of how few nodes have them, the memory at hand counted too.
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

// Like returns how alike two memories are, 0 to 65,536 in units of 2^-16: the weight of what both say by that of all that
// they say (the geometric mean of both), less the later what is common begins.
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

// Nearness is how near a memory is to a later one: 65,536 is where the later one may replace it. cosine is that of their
// vectors in units of 2^-16, negative if either has none.
func Nearness(like, cosine int64) int64 {
	if cosine < 0 {
		return like * fixed.One / settleWords
	}
	return (like + cosine) / 2 * fixed.One / settleVectors
}

// IsNear reports whether a nearness is worth telling.
func IsNear(nearness int64) bool { return nearness >= fixed.One*nearPart/64 }

// MayReplace reports whether a memory of a nearness and time may be replaced by one of a later time.
func MayReplace(nearness int64, old, now graph.Time) bool {
	return nearness >= fixed.One && now-old >= sitting
}

// IsStatement reports whether a node is what Remember writes: a text without a key.
func IsStatement(n *graph.Node) bool {
	return n.Key == "" && n.Summary != "" && n.Content == nil && n.Type != state.RedactedType &&
		len(n.Summary) <= 4*MaxText
}
