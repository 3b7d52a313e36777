package repokit

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Stale is the number of commits that a writer makes against one snapshot.
const Stale = 5

// FactLines returns the key and the lines of a fact: a node, an edge from it to the node hub, and, once every Stale
// facts, a property of hub.
func FactLines(writer string, i int) (key, text string) {
	key = fmt.Sprintf("%s-%d", writer, i)
	text = fmt.Sprintf(`{"node":{"key":%q,"type":"Fact","summary":"fact %d of %s"}}
{"edge":{"type":"of","src":%q,"dst":"hub"}}`, key, i, writer, key)
	if i%Stale == 0 {
		text += fmt.Sprintf("\n"+`{"node":{"key":"hub","props":{%q:%d}}}`, writer, i)
	}
	return key, text
}

// WriteFacts commits facts one by one against a snapshot taken every few commits, so that most
// were made for an older commit than the newest.
func WriteFacts(ctx context.Context, r *core.Repo, writer string, n int) error {
	var base ipld.CID
	for i := range n {
		if i%Stale == 0 {
			_, head, err := r.Branch(ctx)
			if err != nil {
				return err
			}
			base = head
		}
		key, text := FactLines(writer, i)
		stamp := By
		stamp.Time += graph.Time(i)
		_, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text), key),
			core.CommitOptions{Stamp: stamp, Base: &base})
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
