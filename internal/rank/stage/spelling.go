package stage

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// spell reads words that no node has as others. A text that names a node means what it says.
func (r *run) spell(ctx context.Context) error {
	if r.req.Spelling == retrieve.SpellingOff || !r.asked || r.exact > 0 {
		return nil
	}
	var err error
	if r.readings, err = r.x.Readings(ctx, r.req.Text); err != nil {
		return fmt.Errorf("look for words of other spelling: %w", err)
	}
	return nil
}

// query returns a text as it is looked up.
func (r *run) query(text string) source.TextQuery {
	return source.TextQuery{Text: text, Readings: r.readings}
}

// respelled returns a warning of each word that is read as another.
func (r *run) respelled() []retrieve.Warning {
	var out []retrieve.Warning
	for _, w := range r.readings {
		out = append(out, retrieve.Warning{Code: retrieve.Respelled, Params: []ipld.Entry{
			{Key: paramTerm, Value: ipld.StringValue(w.As)},
			{Key: paramWord, Value: ipld.StringValue(w.Word)},
		}})
	}
	return out
}
