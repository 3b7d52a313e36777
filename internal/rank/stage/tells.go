package stage

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/rarity"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// priorNodes is the number of texts of the language that are added to a memory's own. In a memory of ten texts, these
// decide how telling a word is; in one of thousands, its own texts do.
const priorNodes = 64

// tells returns how telling each term of a wording is: log2 of the number of texts per text that has it, of the memory
// and of the language together.
func (r *request) tells(ctx context.Context, wording string, own []source.TermWeight) ([]int64, error) {
	terms := make([]string, len(own))
	for i := range own {
		terms[i] = own[i].Term
	}
	having, nodes, err := r.x.Counts(ctx, terms)
	if err != nil {
		return nil, fmt.Errorf("count the nodes with terms of the text: %w", err)
	}
	lang := languageOf(wording)
	out := make([]int64, len(own))
	for i, term := range terms {
		prior := 2 * priorNodes * uint64(rarity.Of(term, lang))
		all := uint64(nodes+priorNodes)*2 + 2
		out[i] = max(1, fixed.Log2(all<<fixed.FracBits)-fixed.Log2((2*uint64(having[i])+1)<<fixed.FracBits+prior))
	}
	return out, nil
}

// languageOf returns the language of a text, nil for English and unknown ones.
func languageOf(s string) *rarity.Language {
	var words []string
	text.English.EachSurface(s, func(w text.Surface) bool {
		words = append(words, strings.Clone(w.Token))
		return len(words) < maxTold
	})
	return rarity.LanguageOf(words)
}

// maxTold is how many words of a text are read to recognise its language.
const maxTold = 256
