package repo

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mnem-project/mnem/graph"
)

// Fact is something that Put writes: a Node, an Edge or a Removal.
type Fact interface {
	line() any
}

// Node is a node to write. One whose key or id exists replaces the fields that are given and keeps the rest.
type Node struct {
	Key     string         `json:"key,omitempty"` // chosen by the caller, unique and unchanging; "" for none
	Type    string         `json:"type,omitempty"`
	Summary string         `json:"summary,omitempty"`
	Context string         `json:"context,omitempty"` // one sentence that says what the summary belongs to
	Props   map[string]any `json:"props,omitempty"`   // values that JSON can hold
	Cues    []string       `json:"cues,omitempty"`    // phrases under which it is looked for
}

func (n Node) line() any { return map[string]any{"node": n} }

// Edge is an edge to write, between nodes by their keys or ids.
type Edge struct {
	Type  string         `json:"type"`
	Src   string         `json:"src"`
	Dst   string         `json:"dst"`
	Key   string         `json:"key,omitempty"` // tells parallel edges apart
	Props map[string]any `json:"props,omitempty"`
}

func (e Edge) line() any { return map[string]any{"edge": e} }

// Removal removes a node, with its edges, by its key or id.
type Removal string

func (r Removal) line() any { return map[string]any{"remove": map[string]any{"node": string(r)}} }

// changeOf makes the change line of a fact. It returns an error wrapping ErrInvalid for a value that JSON cannot hold,
// and a *graph.LineError for a line that breaks a rule of clause 10 of the specification.
func changeOf(f Fact) (graph.Change, error) {
	if f == nil {
		return graph.Change{}, fmt.Errorf("%w: a fact is nil", ErrInvalid)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f.line()); err != nil {
		return graph.Change{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return graph.ParseChange(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
