package review

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// maxPairNodes bounds how many nodes that differ are read to find undecided pairs among what is new.
const maxPairNodes = 2000

// Undecided is a pair of memories. The later one may replace the earlier one: Remember would ask about it, and no
// caller has answered.
type Undecided struct{ Later, Earlier *graph.Node }

// SettleCommand returns the command that marks an earlier memory as replaced by a later one.
func SettleCommand(earlier, later graph.ID) string {
	return fmt.Sprintf("mnem mark superseded %s --by %s", earlier, later)
}

// DifferCommand returns the command that records that a later memory does not replace an earlier one.
func DifferCommand(earlier, later graph.ID) string {
	return fmt.Sprintf("mnem mark different %s --by %s", earlier, later)
}

// proposal returns the pair as a proposal. Its id depends on what both say.
func (p *Undecided) proposal() Proposal {
	out := Proposal{Kind: ProposeUpdate, Why: "the later one may replace the earlier one",
		Settle: SettleCommand(p.Earlier.ID, p.Later.ID), Differ: DifferCommand(p.Earlier.ID, p.Later.ID)}
	for _, n := range []*graph.Node{p.Later, p.Earlier} {
		sum := sha256.Sum256([]byte(n.Summary))
		out.Nodes = append(out.Nodes, n.ID)
		out.said = append(out.said, ipld.ListValue(ipld.StringValue(n.ID.String()), ipld.BytesValue(sum[:])))
	}
	return out
}

type pairer struct {
	ctx  context.Context
	s    *core.Snapshot
	rare *memory.RareWords
}

func newPairer(ctx context.Context, s *core.Snapshot) *pairer {
	return &pairer{ctx, s, memory.NewRareWords(ctx, s)}
}

// of returns the pair of a memory and the earlier one that it may replace, nil for none, and whether one was declined.
func (p *pairer) of(n *graph.Node) (pair *Undecided, declined bool, err error) {
	later, err := memory.LaterOf(p.ctx, p.s, n)
	if err != nil {
		return nil, false, err
	}
	nodes := make(map[graph.ID]*graph.Node)
	_, id, err := p.rare.Nearest(later, func(id graph.ID) (*memory.Earlier, error) {
		old, err := p.replaceable(n.ID, id)
		if old == nil || err != nil {
			return nil, err
		}
		nodes[id] = old
		return &memory.Earlier{Text: old.Summary, Cues: old.Cues, Created: old.Created}, nil
	})
	if err != nil || id.IsZero() {
		return nil, false, err
	}
	pair = &Undecided{n, nodes[id]}
	prop := pair.proposal()
	if declined, err = isDeclined(p.ctx, p.s, prop.fingerprint()); err != nil || declined {
		return nil, declined, err
	}
	return pair, false, nil
}

// replaceable returns a memory that another one may replace, nil if a mark hides it or says that they contradict each
// other.
func (p *pairer) replaceable(by, id graph.ID) (*graph.Node, error) {
	n, err := memory.SeenNode(p.ctx, p.s, id, nil)
	if err != nil || n == nil || !isReplaced(n) {
		return nil, err
	}
	m, err := p.s.Mark(p.ctx, graph.OnNode, id)
	if err != nil || m != nil && m.By == by {
		return nil, err
	}
	return n, nil
}

func isReplaced(n *graph.Node) bool { return memory.IsStatement(n) && !source.IsSaid(n.Type) }

