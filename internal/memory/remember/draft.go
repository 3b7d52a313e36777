package remember

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// memoryDomain is hashed before a memory's type and text: no other id can come of the same bytes.
const memoryDomain = "mnem:memory:"

// ID returns the nth candidate, from 0, for the id of a memory of a type and text: the first 16
// bytes of SHA-256("mnem:memory:" + type + NUL + text + n as 8 bytes, the highest first). No type
// has a NUL, so that no two pairs give the same bytes.
func ID(typ, text string, n uint64) graph.ID {
	h := sha256.New()
	h.Write([]byte(memoryDomain + typ + "\x00" + text))
	h.Write(binary.BigEndian.AppendUint64(nil, n))
	return graph.ID(h.Sum(nil)[:graph.IDLen])
}

// Draft is a memory that is about to be written, as the rules that write edges see it. It is not in
// the snapshot they look at. Its lists of names are in bytewise order, each once.
type Draft struct {
	Request // checked, with its defaults, without blanks around texts and names
	ID      graph.ID
	About   graph.Ref
	literal bool // About is that very key, whatever else is called so
	Created graph.Time
	Agent   string // the program that remembers it, "" for none
	Task    string // what it works on, "" for none: a session
	// Vector is the memory as a model sees it, nil if the caller brought none.
	Vector *graph.Embedding

	terms *compare.TextTerms // of Text, nil if it was not asked
}

// secrets returns apparent credentials in a caller's request.
func (d *Draft) secrets() []guard.Place {
	places := guard.Text("text", d.Text)
	for _, list := range []struct {
		field string
		texts []string
	}{
		{"tags", d.Tags}, {"entities", d.Entities}, {"sources", d.Sources},
		{"cues", d.Cues},
		{"about", []string{d.About.Key}}, {"property", []string{d.Property}}, {"type", []string{d.Type}},
	} {
		for _, s := range list.texts {
			places = append(places, guard.Text(list.field, s)...)
		}
	}
	return places
}

// Near is a memory of the snapshot that resembles a draft.
type Near struct {
	ID     graph.ID
	Text   int64 // likeness of the texts in units of 2^-16, 0 to 65,536
	Cosine int64 // of the vectors, in the same units; 0 if either has none

	known *known // the stored memory that this draft was read from
}

// Link is an edge to be written with a draft.
type Link struct {
	Type     string // a constant Edge… of this package
	Src, Dst graph.Ref
	Key      string       // "" for none
	Weight   uint32       // 1 to 65,536 in units of 2^-16; 0 for 65,536
	Props    []ipld.Entry // in canonical order
	// Makes is the node at the other end if it may not exist, as of a tag or an entity: it is
	// made unless the snapshot, or an earlier line of the batch, has it. nil for none.
	Makes *graph.NodeChange
	Why   string // the rule, for people: "both of file:notes.md"
}

// WrittenLink is an edge that was written with a memory. Nodes are named by their keys, those without by ids.
type WrittenLink struct {
	ID     graph.ID `json:"-"` // of the edge
	Type   string   `json:"type"`
	Src    string   `json:"src"`
	Dst    string   `json:"dst"`
	Weight uint32   `json:"weight"` // 1 to graph.MaxWeight
	Why    string   `json:"why"`
}

func (l *Link) written(id graph.ID) WrittenLink {
	return WrittenLink{id, l.Type, nameOf(l.Src), nameOf(l.Dst), cmp.Or(l.Weight, graph.MaxWeight), l.Why}
}

func nameOf(r graph.Ref) string {
	if r.Key != "" {
		return r.Key
	}
	return r.ID.String()
}

// Candidate is a memory that an agent may want to link a draft to, if no rule is sure enough.
type Candidate struct {
	Kind  string   `json:"kind"` // "semantic" or "causal"
	ID    graph.ID `json:"id"`
	Score int64    `json:"score"` // in units of 2^-16
}

// Linked holds the results of the rules for one draft. The lists are in the order of writing.
type Linked struct {
	Links      []Link
	Candidates []Candidate
}

// See gives the requests that have no vector those that embed makes of their texts, by a model.
func See(reqs []Request, model string, embed func(texts []string) ([][]int8, error)) error {
	texts := make([]string, len(reqs))
	for i := range texts {
		var err error
		if texts[i], err = reqs[i].EmbedText(); err != nil {
			return err
		}
	}
	vectors, err := embed(texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if v != nil && reqs[i].Vector == nil {
			reqs[i].Vector = state.EmbeddingOf(graph.ID{}, model, v)
		}
	}
	return nil
}
