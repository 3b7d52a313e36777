package text

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestKin reads every line of the table by Kin, and terms between, before and behind its lines.
func TestKin(t *testing.T) {
	a := analyzer(t, "en")
	lines := strings.Split(strings.TrimSuffix(kinTable, "\n"), "\n")
	// The ranking is this table, too: receipts of it are replayed by it for ever.
	const pinned = "e5199d1d6f8b6918cf2775406d501f679bb8bcd37dfa2a6980f283b563294671"
	must.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(kinTable))), pinned, "the table")
	if !slices.IsSorted(lines) || len(lines) < 5000 {
		t.Fatalf("%d lines, sorted: %v", len(lines), slices.IsSorted(lines))
	}
	for _, line := range lines {
		term, kin, _ := strings.Cut(line, " ")
		got := a.Kin(term)
		must.Check(t, strings.Join(got, " ") == kin && kin != "", "kin of %q: %q, want %q", term, got, kin)
		for _, k := range got {
			must.Check(t, slices.Contains(a.Kin(k), term),
				"%q is kindred to %q, and not the other way", k, term)
		}
		for _, none := range []string{term + "\x00", term + " ", strings.Repeat(term, 3), term + "\n" + kin} {
			if got := a.Kin(none); got != nil {
				t.Errorf("kin of %q: %q", none, got)
			}
		}
	}
	for _, none := range []string{"", " ", "\n", "\x00", "zzzz", "\xff"} {
		got := a.Kin(none)
		must.Check(t, got == nil, "kin of %q: %q", none, got)
	}
	dog := a.Kin("dog")
	if !slices.Contains(dog, "pet") || slices.Contains(dog, "cat") {
		t.Errorf("kin of dog: %q", dog) // members of a class are not kin of each other
	}
	if bare, err := New("none"); err != nil || bare.Kin("dog") != nil {
		t.Errorf("kin without a language: %v, %v", bare.Kin("dog"), err)
	}
}
