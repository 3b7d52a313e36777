package memory

import "testing"

// TestReplaced: what leads by much may be replaced from a lower nearness on, and what others come close to does not.
func TestReplaced(t *testing.T) {
	const now = 10 * sitting
	at := func(near int64, vectors bool) Nearest { return Nearest{near: near, vectors: vectors} }
	recent := Nearest{near: 60_000, vectors: true, created: now - sitting + 1}
	for _, c := range []struct {
		name string
		list []Nearest
		want int
	}{
		{"none", nil, -1},
		{"alone, near by its lead", []Nearest{at(10_049, true)}, 0},
		{"alone, too far", []Nearest{at(10_048, true)}, -1},
		{"two as near", []Nearest{at(20_000, true), at(19_000, true)}, -1},
		{"two as near, both very", []Nearest{at(31_000, true), at(31_000, true)}, 0},
		{"a lead", []Nearest{at(20_000, true), at(14_000, true)}, 0},
		{"words alone", []Nearest{at(7_701, false)}, 0},
		{"words alone, too far", []Nearest{at(7_700, false)}, -1},
		{"of the same sitting", []Nearest{recent}, -1},
		{"behind one of the same sitting", []Nearest{recent, at(50_000, true)}, -1},
		{"near one of the same sitting", []Nearest{recent, at(51_000, true)}, 1},
	} {
		for i := range c.list {
			c.list[i].ID[0] = byte(i + 1)
		}
		if got := replaced(c.list, now); got != c.want {
			t.Errorf("%s: %d may be replaced, want %d", c.name, got, c.want)
		}
	}
}
