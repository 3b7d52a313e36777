package repokit

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/ipld"
)

// Recut gives a node content of one chunk list over text, which claims a size.
func (f *Forgery) Recut(id graph.ID, text string, size int64) {
	n := &graph.Node{ID: id, Key: "a", Type: "T", Created: ForgedTime}
	n.Content = &graph.Content{Size: size}
	for len(text) > 0 {
		part := text[:min(len(text), ipld.ChunkSize)]
		c := ipld.Sum(ipld.Raw, []byte(part))
		f.Blocks[c] = []byte(part)
		n.Content.Chunks = append(n.Content.Chunks, c)
		text = text[len(part):]
	}
	f.Nodes[string(id[:])] = LinkTo(f.Put(n.Encode()))
}

// Misshape cuts the tree of nodes of a commit, counted from 0, into chunks of so many entries.
func (f *Forgery) Misshape(at, size int) {
	f.Graph = func(g *graph.Graph) {
		if len(f.Tips) != at {
			return
		}
		var leaves, top []prolly.Entry
		for _, k := range slices.Sorted(maps.Keys(f.Nodes)) {
			leaves = append(leaves, prolly.Entry{Key: []byte(k), Value: f.Nodes[k]})
		}
		var counts []int64
		for part := range slices.Chunk(leaves, size) {
			c := f.chunk(0, part, nil)
			top = append(top, prolly.Entry{Key: part[len(part)-1].Key, Value: LinkTo(c)})
			counts = append(counts, int64(len(part)))
		}
		g.Nodes = f.chunk(1, top, counts)
	}
}
