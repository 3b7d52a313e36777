package answers

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

func TestWordDiff(t *testing.T) {
	c := &show.Console{}
	long := strings.Repeat("a b ", MaxCompared)
	for _, tt := range []struct{ old, new, want string }{
		{`"Zoe keeps the ferry"`, `"Zoe keeps the old harbour"`, "Zoe keeps the [-ferry-]{+old harbour+}"},
		{`"same"`, `"same"`, "same"},
		{`"a b c d"`, `"a x c y"`, "a [-b-]{+x+} c [-d-]{+y+}"},
		{``, `"new"`, "{+new+}"},
		{`"old"`, ``, "[-old-]"},
		{`12`, `13`, "[-12-]{+13+}"},
		{`{"a":1}`, `{"a":2}`, `{"a":[-1-]{+2+}}`},
		{`"港口的冬季泊位"`, `"港口的夏季泊位"`, "港口的[-冬-]{+夏+}季泊位"},
		{`"one\ntwo"`, `"one\nthree\u001b[2J"`, `one\n[-two-]{+three\u{1B}[2J+}`},
		{`"x ` + long + `y"`, `"x ` + strings.ReplaceAll(long, "a", "c") + `y"`, "x [-" + strings.TrimSuffix(long, " b ") +
			"-]{+" + strings.TrimSuffix(strings.ReplaceAll(long, "a", "c"), " b ") + "+} b y"},
	} {
		var from, to *ipld.Value
		for i, text := range []string{tt.old, tt.new} {
			if text == "" {
				continue
			}
			v := must.Get(ipld.ParseJSON([]byte(text)))(t)
			*[]**ipld.Value{&from, &to}[i] = &v
		}
		must.Equal(t, WordDiff(c, from, to), tt.want, tt.old, ", ", tt.new)
	}
}

// TestPrintingFails: what cannot be printed first is the error of what is printed after it, and of nothing more.
func TestPrintingFails(t *testing.T) {
	gone := errors.New("the reader has gone")
	c := &show.Console{Out: bufio.NewWriterSize(failing{gone}, 16)}
	must.OK(t, c.Failed(), "before anything was printed")
	c.Put("%s\n", strings.Repeat("x", 100))
	PrintConflicts(c, []core.Conflict{{Label: "a"}})
	for what, err := range map[string]error{
		"failed": c.Failed(), "Printf": c.Printf("y\n"), "Table": c.Table([][]show.Cell{show.Row("a", show.Bold)}),
		"listOf": c.ListOf(nil, 1), "an answer": MergeAnswer(c, &branching.Pending{Kept: []core.KeptCommit{{Branch: "main"}}}),
	} {
		must.Fail(t, err, gone, what, ", want that the reader has gone")
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestMessageOrTitle: a title takes the place of messages that verbs write, never of what a person wrote.
func TestMessageOrTitle(t *testing.T) {
	const id = "0a7d5925-a919-ba3a-eec5-d6dc9aa03564"
	title := "TITLE"
	for message, titled := range map[string]bool{
		"": true, "forget " + id: true, "remember fact " + id: true, "remember " + id + " in place of " + id: true,
		"retire " + id + ", " + id + " and 3 more": true, "supersede " + id + " by " + id: true,
		"stale by their sources: " + id: true, "undo the mess made of " + id + ", see ticket 7": false,
		"forget " + id + ": it was wrong": false, "about " + id: false, "words": false,
	} {
		got := messageOrTitle(&branching.Commit{Message: message, Title: &title})
		if (got == title) != titled || !titled && got != message {
			t.Errorf("%q: %q", message, got)
		}
	}
}
