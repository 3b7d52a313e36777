package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const testMost = 40 // scalars of a sentence

func sentences(s string) (out []string) {
	EachSentence(s, testMost, func(at Sentence) bool {
		out = append(out, s[at.Start:at.End])
		return true
	})
	return out
}

func TestEachSentence(t *testing.T) {
	long := strings.Repeat("x", testMost)
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
		{long[1:] + " " + long + "z.", []string{long[1:], long, "z."}},
		{"a b" + long, []string{"a", "b" + long[1:], "x"}},
		{long + ". b", []string{long, ". b"}},
	}
	for _, c := range cases {
		if got := sentences(c.text); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	n := 0
	EachSentence("A b. C d. E f.", testMost, func(Sentence) bool { n++; return n < 2 })
	must.Equal(t, n, 2, "sentences after the reader had enough of two")
	var begin []bool
	EachSentence("A.\n\nB! C\nD.\r\nE \r\t\r F", testMost, func(at Sentence) bool {
		begin = append(begin, at.Paragraph)
		return true
	})
	must.Equal(t, fmt.Sprint(begin), "[false true false false false true]", "sentences that begin a paragraph: ", begin)
}

func FuzzEachSentence(f *testing.F) {
	f.Add("Dr. A.\n\nb… 船。」 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		EachSentence(s, testMost, func(at Sentence) bool {
			one := s[at.Start:at.End]
			if n := utf8.RuneCountInString(one); n == 0 || n > testMost ||
				strings.Trim(one, blanks) != one {
				t.Errorf("sentence %q", one)
			}
			if before := s[last:at.Start]; strings.Trim(before, blanks) != "" {
				t.Errorf("%q is in no sentence of %q", before, s)
			}
			last = at.End
			return true
		})
		must.Equal(t, strings.Trim(s[last:], blanks), "", s[last:], " is in no sentence of ", s)
	})
}
