package mcp

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestNotSureStandsApart: what may be an answer is no answer, in the text that a model reads.
func TestNotSureStandsApart(t *testing.T) {
	item := func(band, text string) piece {
		return piece{list: "items", value: object([]member{
			{Name: "band", Value: operation.TextValue(band)}, {Name: "rendered", Value: operation.TextValue(text + "\n")},
		})}
	}
	for _, c := range []struct {
		pieces []piece
		want   string
	}{
		{nil, "Nothing found."},
		{[]piece{item("answer", "a"), item("answer", "b")}, quote("a\n\nb")},
		{[]piece{item("answer", "a"), item("maybe", "b")}, quote("a") + "\nNot sure:\n" + quote("b")},
		{[]piece{item("maybe", "a"), item("maybe", "b")}, "Nothing known; the nearest:\n" + quote("a\n\nb")},
	} {
		must.Equal(t, renderAnswer(&page{pieces: c.pieces}), c.want, len(c.pieces), " items")
	}
}
