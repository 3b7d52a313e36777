package commit

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindCommit is the kind of a commit's record.
	KindCommit = "commit"
	// MaxParents is the largest number of parents.
	MaxParents = 16
	// MaxMessage is the longest message in bytes.
	MaxMessage = 64 << 10
	// MaxSignature is the longest signature in bytes.
	MaxSignature = 4096

	recordVersion = 1
	changeDomain  = "mnem:change:"
)

// Commit is one version of the memory.
type Commit struct {
	Parents   []ipld.CID // distinct, at most MaxParents
	Height    uint64     // 1 without parents, otherwise 1 more than their maximum
	Graph     ipld.CID
	Vectors   ipld.CID // tree of embeddings, undefined for none
	Digests   ipld.CID // tree of texts of digests that models wrote, undefined for none
	Profile   ipld.CID // retrieval profiles, undefined for none but the built-in ones
	Author    string   // 1 to graph.MaxActor bytes without control characters
	Agent     string   // like Author, "" for none
	Task      string   // like Author, "" for none
	Time      graph.Time
	Message   Message
	Change    graph.ID     // names the change across amendments
	Signature []byte       // over Unsigned, nil for none; at most MaxSignature bytes
	Extra     []ipld.Entry // unknown fields in canonical order
}

var commitFields = ipld.FieldNames(new(Commit).fields)

func (c *Commit) fields(r *ipld.Record) { c.fieldsOf(r, true, true) }

// fieldsOf names the fields, with or without the id of the change and the signature.
func (c *Commit) fieldsOf(r *ipld.Record, change, signature bool) {
	r.Begin(KindCommit, recordVersion, &c.Extra)
	r.OptString("task", &c.Task)
	r.Int("time", (*int64)(&c.Time))
	r.OptString("agent", &c.Agent)
	r.Link("graph", &c.Graph)
	r.String("author", &c.Author)
	if change {
		r.Fixed("change", c.Change[:])
	}
	ipld.Number(r, "height", &c.Height, 1, graph.MaxCount)
	r.OptLink("digests", &c.Digests)
	c.Message.field(r)
	r.Links("parents", &c.Parents, 0, MaxParents)
	r.OptLink("profile", &c.Profile)
	r.OptLink("vectors", &c.Vectors)
	if signature && r.Has("signature", len(c.Signature) > 0) {
		r.Bytes("signature", &c.Signature)
		r.Refuse(len(c.Signature) == 0, "empty signature")
		if r.Reading() {
			c.Signature = slices.Clone(c.Signature)
		}
	}
}

// HeightOver returns the height of a commit with these parents.
func HeightOver(parents ...*Commit) uint64 {
	height := uint64(0)
	for _, p := range parents {
		height = max(height, p.Height)
	}
	return height + 1
}

// ChangeID returns the id of the change that c, in its first form, makes: a hash of the record without change and
// signature.
func ChangeID(c *Commit) graph.ID {
	block := c.encode(false, false)
	sum := sha256.Sum256(append([]byte(changeDomain), block...))
	return graph.ID(sum[:graph.IDLen])
}

// Validate returns a *graph.FieldError unless c satisfies every rule and limit that can be checked on the commit
// alone. Only a valid commit may be encoded.
func (c *Commit) Validate() error { return validate(c.check, c.Encode) }

func (c *Commit) check() error {
	err := cmp.Or(
		c.checkParents(),
		graph.CheckLink("graph", c.Graph, ipld.DagCBOR),
		graph.CheckOptLink("vectors", c.Vectors),
		graph.CheckOptLink("digests", c.Digests),
		graph.CheckOptLink("profile", c.Profile),
		graph.CheckLine("author", c.Author, 1, graph.MaxActor),
		graph.CheckLine("agent", c.Agent, 0, graph.MaxActor),
		graph.CheckLine("task", c.Task, 0, graph.MaxActor),
		graph.CheckTime("time", c.Time),
		c.Message.check(),
		graph.CheckExtra(c.Extra, commitFields),
	)
	switch {
	case err != nil:
		return err
	case c.Change.IsZero():
		return graph.Fieldf("change", "missing")
	case len(c.Signature) > MaxSignature:
		return graph.Fieldf("signature", "%d bytes, limit %d", len(c.Signature), MaxSignature)
	}
	return nil
}

func (c *Commit) checkParents() error {
	if len(c.Parents) > MaxParents {
		return graph.Fieldf("parents", "%d parents, limit %d", len(c.Parents), MaxParents)
	}
	for i, p := range c.Parents {
		if err := graph.CheckLink("parents", p, ipld.DagCBOR); err != nil {
			return err
		}
		if slices.Contains(c.Parents[:i], p) {
			return graph.Fieldf("parents", "%s given twice", p)
		}
	}
	if c.Height < 1 || c.Height > graph.MaxCount || (c.Height == 1) != (len(c.Parents) == 0) {
		return graph.Fieldf("height", "%d with %d parents", c.Height, len(c.Parents))
	}
	return nil
}

// Encode returns the block of a valid commit.
func (c *Commit) Encode() []byte { return c.encode(true, true) }

// Unsigned returns the bytes that a signature covers: the record without the signature.
func (c *Commit) Unsigned() []byte { return c.encode(true, false) }

func (c *Commit) encode(change, signature bool) []byte {
	size := 320 + 64*len(c.Parents) + len(c.Author) + len(c.Message.Text) + len(c.Signature)
	return ipld.WriteRecord(size, func(r *ipld.Record) { c.fieldsOf(r, change, signature) })
}

// DecodeCommit decodes the block of a commit. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The commit keeps no reference to block.
func DecodeCommit(block []byte) (*Commit, error) {
	c := new(Commit)
	return ipld.ReadRecord(block, c, c.fields, c.check)
}