// UndecidedSince returns the undecided pairs whose later memory was added between two commits, newest first and at most
// most. Each new memory costs a search of some milliseconds, so only the newest ones, at most newest, are examined.
func UndecidedSince(ctx context.Context, from, to *core.Snapshot, newest, most int) (pairs []Undecided, err error) {
	var later []*graph.Node
	replaces := make(map[graph.ID]bool)
	looked := 0
	for d, err := range from.Diff(to).Nodes(ctx) {
		if err != nil {
			return nil, err
		}
		if looked++; looked > maxPairNodes {
			break
		}
		m, err := to.Mark(ctx, graph.OnNode, d.ID)
		if err != nil {
			return nil, err
		}
		if m != nil && m.State == graph.Superseded {
			replaces[m.By] = true
		}
		if d.Old == nil && memory.IsShown(m) && isReplaced(d.New) {
			later = append(later, d.New)
		}
	}
	slices.SortFunc(later, func(a, b *graph.Node) int {
		return cmp.Or(cmp.Compare(b.Created, a.Created), a.ID.Compare(b.ID))
	})
	p := newPairer(ctx, to)
	for _, n := range later[:min(newest, len(later))] {
		if replaces[n.ID] { // it was decided what it replaces
			continue
		}
		pair, _, err := p.of(n)
		if err != nil {
			return nil, err
		}
		if pair == nil {
			continue
		}
		if pairs = append(pairs, *pair); len(pairs) == most {
			break
		}
	}
	return pairs, nil
}

// DifferRequest names memories that another one does not replace.
type DifferRequest struct {
	Nodes []string // the earlier ones, named as of core.Snapshot.Name, 1 to memory.MaxMarked
	By    string   // the later one
}

// Differ records in one commit that a later memory does not replace earlier ones. Reviews then ask again only after one
// of them has changed. It writes the same record as declining a proposal.
func Differ(ctx context.Context, r *core.Repo, opt core.CommitOptions, req DifferRequest) (*memory.MarkResult, error) {
	if len(req.Nodes) == 0 || len(req.Nodes) > memory.MaxMarked {
		return nil, state.Invalidf("nodes: %d, want 1 to %d", len(req.Nodes), memory.MaxMarked)
	}
	return memory.DecideMarks(ctx, r, opt, false, func(k *memory.Marker) (string, error) {
		by, err := differing(k, req.By)
		if err != nil {
			return "", err
		}
		var marked, already []graph.ID
		for _, name := range req.Nodes {
			n, err := differing(k, name)
			if err != nil {
				return "", err
			}
			if n.ID == by.ID {
				return "", state.Invalidf("%q cannot differ from itself", name)
			}
			prop := (&Undecided{Later: by, Earlier: n}).proposal()
			prop.ID = prop.fingerprint()
			known, err := isDeclined(ctx, k.Snapshot, prop.ID)
			if err != nil {
				return "", err
			}
			if known {
				already = append(already, n.ID)
				continue
			}
			marked = append(marked, n.ID)
			decline(k, &prop)
		}
		k.Result = &memory.MarkResult{Marked: marked, Already: already} // of the memories, not of the proposals
		return "different " + memory.Listed(marked) + " from " + by.ID.String(), nil
	})
}

func differing(k *memory.Marker, name string) (*graph.Node, error) {
	id, err := k.Name(name, memory.IsShown)
	if err != nil {
		return nil, err
	}
	n, _, err := k.Snapshot.Node(k.Context, id)
	return n, err
}

// updates proposes that later memories replace earlier ones.
func (c *consolidator) updates() error {
	if !c.s.CID().Defined() {
		return nil
	}
	p := newPairer(c.ctx, c.s)
	other := make(map[[2]graph.ID]bool) // pairs of other kinds, declined ones too
	for _, x := range slices.Concat(c.same, c.oppose) {
		a, b := c.all[x.a].id, c.all[x.b].id
		other[[2]graph.ID{a, b}], other[[2]graph.ID{b, a}] = true, true
	}
	return c.each(func(i int) error {
		if c.replaces[c.all[i].id] {
			return nil
		}
		n, _, err := c.s.Node(c.ctx, c.all[i].id)
		if err != nil || source.IsSaid(n.Type) {
			return err
		}
		pair, declined, err := p.of(n)
		if declined {
			c.out.Declined++
		}
		if err != nil || pair == nil || c.hides[pair.Earlier.ID] ||
			other[[2]graph.ID{pair.Later.ID, pair.Earlier.ID}] {
			return err
		}
		_, err = c.add(pair.proposal(), nil)
		return err
	})
}
