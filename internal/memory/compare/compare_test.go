package compare

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const duplicateAt = 58_982 // .9 in units of 2^-16

type pair struct {
	line             int
	lang, want, a, b string
}

func pairs(t *testing.T, file string) []pair {
	t.Helper()
	data, err := os.ReadFile(file)
	must.OK(t, err)
	var out []pair
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("%s:%d: %d fields", file, i+1, len(f))
		}
		out = append(out, pair{i + 1, f[0], f[1], f[2], f[3]})
	}
	if len(out) == 0 {
		t.Fatalf("%s: no pairs", file)
	}
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
	if total < 200 || found[""]*10 < same[""]*9 {
		t.Errorf("%d pairs, %d of %d same ones found", total, found[""], same[""])
	}
}

// TestApart holds the rules to pairs that were chosen to break them.
func TestApart(t *testing.T) {
	data, err := os.ReadFile("testdata/apart.txt")
	must.OK(t, err)
	n := 0
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		a, b, ok := strings.Cut(line, "\t")
		if !ok || len(Compare(a, b).Differs) == 0 || len(Compare(b, a).Differs) == 0 {
			t.Errorf("line %d: merged: %s", i+1, line)
		}
	}
	if n < 80 {
		t.Errorf("only %d pairs", n)
	}
}

// TestDifferences checks the reported differences.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want []Difference
	}{
		{"Server alpha runs PostgreSQL.", "Server beta runs PostgreSQL.",
			[]Difference{{Word, "alpha", "beta"}}},
		{"Deployments are allowed on Friday.", "Deployments are not allowed on Friday.",
			[]Difference{{Negation, "", "not"}}},
		{"Alice manages Bob.", "Bob manages Alice.", []Difference{{Kind: Order}}},
		{"The limit is 30 s.", "The limit is 40 ms.",
			[]Difference{{Number, "30", "40"}, {Unit, "s", "ms"}}},
		{"The launch is on June 4.", "The launch is on June 5, 2026.",
			[]Difference{{Date, "--06-04", "2026-06-05"}}},
		{"It is in /etc/a.", "It is in /etc/b.", []Difference{{Identifier, "/etc/a", "/etc/b"}}},
		{"Alice works at Initech.", "Alice works at Globex.",
			[]Difference{{Name, "initech", "globex"}}},
		{"这里允许吸烟。", "这里禁止吸烟。", []Difference{{Negation, "允许", "禁止"}}},
		{"欧阳锋喜欢喝茶。", "欧阳峰喜欢喝茶。", []Difference{{Word, "锋", "峰"}}},
		{"der Leiter", "die Leiter", []Difference{{Word, "der", "die"}}},
		{"It's two dogs", "it is 2 dogs!", nil},
		{"The ML team owns the ranking.", "The UX team owns the ranking.", []Difference{{Name, "ml", "ux"}}},
		{"", "", []Difference{{Kind: Order}}},
	} {
		if got := Compare(c.a, c.b).Differs; !slices.Equal(got, c.want) {
			t.Errorf("%s | %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestMeasures holds that the same amount in another unit says the same, and another amount does not.
func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"TTL 5 minutes", "TTL 300 seconds", true}, {"TTL 5 minutes", "TTL 300 s", true},
		{"TTL 5 minutes", "TTL 5 seconds", false}, {"TTL 5 minutes", "TTL 301 seconds", false},
		{"The cache keeps baskets for two weeks.", "The cache keeps baskets for 14 days.", true},
		{"It weighs 1.5 kg", "It weighs 1500 g", true}, {"It weighs 1.5 kg", "It weighs 1500 mg", false},
		{"The disk has 1 GiB", "The disk has 1024 MiB", true}, {"The disk has 1 GiB", "The disk has 1000 MB", false},
		{"The link has 8 MB", "The link has 8 Mb", false}, {"Die Frist ist 1 Tag", "Die Frist ist 24 Stunden", true},
		{"缓存保留五分钟", "缓存保留300秒", true}, {"缓存保留五分钟", "缓存保留5秒", false},
		{"Retry after 60 s and 1 min", "Retry after 60 s and 60 s", true},
		{"The ML team has 5 members", "The team has 5 ml members", false},
	} {
		for _, got := range []Comparison{Compare(c.a, c.b), Compare(c.b, c.a)} {
			if same := got.Similarity == 1<<16 && len(got.Differs) == 0; same != c.same {
				t.Errorf("%q, %q: same %t: %+v", c.a, c.b, same, got)
			}
		}
	}
	got := Compare("The limit is 5 minutes", "The limit is 200 seconds").Differs
	want := []Difference{{Number, "5", "200"}, {Unit, "minutes", "seconds"}}
	if !slices.Equal(got, want) {
		t.Errorf("differences are told as %v, want %v", got, want)
	}
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
		if ab.Similarity != ba.Similarity || (len(ab.Differs) == 0) != (len(ba.Differs) == 0) {
			t.Errorf("%q %q: %v, turned %v", a, b, ab, ba)
		}
		if ab.Similarity < 0 || ab.Similarity > 65536 || len(ab.Differs) > MaxDiffers {
			t.Errorf("%q %q: %v", a, b, ab)
		}
		if c := Compare(a, a); c.Similarity > 0 && len(c.Differs) > 0 {
			t.Errorf("%q differs from itself: %v", a, c.Differs)
		}
	})
}

// TestSignsSay holds that signs of code are read, and dashes and quotes of prose are not.
func TestSignsSay(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Use x != y", "Use x = y", false}, {"From a -> b", "From a > b", false},
		{"Run it with -v", "Run it with -V", false}, {"Return !ready now", "Return ready now", false},
		{"The job - it is old - stays", "The job it is old stays", true},
		{"\"Deploy\" is the word!", "Deploy is the word", true},
		{"那很好！Bob来了", "那很好。Bob来了", true},
	} {
		got := Analyse(c.a).CompareFrom(Analyse(c.b), 0)
		if same := got.Similarity == 1<<16 && len(got.Differs) == 0; same != c.same {
			t.Errorf("%q, %q: same %t: %+v", c.a, c.b, same, got)
		}
	}
}
