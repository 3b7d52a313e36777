package retrieve

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
)

// Spelling says what becomes of words of the text that no node has: clause 9.10.
type Spelling string

const (
	SpellingOn  Spelling = "on"  // they are read as the closest terms that nodes have: the default
	SpellingOff Spelling = "off" // they find nothing
)

// Reading is a word of a text that no node has, and what it is read as.
type Reading struct {
	Word string // the text's first token that becomes the term
	Term string // of the text
	As   string // the closest term that nodes have
}

// spell reads words that no node has as others. A text that names a node means what it says.
func (r *run) spell(ctx context.Context) error {
	if r.req.Spelling == SpellingOff || !r.asked || r.exact > 0 {
		return nil
	}
	var err error
	if r.readings, err = r.x.Readings(ctx, r.req.Text); err != nil {
		return fmt.Errorf("look for words of other spelling: %w", err)
	}
	return nil
}

// query returns a text as it is looked up.
func (r *run) query(text string) TextQuery { return TextQuery{Text: text, Readings: r.readings} }

// respelled returns a warning of each word that is read as another.
func (r *run) respelled() []Warning {
	var out []Warning
	for _, w := range r.readings {
		out = append(out, Warning{Respelled, []ipld.Entry{
			{Key: paramTerm, Value: ipld.StringValue(w.As)},
			{Key: paramWord, Value: ipld.StringValue(w.Word)},
		}})
	}
	return out
}
