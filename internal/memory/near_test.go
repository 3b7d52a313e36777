package memory

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestReplaced: what leads by much may be replaced from a lower nearness on, and what others come close to does not.
func TestReplaced(t *testing.T) {
	const now = 10 * sitting
	at := func(near int64) Nearest { return Nearest{near: near} }
	recent := Nearest{near: 60_000, created: now - sitting + 1}
	for _, c := range []struct {
		name    string
		vectors bool
		list    []Nearest
		want    int
	}{
		{"none", true, nil, -1},
		{"alone, near by its lead", true, []Nearest{at(10_049)}, 0},
		{"alone, too far", true, []Nearest{at(10_048)}, -1},
		{"two as near", true, []Nearest{at(20_000), at(19_000)}, -1},
		{"two as near, both very", true, []Nearest{at(31_000), at(31_000)}, 0},
		{"a lead", true, []Nearest{at(20_000), at(14_000)}, 0},
		{"words alone", false, []Nearest{at(7_701)}, 0},
		{"words alone, too far", false, []Nearest{at(7_700)}, -1},
		{"of the same sitting", true, []Nearest{recent}, -1},
		{"behind one of the same sitting", true, []Nearest{recent, at(50_000)}, -1},
		{"near one of the same sitting", true, []Nearest{recent, at(51_000)}, 1},
	} {
		for i := range c.list {
			c.list[i].ID[0] = byte(i + 1)
		}
		must.Equal(t, replaced(c.list, c.vectors, now), c.want, c.name)
	}
}
