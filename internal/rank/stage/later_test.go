package stage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestLaterReplaces puts a later memory first that says something else of the same thing in other words: one that is
// alike in words and vectors, written at another time, with the names of the question.
func TestLaterReplaces(t *testing.T) {
	const (
		old   = "Draft of the zorb plim paper is due on 30 April"
		later = "zorb plim paper draft is for the journal, which gives us until 29 May"
		asked = "zorb plim paper due"
	)
	same := []int8{100, 20}
	for name, c := range map[string]struct {
		old, later, asked string
		apart             graph.Time
		vectors           [2][]int8
		want              string
	}{
		"a change":          {old, later, asked, 30 * dayLength, [2][]int8{same, {100, 30}}, "1 0"},
		"at once":           {old, later, asked, laterApart - 1, [2][]int8{same, {100, 30}}, "0 1"},
		"a turn":            {old, later, asked, 30 * dayLength, [2][]int8{same, {100, 30}}, "0 1"},
		"unlike vectors":    {old, later, asked, 30 * dayLength, [2][]int8{same, {20, -100}}, "0 1"},
		"without a vector":  {old, later, asked, 30 * dayLength, [2][]int8{same, nil}, "0 1"},
		"another dimension": {old, later, asked, 30 * dayLength, [2][]int8{same, {100, 30, 1}}, "0 1"},
		"a word in its place": {"The attic key of the house is with the caretaker", "The cellar key of the house is in a drawer",
			"attic key house", 30 * dayLength, [2][]int8{same, {100, 30}}, "0 1"},
		"a word is missing": {"the clerk has the key of the house and pays for gas", "the house key and the gas bill: Anna pays",
			"house key gas: clerk", 30 * dayLength, [2][]int8{same, {100, 30}}, "1 0"},
		"a name is missing": {"Frida Zorb has the key of the house and pays for gas", "the house key and the gas bill: Anna pays",
			"house key gas: Frida", 30 * dayLength, [2][]int8{same, {100, 30}}, "0 1"},
	} {
		m := says(c.old, c.later)
		m.nodes[num(1)].Created = m.nodes[num(0)].Created + c.apart
		if name == "a turn" {
			m.nodes[num(0)].Type, m.nodes[num(1)].Type = "Turn", "Turn"
		}
		for i, v := range c.vectors {
			if v != nil {
				m.embed(num(i), "m", v...)
			}
		}
		req := retrieve.Request{Text: c.asked, Vectors: vectorOf("m", 100, 20), Floor: retrieve.FloorRest}
		req.Expand = new(0)
		a, err := Run(t.Context(), m, m, testCommit, req)
		must.OK(t, err)
		if got := strings.Trim(fmt.Sprint(order(a)), "[]"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestCosine of vectors that can be compared and of those that cannot.
func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []int8
		want int64
	}{
		{[]int8{3, 4}, []int8{6, 8}, 1 << 16},
		{[]int8{127, 0}, []int8{127, 127}, 46_342},
		{[]int8{1, 0}, []int8{0, 1}, 0},
		{[]int8{1, 1}, []int8{-1, -1}, 0},
		{[]int8{0, 0}, []int8{1, 1}, 0},
		{[]int8{1}, []int8{1, 1}, 0},
		{nil, nil, 0},
	} {
		if got := cosine(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
