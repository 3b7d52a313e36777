package review

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// ProposalKind says what consolidation found.
type ProposalKind string

// The kinds of proposals, in order.
const (
	ProposeExpired       ProposalKind = "expired"       // its time has passed: to be marked expired
	ProposeDuplicate     ProposalKind = "duplicate"     // they say the same: all but one superseded
	ProposeContradiction ProposalKind = "contradiction" // they cannot both be so: contradicted
	ProposeUpdate        ProposalKind = "update"        // a later one may replace an earlier one: superseded
	ProposeTag           ProposalKind = "tag"           // several spellings of one tag: keep one
	ProposeLow           ProposalKind = "low"           // least important, beyond a cap: retired
	ProposeIsolated      ProposalKind = "isolated"      // old, linked to nothing: stale
)

// ProposalKinds returns all kinds in their order.
func ProposalKinds() []ProposalKind {
	return []ProposalKind{ProposeExpired, ProposeDuplicate, ProposeContradiction, ProposeUpdate,
		ProposeTag, ProposeLow, ProposeIsolated}
}

const (
	// TypeProposal is the type of the node that keeps that a proposal was declined; its key is
	// "proposal/" and the proposal's id.
	TypeProposal = "proposal"
	keyProposal  = "proposal/"

	// MaxProposals is the largest number of proposals in one result; further ones come once these are settled.
	MaxProposals = 10_000
	// immuneAt is the importance from which a cap retires no memory.
	immuneAt = 4
	// idDigits is how many hex digits of the fingerprint are a proposal's id.
	idDigits = 16
)

// Proposal is something that could be tidied up, with what speaks for it.
type Proposal struct {
	// ID has 16 hex digits. It stays the same as long as the evidence does.
	ID    string       `json:"id"`
	Kind  ProposalKind `json:"kind" shape:"expired|duplicate|contradiction|update|tag|low|isolated"`
	Why   string       `json:"why"`   // the evidence, for people
	Nodes []graph.ID   `json:"nodes"` // of duplicates the one that stays first
	Names []string     `json:"names"` // the beginning of each node's text

	Similarity int64                `json:"similarity,omitempty"` // of a contradiction, in units of 2^-16
	Differs    []compare.Difference `json:"differs,omitempty"`    // likewise
	Importance *memory.Effective    `json:"importance,omitempty"` // for low and isolated memories
	Tag        string               `json:"tag,omitempty"`        // the spelling that stays
	Spellings  []string             `json:"spellings,omitempty"`  // the others, in bytewise order
	Settle     string               `json:"settle,omitempty"`     // of an update: the command that confirms it
	Differ     string               `json:"differ,omitempty"`     // the command that denies it

	records []ipld.CID   // of Nodes
	said    []ipld.Value // for an update: the contents of Nodes
}

// evidence returns the input of the hash that is a proposal's id: docs/internals/memories.md, "Proposals".
func (p *Proposal) evidence() []byte {
	var records, tags []ipld.Value
	switch {
	case p.Kind == ProposeUpdate:
		records = p.said
	case p.Kind == ProposeTag: // which memories have them does not matter
		tags = append(tags, ipld.StringValue(p.Tag))
		for _, s := range p.Spellings {
			tags = append(tags, ipld.StringValue(s))
		}
	default:
		for _, c := range p.records {
			records = append(records, ipld.LinkValue(c))
		}
	}
	return ipld.AppendValue(nil, ipld.ListValue(ipld.StringValue(TypeProposal),
		ipld.StringValue(string(p.Kind)), ipld.ListValue(records...), ipld.ListValue(tags...)))
}

func (p *Proposal) fingerprint() string {
	sum := sha256.Sum256(p.evidence())
	return hex.EncodeToString(sum[:idDigits/2])
}

