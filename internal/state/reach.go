package state

import (
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Role is the role of a block for the block that links to it (clause 18.3 of the specification).
type Role uint8

const (
	RoleManifest Role = iota + 1
	RoleRefs          // chunk of a tree of refs
	RoleNamed         // target of a ref or an object: one of the next four
	RoleCommit
	RoleTag
	RoleSession
	RoleReceipt
	RoleGraph
	RoleNodes // chunk of this tree; likewise the next four
	RoleEdges
	RoleAdjacency
	RoleMarks
	RoleVectors
	RoleNode
	RoleEdge
	RoleMark
	RoleEmbedding
	RoleDigests // chunk of the tree of texts that models wrote
	RoleWritten
	RoleRedactions // chunk of a tree of redactions
	RoleRedaction
	RoleProfile
	RoleRaw // a chunk of content, the text of a query, or a message
	RoleAny // any record: a collection decides by the kind of each block
)

type roleInfo struct {
	kind     string
	decode   func(block []byte) ([]Lead, error)
	leaf     Role
	erasable bool
}

// roles describe the blocks of each role. Those without decode are chunks of trees, whose entries link to leaf; 0 if they
// are no links.
var roles = [RoleAny + 1]roleInfo{
	RoleManifest:   {kind: commit.KindExport, decode: leadsOf(commit.DecodeExport, manifestLeads)},
	RoleRefs:       {kind: "tree", leaf: RoleNamed},
	RoleNamed:      {kind: "commit, tag, session or receipt"},
	RoleCommit:     {kind: commit.KindCommit, decode: leadsOf(commit.DecodeCommit, commitLeads)},
	RoleTag:        {kind: commit.KindTag, decode: leadsOf(commit.DecodeTag, tagLeads)},
	RoleSession:    {kind: retrieve.KindSession, decode: leadsOf(retrieve.DecodeSession, sessionLeads)},
	RoleReceipt:    {kind: retrieve.KindReceipt, decode: leadsOf(retrieve.DecodeReceipt, receiptLeads)},
	RoleGraph:      {kind: graph.KindGraph, decode: leadsOf(graph.DecodeGraph, graphLeads)},
	RoleNodes:      {kind: "tree", leaf: RoleNode},
	RoleEdges:      {kind: "tree", leaf: RoleEdge},
	RoleAdjacency:  {kind: "tree"},
	RoleMarks:      {kind: "tree", leaf: RoleMark},
	RoleVectors:    {kind: "tree", leaf: RoleEmbedding},
	RoleNode:       {kind: graph.KindNode, decode: NodeLeads, erasable: true},
	RoleEdge:       {kind: graph.KindEdge, decode: leadsOf(graph.DecodeEdge, nil), erasable: true},
	RoleMark:       {kind: graph.KindMark, decode: leadsOf(graph.DecodeMark, nil), erasable: true},
	RoleEmbedding:  {kind: graph.KindEmbedding, decode: leadsOf(graph.DecodeEmbedding, nil), erasable: true},
	RoleDigests:    {kind: "tree", leaf: RoleWritten},
	RoleWritten:    {kind: distill.KindWritten, decode: leadsOf(distill.DecodeWritten, nil), erasable: true},
	RoleRedactions: {kind: "tree", leaf: RoleRedaction},
	RoleRedaction:  {kind: commit.KindRedaction, decode: leadsOf(commit.DecodeRedaction, nil)},
	RoleProfile:    {kind: retrieve.KindProfile, decode: leadsOf(retrieve.DecodeProfiles, nil)},
	RoleRaw:        {kind: "raw block", decode: func([]byte) ([]Lead, error) { return nil, nil }, erasable: true},
}

// leadsOf returns a function that decodes a block and returns its links; of is nil for records without links.
func leadsOf[T any](decode func([]byte) (*T, error), of func(*T) []Lead) func([]byte) ([]Lead, error) {
	return func(block []byte) ([]Lead, error) {
		rec, err := decode(block)
		if err != nil || of == nil {
			return nil, err
		}
		return of(rec), nil
	}
}

// info returns the row of a role; callers may have roles of their own, which have none.
func (r Role) info() (row roleInfo) {
	if int(r) < len(roles) {
		row = roles[r]
	}
	return row
}

// String returns the kind of record, as errors name it: "tree" for chunks of all trees.
func (r Role) String() string { return r.info().kind }

// Tree reports whether blocks with this role are chunks of a tree.
func (r Role) Tree() bool { return r.info().kind == "tree" }

// Leaf returns the role of the targets of a tree's entries, 0 if they are no links or r is no tree.
func (r Role) Leaf() Role { return r.info().leaf }

// Erasable reports whether a block with this role may have been erased.
func (r Role) Erasable() bool { return r.info().erasable }

// ErasedAs reports whether a block with this role may have been erased and left this redaction: for an edge or a
// mark the redaction holds a substitute record.
func (r Role) ErasedAs(stub []byte) bool {
	rec, err := commit.DecodeRedaction(stub)
	if err != nil || !r.Erasable() {
		return false
	}
	switch r {
	case RoleEdge:
		return rec.What == commit.ErasedEdge
	case RoleMark:
		return rec.What == commit.ErasedMark
	}
	return rec.Left == nil
}

// Lead is a link to a block and the role of that block.
type Lead struct {
	Cid ipld.CID
	As  Role
}

// Leads decodes a block strictly by its role and returns its links in byte order, and its role, which RoleNamed
// leaves open. For a chunk of a tree only links are decoded: whether the chunk fits its place in the tree is
// checked by reading the tree.
func Leads(l Lead, block []byte) ([]Lead, Role, error) {
	if (l.As == RoleRaw) != (l.Cid.Codec() == ipld.Raw) {
		return nil, l.As, fmt.Errorf("%w: not a %s", ipld.ErrInvalid, l.As)
	}
	if l.As == RoleNamed {
		if l.As = NamedRole(block); l.As == 0 {
			return nil, RoleNamed, fmt.Errorf("%w: not a %s", ipld.ErrInvalid, RoleNamed)
		}
	}
	decode := l.As.info().decode
	if decode == nil {
		decode = func(block []byte) ([]Lead, error) { return treeLeads(l, block) }
	}
	out, err := decode(block)
	return out, l.As, err
}

// NamedRole returns the role of a record that a ref may name, 0 for other records.
func NamedRole(block []byte) Role {
	kind := ipld.RecordKind(block)
	for _, r := range []Role{RoleCommit, RoleTag, RoleSession, RoleReceipt} {
		if kind == r.String() {
			return r
		}
	}
	return 0
}

// Opt appends a lead unless its link is undefined.
func Opt(to []Lead, c ipld.CID, as Role) []Lead {
	if !c.Defined() {
		return to
	}
	return append(to, Lead{c, as})
}

func manifestLeads(e *commit.Export) []Lead {
	out := []Lead{{e.Refs, RoleRefs}}
	for _, c := range e.Objects {
		out = append(out, Lead{c, RoleNamed})
	}
	return Opt(out, e.Redacted, RoleRedactions)
}

func commitLeads(c *commit.Commit) []Lead {
	out := Opt([]Lead{{c.Graph, RoleGraph}}, c.Digests, RoleDigests) // in the order of the record
	out = Opt(out, c.Message.Block, RoleRaw)
	for _, p := range c.Parents {
		out = append(out, Lead{p, RoleCommit})
	}
	return Opt(Opt(out, c.Profile, RoleProfile), c.Vectors, RoleVectors)
}

func tagLeads(t *commit.Tag) []Lead {
	return Opt([]Lead{{t.Target, RoleCommit}}, t.Message.Block, RoleRaw)
}

func graphLeads(g *graph.Graph) []Lead {
	return []Lead{
		{g.In, RoleAdjacency}, {g.Out, RoleAdjacency}, {g.Edges, RoleEdges}, {g.Marks, RoleMarks},
		{g.Nodes, RoleNodes},
	}
}

// NodeLeads decodes the record of a node and returns the chunks of its content.
func NodeLeads(block []byte) ([]Lead, error) { return leadsOf(graph.DecodeNode, ChunkLeads)(block) }

// ChunkLeads returns the chunks of a node's content.
func ChunkLeads(n *graph.Node) (out []Lead) {
	if n.Content == nil {
		return nil
	}
	for _, c := range n.Content.Chunks {
		out = append(out, Lead{c, RoleRaw})
	}
	return out
}

func sessionLeads(s *retrieve.Session) []Lead {
	out := Opt(nil, s.Prev, RoleSession)
	out = Opt(out, s.Commit, RoleCommit)
	return Opt(out, s.Receipt, RoleReceipt)
}

func receiptLeads(r *retrieve.Receipt) (out []Lead) {
	for _, item := range r.Items {
		out = append(out, Lead{item.Node, RoleNode})
	}
	for _, c := range r.Commits {
		out = append(out, Lead{c, RoleCommit})
	}
	out = Opt(out, r.Query(), RoleRaw)
	for _, c := range r.Rewrites() {
		out = append(out, Lead{c, RoleRaw})
	}
	return out
}

// errLevel stops decoding a chunk at its level.
var errLevel = errors.New("level read")

func treeLeads(l Lead, block []byte) ([]Lead, error) {
	level := int64(-1)
	d, err := ipld.NewDecoder(block)
	if err != nil {
		return nil, err
	}
	err = d.Map(func(key string) (err error) {
		if key != "level" {
			return d.Skip()
		}
		if level, err = d.Int(); err != nil {
			return err
		}
		return errLevel
	})
	if !errors.Is(err, errLevel) || level < 0 {
		return nil, fmt.Errorf("%w: not a chunk of a tree", ipld.ErrInvalid)
	}
	as := l.As
	if level == 0 {
		if as = l.As.Leaf(); as == 0 {
			return nil, nil
		}
	}
	var out []Lead
	err = ipld.Links(l.Cid, block, func(c ipld.CID) error {
		out = append(out, Lead{c, as})
		return nil
	})
	return out, err
}

// WalkLeads calls visit with root and everything reachable from it, depth first, in the order in which visit
// returned the links. visit is called for a block once for each link to it and returns the links to follow, none if
// it has seen the block.
func WalkLeads(root Lead, visit func(Lead) ([]Lead, error)) error {
	todo := []Lead{root}
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, err := visit(l)
		if err != nil {
			return err
		}
		for i := len(next) - 1; i >= 0; i-- {
			todo = append(todo, next[i])
		}
	}
	return nil
}
