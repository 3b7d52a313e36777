package commit

import (
	"crypto/sha256"
	"fmt"
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

var commitFields = []string{
	"v", "kind", "task", "time", "agent", "graph", "author", "change", "height", "digests", "message",
	"parents", "profile", "vectors", "signature",
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
	block := c.append(false, false)
	sum := sha256.Sum256(append([]byte(changeDomain), block...))
	return graph.ID(sum[:graph.IDLen])
}

// Validate returns a *graph.FieldError unless c satisfies every rule and limit that can be checked on the commit
// alone. Only a valid commit may be encoded.
func (c *Commit) Validate() error {
	if err := c.check(); err != nil {
		return err
	}
	return fits(c.Encode())
}

func (c *Commit) check() error {
	err := firstError(
		c.checkParents(),
		graph.CheckLink("graph", c.Graph, ipld.DagCBOR),
		checkOptLink("vectors", c.Vectors),
		checkOptLink("digests", c.Digests),
		checkOptLink("profile", c.Profile),
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
func (c *Commit) Encode() []byte { return c.append(true, true) }

// Unsigned returns the bytes that a signature covers: the record without the signature.
func (c *Commit) Unsigned() []byte { return c.append(true, false) }

func (c *Commit) append(change, signature bool) []byte {
	room := 320 + 64*len(c.Parents) + len(c.Author) + len(c.Message.Text) + len(c.Signature)
	w := ipld.NewRecord(make([]byte, 0, room), c.Extra)
	w.Version(recordVersion)
	w.Kind(KindCommit)
	w.OptString("task", c.Task)
	w.Int("time", int64(c.Time))
	w.OptString("agent", c.Agent)
	w.Link("graph", c.Graph)
	w.String("author", c.Author)
	if change {
		w.Bytes("change", c.Change[:])
	}
	w.Int("height", int64(c.Height))
	w.OptLink("digests", c.Digests)
	c.Message.write(w)
	w.Links("parents", c.Parents)
	w.OptLink("profile", c.Profile)
	w.OptLink("vectors", c.Vectors)
	if signature && len(c.Signature) > 0 {
		w.Bytes("signature", c.Signature)
	}
	return w.Finish()
}

// DecodeCommit decodes the block of a commit. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The commit keeps no reference to block.
func DecodeCommit(block []byte) (*Commit, error) {
	var dec commitDecoder
	extra, err := ipld.DecodeRecord(block, KindCommit, recordVersion, dec.field)
	if err != nil {
		return nil, err
	}
	dec.c.Extra = extra
	if err := firstError(missing(dec.seen, "parents", "time", "message"), dec.c.check()); err != nil {
		return nil, decodeProblem(KindCommit, err)
	}
	return &dec.c, nil
}

type commitDecoder struct {
	c    Commit
	seen uint // bits of the required fields whose zero values are valid
}

func (dec *commitDecoder) field(key string, d *ipld.Decoder) (known bool, err error) {
	c := &dec.c
	switch key {
	case "task":
		c.Task, err = decodeText(d)
	case "time":
		dec.seen |= 2
		c.Time, err = decodeTime(d)
	case "agent":
		c.Agent, err = decodeText(d)
	case "graph":
		c.Graph, err = d.Link()
	case "author":
		c.Author, err = d.String()
	case "change":
		c.Change, err = decodeID(d)
	case "height":
		c.Height, err = decodeCount(d)
	case "digests":
		c.Digests, err = d.Link()
	case "message":
		dec.seen |= 4
		c.Message, err = decodeMessage(d)
	case "parents":
		dec.seen |= 1
		c.Parents, err = decodeParents(d)
	case "profile":
		c.Profile, err = d.Link()
	case "vectors":
		c.Vectors, err = d.Link()
	case "signature":
		c.Signature, err = decodeSignature(d)
	default:
		return false, nil
	}
	return true, err
}

func decodeParents(d *ipld.Decoder) ([]ipld.CID, error) {
	parents, err := d.Links(MaxParents)
	if len(parents) == 0 {
		parents = nil
	}
	return parents, err
}

func decodeSignature(d *ipld.Decoder) ([]byte, error) {
	b, err := d.Bytes()
	if err == nil && len(b) == 0 {
		err = d.Errorf("empty signature")
	}
	return slices.Clone(b), err
}

// decodeProblem wraps an error about a decoded record's fields as one about the block.
func decodeProblem(kind string, err error) error {
	return fmt.Errorf("%w: %s record: %w", ipld.ErrInvalid, kind, err)
}
