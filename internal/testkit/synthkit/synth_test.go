package synthkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
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
	must.Equal(t, hex.EncodeToString(sum[:]), goldenLines, "hash")
	q := must.Get(s.Question(7))(t)
	const want = "vuta stetre dustu dretre dila"
	must.True(t, q.Text == want && q.Node == 208, "question %q of node %d, want %q", q.Text, q.Node, want)
	other := New(2, 300, 5, 16)
	must.True(t, !bytes.Equal(linesOf(t, s.Changes()), linesOf(t, other.Changes())), "another seed makes the same")
}

func TestNodesDoNotDependOnTheSize(t *testing.T) {
	small, large := New(3, 200, 0, 4), New(3, 1000, 0, 4)
	must.Same(t, linesOf(t, small.Changes()), linesOf(t, large.Range(0, 200)), "a larger memory begins otherwise")
}
