package commit

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// KindStage is the kind of a stage's record.
const KindStage = "stage"

// Stage is an uncommitted state of the memory.
type Stage struct {
	Base    ipld.CID // the commit staged upon, undefined before the first
	Branch  graph.RefName
	Graph   ipld.CID     // may hold dangling edges
	Vectors ipld.CID     // tree of embeddings, undefined for none
	Extra   []ipld.Entry // unknown fields in canonical order
}

var stageFields = ipld.FieldNames(new(Stage).fields)

func (s *Stage) fields(r *ipld.Record) {
	r.Begin(KindStage, recordVersion, &s.Extra)
	r.OptLink("base", &s.Base)
	r.Link("graph", &s.Graph)
	r.String("branch", (*string)(&s.Branch))
	r.OptLink("vectors", &s.Vectors)
}

// Validate returns a *graph.FieldError unless s satisfies every rule and limit of the format. Only a valid stage
// may be encoded.
func (s *Stage) Validate() error { return validate(s.check, s.Encode) }

func (s *Stage) check() error {
	return cmp.Or(
		graph.CheckOptLink("base", s.Base),
		checkBranch(s.Branch),
		graph.CheckLink("graph", s.Graph, ipld.DagCBOR),
		graph.CheckOptLink("vectors", s.Vectors),
		graph.CheckExtra(s.Extra, stageFields),
	)
}

func checkBranch(r graph.RefName) error {
	if err := graph.ValidateRef(r); err != nil {
		return graph.Fieldf("branch", "%v", err)
	}
	return nil
}

// Encode returns the block of a valid stage.
func (s *Stage) Encode() []byte { return ipld.WriteRecord(224, s.fields) }

// DecodeStage decodes the block of a stage. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The stage keeps no reference to block.
func DecodeStage(block []byte) (*Stage, error) {
	s := new(Stage)
	return ipld.ReadRecord(block, s, s.fields, s.check)
}
