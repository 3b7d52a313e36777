// Package synthkit makes up memories for tests and benchmarks: the same seed gives the same nodes, edges, vectors and
// questions on every machine. Its tests bound the work of the main verbs on such memories, and BenchmarkMemory times
// them.
package synthkit

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/synth"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of the generated memory.
const (
	MaxDims = 4096
	// SynthModel is the model that vectors are said to be of.
	SynthModel = "synthetic"
	// EdgesPerNode is how many edges each node has to earlier ones, the first node none.
	EdgesPerNode = 3

	nodesPerCluster = 100 // nodes whose vectors are near each other, on the average
	clusterSpread   = 60  // of a dimension of a cluster's centre
	vectorSpread    = 22  // of a dimension about it
	questionSpread  = 12  // of a question's about its node's
	tailShare       = 64  // one text in so many is long
)

// Streams of random numbers.
const (
	kindNode = iota + 1
	kindEdge
	kindCluster
	kindVector
	kindQuestion
)

// Synth is a memory that is made up from a seed: Nodes nodes with texts of the lengths of real
// ones in a Zipf synth.Vocabulary, EdgesPerNode edges each to earlier nodes whose in-degrees follow a
// power law, Hub more edges to node 0, and vectors in clusters. Node i is the same whatever Nodes
// is. Its facts are others than its nodes. Safe for concurrent use.
type Synth struct {
	*synth.Facts
	Nodes int // 1 to synth.MaxNodes
	Hub   int // 0 to Nodes - 1
	Dims  int // of vectors, at most MaxDims; 0 for none
}

// New returns the memory. The bounds are the caller's to keep.
func New(seed uint64, nodes, hub, dims int) *Synth {
	return &Synth{Facts: synth.New(seed), Nodes: nodes, Hub: hub, Dims: dims}
}

// Edges is how many edges there are.
func (s *Synth) Edges() int { return EdgesPerNode*(s.Nodes-1) + s.Hub }

// kinds are the types of nodes: of each 32, how many.
var kinds = []struct {
	name  string
	until int
}{{"session", 1}, {"entity", 5}, {"fact", 10}, {"turn", 32}}

func kindOf(i int) string {
	for _, k := range kinds {
		if i%32 < k.until {
			return k.name
		}
	}
	return ""
}

// Key returns the key of a node.
func (s *Synth) Key(i int) string { return kindOf(i) + "/" + strconv.Itoa(i) }

// Changes yields each node and then its edges.
func (s *Synth) Changes() iter.Seq2[graph.Change, error] { return s.Range(0, s.Nodes) }

// Range yields the changes of the nodes from one number to before another.
func (s *Synth) Range(from, to int) iter.Seq2[graph.Change, error] {
	return func(yield func(graph.Change, error) bool) {
		for i := from; i < to; i++ {
			n, err := s.Node(i)
			if !yield(graph.Change{Node: n}, err) || err != nil {
				return
			}
			for _, e := range s.EdgesOf(i) {
				if !yield(graph.Change{Edge: e}, nil) {
					return
				}
			}
		}
	}
}

// text appends so many words. The function words among them are real ones.
func (s *Synth) text(b *strings.Builder, r *synth.Rand, n int) {
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.Words[r.Zipf(synth.Vocabulary)])
	}
}

// title returns a node's summary: a name for an entity, else 3 to 8 words.
func (s *Synth) title(i int, r *synth.Rand) string {
	if kindOf(i) == "entity" {
		return s.Name(r, 2)
	}
	var b strings.Builder
	s.text(&b, r, r.Between(3, 8))
	return b.String()
}

// Node returns a node: a title, 20 to 200 words of content, one in tailShare up to 1,600, that names
// an entity of earlier ones, two properties and the time it was made.
func (s *Synth) Node(i int) (*graph.NodeChange, error) {
	r := synth.NewRand(s.Seed, kindNode, uint64(i))
	title := s.title(i, r)
	n := 20 + min(r.Below(181), r.Below(181)) // short ones are commoner
	if r.Below(tailShare) == 0 {
		n *= r.Between(2, 8)
	}
	var b strings.Builder
	s.text(&b, r, n/2)
	if i >= 32 {
		e := early(r, i)
		e = e - e%32 + 1 + r.Below(4)
		b.WriteString(" " + s.title(e, synth.NewRand(s.Seed, kindNode, uint64(e))) + " ")
	} else {
		b.WriteByte(' ')
	}
	s.text(&b, r, n-n/2)
	c := &graph.NodeChange{
		Key: s.Key(i), Type: kindOf(i), Summary: &title,
		Created: graph.At(synth.FactTime(i)),
		Props: []ipld.Entry{
			{Key: "n", Value: ipld.IntValue(int64(i))},
			{Key: "by", Value: ipld.StringValue(s.Words[100+r.Zipf(200)])},
		},
	}
	ipld.SortEntries(c.Props)
	if err := c.SetContent(b.String(), ""); err != nil {
		return nil, fmt.Errorf("make node %d: %w", i, err)
	}
	return c, nil
}