// ConsolidateRequest says what to look for.
type ConsolidateRequest struct {
	Now   graph.Time
	Kinds []ProposalKind // empty for all
	// Cap is how many memories there may be before the least important ones are proposed to be
	// retired; 0 for any number.
	Cap int
	memory.ImportanceOptions
	// Progress receives the number of memories compared with others; nil for none.
	Progress func(done, total int)
}

func (r *ConsolidateRequest) check() error {
	for _, k := range r.Kinds {
		if !slices.Contains(ProposalKinds(), k) {
			return state.Invalidf("kinds: no kind %q: want some of %v", k, ProposalKinds())
		}
	}
	if r.Cap < 0 {
		return state.Invalidf("cap: %d is below 0", r.Cap)
	}
	return graph.CheckTime("now", r.Now)
}

// Proposals are the proposals for one snapshot.
type Proposals struct {
	List     []Proposal // by kind, then by what each kind is ordered by
	Memories int        // that were looked at
	Declined int        // proposals that are left out since they were declined
	More     int        // proposals beyond MaxProposals
}

// Propose looks for possible improvements of a snapshot. The same snapshot and request give the same proposals. A
// memory, here, is a visible node without a key that has a summary and no content, the form that Remember writes.
// Proposals to expire nodes and to unify tags cover nodes of any kind.
//
// It reads every node. For duplicates and contradictions it compares each memory with the few most similar ones in the
// index that it may be paired with, so the time is one small search for each memory, not all pairs. It checks ctx
// between two memories.
func Propose(ctx context.Context, s *core.Snapshot, req ConsolidateRequest) (*Proposals, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.HalfLives == nil {
		var err error
		if req.HalfLives, err = memory.HalfLivesAt(ctx, s); err != nil {
			return nil, err
		}
	}
	c := &consolidator{ctx: ctx, s: s, req: req, out: new(Proposals),
		at: make(map[graph.ID]int), hides: make(map[graph.ID]bool),
		named: make(map[graph.ID]bool), replaces: make(map[graph.ID]bool),
		tags: make(map[string][]subject)}
	if err := c.read(); err != nil {
		return nil, err
	}
	find := map[ProposalKind]func() error{
		ProposeExpired: c.expired, ProposeDuplicate: c.duplicates, ProposeContradiction: c.contradictions,
		ProposeUpdate: c.updates, ProposeTag: c.fragmented, ProposeLow: c.low, ProposeIsolated: c.isolated,
	}
	for _, kind := range ProposalKinds() {
		if len(req.Kinds) == 0 || slices.Contains(req.Kinds, kind) {
			if err := find[kind](); err != nil {
				return nil, err
			}
		}
	}
	return c.out, nil
}

type subject struct {
	id      graph.ID
	cid     ipld.CID
	typ     string
	stated  int
	created graph.Time
	from    graph.OptTime
	to      graph.OptTime
	marked  graph.State // stale, contradicted or ""
	by      graph.ID    // of a contradiction
}

type consolidator struct {
	ctx context.Context
	s   *core.Snapshot
	req ConsolidateRequest
	out *Proposals

	all      []subject // memories in id order
	at       map[graph.ID]int
	due      []subject            // nodes of any kind that are due
	hides    map[graph.ID]bool    // by a proposal before
	named    map[graph.ID]bool    // in a proposal before, declined ones too, or another's successor
	tags     map[string][]subject // the memories that have each, in id order
	replaces map[graph.ID]bool    // that another memory is marked as superseded by
	same     []pair               // of memories that say the same
	oppose   []pair
	paired   bool
	rare     *memory.RareWords // once pairs are looked for
}

