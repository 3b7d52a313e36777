package repo

import (
	"context"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// altitude returns the digests that answers are from, those of the recipe that is used where nothing is
// said. They are kept where they may be.
func (g graphView) altitude(ctx context.Context) (*Digests, error) {
	return g.s.Digests(ctx, distill.Default(), DigestOptions{Keep: true})
}

// Digests makes the view one of retrieve.Digested.
func (g graphView) Digests(ctx context.Context, id graph.ID) ([]*retrieve.Digest, error) {
	d, err := g.altitude(ctx)
	if err != nil {
		return nil, err
	}
	above, err := d.Above(ctx, id)
	out := make([]*retrieve.Digest, len(above))
	for i := range above {
		out[i] = digestOf(above[i])
	}
	return out, err
}

// RootDigest makes it one too.
func (g graphView) RootDigest(ctx context.Context) (*retrieve.Digest, error) {
	d, err := g.altitude(ctx)
	if err != nil {
		return nil, err
	}
	root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
	if root == nil || err != nil {
		return nil, err
	}
	out := digestOf(root)
	w, _, err := g.s.DigestText(ctx, root.Source)
	if w != nil {
		out.Written, out.Model = w.Text, w.Model
	}
	return out, err
}

func digestOf(d *distill.Digest) *retrieve.Digest {
	out := &retrieve.Digest{
		Name: d.ID(), Root: d.Kind() == distill.Root, Facts: d.Facts, Source: d.Source,
	}
	for _, s := range d.Text {
		out.Sentences = append(out.Sentences, retrieve.DigestSentence{Fact: s.Fact, Text: s.Text})
	}
	return out
}
