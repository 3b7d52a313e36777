package text

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/cases"
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
	cases.Golden(t, filepath.Join("testdata", "each-sentence.jsonl"), func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		return append([]string{}, sentences(text)...)
	})
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
