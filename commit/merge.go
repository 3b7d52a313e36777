package commit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// KindMerge is the kind of the record of a merge in progress.
const KindMerge = "merge"

// Verb says which operation a merge in progress belongs to.
type Verb string

// The verbs that may leave conflicts.
const (
	VerbMerge      Verb = "merge"
	VerbRevert     Verb = "revert"
	VerbCherryPick Verb = "cherry-pick"
)

// Merge is a merge that waits for conflicts to be resolved.
type Merge struct {
	Verb        Verb
	Ours        ipld.CID // the commit of the branch when it began
	Theirs      ipld.CID // the commit whose state is merged; undefined for the empty state
	Message     Message  // of the commit to make
	Graph       ipld.CID // the merged graph, with our version for conflicts
	Vectors     ipld.CID // tree of embeddings, undefined for none
	Digests     ipld.CID // tree of texts of digests, undefined for none
	Profile     ipld.CID // retrieval profiles, undefined for none
	Dropped     uint64   // embeddings that fit no merged node
	Conflicts   ipld.CID // tree: item to link to conflict
	Resolutions ipld.CID // tree: item to Resolution
	Extra       []ipld.Entry
}

var mergeFields = ipld.FieldNames(new(Merge).fields)

func (m *Merge) fields(r *ipld.Record) {
	r.Begin(KindMerge, recordVersion, &m.Extra)
	r.Link("ours", &m.Ours)
	r.String("verb", (*string)(&m.Verb))
	r.Link("graph", &m.Graph)
	r.OptLink("theirs", &m.Theirs)
	r.OptLink("digests", &m.Digests)
	ipld.Number(r, "dropped", &m.Dropped, 0, graph.MaxCount)
	m.Message.field(r)
	r.OptLink("profile", &m.Profile)
	r.OptLink("vectors", &m.Vectors)
	r.Link("conflicts", &m.Conflicts)
	r.Link("resolutions", &m.Resolutions)
}

var verbs = []Verb{VerbMerge, VerbRevert, VerbCherryPick}

// Validate returns a *graph.FieldError unless m satisfies every rule and limit of the format. Only a valid merge
// may be encoded.
func (m *Merge) Validate() error { return validate(m.check, m.Encode) }

func (m *Merge) check() error {
	err := cmp.Or(
		graph.CheckLink("ours", m.Ours, ipld.DagCBOR),
		graph.CheckOptLink("theirs", m.Theirs),
		m.Message.check(),
		graph.CheckLink("graph", m.Graph, ipld.DagCBOR),
		graph.CheckOptLink("vectors", m.Vectors),
		graph.CheckOptLink("digests", m.Digests),
		graph.CheckOptLink("profile", m.Profile),
		graph.CheckLink("conflicts", m.Conflicts, ipld.DagCBOR),
		graph.CheckLink("resolutions", m.Resolutions, ipld.DagCBOR),
		graph.CheckExtra(m.Extra, mergeFields),
	)
	switch {
	case err != nil:
		return err
	case !slices.Contains(verbs, m.Verb):
		return graph.Fieldf("verb", "%q is none of %v", m.Verb, verbs)
	case !m.Theirs.Defined() && m.Verb != VerbRevert:
		return graph.Fieldf("theirs", "missing")
	case m.Dropped > graph.MaxCount:
		return graph.Fieldf("dropped", "%d exceeds %d", m.Dropped, uint64(graph.MaxCount))
	}
	return nil
}

// Encode returns the block of a valid merge.
func (m *Merge) Encode() []byte { return ipld.WriteRecord(384+len(m.Message.Text), m.fields) }

// DecodeMerge decodes the block of a merge in progress. It returns an error that wraps ipld.ErrInvalid for
// everything that Encode cannot have written. The merge keeps no reference to block.
func DecodeMerge(block []byte) (*Merge, error) {
	m := new(Merge)
	return ipld.ReadRecord(block, m, m.fields, m.check)
}

// Resolution is the resolution of a conflict: one side's version, or another record.
type Resolution struct {
	Take   graph.Take // "" for Record
	Record ipld.CID   // undefined for absent; only without Take
}

const takeRecord = "record"

// Encode returns the value of a resolution in the tree of resolutions.
func (r Resolution) Encode() []byte {
	n := 1
	if r.Record.Defined() {
		n = 2
	}
	b := ipld.AppendMap(nil, n)
	take := string(r.Take)
	take = cmp.Or(take, takeRecord)
	b = ipld.AppendString(ipld.AppendString(b, "take"), take)
	if r.Record.Defined() {
		b = ipld.AppendLink(ipld.AppendString(b, "record"), r.Record)
	}
	return b
}

// DecodeResolution reads a value of the tree of resolutions, strictly.
func DecodeResolution(item []byte) (Resolution, error) {
	var r Resolution
	d, err := ipld.NewDecoder(item)
	if err != nil {
		return r, err
	}
	take := ""
	err = d.Map(func(key string) (err error) {
		switch key {
		case "take":
			take, err = d.String()
		case "record":
			r.Record, err = d.Link()
		default:
			err = d.Errorf("unknown field %q of a resolution", key)
		}
		return err
	})
	if err = cmp.Or(err, d.End()); err != nil {
		return r, err
	}
	switch r.Take = graph.Take(take); r.Take {
	case graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
		if r.Record.Defined() {
			return r, fmt.Errorf("%w: a resolution has both a side and a record", ipld.ErrInvalid)
		}
	case takeRecord:
		r.Take = ""
	default:
		return r, fmt.Errorf("%w: a resolution takes %q", ipld.ErrInvalid, take)
	}
	return r, nil
}
