package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func sentences(s string) (out []string) {
	EachSentence(s, func(sentence string) bool {
		out = append(out, sentence)
		return true
	})
	return out
}

func TestEachSentence(t *testing.T) {
	long := strings.Repeat("x", MaxSentence)
	cases := []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \t\r\n\u3000", nil},
		{"One", []string{"One"}},
		{"One. Two! Three?", []string{"One.", "Two!", "Three?"}},
		{"See v1.2.3 at a.b. Then go.", []string{"See v1.2.3 at a.b.", "Then go."}},
		{"He said “Stop.” Then left.", []string{"He said “Stop.”", "Then left."}},
		{"(All of it.) Yes", []string{"(All of it.)", "Yes"}},
		{"Dr. Smith met J. Doe. They spoke.", []string{"Dr. Smith met J. Doe.", "They spoke."}},
		{"(e.g. Boats) and vs. Ships. End", []string{"(e.g. Boats) and vs. Ships.", "End"}},
		{"approx. ten, etc. and so on. Next", []string{"approx. ten, etc. and so on.", "Next"}},
		{"Well... maybe… yes... No", []string{"Well... maybe… yes...", "No"}},
		{"Really? yes! no", []string{"Really?", "yes!", "no"}},
		{"Plan A. Then B", []string{"Plan A. Then B"}},
		{"wrapped\nprose goes\non. And", []string{"wrapped\nprose goes\non.", "And"}},
		{"- One\n- Two\r\n- Three", []string{"- One", "- Two", "- Three"}},
		{"a title\n\nand text", []string{"a title", "and text"}},
		{"a\r\nb\r\r\nc", []string{"a\r\nb", "c"}},
		{"船は港を出た。潮は高い！本当？「はい。」と", []string{"船は港を出た。", "潮は高い！", "本当？",
			"「はい。」", "と"}},
		{"क्या। हाँ", []string{"क्या।", "हाँ"}},
		{". . a", []string{".", ". a"}},
		{"!!!", []string{"!!!"}},
		{long, []string{long}},
		{long + "y z", []string{long, "y z"}},
	}
	for _, c := range cases {
		if got := sentences(c.text); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	n := 0
	EachSentence("A b. C d. E f.", func(string) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d sentences after the reader had enough of two", n)
	}
}

func FuzzEachSentence(f *testing.F) {
	f.Add("Dr. A.\n\nb… 船。」 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		squeeze := func(s string) string {
			return strings.Map(func(r rune) rune {
				if in(blanks, r) {
					return -1
				}
				return r
			}, s)
		}
		all := ""
		for _, one := range sentences(s) {
			if n := utf8.RuneCountInString(one); n == 0 || n > MaxSentence ||
				strings.Trim(one, blanks) != one {
				t.Errorf("sentence %q", one)
			}
			all += one
		}
		if squeeze(all) != squeeze(string([]rune(s))) {
			t.Errorf("%q became %q", s, all)
		}
	})
}
