package tokens

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var rewrite = flag.Bool("rewrite", false, "write common.txt anew")

// commonOf returns what common.txt is to be: the words among the first tokens of o200k.
func commonOf() string {
	words := map[string]Commonness{}
	for token, rank := range o200k.vocabulary() {
		word := strings.ToLower(strings.TrimPrefix(token, " "))
		if rank >= knowns || !utf8.ValidString(word) || utf8.RuneCountInString(word) < 2 ||
			strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			continue
		}
		how := Known
		if rank < commons {
			how = Common
		}
		words[word] = max(words[word], how)
	}
	var b strings.Builder
	for _, word := range slices.Sorted(maps.Keys(words)) {
		b.WriteString(word)
		if words[word] == Common {
			b.WriteByte('+')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCommon(t *testing.T) {
	want := commonOf()
	if *rewrite {
		if err := os.WriteFile("common.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if commonWords != want {
		t.Error("common.txt is not of the vocabulary; -rewrite makes it anew")
	}
	n := 0
	for line := range strings.Lines(want) {
		word, common := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "+")
		if got := CommonnessOf(word); got != Common && common || got != Known && !common {
			t.Fatalf("%q: %v", word, got)
		}
		for _, other := range []string{word + "\x00", word + "+", word[:len(word)-1] + "\x00", word + "zzzq"} {
			if got := CommonnessOf(other); got != Rare {
				t.Fatalf("%q: %v", other, got)
			}
		}
		n++
	}
	if n < 5000 {
		t.Errorf("%d words", n)
	}
	for word, want := range map[string]Commonness{
		"": Rare, "\n": Rare, "+": Rare, "the": Common, "the\nthe": Rare, "libvips": Rare, "kayak": Rare, "prices": Known,
		"und": Common, "\xff": Rare, "zzzzzzzz": Rare,
	} {
		if got := CommonnessOf(word); got != want {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { CommonnessOf("prices") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
