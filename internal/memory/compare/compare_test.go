package compare

import (
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const duplicateAt = 58_982 // .9 in units of 2^-16

type pair struct {
	line             int
	lang, want, a, b string
}

func pairs(t *testing.T, file string) []pair {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	var out []pair
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		must.Require(t, len(f) == 4, "%s:%d: %d fields", file, i+1, len(f))
		out = append(out, pair{i + 1, f[0], f[1], f[2], f[3]})
	}
	must.Require(t, len(out) != 0, "%s: no pairs", file)
	return out
}

func isDuplicate(c Comparison) bool { return c.Similarity > duplicateAt && len(c.Differs) == 0 }

// TestPairs checks the rules on texts that a person compared: no two different texts count as the same, and at least
// nine tenths of the same ones are found.
func TestPairs(t *testing.T) {
	same, found := map[string]int{}, map[string]int{}
	total := 0
	for _, p := range pairs(t, "testdata/pairs.txt") {
		total++
		for _, sides := range [][2]string{{p.a, p.b}, {p.b, p.a}} {
			c := Compare(sides[0], sides[1])
			is := isDuplicate(c)
			switch {
			case p.want != "same" && is:
				t.Errorf("line %d: %s pair merged: %s | %s", p.line, p.want, p.a, p.b)
			case p.want != "same" && len(c.Differs) == 0:
				t.Errorf("line %d: nothing differs: %s | %s", p.line, p.a, p.b)
			case p.want == "contradiction" && !c.Opposes():
				t.Logf("line %d: no opposite: %s | %s: %v", p.line, p.a, p.b, c.Differs)
			}
			if p.want == "same" && sides[0] == p.a {
				same[p.lang]++
				same[""]++
				if is {
					found[p.lang]++
					found[""]++
				} else {
					t.Logf("line %d: not found: %s | %s: %v", p.line, p.a, p.b, c.Differs)
				}
			}
		}
	}
	for _, lang := range append([]string{""}, languages...) {
		t.Logf("%-3s %d of %d same ones found", lang, found[lang], same[lang])
	}
	must.True(t, total >= 200 && found[""]*10 >= same[""]*9,
		"%d pairs, %d of %d same ones found", total, found[""], same[""])
}

// TestApart holds the rules to pairs that were chosen to break them.
func TestApart(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/apart.txt"))(t)
	n := 0
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		a, b, ok := strings.Cut(line, "\t")
		must.True(t, ok && len(Compare(a, b).Differs) != 0 && len(Compare(b, a).Differs) != 0,
			"line %d: merged: %s", i+1, line)
	}
	must.True(t, n >= 80, "only %d pairs", n)
}

// FuzzCompare holds that any two strings can be compared, in bounds, and the same way round.
func FuzzCompare(f *testing.F) {
	f.Add("Alice manages Bob on Friday.", "On Friday, Alice manages Bob")
	f.Add("60 s, 1 min or 0.001 h", "60 s and 60000 ms")
	f.Add("会议改到2025年3月3日", "Die Miete beträgt 1.250,50 €, d'accord? \xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 4000 {
			return
		}
		ab, ba := Compare(a, b), Compare(b, a)
		must.True(t, ab.Similarity == ba.Similarity && (len(ab.Differs) == 0) == (len(ba.Differs) == 0),
			"%q %q: %v, turned %v", a, b, ab, ba)
		must.True(t, ab.Similarity >= 0 && ab.Similarity <= 65536 && len(ab.Differs) <= MaxDiffers,
			"%q %q: %v", a, b, ab)
		c := Compare(a, a)
		must.True(t, c.Similarity <= 0 || len(c.Differs) == 0, "%q differs from itself: %v", a, c.Differs)
	})
}

// TestGoldLikeness scores how like pairs of texts are and what differs between them.
func TestGoldLikeness(t *testing.T) {
	cases.Gold(t, "testdata/gold/likeness.jsonl", 791, func(t testing.TB, c cases.Case) any {
		var in struct{ First, Second string }
		cases.Parse(t, c.Input, &in)
		got := Compare(in.First, in.Second)
		differs := []any{}
		for _, d := range got.Differs {
			differs = append(differs, map[string]any{"kind": d.Kind, "first": d.A, "second": d.B})
		}
		return map[string]any{"likeness": got.Similarity, "differs": differs}
	})
}
