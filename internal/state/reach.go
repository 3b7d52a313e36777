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
)

var roleNames = [...]string{
	RoleManifest: commit.KindExport, RoleRefs: "tree", RoleNamed: "commit, tag, session or receipt",
	RoleCommit: commit.KindCommit, RoleTag: commit.KindTag, RoleSession: retrieve.KindSession,
	RoleReceipt: retrieve.KindReceipt, RoleGraph: graph.KindGraph, RoleNodes: "tree",
	RoleEdges: "tree", RoleAdjacency: "tree", RoleMarks: "tree", RoleVectors: "tree",
	RoleNode: graph.KindNode, RoleEdge: graph.KindEdge, RoleMark: graph.KindMark,
	RoleEmbedding: graph.KindEmbedding, RoleRedactions: "tree", RoleRedaction: commit.KindRedaction,
	RoleDigests: "tree", RoleWritten: distill.KindWritten,
	RoleProfile: retrieve.KindProfile, RoleRaw: "raw block",
}

// String returns the kind of record, as errors name it: "tree" for chunks of all trees.
func (r Role) String() string { return roleNames[r] }

// Leaves maps the role of a tree to the role of its entries' targets; 0 if entries are not links.
var Leaves = map[Role]Role{
	RoleRefs: RoleNamed, RoleNodes: RoleNode, RoleEdges: RoleEdge, RoleAdjacency: 0,
	RoleMarks: RoleMark, RoleVectors: RoleEmbedding, RoleDigests: RoleWritten,
	RoleRedactions: RoleRedaction,
}

// Erasable reports whether a block with this role may have been erased.
func (r Role) Erasable() bool {
	switch r {
	case RoleNode, RoleRaw, RoleEmbedding, RoleWritten, RoleEdge, RoleMark:
		return true
	}
	return false
}

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
	var out []Lead
	var err error
	switch l.As {
	case RoleManifest:
		out, err = manifestLeads(block)
	case RoleCommit:
		out, err = commitLeads(block)
	case RoleTag:
		out, err = tagLeads(block)
	case RoleSession:
		out, err = sessionLeads(block)
	case RoleReceipt:
		out, err = receiptLeads(block)
	case RoleGraph:
		out, err = graphLeads(block)
	case RoleNode:
		out, err = NodeLeads(block)
	case RoleEdge:
		_, err = graph.DecodeEdge(block)
	case RoleMark:
		_, err = graph.DecodeMark(block)
	case RoleEmbedding:
		_, err = graph.DecodeEmbedding(block)
	case RoleWritten:
		_, err = distill.DecodeWritten(block)
	case RoleProfile:
		_, err = retrieve.DecodeProfiles(block)
	case RoleRedaction:
		_, err = commit.DecodeRedaction(block)
	case RoleRaw:
	default:
		out, err = treeLeads(l, block)
	}
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

func manifestLeads(block []byte) ([]Lead, error) {
	e, err := commit.DecodeExport(block)
	if err != nil {
		return nil, err
	}
	out := []Lead{{e.Refs, RoleRefs}}
	for _, c := range e.Objects {
		out = append(out, Lead{c, RoleNamed})
	}
	return Opt(out, e.Redacted, RoleRedactions), nil
}

func commitLeads(block []byte) ([]Lead, error) {
	c, err := commit.DecodeCommit(block)
	if err != nil {
		return nil, err
	}
	out := Opt([]Lead{{c.Graph, RoleGraph}}, c.Digests, RoleDigests) // in the order of the record
	out = Opt(out, c.Message.Block, RoleRaw)
	for _, p := range c.Parents {
		out = append(out, Lead{p, RoleCommit})
	}
	return Opt(Opt(out, c.Profile, RoleProfile), c.Vectors, RoleVectors), nil
}

func tagLeads(block []byte) ([]Lead, error) {
	t, err := commit.DecodeTag(block)
	if err != nil {
		return nil, err
	}
	return Opt([]Lead{{t.Target, RoleCommit}}, t.Message.Block, RoleRaw), nil
}

func graphLeads(block []byte) ([]Lead, error) {
	g, err := graph.DecodeGraph(block)
	if err != nil {
		return nil, err
	}
	return []Lead{
		{g.In, RoleAdjacency}, {g.Out, RoleAdjacency}, {g.Edges, RoleEdges}, {g.Marks, RoleMarks},
		{g.Nodes, RoleNodes},
	}, nil
}

// NodeLeads decodes the record of a node and returns the chunks of its content.
func NodeLeads(block []byte) ([]Lead, error) {
	n, err := graph.DecodeNode(block)
	if err != nil {
		return nil, err
	}
	return ChunkLeads(n), nil
}

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

func sessionLeads(block []byte) ([]Lead, error) {
	s, err := retrieve.DecodeSession(block)
	if err != nil {
		return nil, err
	}
	out := Opt(nil, s.Prev, RoleSession)
	out = Opt(out, s.Commit, RoleCommit)
	return Opt(out, s.Receipt, RoleReceipt), nil
}

func receiptLeads(block []byte) ([]Lead, error) {
	r, err := retrieve.DecodeReceipt(block)
	if err != nil {
		return nil, err
	}
	var out []Lead
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
	return out, nil
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
		if as = Leaves[l.As]; as == 0 {
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
