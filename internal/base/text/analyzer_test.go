package text

import (
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// analyzer returns an analyser or ends the test.
func analyzer(t testing.TB, lang string) *Analyzer {
	t.Helper()
	return must.Get(New(lang))(t)
}

// TestPartsLimit: a word longer than the limit is data, not an identifier.
func TestPartsLimit(t *testing.T) {
	a := analyzer(t, "none")
	pair := strings.Repeat("aB", maxSplitRunes/2)
	got := a.Terms(pair)
	if len(got) != 1+maxSplitRunes/2+1 {
		t.Errorf("%d terms at the limit, want whole and %d parts", len(got), maxSplitRunes/2+1)
	}
	for _, s := range []string{pair + "a", pair + "B", strings.Repeat("aB", 1e5)} {
		if got := a.Terms(s); len(got) != 1 || got[0] != strings.ToLower(pair[:MaxTermRunes]) {
			t.Errorf("%d terms above the limit, want the cut word alone", len(got))
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ unit, folded string }{
		{"a", "a"}, {"É", "e"}, {"я", "я"}, {"9", "9"}, {"ab\u0301", "ab"}, {"ﬃ", "ffi"},
	} {
		folded := []rune(strings.Repeat(c.folded, 100))
		got := analyzer(t, "none").Terms(strings.Repeat(c.unit, 100))
		want := string(folded[:MaxTermRunes])
		must.Check(t, len(got) == 1 && got[0] == want, "100 times %q gives %q, want %q", c.unit, got, want)
	}
	exact := strings.Repeat("x", MaxTermRunes)
	if got := analyzer(t, "none").Terms(exact); len(got) != 1 || got[0] != exact {
		t.Errorf("a word of the greatest length gives %q", got)
	}
}

func TestLanguages(t *testing.T) {
	for _, lang := range []string{"de", "EN", "english", " ", "none "} {
		_, err := New(lang)
		must.Fail(t, err, ErrUnknownLanguage, lang)
	}
	must.Check(t, Version == 1, "the version changed: released versions stay, and their goldens with them")
}

// TestNested: an analyser may be used from within its own callback, and by many goroutines.
func TestNested(t *testing.T) {
	a := analyzer(t, "en")
	want := a.Terms(prose)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var got []string
			a.Each(prose, func(term string) bool {
				must.Equal(t, a.Terms("Running HTTPServers")[0], "run", "inner terms")
				got = append(got, term)
				return true
			})
			must.Same(t, got, want, "in a goroutine the terms")
		})
	}
	wg.Wait()
}
