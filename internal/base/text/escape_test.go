package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// checkLine fails unless out is a good line for in.
func checkLine(t testing.TB, in, out string) {
	t.Helper()
	must.Check(t, utf8.ValidString(out), "EscapeLine(%q) = %q is not UTF-8", in, out)
	for _, r := range out {
		must.Check(t, !isEscaped(r), "EscapeLine(%q) = %q still has %U", in, out, r)
	}
	must.Equal(t, EscapeLine(out), out, "escaping again changes it")
	must.Check(t, len(out) <= 6*len(in), "EscapeLine(%q) is more than six times as long", in)
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
