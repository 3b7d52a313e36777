package reading

import (
	"context"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/verb"
)

// Buckets are the edges of a node.
type Buckets struct {
	Out     []Neighbor `json:"out"`
	In      []Neighbor `json:"in"`
	MoreOut uint64     `json:"more_out"` // edges that follow, hidden ones included
	MoreIn  uint64     `json:"more_in"`
}

// Neighbor is one edge of a node and the node at its other end.
type Neighbor struct {
	Type     string      `json:"type"`
	Edge     graph.ID    `json:"edge"`
	ID       graph.ID    `json:"id"`
	Key      verb.Text   `json:"key"`
	NodeType verb.Text   `json:"node_type"`
	Summary  verb.Text   `json:"summary"`
	Weight   verb.Weight `json:"weight"`
}

// Buckets reads the edges of a node, at most limit in each direction.
func (v Visible) Buckets(ctx context.Context, id graph.ID, limit int) (all Buckets, err error) {
	names := NewLabels(v.Snapshot)
	if all.Out, all.MoreOut, err = v.bucket(ctx, names, id, adjacency.Out, limit); err == nil {
		all.In, all.MoreIn, err = v.bucket(ctx, names, id, adjacency.In, limit)
	}
	return all, err
}

func (v Visible) bucket(
	ctx context.Context, names *Labels, id graph.ID, side adjacency.Direction, limit int,
) (list []Neighbor, more uint64, err error) {
	trees := v.Snapshot.Adjacency()
	if more, err = trees.Degree(ctx, id, side, ""); err != nil {
		return nil, 0, err
	}
	for e, err := range trees.Bucket(ctx, id, side, "", nil) {
		if err != nil {
			return nil, 0, err
		}
		if len(list) == limit {
			break
		}
		more--
		ok, err := v.Edge(ctx, e.Edge, e.Other)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		row := Neighbor{Type: e.Type, Edge: e.Edge, ID: e.Other, Weight: verb.Weight(e.Weight)}
		n, err := names.Node(ctx, e.Other)
		if err != nil {
			return nil, 0, err
		}
		if n != nil {
			row.Key, row.NodeType, row.Summary = verb.Text(n.Key), verb.Text(n.Type), verb.Text(n.Summary)
		}
		list = append(list, row)
	}
	return list, more, nil
}
