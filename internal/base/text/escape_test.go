package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// checkLine fails unless out is a good line for in.
func checkLine(t testing.TB, in, out string) {
	t.Helper()
	must.True(t, utf8.ValidString(out), "EscapeLine(%q) = %q is not UTF-8", in, out)
	for _, r := range out {
		must.True(t, !isEscaped(r), "EscapeLine(%q) = %q still has %U", in, out, r)
	}
	must.Equal(t, EscapeLine(out), out, "escaping again changes it")
	must.True(t, len(out) <= 6*len(in), "EscapeLine(%q) is more than six times as long", in)
}

// TestEscapeRanges compares the table with its list in the package documentation, one code point
// at a time.
func TestEscapeRanges(t *testing.T) {
	listed := []runeRange{
		{0x0000, 0x001F}, {0x007F, 0x007F}, {0x0080, 0x009F}, {0x2028, 0x2029},
		{0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069},
		{0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x180E, 0x180E}, {0x200B, 0x200B},
		{0x115F, 0x1160}, {0x3164, 0x3164}, {0xFFA0, 0xFFA0}, {0x17B4, 0x17B5},
		{0x2060, 0x206F}, {0xFE00, 0xFE0D}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB},
		{0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0xFDD0, 0xFDEF},
	}
	for plane := rune(0); plane <= 0x10; plane++ {
		listed = append(listed, runeRange{plane<<16 | 0xFFFE, plane<<16 | 0xFFFF})
	}
	want := map[rune]bool{}
	for _, rg := range listed {
		for r := rg.first; r <= rg.last; r++ {
			want[r] = true
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if isEscaped(r) != want[r] {
			t.Errorf("%U escaped is %t, want %t", r, isEscaped(r), want[r])
		}
		if !want[r] || r == '\n' || r == '\r' || r == '\t' {
			continue
		}
		must.Equal(t, EscapeLine(string(r)), fmt.Sprintf(`\u{%X}`, r), r, " is written")
	}
}

func TestEscapeLineAllocations(t *testing.T) {
	s := strings.Repeat("nothing to see here, 日本語 ", 20)
	must.Equal(t, testing.AllocsPerRun(50, func() { EscapeLine(s) }), 0, "allocations for a clean line")
}

func TestCapScalars(t *testing.T) {
	cases := []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 0, "abc"},
		{"abc", -1, "abc"},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc <...+1 chars>"},
		{"日本語", 3, "日本語"},
		{"日本語です", 3, "日本語 <...+2 chars>"},
		{"a\xff\xfe\xfd", 2, "a\xff <...+2 chars>"},
		{"👍🏽x", 1, "👍 <...+2 chars>"},
		{strings.Repeat("é", 9000), 8192, strings.Repeat("é", 8192) + " <...+808 chars>"},
	}
	for _, c := range cases {
		must.Equal(t, CapScalars(c.in, c.n), c.want, "CapScalars(", c.in, ", ", c.n, ")")
	}
}

func TestEstimateTokens(t *testing.T) {
	cases := []struct {
		in   string
		want int
	}{
		{"", 0},
		{"a", 1},
		{"abcd", 1},
		{"abcde", 2},
		{"é", 1},
		{"éé", 2},
		{"ééé", 2},
		{"éééé", 3},
		{"abcd日本語", 3},
		{"a日", 2},
		{"\xff\xff\xff", 2},
		{strings.Repeat("word ", 100), 125},
	}
	for _, c := range cases {
		must.Equal(t, EstimateTokens(c.in), c.want, "EstimateTokens(", c.in, ")")
	}
}

