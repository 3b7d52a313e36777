package reading

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/community"
)

const shownMembers = 5 // of each community in a list

// Community is one community.
type Community struct {
	Number  int      `json:"number"` // from 1, the largest first
	Size    int      `json:"size"`
	Members []Member `json:"members"` // best-connected first
	Title   string   `json:"title"`   // the names of the first of them
}

// Member is a node in a community.
type Member struct {
	ID       graph.ID  `json:"id"`
	Key      verb.Text `json:"key"`
	NodeType verb.Text `json:"node_type"`
	Summary  verb.Text `json:"summary"`
	Inside   Inside    `json:"weight" shape:"number"` // of its edges inside
}

// Inside is a sum of weights of edges, to the nearest thousandth.
type Inside uint64

// MarshalJSON writes a number.
func (w Inside) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalJSON reads a number, to the nearest thousandth.
func (w *Inside) UnmarshalJSON(data []byte) error {
	x, err := strconv.ParseFloat(string(data), 64)
	*w = Inside(math.Round(x * graph.MaxWeight))
	return err
}

func (w Inside) String() string {
	s := strconv.FormatFloat(float64(w)/graph.MaxWeight, 'f', 3, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// communities lists the communities of a commit with their first members, or all members of the one of the node.
func (x *Explored) communities(ctx context.Context, see Visible, limit int) error {
	p, err := outline.Communities(ctx, see.Snapshot)
	if err != nil {
		return err
	}
	names := NewLabels(see.Snapshot)
	first, last, most := 0, min(p.Len(), limit), shownMembers
	x.Communities, x.More = []Community{}, p.Len()-last
	if x.Node != nil {
		number, ok := p.Of(x.Node.ID)
		if x.More = 0; !ok {
			return nil
		}
		first, last, most = number, number+1, limit
	}
	for number := first; number < last; number++ {
		list := p.Members(number)
		one := Community{Number: number + 1, Size: len(list)}
		if one.Members, err = members(ctx, names, see, list, most); err != nil {
			return err
		}
		if one.Title, err = one.title(ctx, see.Snapshot); err != nil {
			return err
		}
		x.Communities = append(x.Communities, one)
	}
	return nil
}

// title names the members that are listed.
func (c *Community) title(ctx context.Context, s *core.Snapshot) (string, error) {
	var ids []graph.ID
	for _, m := range c.Members {
		ids = append(ids, m.ID)
	}
	return history.Titler{}.Nodes(ctx, s, ids)
}

// members reads the first members of a community that are not hidden.
func members(
	ctx context.Context, names *Labels, see Visible, list []community.Member, limit int,
) (out []Member, err error) {
	for _, m := range list {
		if len(out) == limit {
			break
		}
		ok, err := see.Node(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		row := Member{ID: m.ID, Inside: Inside(m.Inside)}
		n, err := names.Node(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if n != nil {
			row.Key, row.NodeType, row.Summary = verb.Text(n.Key), verb.Text(n.Type), verb.Text(n.Summary)
		}
		out = append(out, row)
	}
	return out, nil
}
