package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// Tiers of candidates: clause 8.4.
const (
	tierNone   = 0
	tierQuoted = 1 // a quoted part of the text is its key
	tierWhole  = 2 // the whole text is its key, its id or the beginning of its id
)

const (
	// minPrefix is the least number of digits of an id's prefix.
	minPrefix = 4
	// maxSpans bounds the quoted parts that are looked up, so that a text full of quotes stays cheap.
	maxSpans = 64
)

// exactHits finds the passing nodes that the text names, the higher tier first, otherwise in the order of the text.
func (f *finder) exactHits(ctx context.Context) ([]*candidate, error) {
	q := trimBlank(f.req.Text)
	if q == "" {
		return nil, nil
	}
	var hits []*candidate
	add := func(id graph.ID, tier int) error {
		if slices.ContainsFunc(hits, func(c *candidate) bool { return c.id == id }) {
			return nil
		}
		ok, err := f.filter.Passes(ctx, id)
		if ok {
			hits = append(hits, &candidate{id: id, tier: tier})
		}
		return err
	}
	if digits, ok := idDigits(q); ok {
		id, unique, err := f.g.IDPrefix(ctx, digits)
		if err != nil {
			return nil, fmt.Errorf("look up id %s: %w", digits, err)
		}
		if unique {
			if err := add(id, tierWhole); err != nil {
				return nil, err
			}
		}
	}
	tier := tierWhole
	for _, key := range append([]string{q}, quotedSpans(f.req.Text)...) {
		has, err := f.hasKey(ctx, key)
		if err == nil && has {
			err = add(graph.NodeID(key), tier)
		}
		if err != nil {
			return nil, err
		}
		tier = tierQuoted
	}
	return hits, nil
}

// hasKey reports whether there is a node with a key.
func (f *finder) hasKey(ctx context.Context, key string) (bool, error) {
	if key == "" || len(key) > graph.MaxKey {
		return false, nil
	}
	id := graph.NodeID(key)
	n, _, err := f.g.Node(ctx, id)
	switch {
	case errors.Is(err, source.ErrNoNode):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read node %s: %w", id, err)
	}
	return n.Key == key, nil
}

// idDigits returns the digits of s, if s may be a prefix of an id: at least minPrefix lower-case hex digits, with or
// without a hyphen at each position that has one in the text form.
func idDigits(s string) (digits string, ok bool) {
	if len(s) < minPrefix || len(s) > len(graph.ID{}.String()) {
		return "", false
	}
	b := make([]byte, 0, 2*graph.IDLen)
	hyphen := false // whether the last character was one
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '-' && !hyphen && (len(b) == 8 || len(b) == 12 || len(b) == 16 || len(b) == 20):
			hyphen = true
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
			b = append(b, c)
			hyphen = false
		default:
			return "", false
		}
	}
	return string(b), len(b) >= minPrefix && len(b) <= 2*graph.IDLen
}

// quotes are the pairs that enclose names in a text.
var quotes = [...]struct{ open, shut string }{{`"`, `"`}, {"`", "`"}, {"“", "”"}}

// quotedSpans returns the first maxSpans parts of text between quotes that may be keys, left to right. It looks for no
// further quotes inside.
func quotedSpans(text string) []string {
	var spans []string
	for line := range strings.FieldsFuncSeq(text, isLineBreak) {
		// A pair that is not closed once has no later closing quote in the line either. To look
		// again at each opening one would take quadratic time.
		var unclosed [len(quotes)]bool
		for len(line) > 0 && len(spans) < maxSpans {
			span, rest := nextSpan(line, &unclosed)
			if span != "" && len(span) <= graph.MaxKey {
				spans = append(spans, span)
			}
			line = rest
		}
	}
	return spans
}

// nextSpan returns the first quoted part of line and what follows its closing quote, or "" and "" if there is none.
func nextSpan(line string, unclosed *[len(quotes)]bool) (span, rest string) {
	for at := 0; at < len(line); at++ {
		for i, q := range quotes {
			if unclosed[i] || !strings.HasPrefix(line[at:], q.open) {
				continue
			}
			span, rest, ok := strings.Cut(line[at+len(q.open):], q.shut)
			if ok {
				return span, rest
			}
			unclosed[i] = true
		}
	}
	return "", ""
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }
