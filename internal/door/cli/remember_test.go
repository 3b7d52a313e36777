package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestRememberAsks has a terminal be asked whether a new memory replaces an earlier one: only y says so, and nothing is
// asked if no person would see or answer it.
func TestRememberAsks(t *testing.T) {
	const question = "replaces 'The nightly atlas rebuild starts at 02:30' (2026-01-02)? [y/N] "
	for _, c := range []struct {
		typed       string
		flags       []string
		blind, asks bool
		marks       bool
	}{
		{typed: "y", asks: true, marks: true}, {typed: "Y", asks: true, marks: true}, {typed: "n", asks: true},
		{typed: "\r", asks: true}, {typed: "", asks: true}, {typed: "y", flags: []string{"--json"}},
		{typed: "y", flags: []string{"-q"}}, {typed: "y", blind: true}, {typed: "y", flags: []string{"--dry-run"}},
	} {
		w := newWorld(t)
		w.run(0, "init")
		w.run(0, "remember", "The nightly atlas rebuild starts at 02:30", "--time", "2026-01-02")
		w.keys(c.typed)
		w.ErrTTY = !c.blind
		args := slices.Concat([]string{"remember", "The atlas rebuild starts at 04:15", "--time", "2026-03-02"}, c.flags)
		out, said := w.run(0, args...)
		if strings.Contains(said, question) != c.asks {
			t.Errorf("%+v: %q", c, said)
		}
		if c.asks == strings.Contains(out, "mnem mark superseded") && c.flags == nil {
			t.Errorf("%+v prints %s", c, out)
		}
		if got, _ := w.run(0, "ls", "--include", "superseded"); strings.Contains(got, "superseded") != c.marks {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