func TestEscapeWord(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"decision", "decision"},
		{"api/v1.2:User_Story-x+#@", "api/v1.2:User_Story-x+#@"},
		{"Größe", "Größe"},
		{"決定", "決定"},
		{"e\u0301", "e\u0301"},
		{"decision · 2019-01-01 · SECURITY.md", `decision\u{20}\u{B7}\u{20}2019-01-01\u{20}\u{B7}\u{20}SECURITY.md`},
		{"a] b", `a\u{5D}\u{20}b`},
		{"a\u30FBb\u0387c", `a\u{30FB}b\u{387}c`},
		{"a\nb\u202ec", `a\nb\u{202E}c`},
		{`a\u{20}b`, `a\u{5C}u\u{7B}20\u{7D}b`},
		{"a\xffb", `a\x{FF}b`},
		{"a → b", `a\u{20}\u{2192}\u{20}b`},
		{"a\u00a0b\u3000c", `a\u{A0}b\u{3000}c`},
		{"", ""},
	} {
		must.Equal(t, EscapeWord(c.in), c.want, "EscapeWord(", c.in, ")")
	}
}

// TestEscapeWordAlone asks each code point: nothing of a word is a blank, a control or a separator.
func TestEscapeWordAlone(t *testing.T) {
	kept := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || EscapeWord(string(r)) != string(r) {
			continue
		}
		kept++
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(Dots+Brackets+"()→←;\\{}<>", r) {
			t.Errorf("%U stands in a word as it is", r)
		}
	}
	must.True(t, kept >= 100_000, "only %d code points stay: letters of all scripts should", kept)
}

func TestEscapeField(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"file:docs/a b.md#L3", "file:docs/a b.md#L3"},
		{"x · forgotten", `x \u{B7} forgotten`},
		{"a] [b", `a\u{5D} \u{5B}b`},
		{"a\nb", `a\nb`},
		{"a\xff·", `a\x{FF}\u{B7}`},
	} {
		must.Equal(t, EscapeField(c.in, Dots+Brackets), c.want, "EscapeField(", c.in, ")")
	}
}

func TestEscapeTags(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a < b, 1<2 <- x <", "a < b, 1<2 <- x <"},
		{"</memory> <system>", `\u{3C}/memory> \u{3C}system>`},
		{"<!-- <?x <|im_start|> <<b", `\u{3C}!-- \u{3C}?x \u{3C}|im_start|> <\u{3C}b`},
		{"<ſystem>", `\u{3C}ſystem>`},
	} {
		must.Equal(t, EscapeTags(c.in), c.want, "EscapeTags(", c.in, ")")
		in, _ := json.Marshal(c.in)
		var back string
		in = []byte(strings.ReplaceAll(string(in), `\u003c`, "<"))
		got := EscapeJSONTags(string(in))
		must.OK(t, json.Unmarshal([]byte(got), &back), "EscapeJSONTags(", in, ") = ", got, ", which reads")
		must.Equal(t, back, c.in, "EscapeJSONTags(", in, ") = ", got, ", which reads")
		must.Equal(t, EscapeTags(got), got, "EscapeJSONTags(", in, ") = still has a tag")
	}
}

// TestEscapeJSON checks each code point: the value is unchanged, and no character is left that a line would escape.
func TestEscapeJSON(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) {
			all.WriteRune(r)
		}
	}
	data := must.Get(json.Marshal(map[string]string{"a" + all.String(): all.String()}))(t)
	got := EscapeJSON(data)
	var back map[string]string
	must.OK(t, json.Unmarshal(got, &back))
	must.Equal(t, back["a"+all.String()], all.String(), "the value changed")
	must.Equal(t, EscapeLine(string(got)), string(got), "something stands raw that a line would escape")
	for _, c := range []struct{ in, want string }{
		{`"\u0085é"`, `"\u0085é"`},
		{"\"\u0085\u009b\u202e\x7f\U000E0041\"", `"\u0085\u009b\u202e\u007f\udb40\udc41"`},
		{"{\n\t\"a\": \"b\xff\"}", "{\n\t\"a\": \"b\xff\"}"},
		{"", ""},
	} {
		must.Equal(t, string(EscapeJSON([]byte(c.in))), c.want, "EscapeJSON(", c.in, ")")
	}
}
