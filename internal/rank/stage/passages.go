package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of passages in ranking version 1: clause 11.6.
const (
	passageText     = 65_536 // bytes of a text that are looked at
	passageScalars  = 240    // sentences are joined to passages of up to so many
	sentenceScalars = 600    // a longer sentence is cut
	passageBreak    = 120    // a blank line ends a passage of so many scalars
	passageGap      = "<...>"
)

type trimmer struct {
	analyser *text.Analyzer
	weights  map[string]int64
	most     int // tokens
	count    func(string) (int, error)
}

// mayTrim reports whether a node that does not fit into the answer may be shown by its passages instead.
func (p *packer) mayTrim(n *graph.Node) bool {
	return p.req.Pack == retrieve.PackAuto && render.IsChunk(n) && trimBlank(p.req.Text) != ""
}

// trimmerOf returns what trims the texts of a node, nil if they are shown whole: clause 11.6. With PackAuto a text is
// trimmed only if it is too long for what is left of the budget.
func (p *packer) trimmerOf(ctx context.Context, tooLong bool) (*trimmer, error) {
	if p.req.Pack != retrieve.PackPassages && !tooLong {
		return nil, nil
	}
	if p.trim == nil {
		t, err := p.newTrimmer(ctx)
		if err != nil {
			return nil, err
		}
		p.trim = t
	}
	return p.trim, nil
}

func (p *packer) newTrimmer(ctx context.Context) (*trimmer, error) {
	a := text.English
	t := &trimmer{analyser: a, weights: map[string]int64{}, most: *p.req.PassageTokens}
	t.count = p.tokens
	if trimBlank(p.req.Text) == "" {
		return t, nil
	}
	weights, err := p.x.TermWeights(ctx, p.query(p.req.Text))
	if err != nil {
		return nil, fmt.Errorf("weigh the terms of the text: %w", err)
	}
	for _, w := range weights {
		t.weights[w.Term] += w.Weight // two words may be read as one term
	}
	return t, nil
}

// trimmed are the texts of a node that was trimmed.
type trimmed struct {
	node    *graph.Node // with its summary trimmed
	content string
	found   bool // whether there was anything to trim: a content, or a summary that is shorter now
	cut     bool // whether a text is another one now
}

func (t *trimmer) texts(ctx context.Context, g source.Graph, n *graph.Node) (out trimmed, err error) {
	summary, err := t.trim(n.Summary)
	if err != nil {
		return out, err
	}
	out.cut = summary != n.Summary
	if out.cut {
		short := *n
		short.Summary = summary
		n = &short
	}
	out.node, out.found = n, out.cut
	if n.Content == nil {
		return out, nil
	}
	// One character more than counts tells whether the text goes on.
	start, err := g.ContentStart(ctx, n.Content, passageText+utf8.UTFMax)
	if err != nil {
		return out, fmt.Errorf("read content of %s: %w", n.ID, err)
	}
	out.content, err = t.trim(start)
	out.found = out.found || out.content != ""
	out.cut = out.cut || out.content != start
	return out, err
}

// trim returns the best passages of a text in reading order: clause 11.6. All of them are the text
// itself, without white space at its ends.
func (t *trimmer) trim(s string) (string, error) {
	whole := s
	if len(s) > passageText {
		s = wholeScalars(s[:passageText])
	}
	list := passages(s)
	if len(list) == 0 {
		return "", nil
	}
	taken, err := t.best(s, list)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	last := -1 // the passage taken before
	for i, p := range list {
		switch {
		case !taken[i]:
			continue
		case last < 0 && i > 0:
			b.WriteString(passageGap + " ")
		case last >= 0 && last < i-1:
			b.WriteString(" " + passageGap + " ")
		case last >= 0:
			b.WriteString(s[list[last].to:p.from])
		}
		b.WriteString(s[p.from:p.to])
		last = i
	}
	if last < len(list)-1 || len(s) < len(whole) {
		b.WriteString(" " + passageGap)
	}
	return b.String(), nil
}

// best tells which of the passages of s are taken: by what they weigh, until one is too long for
// what is left, but one at least.
func (t *trimmer) best(s string, list []textRange) (taken []bool, err error) {
	order := make([]int, len(list))
	weight := make([]int64, len(list))
	for i, p := range list {
		order[i], weight[i] = i, t.weigh(s[p.from:p.to])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	taken = make([]bool, len(list))
	left := t.most
	for n, i := range order {
		tokens, err := t.count(text.EscapeLine(s[list[i].from:list[i].to]))
		if err != nil {
			return nil, err
		}
		if n > 0 && tokens > left {
			break
		}
		taken[i] = true
		left -= tokens
	}
	return taken, nil
}

// weigh returns the sum of the weights of the terms of the request that a passage has.
func (t *trimmer) weigh(s string) (sum int64) {
	if len(t.weights) == 0 {
		return 0
	}
	seen := map[string]bool{}
	t.analyser.EachOfField(s, func(term string, _ bool) bool {
		if w := t.weights[term]; w > 0 && !seen[term] {
			seen[term] = true
			sum += w
		}
		return true
	})
	return sum
}

// wholeScalars cuts off a scalar that was cut at the end of s.
func wholeScalars(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
			break
		}
	}
	return s
}

// textRange is a part of a text, in bytes.
type textRange struct{ from, to int }

// passages divides a text into runs of sentences that have up to passageScalars together. A longer sentence is a
// passage of its own, since half a sentence may miss what it answers.
func passages(s string) []textRange {
	var out []textRange
	text.EachSentence(s, sentenceScalars, func(q text.Sentence) bool {
		if n := len(out); n > 0 {
			p := &out[n-1]
			ends := q.Paragraph && utf8.RuneCountInString(s[p.from:p.to]) >= passageBreak
			if !ends && utf8.RuneCountInString(s[p.from:q.End]) <= passageScalars {
				p.to = q.End
				return true
			}
		}
		out = append(out, textRange{q.Start, q.End})
		return true
	})
	return out
}
