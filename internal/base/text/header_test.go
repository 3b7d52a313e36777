package text

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
	must.Check(t, kept >= 100_000, "only %d code points stay: letters of all scripts should", kept)
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
