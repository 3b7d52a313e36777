package commit

import (
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

var stageFields = []string{"v", "base", "kind", "graph", "branch", "vectors"}

// Validate returns a *graph.FieldError unless s satisfies every rule and limit of the format. Only a valid stage
// may be encoded.
func (s *Stage) Validate() error {
	if err := s.check(); err != nil {
		return err
	}
	return fits(s.Encode())
}

func (s *Stage) check() error {
	return firstError(
		checkOptLink("base", s.Base),
		checkBranch(s.Branch),
		graph.CheckLink("graph", s.Graph, ipld.DagCBOR),
		checkOptLink("vectors", s.Vectors),
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
func (s *Stage) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 224), s.Extra)
	w.Version(recordVersion)
	w.OptLink("base", s.Base)
	w.Kind(KindStage)
	w.Link("graph", s.Graph)
	w.String("branch", string(s.Branch))
	w.OptLink("vectors", s.Vectors)
	return w.Finish()
}

// DecodeStage decodes the block of a stage. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The stage keeps no reference to block.
func DecodeStage(block []byte) (*Stage, error) {
	s := new(Stage)
	extra, err := ipld.DecodeRecord(block, KindStage, recordVersion, s.field)
	if err != nil {
		return nil, err
	}
	s.Extra = extra
	if err := s.check(); err != nil {
		return nil, decodeProblem(KindStage, err)
	}
	return s, nil
}

func (s *Stage) field(key string, d *ipld.Decoder) (known bool, err error) {
	switch key {
	case "base":
		s.Base, err = d.Link()
	case "graph":
		s.Graph, err = d.Link()
	case "branch":
		var name string
		name, err = d.String()
		s.Branch = graph.RefName(name)
	case "vectors":
		s.Vectors, err = d.Link()
	default:
		return false, nil
	}
	return true, err
}