func (c *consolidator) read() error {
	for e, err := range c.s.Nodes(c.ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		n := e.Node
		m, err := c.s.Mark(c.ctx, graph.OnNode, n.ID)
		if err != nil {
			return err
		}
		if m != nil && m.State == graph.Superseded {
			c.named[m.By], c.replaces[m.By] = true, true // it was said again
		}
		if m != nil && m.State.Hides() {
			continue
		}
		x := subject{id: n.ID, cid: e.CID, typ: n.Type, stated: memory.StatedImportance(n),
			created: n.Created, from: n.ValidFrom, to: n.ValidTo}
		if m != nil {
			x.marked, x.by = m.State, m.By
		}
		if m != nil && m.State == graph.Contradicted {
			if disputed, err := memory.Disputed(c.ctx, c.s, m); err != nil {
				return err
			} else if !disputed {
				x.marked, x.by = "", graph.ID{}
			}
		}
		if at, _, ok := memory.Due(n); ok && at <= c.req.Now {
			c.due = append(c.due, x)
		}
		c.countTags(n)
		if memory.IsStatement(n) {
			c.at[n.ID] = len(c.all)
			c.all = append(c.all, x)
		}
	}
	c.out.Memories = len(c.all)
	return nil
}

// add adds a proposal unless it was declined, and reports whether it did. The memories that it hides take no part in
// later ones.
func (c *consolidator) add(p Proposal, list []subject, hides ...graph.ID) (bool, error) {
	for _, x := range list {
		p.Nodes = append(p.Nodes, x.id)
		p.records = append(p.records, x.cid)
	}
	if p.Kind != ProposeTag {
		for _, id := range p.Nodes {
			c.named[id] = true
		}
	}
	p.ID = p.fingerprint()
	declined, err := isDeclined(c.ctx, c.s, p.ID)
	if err != nil {
		return false, err
	}
	if declined {
		c.out.Declined++
		return false, nil
	}
	for _, id := range hides {
		c.hides[id] = true
	}
	if len(c.out.List) == MaxProposals {
		c.out.More++
		return true, nil
	}
	for _, id := range p.Nodes[:min(len(p.Nodes), maxNamed)] {
		n, _, err := c.s.Node(c.ctx, id)
		if err != nil {
			return false, err
		}
		p.Names = append(p.Names, cmp.Or(n.Key, n.Summary))
	}
	c.out.List = append(c.out.List, p)
	return true, nil
}

// maxNamed is how many nodes of a proposal have their names in it.
const maxNamed = 20

// isDeclined reports whether a proposal was declined: its node is retired. Removing that mark makes it proposed again.
func isDeclined(ctx context.Context, s *core.Snapshot, id string) (bool, error) {
	node := graph.NodeID(keyProposal + id)
	if _, _, err := s.Node(ctx, node); err != nil {
		if memory.IsMissing(err) {
			err = nil
		}
		return false, err
	}
	m, err := s.Mark(ctx, graph.OnNode, node)
	return m != nil && m.State == graph.Retired, err
}

func (c *consolidator) expired() error {
	for _, x := range c.due {
		n, _, err := c.s.Node(c.ctx, x.id)
		if err != nil {
			return err
		}
		at, why, _ := memory.Due(n)
		p := Proposal{Kind: ProposeExpired, Why: why + " " + at.String()}
		if _, err := c.add(p, []subject{x}, x.id); err != nil {
			return err
		}
	}
	return nil
}

type weighed struct {
	subject
	memory.Effective
}

// weigh returns the memories that are still visible with their importance, the least first.
func (c *consolidator) weigh(keep func(*subject) bool) ([]weighed, error) {
	var list []weighed
	for i := range c.all {
		x := &c.all[i]
		if c.hides[x.id] || !keep(x) {
			continue
		}
		n, _, err := c.s.Node(c.ctx, x.id)
		if err != nil {
			return nil, err
		}
		e, err := memory.ImportanceOf(c.ctx, c.s, n, c.req.Now, c.req.ImportanceOptions)
		if err != nil {
			return nil, err
		}
		list = append(list, weighed{*x, e})
	}
	slices.SortFunc(list, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), a.id.Compare(b.id))
	})
	return list, nil
}

