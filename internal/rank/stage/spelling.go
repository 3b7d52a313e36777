package stage

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// spell reads words that no node has as others. A text that names a node means what it says.
func (f *finder) spell(ctx context.Context) error {
	if f.req.Spelling == retrieve.SpellingOff || !f.asked || f.exact > 0 {
		return nil
	}
	var err error
	if f.readings, err = f.x.Readings(ctx, f.req.Text); err != nil {
		return fmt.Errorf("look for words of other spelling: %w", err)
	}
	return nil
}

// query returns a text as it is looked up.
func (r *request) query(text string) source.TextQuery {
	return source.TextQuery{Text: text, Readings: r.readings}
}

// respelled returns a warning of each word that is read as another.
func (r *request) respelled() []retrieve.Warning {
	var out []retrieve.Warning
	for _, w := range r.readings {
		out = append(out, retrieve.Warning{Code: retrieve.Respelled, Params: []ipld.Entry{
			{Key: paramTerm, Value: ipld.StringValue(w.As)},
			{Key: paramWord, Value: ipld.StringValue(w.Word)},
		}})
	}
	return out
}
