package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
)

// placeTypes are the types of nodes that package ingest writes for files and their sections, each with the prefix of
// their keys; personalProps are the properties of these that a person wrote.
var (
	placeTypes    = map[string]string{"Collection": "files:", "Document": "doc/", "Section": "doc/"}
	personalProps = []string{"aliases", "meta", "tags"}
)

// isPlace reports whether a node only stands for a file or section, whose chunks name it anyway.
func isPlace(n *graph.Node) bool {
	prefix, ok := placeTypes[n.Type]
	return ok && strings.HasPrefix(n.Key, prefix) && n.Content == nil && len(n.Cues) == 0 &&
		!slices.ContainsFunc(personalProps, func(name string) bool { _, has := ipld.FindEntry(n.Props, name); return has })
}

// onlyName reports whether to leave out a node that is only a name or a place: it tells a reader nothing that the items
// do not. One that the request names or asks for by its type is an item like others.
func (r *request) onlyName(c *candidate, n *graph.Node) bool {
	return (r.row.bands || c.recalled != nil) && c.tier == tierNone &&
		!slices.Contains(r.req.Types, n.Type) && (source.IsName(n) || r.row.bands && isPlace(n))
}

// items returns the candidates that are not only names. Of indexed nodes it reads only those whose type is one of
// names, since an answer may end long before the last candidate.
func (r *request) items(ctx context.Context, list []*candidate) ([]*candidate, error) {
	types, err := r.x.Types(ctx, idsOf(list))
	if err != nil {
		return nil, fmt.Errorf("read types of candidates: %w", err)
	}
	var out []*candidate
	for i, c := range list {
		t := types[i]
		if source.NameTypes[t] != "" || placeTypes[t] != "" || t == "" {
			n, _, err := r.g.Node(ctx, c.id)
			if err != nil {
				return nil, fmt.Errorf("read node %s: %w", c.id, err)
			}
			if r.onlyName(c, n) {
				continue
			}
			t = n.Type
		}
		c.chunk = t == render.ChunkType
		c.said = source.IsSaid(t) && len(r.req.Types) == 0
		out = append(out, c)
	}
	return out, nil
}