// low proposes to retire the least important memories beyond the cap.
func (c *consolidator) low() error {
	visible := 0
	for i := range c.all {
		if !c.hides[c.all[i].id] {
			visible++
		}
	}
	beyond := visible - c.req.Cap
	if c.req.Cap == 0 || beyond <= 0 {
		return nil
	}
	list, err := c.weigh(func(x *subject) bool { return x.stated < immuneAt })
	if err != nil {
		return err
	}
	for _, x := range list {
		if beyond == 0 {
			break
		}
		ok, err := c.add(Proposal{Kind: ProposeLow, Why: "the least important beyond the cap",
			Importance: &x.Effective}, []subject{x.subject}, x.id)
		if err != nil {
			return err
		}
		if ok {
			beyond--
		}
	}
	return nil
}

// isolated proposes to review memories that are older than twice their half-life, were not stated again, superseded
// nothing, have no edges, and are in no earlier proposal. If most memories are like that, it proposes none.
func (c *consolidator) isolated() error {
	list, err := c.weigh(func(x *subject) bool {
		return x.stated < immuneAt && x.marked == "" && !c.named[x.id]
	})
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(x weighed) bool {
		return x.Linked > 0 || x.Uses > 0 || x.Age < 2*int64(x.HalfLife)*memory.PerDay
	})
	if 2*len(list) > len(c.all) {
		return nil
	}
	for _, x := range list {
		_, err := c.add(Proposal{Kind: ProposeIsolated, Importance: &x.Effective,
			Why: "older than two half-lives, said once, and linked to nothing"}, []subject{x.subject})
		if err != nil {
			return err
		}
	}
	return nil
}

// TagsOf returns the tags of a node, nil if it has none; what is no text among them is left out.
func TagsOf(n *graph.Node) []string { return memory.Texts(n.Props, memory.PropTags) }

func (c *consolidator) countTags(n *graph.Node) {
	for _, tag := range TagsOf(n) {
		if list := c.tags[tag]; len(list) == 0 || list[len(list)-1].id != n.ID {
			c.tags[tag] = append(list, subject{id: n.ID})
		}
	}
}

// tagStem returns what spellings of one tag have in common: letters and digits in their folded
// form, without the s of a plural. Signs that stand for themselves, as in c++ and c#, count.
func tagStem(tag string) string {
	var b strings.Builder
	text.EachFolded(tag, func(_, _ int, kind text.CharClass, fold string) bool {
		if kind != text.KindOther || !strings.Contains(" -_./\u00a0", fold) {
			b.WriteString(fold)
		}
		return true
	})
	stem := b.String()
	if len(stem) > 3 && strings.HasSuffix(stem, "s") && !strings.HasSuffix(stem, "ss") {
		stem = stem[:len(stem)-1]
	}
	return stem
}

// fragmented proposes one spelling for tags that differ in their spelling alone: the one that is
// used most, of these the shortest, then the first in bytewise order.
func (c *consolidator) fragmented() error {
	groups := make(map[string][]string)
	for _, tag := range slices.Sorted(maps.Keys(c.tags)) {
		stem := tagStem(tag)
		groups[stem] = append(groups[stem], tag)
	}
	for _, stem := range slices.Sorted(maps.Keys(groups)) {
		group := groups[stem]
		if len(group) < 2 || stem == "" {
			continue
		}
		slices.SortStableFunc(group, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(c.tags[b]), len(c.tags[a])), cmp.Compare(len(a), len(b)))
		})
		p := Proposal{Kind: ProposeTag, Tag: group[0], Spellings: slices.Clone(group[1:]),
			Why: "one tag in several spellings"}
		slices.Sort(p.Spellings)
		var list []subject
		for _, tag := range p.Spellings {
			list = append(list, c.tags[tag]...)
		}
		slices.SortFunc(list, func(a, b subject) int { return a.id.Compare(b.id) })
		list = slices.CompactFunc(list, func(a, b subject) bool { return a.id == b.id })
		if _, err := c.add(p, list); err != nil {
			return err
		}
	}
	return nil
}
