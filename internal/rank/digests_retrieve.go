package rank

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view/distill"
)

// altitude returns the digests that answers are from, those of the recipe that is used if nothing is
// said. They are kept where they may be.
func (g graphView) altitude(ctx context.Context) (*outline.Digests, error) {
	return outline.Open(ctx, g.s, distill.Default(), outline.DigestOptions{Keep: true})
}

// Digests makes the view one of retrieve.Digested.
func (g graphView) Digests(ctx context.Context, id graph.ID) ([]*source.Digest, error) {
	d, err := g.altitude(ctx)
	if err != nil {
		return nil, err
	}
	above, err := d.Above(ctx, id)
	out := make([]*source.Digest, len(above))
	for i := range above {
		out[i] = digestOf(above[i])
		if out[i].Shown, err = nameByKey(ctx, d, above[i]); err != nil {
			return nil, err
		}
	}
	return out, err
}

// Sentences makes it one too.
func (g graphView) Sentences(ctx context.Context, id graph.ID) (int, error) {
	d, err := g.altitude(ctx)
	if err != nil {
		return 0, err
	}
	f, err := d.Reader.Fact(ctx, id)
	if f == nil || err != nil {
		return 0, err
	}
	return len(f.Sentences()), nil
}

// RootDigest makes it one too.
func (g graphView) RootDigest(ctx context.Context) (*source.Digest, error) {
	d, err := g.altitude(ctx)
	if err != nil {
		return nil, err
	}
	root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
	if root == nil || err != nil {
		return nil, err
	}
	out := digestOf(root)
	w, _, err := outline.ReadDigestText(ctx, g.s, root.Source)
	if w != nil {
		out.Written, out.Model = w.Text, w.Model
	}
	return out, err
}

// nameByKey names a digest by the key of its scope, "" if that is no fact or has none.
func nameByKey(ctx context.Context, d *outline.Digests, one *distill.Digest) (string, error) {
	f, err := d.Reader.Fact(ctx, one.Scope)
	if f == nil || err != nil || f.Hidden || f.Key == "" {
		return "", err
	}
	name := text.EscapeLine(f.Key)
	if one.Label != "" {
		name += "/" + one.Label
	}
	return name, nil
}

func digestOf(d *distill.Digest) *source.Digest {
	out := &source.Digest{
		Name: d.ID(), Root: d.Kind() == distill.Root, Facts: d.Facts, Source: d.Source,
	}
	for _, s := range d.Text {
		out.Sentences = append(out.Sentences, source.DigestSentence{Fact: s.Fact, Text: s.Text})
	}
	return out
}

// Community makes the view one of retrieve.Grouped.
func (g graphView) Community(ctx context.Context, id graph.ID) (*source.Community, error) {
	p, err := outline.Communities(ctx, g.s)
	if err != nil {
		return nil, err
	}
	number, ok := p.Of(id)
	if !ok {
		return nil, nil
	}
	return &source.Community{Number: number, Members: p.Members(number)}, nil
}
