package extract

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/cases"
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
	data := must.Get(os.ReadFile(file))(t)
	var out strings.Builder
	cases := 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		text, want, ok := strings.Cut(block+"\n", "\n----\n")
		must.Require(t, ok, "no ---- in %q", block)
		want = strings.TrimSuffix(want, "\n")
		got := strings.TrimSuffix(found(text), "\n")
		cases++
		must.True(t, got == want || *rewrite, "%s\ngot:\n%s\nwant:\n%s", text, got, want)
		fmt.Fprintf(&out, "%s\n----\n%s\n\n", text, got)
	}
	must.Require(t, cases >= 20, "only %d cases", cases)
	if *rewrite {
		must.OK(t, os.WriteFile(file, []byte(strings.ReplaceAll(out.String(), "----\n\n\n", "----\n\n")), 0o644))
	}
}

// check holds what is found to what is promised of it.
func check(t *testing.T, s string, names []string) {
	t.Helper()
	list := Entities(s, names)
	must.Require(t, len(list) <= MaxEntities, "%d entities", len(list))
	end, seen := 0, map[string]bool{}
	for _, e := range list {
		must.Require(t, e.Start >= end && e.End > e.Start && e.End <= len(s) && s[e.Start:e.End] == e.Name,
			"%q: %+v after %d", s, e, end)
		must.Require(t, !seen[e.Key] && e.Key == Fold(e.Name) && e.Key != "", "%q: key %q", s, e.Key)
		must.Equal(t, Fold(e.Key), e.Key, "folds to")
		seen[e.Key], end = true, e.End
	}
	signals := Signals(s)
	must.Require(t, len(signals) <= MaxSignals, "%d signals", len(signals))
	for i, g := range signals {
		if g.Start < 0 || g.End < g.Start || g.End > len(s) || i > 0 && g.Start < signals[i-1].Start ||
			!strings.Contains(s, g.Cause) || !strings.Contains(s, g.Effect) {
			t.Fatalf("%q: %+v", s, g)
		}
	}
}

func FuzzExtract(f *testing.F) {
	data := must.Get(os.ReadFile("testdata/prose.txt"))(f)
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
			must.Require(t, utf8.RuneCountInString(s[:e.End]) <= MaxText, "%q: found behind the bound", part)
		}
	}
}

func TestGivenName(t *testing.T) {
	for full, want := range map[string]string{
		"Caroline Smith": "caroline", "Vincent van Gogh": "vincent", "Anna-Lena O'Hara": "anna-lena",
		"J. R. Tolkien": "j.", "Élodie Durand": Fold("Élodie"), "Caroline": "", "": "", "Caroline smith": "",
		"caroline Smith": "", "Kafka Cluster": "", "Apple Watch": "", "Galaxy Tablet": "", "Google Maps": "", "May Release": "", "Team Caroline": "", "Server 5": "",
		"A B C D E": "", "van Gogh": "", "Caroline  Smith": "caroline", "Caroline Smith2": "",
	} {
		must.Equal(t, GivenName(full), want, full)
	}
	for word, want := range map[string]string{
		"Caroline": "caroline", "caroline": "caroline", "Kafka": "", "Server": "", "Apple": "", "Caroline Smith": "",
		"": "", "Caro5": "", "x@y": "",
	} {
		must.Equal(t, FirstName(word), want, word)
	}
}

// TestGoldEntities scores what texts name.
func TestGoldEntities(t *testing.T) {
	type entity struct {
		Kind  Kind   `json:"kind"`
		Key   string `json:"key"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}
	cases.Gold(t, "testdata/gold/entities.jsonl", 72, func(t testing.TB, c cases.Case) any {
		var in struct {
			Text  string
			Known []string
		}
		cases.Parse(t, c.Input, &in)
		found := []entity{}
		for _, e := range Entities(in.Text, in.Known) {
			found = append(found, entity{e.Kind, e.Key, e.Start, e.End})
		}
		return map[string]any{"entities": found}
	})
}

// TestGoldSignals scores what texts say of causes.
func TestGoldSignals(t *testing.T) {
	cases.Gold(t, "testdata/gold/signals.jsonl", 28, func(t testing.TB, c cases.Case) any {
		var in struct{ Text string }
		cases.Parse(t, c.Input, &in)
		found := []any{}
		for _, g := range Signals(in.Text) {
			found = append(found, map[string]any{"relation": g.Relation, "phrase": g.Phrase, "start": g.Start,
				"cause": g.Cause, "effect": g.Effect})
		}
		return map[string]any{"signals": found}
	})
}
