package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// TestAgainstLibrary compares with the library's own dividing and merging, but for line feeds: it
// divides white space that has some otherwise than the patterns say. The vectors have those.
func TestAgainstLibrary(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	parts := []string{
		" ", " ", "  ", "\t", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200b", "\x00",
		"a", "the", "The", "HTTPServer", "X", "é", "e\u0301", "\u0301", "ǅ", "ʰ", "Ω", "ß", "ſ", "K",
		"東京", "です", "ไทย", "한국", "अनुच्छेद", "'s", "'S", "'ſ", "'ll", "'RE", "'x", "’s",
		"1", "23", "4567", "½", "²", "٣", ".", "...", "!?", "/", "—", "_", "🚤", "👩\u200d🚀",
		"{\"k\": 1}", "<|endoftext|>",
	}
	libs := codecs()
	for range 4000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		for e, lib := range libs {
			want, err := lib.Count(b.String())
			if got := e.count(b.String()); err != nil || got != want {
				t.Fatalf("%s %q: %d tokens, library %d (%v)", lib.GetName(), b.String(), got,
					want, err)
			}
		}
	}
}

func codecs() map[*encoding]*codec.Codec {
	return map[*encoding]*codec.Codec{cl100k: codec.NewCl100kBase(), o200k: codec.NewO200kBase()}
}

func TestVocabularies(t *testing.T) {
	for _, e := range []*encoding{cl100k, o200k} {
		lib := codecs()[e]
		if n := len(e.vocabulary()); n != e.size {
			t.Errorf("%d tokens, want %d", n, e.size)
		}
		for token, rank := range e.vocabulary() {
			if want, err := lib.Decode([]uint{uint(rank)}); err != nil || token != want {
				t.Fatalf("rank %d is %q, want %q (%v)", rank, token, want, err)
			}
		}
		for b := range 256 {
			if _, ok := e.ranks[string([]byte{byte(b)})]; !ok {
				t.Errorf("byte %#x is no token", b)
			}
		}
	}
}

// TestClasses pins the classes of all characters, which are those of Unicode 15.0.0 with any release of Go.
func TestClasses(t *testing.T) {
	h := sha256.New()
	for r := range rune(unicode.MaxRune + 1) {
		if r < utf8.RuneSelf && int(ascii[r]) != classOf(r) {
			t.Errorf("%q has the class %d, and %d among the first ones", r, classOf(r), ascii[r])
		}
		h.Write([]byte{byte(classOf(r))})
	}
	const want = "b72f94f1f4690440fe7443b32dead432e00fcd210be425adfb8d488fe28d3ba0"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("classes have the sum %s, want %s", got, want)
	}
}

// TestHostile counts long texts, of a megabyte some, that take some counters time of the square of
// their length.
func TestHostile(t *testing.T) {
	for _, unit := range []string{"a", "A", " ", "\n", " \n", "1", "!", "東", "\u0301", "Aa", "'s",
		" a\t", "\xff", "ʰ", "ab", "\t "} {
		size := effort.Pick(1<<14, 1<<16, 1<<16)
		if unit == "a" || unit == " \n" {
			size = effort.Pick(1<<18, 1<<20, 1<<20)
		}
		for name, count := range Counters() {
			count("") // load
			begin := time.Now()
			n := count(strings.Repeat(unit, size/len(unit)) + "x")
			if took := time.Since(begin); took > 30*time.Second || n < 1 {
				t.Errorf("%s of %q: %d tokens in %v", name, unit, n, took)
			} else if took > time.Second {
				t.Logf("%s of %q: %d tokens in %v", name, unit, n, took)
			}
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add("It's 12345 o'clock,\r\n  HTTPServer! ")
	f.Add("e\u0301 \u0301A\xff\xf0")
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range []*encoding{cl100k, o200k} {
			for rest := s; rest != ""; {
				n := e.piece(rest)
				if n < 1 || n > len(rest) {
					t.Fatalf("a piece of %d bytes of %q", n, rest)
				}
				rest = rest[n:]
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("The harbour master owns the tide tables, doesn't she? ", 200)
	for name, count := range Counters() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				count(text)
			}
		})
	}
}