// EdgesOf returns the edges from a node: to the one before it, to two that many point to, and, of as
// many nodes as Hub says, to node 0.
func (s *Synth) EdgesOf(i int) []*graph.EdgeChange {
	if i == 0 {
		return nil
	}
	r := synth.NewRand(s.Seed, kindEdge, uint64(i))
	src := graph.Ref{Key: s.Key(i)}
	list := []*graph.EdgeChange{
		{Type: "next", Src: src, Dst: graph.Ref{Key: s.Key(i - 1)}},
		{Type: "about", Src: src, Dst: graph.Ref{Key: s.Key(early(r, i))}},
		{Type: "refers", Src: src, Dst: graph.Ref{Key: s.Key(early(r, i))},
			Weight: uint32(r.Between(1, graph.MaxWeight))},
	}
	if i <= s.Hub {
		list = append(list, &graph.EdgeChange{Type: "member", Src: src, Dst: graph.Ref{Key: s.Key(0)}})
	}
	return list
}

// vector returns a node's vector, the sum of its cluster's centre and its own offset.
func (s *Synth) vector(i int) []int {
	r := synth.NewRand(s.Seed, kindVector, uint64(i))
	cluster := early(r, i/nodesPerCluster+1)
	centre := synth.NewRand(s.Seed, kindCluster, uint64(cluster))
	v := make([]int, s.Dims)
	for d := range v {
		v[d] = bell(centre, clusterSpread) + bell(r, vectorSpread)
	}
	return v
}

// Embeddings yields the vectors of the nodes from one number to before another.
func (s *Synth) Embeddings(from, to int) iter.Seq2[graph.Change, error] {
	return func(yield func(graph.Change, error) bool) {
		for i := from; i < to; i++ {
			c := graph.Change{Embedding: &graph.EmbeddingChange{
				Node: graph.Ref{Key: s.Key(i)}, Model: SynthModel, Vector: floats(s.vector(i)),
			}}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func floats(v []int) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// Question asks for a node with some of its words and a vector near its own.
type Question struct {
	Node   int
	Text   string
	Vector []float64 // nil without vectors
}

// Question returns the question of a number: 3 to 6 words of a node's text, one after the other
// without the function words between them.
func (s *Synth) Question(number int) (Question, error) {
	r := synth.NewRand(s.Seed, kindQuestion, uint64(number))
	q := Question{Node: r.Below(s.Nodes)}
	n, err := s.Node(q.Node)
	if err != nil {
		return q, err
	}
	list := slices.DeleteFunc(strings.Fields(n.Content.Text), synth.IsCommon)
	size := min(r.Between(3, 6), len(list))
	from := r.Below(len(list) - size + 1)
	q.Text = strings.Join(list[from:from+size], " ")
	if s.Dims == 0 {
		return q, nil
	}
	v := s.vector(q.Node)
	for d := range v {
		v[d] += bell(r, questionSpread)
	}
	q.Vector = floats(v)
	return q, nil
}

// early returns a number from 0 to n - 1 with a density that falls with its square root. If each number in turn picks
// among those before it, the picks of one are distributed like links of the web: P(more than k) falls with k^-2.
func early(s *synth.Rand, n int) int {
	u := s.Next()
	square, _ := bits.Mul64(u, u)
	at, _ := bits.Mul64(square, uint64(n))
	return int(at)
}

// bell returns a number near 0, of a variance of about spread^2 / 3, within ±2·spread.
func bell(s *synth.Rand, spread int) int {
	sum := 0
	for range 4 {
		sum += s.Between(-spread, spread)
	}
	return sum / 2
}
