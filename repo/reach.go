package repo

import (
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// role is what a block is to the block that leads to it (clause 18.3 of the specification).
type role uint8

const (
	roleManifest role = iota + 1
	roleRefs          // chunk of a tree of refs
	roleNamed         // what a ref or an object is: one of the four that follow
	roleCommit
	roleTag
	roleSession
	roleReceipt
	roleGraph
	roleNodes // chunk of this tree; likewise the next four
	roleEdges
	roleAdjacency
	roleMarks
	roleVectors
	roleNode
	roleEdge
	roleMark
	roleEmbedding
	roleDigests // chunk of the tree of texts that models wrote
	roleWritten
	roleRedactions // chunk of a tree of redactions
	roleRedaction
	roleProfile
	roleRaw // a chunk of content, the text of a query, or a message
)

var roleNames = [...]string{
	roleManifest: commit.KindExport, roleRefs: "tree", roleNamed: "commit, tag, session or receipt",
	roleCommit: commit.KindCommit, roleTag: commit.KindTag, roleSession: retrieve.KindSession,
	roleReceipt: retrieve.KindReceipt, roleGraph: graph.KindGraph, roleNodes: "tree",
	roleEdges: "tree", roleAdjacency: "tree", roleMarks: "tree", roleVectors: "tree",
	roleNode: graph.KindNode, roleEdge: graph.KindEdge, roleMark: graph.KindMark,
	roleEmbedding: graph.KindEmbedding, roleRedactions: "tree", roleRedaction: commit.KindRedaction,
	roleDigests: "tree", roleWritten: distill.KindWritten,
	roleProfile: retrieve.KindProfile, roleRaw: "raw block",
}

func (r role) String() string { return roleNames[r] }

// leaves are the roles of what the entries of a tree link to; 0 where they are no links.
var leaves = map[role]role{
	roleRefs: roleNamed, roleNodes: roleNode, roleEdges: roleEdge, roleAdjacency: 0,
	roleMarks: roleMark, roleVectors: roleEmbedding, roleDigests: roleWritten,
	roleRedactions: roleRedaction,
}

// erasable reports whether a block of a role may have been erased.
func (r role) erasable() bool {
	switch r {
	case roleNode, roleRaw, roleEmbedding, roleWritten, roleEdge, roleMark:
		return true
	}
	return false
}

// erasedAs reports whether a block of a role may have been erased and left a redaction: an edge or a
// mark leaves what is read in its place.
func (r role) erasedAs(stub []byte) bool {
	rec, err := commit.DecodeRedaction(stub)
	if err != nil || !r.erasable() {
		return false
	}
	switch r {
	case roleEdge:
		return rec.What == commit.ErasedEdge
	case roleMark:
		return rec.What == commit.ErasedMark
	}
	return rec.Left == nil
}

// lead is a link to a block that belongs to the block it is in.
type lead struct {
	cid ipld.CID
	as  role
}

// leads reads a block in its role, strictly, and returns the blocks it leads to in the order of
// its bytes, and its role where roleNamed left that open. A chunk of a tree is read for its links
// alone: whether it is what its place in the tree asks for is seen by reading the tree.
func leads(l lead, block []byte) ([]lead, role, error) {
	if (l.as == roleRaw) != (l.cid.Codec() == ipld.Raw) {
		return nil, l.as, fmt.Errorf("%w: not a %s", ipld.ErrInvalid, l.as)
	}
	if l.as == roleNamed {
		if l.as = namedRole(block); l.as == 0 {
			return nil, roleNamed, fmt.Errorf("%w: not a %s", ipld.ErrInvalid, roleNamed)
		}
	}
	var out []lead
	var err error
	switch l.as {
	case roleManifest:
		out, err = manifestLeads(block)
	case roleCommit:
		out, err = commitLeads(block)
	case roleTag:
		out, err = tagLeads(block)
	case roleSession:
		out, err = sessionLeads(block)
	case roleReceipt:
		out, err = receiptLeads(block)
	case roleGraph:
		out, err = graphLeads(block)
	case roleNode:
		out, err = nodeLeads(block)
	case roleEdge:
		_, err = graph.DecodeEdge(block)
	case roleMark:
		_, err = graph.DecodeMark(block)
	case roleEmbedding:
		_, err = graph.DecodeEmbedding(block)
	case roleWritten:
		_, err = distill.DecodeWritten(block)
	case roleProfile:
		_, err = retrieve.DecodeProfiles(block)
	case roleRedaction:
		_, err = commit.DecodeRedaction(block)
	case roleRaw:
	default:
		out, err = treeLeads(l, block)
	}
	return out, l.as, err
}

// namedRole returns the role of a record that a ref may name, 0 for others.
func namedRole(block []byte) role {
	kind := ipld.RecordKind(block)
	for _, r := range []role{roleCommit, roleTag, roleSession, roleReceipt} {
		if kind == r.String() {
			return r
		}
	}
	return 0
}

// opt appends a lead unless its link is undefined.
func opt(to []lead, c ipld.CID, as role) []lead {
	if !c.Defined() {
		return to
	}
	return append(to, lead{c, as})
}

func manifestLeads(block []byte) ([]lead, error) {
	e, err := commit.DecodeExport(block)
	if err != nil {
		return nil, err
	}
	out := []lead{{e.Refs, roleRefs}}
	for _, c := range e.Objects {
		out = append(out, lead{c, roleNamed})
	}
	return opt(out, e.Redacted, roleRedactions), nil
}

func commitLeads(block []byte) ([]lead, error) {
	c, err := commit.DecodeCommit(block)
	if err != nil {
		return nil, err
	}
	out := opt([]lead{{c.Graph, roleGraph}}, c.Message.Block, roleRaw)
	for _, p := range c.Parents {
		out = append(out, lead{p, roleCommit})
	}
	out = opt(out, c.Digests, roleDigests)
	return opt(opt(out, c.Profile, roleProfile), c.Vectors, roleVectors), nil
}

func tagLeads(block []byte) ([]lead, error) {
	t, err := commit.DecodeTag(block)
	if err != nil {
		return nil, err
	}
	return opt([]lead{{t.Target, roleCommit}}, t.Message.Block, roleRaw), nil
}

func graphLeads(block []byte) ([]lead, error) {
	g, err := graph.DecodeGraph(block)
	if err != nil {
		return nil, err
	}
	return []lead{
		{g.In, roleAdjacency}, {g.Out, roleAdjacency}, {g.Edges, roleEdges}, {g.Marks, roleMarks},
		{g.Nodes, roleNodes},
	}, nil
}

func nodeLeads(block []byte) ([]lead, error) {
	n, err := graph.DecodeNode(block)
	if err != nil {
		return nil, err
	}
	return chunkLeads(n), nil
}

// chunkLeads returns the chunks of a node's content.
func chunkLeads(n *graph.Node) (out []lead) {
	if n.Content == nil {
		return nil
	}
	for _, c := range n.Content.Chunks {
		out = append(out, lead{c, roleRaw})
	}
	return out
}

func sessionLeads(block []byte) ([]lead, error) {
	s, err := retrieve.DecodeSession(block)
	if err != nil {
		return nil, err
	}
	out := opt(nil, s.Prev, roleSession)
	out = opt(out, s.Commit, roleCommit)
	return opt(out, s.Receipt, roleReceipt), nil
}

func receiptLeads(block []byte) ([]lead, error) {
	r, err := retrieve.DecodeReceipt(block)
	if err != nil {
		return nil, err
	}
	var out []lead
	for _, item := range r.Items {
		out = append(out, lead{item.Node, roleNode})
	}
	for _, c := range r.Commits {
		out = append(out, lead{c, roleCommit})
	}
	out = opt(out, r.Query(), roleRaw)
	for _, c := range r.Rewrites() {
		out = append(out, lead{c, roleRaw})
	}
	return out, nil
}

// errLevel ends the reading of a chunk at its level.
var errLevel = errors.New("level read")

func treeLeads(l lead, block []byte) ([]lead, error) {
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
	as := l.as
	if level == 0 {
		if as = leaves[l.as]; as == 0 {
			return nil, nil
		}
	}
	var out []lead
	err = ipld.Links(l.cid, block, func(c ipld.CID) error {
		out = append(out, lead{c, as})
		return nil
	})
	return out, err
}

// walkLeads calls visit with root and everything it leads to, depth first, what a block leads to
// in the order that visit returned it. visit is called with a block as often as it is led to and
// returns what to go on with, nothing where it was there before.
func walkLeads(root lead, visit func(lead) ([]lead, error)) error {
	todo := []lead{root}
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
