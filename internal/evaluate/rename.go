package evaluate

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of what is a name that a memory is about.
const (
	maxNames     = 16
	maxNameWords = 3
	nameShare    = 20 // at least one node of so many has it
	maxValues    = 10_000
)

// namesIn returns the names that a memory is about, as the speakers of a dialogue: values of string
// properties, of at most three words that each begin with a capital, that one node of twenty has. The
// most frequent come first, and of equally frequent ones the first in bytewise order.
func namesIn(ctx context.Context, s *core.Snapshot) ([]string, error) {
	a, err := text.New(retrieve.Language)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int)
	nodes := 0
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return nil, err
		}
		nodes++
		for _, p := range e.Node.Props {
			v := p.Value
			if _, had := counts[v.Text()]; v.Kind() == ipld.String && (had || len(counts) < maxValues) {
				counts[v.Text()]++
			}
		}
	}
	maps.DeleteFunc(counts, func(v string, n int) bool { return n*nameShare < nodes || !isName(a, v) })
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
	return names[:min(len(names), maxNames)], nil
}

// isName reports whether a text is one to three words that begin with a capital.
func isName(a *text.Analyzer, s string) bool {
	words, plain := 0, true
	a.EachSurface(s, func(w text.Surface) bool {
		words++
		plain = plain && w.Capital && !w.Digit
		return plain && words <= maxNameWords
	})
	return plain && words > 0 && words <= maxNameWords
}

// Renamed puts names in the place of others wherever these stand in a text as whole words: the first
// for the first and so on, beginning again where there are fewer. Without names to put in the text
// stays as it is.
func Renamed(s string, from, to []string) string {
	if len(to) == 0 || len(from) == 0 {
		return s
	}
	a, err := text.New(retrieve.Language)
	if err != nil {
		return s // the language is a constant that exists
	}
	var b strings.Builder
	done := 0
	a.EachSurface(s, func(w text.Surface) bool {
		if w.Start < done {
			return true
		}
		for i, name := range from {
			rest, ok := strings.CutPrefix(s[w.Start:], name)
			if ok && !continues(rest) {
				b.WriteString(s[done:w.Start])
				b.WriteString(to[i%len(to)])
				done = w.Start + len(name)
				break
			}
		}
		return true
	})
	b.WriteString(s[done:])
	return b.String()
}

// continues reports whether a text begins within a word.
func continues(s string) (yes bool) {
	text.EachFolded(s, func(at, _ int, kind text.Kind, _ string) bool {
		yes = at == 0 && kind != text.KindOther
		return false
	})
	return yes
}
