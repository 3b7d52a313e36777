package capture

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

var rewrite = flag.Bool("rewrite", false, "write common.txt")

// commonOf returns the expected common.txt: the words among the first tokens of o200k.
func commonOf(t *testing.T) string {
	t.Helper()
	vocabulary := codec.NewO200kBase()
	words := map[string]commonness{}
	for rank := range uint(knowns) {
		token := must.Get(vocabulary.Decode([]uint{rank}))(t)
		word := strings.ToLower(strings.TrimPrefix(token, " "))
		if !utf8.ValidString(word) || utf8.RuneCountInString(word) < 2 ||
			strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			continue
		}
		how := known
		if rank < commons {
			how = common
		}
		words[word] = max(words[word], how)
	}
	var b strings.Builder
	for _, word := range slices.Sorted(maps.Keys(words)) {
		b.WriteString(word)
		if words[word] == common {
			b.WriteByte('+')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCommon(t *testing.T) {
	want := commonOf(t)
	if *rewrite {
		must.OK(t, os.WriteFile("common.txt", []byte(want), 0o644))
		return
	}
	must.Equal(t, commonWords, want, "common.txt is not of the vocabulary; -rewrite writes it")
	n := 0
	for line := range strings.Lines(want) {
		word, plus := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "+")
		if got := commonnessOf(word); got != common && plus || got != known && !plus {
			t.Fatalf("%q: %v", word, got)
		}
		for _, other := range []string{word + "\x00", word + "+", word[:len(word)-1] + "\x00", word + "zzzq"} {
			must.Equal(t, commonnessOf(other), rare, other)
		}
		n++
	}
	must.True(t, n >= 5000, "%d words", n)
	for word, want := range map[string]commonness{
		"": rare, "\n": rare, "+": rare, "the": common, "the\nthe": rare, "libvips": rare, "kayak": rare, "prices": known,
		"und": common, "\xff": rare, "zzzzzzzz": rare,
	} {
		must.Equal(t, commonnessOf(word), want, word)
	}
	must.Equal(t, testing.AllocsPerRun(100, func() { commonnessOf("prices") }), 0, "allocations")
}

// TestBear is about what a memory must share with a prompt.
func TestBear(t *testing.T) {
	for _, c := range []struct {
		prompt string
		terms  []string
		bears  bool
	}{
		{"why does libvips fail", []string{"libvip"}, true},        // rare
		{"the prices of the newsletter", []string{"price"}, false}, // known
		{"is the discount in the prices?", []string{"price", "discount"}, true},
		{"what should this do with the file", []string{"file"}, false}, // common
		{"what should this do with the file and the list", []string{"file", "list", "do"}, false},
		{"port 4411 please", []string{"4411"}, true},
		{"in 12 days", []string{"12"}, false},
		{"why does libvips fail", []string{"postgr"}, false}, // not of the prompt
		{"why does libvips fail", nil, false},
		{"", []string{"libvip"}, false},
		{"予約の間隔は", []string{"予約", "間隔"}, true},
		{"\xff\xfe libvips \x00", []string{"libvip"}, true},
	} {
		w := WordsOf(c.prompt)
		must.Equal(t, w.Bear(c.terms), c.bears, c.prompt, " and ", c.terms, ": ", w)
	}
}
