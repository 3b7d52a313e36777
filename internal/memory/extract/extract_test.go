package extract

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

var rewrite = flag.Bool("rewrite", false, "write what is found into the files")

// known are the names that the tests' memory knows.
var known = []string{"billing service", "计费系统"}

// found lists what a text names and its signals, a line each.
func found(s string) string {
	var b strings.Builder
	for _, e := range Entities(s, known) {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, e.Name)
	}
	for _, g := range Signals(s) {
		fmt.Fprintf(&b, "%s (%s): %s => %s\n", g.Relation, g.Phrase, g.Cause, g.Effect)
	}
	return b.String()
}

// TestProse reads texts as people write them, each followed by a line ---- and what is in it.
func TestProse(t *testing.T) {
	const file = "testdata/prose.txt"
	data, err := os.ReadFile(file)
	must.OK(t, err)
	var out strings.Builder
	cases := 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		text, want, ok := strings.Cut(block+"\n", "\n----\n")
		if !ok {
			t.Fatalf("no ---- in %q", block)
		}
		want = strings.TrimSuffix(want, "\n")
		got := strings.TrimSuffix(found(text), "\n")
		if cases++; got != want && !*rewrite {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", text, got, want)
		}
		fmt.Fprintf(&out, "%s\n----\n%s\n\n", text, got)
	}
	if cases < 20 {
		t.Fatalf("only %d cases", cases)
	}
	if *rewrite {
		must.OK(t, os.WriteFile(file, []byte(strings.ReplaceAll(out.String(), "----\n\n\n", "----\n\n")),
			0o644))
	}
}

// check holds what is found to what is promised of it.
func check(t *testing.T, s string, names []string) {
	t.Helper()
	list := Entities(s, names)
	if len(list) > MaxEntities {
		t.Fatalf("%d entities", len(list))
	}
	end, seen := 0, map[string]bool{}
	for _, e := range list {
		if e.Start < end || e.End <= e.Start || e.End > len(s) || s[e.Start:e.End] != e.Name {
			t.Fatalf("%q: %+v after %d", s, e, end)
		}
		if seen[e.Key] || e.Key != Fold(e.Name) || e.Key == "" {
			t.Fatalf("%q: key %q", s, e.Key)
		}
		if Fold(e.Key) != e.Key {
			t.Fatalf("%q folds to %q", e.Key, Fold(e.Key))
		}
		seen[e.Key], end = true, e.End
	}
	signals := Signals(s)
	if len(signals) > MaxSignals {
		t.Fatalf("%d signals", len(signals))
	}
	for i, g := range signals {
		if g.Start < 0 || g.End < g.Start || g.End > len(s) || i > 0 && g.Start < signals[i-1].Start ||
			!strings.Contains(s, g.Cause) || !strings.Contains(s, g.Effect) {
			t.Fatalf("%q: %+v", s, g)
		}
	}
}

func FuzzExtract(f *testing.F) {
	data, err := os.ReadFile("testdata/prose.txt")
	must.OK(f, err)
	for block := range strings.SplitSeq(string(data), "\n\n") {
		text, _, _ := strings.Cut(block, "\n----\n")
		f.Add(text, "billing service")
	}
	f.Add("`a\"\"“”„“«»「」\xff\xfe@ # / http:// 's A's ", "\xff")
	f.Fuzz(func(t *testing.T, s, name string) { check(t, s, []string{name, "x"}) })
}

// TestLong holds the bounds for texts that are longer than any memory's.
func TestLong(t *testing.T) {
	for _, part := range []string{"Alice Bob ", "`a`", "because ", "人", "ア", "#a1 ", "a-", "A.", "「", "因为", "A b "} {
		s := strings.Repeat(part, 40_000)
		check(t, s, []string{"Alice", "人"})
		for _, e := range Entities(s, nil) {
			if utf8.RuneCountInString(s[:e.End]) > MaxText {
				t.Fatalf("%q: found behind the bound", part)
			}
		}
	}
}
