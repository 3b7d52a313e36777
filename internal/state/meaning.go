package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// MeaningNodes is the largest number of nodes that a batch embeds. A batch that writes more embeds none: others would
// wait too long, and 'mnem embed' does it afterwards.
const MeaningNodes = 64

// Meaning sees texts as vectors. A vector is a function of its text alone, with the same bytes in every process. Safe
// for concurrent use.
type Meaning interface {
	// Model names it: 1 to graph.MaxModel bytes.
	Model() string
	// Vectors returns the vector of each text, in their order: all of the same dimensions, with numbers from
	// -127 to 127 that reach one of the two, or nil for a text without meaning.
	Vectors(ctx context.Context, texts []string) ([][]int8, error)
}

// meant are the nodes that a batch writes and is to embed.
type meant struct {
	by    Meaning // nil for none
	nodes []graph.ID
}

// note records a written node. It records at most one more than are embedded.
func (m *meant) note(id graph.ID) {
	if m.by != nil && len(m.nodes) <= MeaningNodes && !slices.Contains(m.nodes, id) {
		m.nodes = append(m.nodes, id)
	}
}

// LeftUnembedded reports whether the batch wrote more nodes than it embeds.
func (b *Batch) LeftUnembedded() bool { return len(b.meaning.nodes) > MeaningNodes }

// embedMeant embeds the nodes that the batch wrote, unless they have an embedding of their text.
func (b *Batch) embedMeant() error {
	if b.LeftUnembedded() {
		return nil
	}
	var todo []unembedded
	var texts []string
	for _, id := range b.meaning.nodes {
		u, text, err := b.unembedded(id)
		if err != nil {
			return err
		}
		if text != "" {
			todo, texts = append(todo, u), append(texts, text)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	vectors, err := b.meaning.by.Vectors(b.Ctx, texts)
	if err != nil {
		return fmt.Errorf("embed %s: %w", plain.Plural(len(texts), "node"), err)
	}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		e, err := graph.NewDense(b.meaning.by.Model(), floats(v), todo[i].hash)
		if err == nil {
			err = b.put(b.Vectors, todo[i].key, e.Encode())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unembedded is a node that has no embedding of its text.
type unembedded struct {
	key  []byte // of its embedding
	hash [32]byte
}

// unembedded returns a node that has no embedding of its text, and that text, "" if there is nothing to embed.
func (b *Batch) unembedded(id graph.ID) (u unembedded, text string, err error) {
	n, err := b.findNode(id)
	if err != nil || n == nil {
		return u, "", err
	}
	content, err := ContentText(b.Ctx, b.Stage, n.Content)
	if err != nil {
		return u, "", err
	}
	u = unembedded{graph.EmbeddingKey(id, b.meaning.by.Model()), graph.TextHash(n, content)}
	old, err := find(b, b.Vectors, u.key, commit.ReadEmbedding)
	if errors.Is(err, store.ErrRedacted) {
		old, err = nil, nil
	}
	if err != nil || old != nil && old.Text == u.hash {
		return u, "", err
	}
	if text = graph.EmbedText(n, content); strings.TrimSpace(text) == "" {
		text = ""
	}
	return u, text, nil
}

// EmbeddingOf returns the change that gives a node a vector of a Meaning.
func EmbeddingOf(id graph.ID, model string, vector []int8) *graph.EmbeddingChange {
	return &graph.EmbeddingChange{Node: graph.Ref{ID: id}, Model: model, Vector: floats(vector)}
}

// floats converts a vector with a component of 127 or -127: quantising it yields the same vector.
func floats(vector []int8) []float64 {
	out := make([]float64, len(vector))
	for i, x := range vector {
		out[i] = float64(x)
	}
	return out
}

// Foresee has by embed the nodes that some changes create, if these are few enough, before other writers wait. It
// helps a Meaning that caches vectors. Errors show when the changes are applied.
func Foresee(ctx context.Context, by Meaning, changes []graph.Change) {
	var texts []string
	for _, c := range changes {
		if c.Node == nil {
			continue
		}
		if len(texts) == MeaningNodes {
			return
		}
		if text := madeText(c.Node); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		_, _ = by.Vectors(ctx, texts)
	}
}

// madeText returns the text of the node that a change makes, "" for none.
func madeText(c *graph.NodeChange) string {
	n, err := c.Make(0)
	if err != nil {
		return ""
	}
	content := ""
	if n.Content != nil {
		content, err = graph.JoinContent(n.Content, func(id ipld.CID) ([]byte, error) {
			i := slices.IndexFunc(c.Chunks, func(chunk graph.Chunk) bool { return chunk.CID == id })
			if i < 0 {
				return nil, store.ErrNotFound
			}
			return c.Chunks[i].Data, nil
		})
	}
	if err != nil || strings.TrimSpace(graph.EmbedText(n, content)) == "" {
		return ""
	}
	return graph.EmbedText(n, content)
}
