package synthkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// goldenLines is the hash of all changes of a small memory, so that what was measured before can be made again.
const goldenLines = "5ec1b9fa52ed0f528b9fbb198f66d2f4b9d76b3980ae8368c6c14a957515c2ad"

func linesOf(t *testing.T, list ...iter.Seq2[graph.Change, error]) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, changes := range list {
		for c, err := range changes {
			if err == nil {
				err = c.Validate()
			}
			must.OK(t, err)
			switch {
			case c.Node != nil:
				fmt.Fprintln(&b, c.Node.Key, c.Node.Type, *c.Node.Summary, c.Node.Content.Text, c.Node.Created, c.Node.Props)
			case c.Edge != nil:
				fmt.Fprintln(&b, *c.Edge)
			default:
				fmt.Fprintln(&b, *c.Embedding)
			}
		}
	}
	return b.Bytes()
}

func TestGeneratorIsTheSameEverywhere(t *testing.T) {
	s := New(1, 300, 5, 16)
	sum := sha256.Sum256(linesOf(t, s.Changes(), s.Embeddings(0, 300)))
	if got := hex.EncodeToString(sum[:]); got != goldenLines {
		t.Errorf("hash %s, want %s", got, goldenLines)
	}
	q, err := s.Question(7)
	must.OK(t, err)
	const want = "vuta stetre dustu dretre dila"
	if q.Text != want || q.Node != 208 {
		t.Errorf("question %q of node %d, want %q", q.Text, q.Node, want)
	}
	if other := New(2, 300, 5, 16); bytes.Equal(linesOf(t, s.Changes()), linesOf(t, other.Changes())) {
		t.Error("another seed makes the same")
	}
}

func TestNodesDoNotDependOnTheSize(t *testing.T) {
	small, large := New(3, 200, 0, 4), New(3, 1000, 0, 4)
	if !bytes.Equal(linesOf(t, small.Changes()), linesOf(t, large.Range(0, 200))) {
		t.Error("a larger memory begins otherwise")
	}
}

func TestShapeOfTexts(t *testing.T) {
	s := New(1, 4000, 0, 0)
	var lengths []int
	kinds := make(map[string]int)
	different := make(map[string]bool)
	for i := range s.Nodes {
		n, err := s.Node(i)
		must.OK(t, err)
		kinds[n.Type]++
		title, text := strings.Fields(*n.Summary), strings.Fields(n.Content.Text)
		if n.Type == "entity" && len(title) != 2 || n.Type != "entity" && (len(title) < 3 || len(title) > 8) {
			t.Fatalf("title %q of a %s", *n.Summary, n.Type)
		}
		lengths = append(lengths, len(text))
		for _, w := range text {
			different[w] = true
		}
	}
	slices.Sort(lengths)
	at := func(percent int) int { return lengths[len(lengths)*percent/100] }
	if lengths[0] < 20 || at(50) < 60 || at(50) > 100 || at(95) > 200 || lengths[len(lengths)-1] < 500 {
		t.Errorf("lengths %d, %d, %d, %d", lengths[0], at(50), at(95), lengths[len(lengths)-1])
	}
	if len(different) < 10_000 {
		t.Errorf("%d different words", len(different))
	}
	if len(kinds) != 4 || kinds["turn"] != 22*s.Nodes/32 || kinds["session"] != s.Nodes/32 {
		t.Errorf("types %v", kinds)
	}
}

func TestShapeOfEdges(t *testing.T) {
	s := New(1, 20_000, 1234, 0)
	degrees := make(map[string]int)
	edges := 0
	for i := range s.Nodes {
		for _, e := range s.EdgesOf(i) {
			edges++
			if e.Type != "next" && e.Type != "member" {
				degrees[e.Dst.Key]++
			}
		}
	}
	if edges != s.Edges() {
		t.Errorf("%d edges, want %d", edges, s.Edges())
	}
	sorted := slices.Sorted(func(yield func(int) bool) {
		for _, d := range degrees {
			if !yield(-d) {
				return
			}
		}
	})
	// A power law whose tail falls with k^-2: ten times the degree, a hundredth of the nodes.
	atLeast := func(k int) float64 {
		n, _ := slices.BinarySearch(sorted, -k+1)
		return float64(n)
	}
	if -sorted[0] < 100 || atLeast(40) == 0 || atLeast(4)/atLeast(40) < 30 ||
		atLeast(4)/atLeast(40) > 300 {
		t.Errorf("degrees: %d at most, %v nodes have 4, %v have 40", -sorted[0], atLeast(4), atLeast(40))
	}
	hub := 0
	for i := range s.Nodes {
		for _, e := range s.EdgesOf(i) {
			if e.Type == "member" && e.Dst.Key == s.Key(0) {
				hub++
			}
		}
	}
	if hub != 1234 {
		t.Errorf("%d members of the hub", hub)
	}
}

// TestShapeOfVectors finds the node of a question among the nearest, and others of its cluster nearer
// than the rest.
func TestShapeOfVectors(t *testing.T) {
	s := New(1, 5000, 0, 64)
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	first, near := 0, 0
	for number := range 20 {
		q, err := s.Question(number)
		must.OK(t, err)
		own := dot(q.Vector, floats(s.vector(q.Node)))
		better, alike := 0, 0
		for i := range s.Nodes {
			v := floats(s.vector(i))
			score := dot(q.Vector, v)
			if score > own {
				better++
			}
			if score*score > 0.5*dot(v, v)*dot(q.Vector, q.Vector) {
				alike++
			}
		}
		if better < 50 {
			first++
		}
		if alike > 50 && alike < s.Nodes/2 {
			near++
		}
	}
	if first < 15 || near < 15 {
		t.Errorf("of 20 questions %d find their node among the best 50, %d are in a cluster", first, near)
	}
}
