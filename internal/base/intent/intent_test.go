package intent

import (
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestRead reads questions of our own writing.
func TestRead(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/questions.txt"))(t)
	names := map[string]Intent{"why": Why, "when": When, "entity": Entity, "general": General}
	n := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		name, question, _ := strings.Cut(line, " ")
		want, ok := names[name]
		must.Require(t, ok, "no intent %q", name)
		got := Read(question)
		must.True(t, got == want, "%q: intent %d, want %s", question, got, name)
		n++
	}
	must.True(t, n >= 60, "%d questions", n)
}

func TestReadBounds(t *testing.T) {
	long := strings.Repeat("x ", maxScalars/2)
	must.Equal(t, Read(long+"why"), General, "a word after ", maxScalars, " scalars counts")
	must.Equal(t, Read(long[2:]+"why"), General, "half a word counts")
	must.Equal(t, Read(long[4:]+"why"), Why, "a word before the end does not count")
	for _, s := range []string{"", " ", "\xff\xfe", "\x00why\x00", "?", "为", "the"} {
		want := General
		if strings.Contains(s, "why") {
			want = Why
		}
		must.Equal(t, Read(s), want, s)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{"how any why", "why here why", "why any ;", "lead ;"} {
		must.True(t, must.Err(parse(s)) != nil, "%q was read", s)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Why did it fail?")
	f.Add("什么时候为什么")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Read(s); got > General {
			t.Fatalf("intent %d", got)
		}
	})
}

// TestIntentGolden freezes the intents of questions.
func TestIntentGolden(t *testing.T) {
	names := map[Intent]string{Why: "why", When: "when", Entity: "entity", General: "general"}
	cases.Golden(t, "testdata/intent.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Text string }
		cases.Parse(t, c.Input, &in)
		return map[string]any{"intent": names[Read(in.Text)]}
	})
}
