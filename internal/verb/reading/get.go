package reading

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// GetRequest asks for one node, or one field of it.
type GetRequest struct {
	Node  string `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Field string `op:",remote" doc:"print the value of this {FIELD} alone"`
	Now   string `op:",remote" doc:"{TIME} that the importance is of, RFC 3339 or YYYY-MM-DD (default: now)"`

	Importance bool `op:",remote,varies" doc:"tell the effective importance, too"`
	verb.AtRevision
	verb.Marks
	verb.Params
}

// ImportantNode is a node with its effective importance.
type ImportantNode struct {
	WholeNode
	Importance memory.Effective `json:"importance"` // in units of 2^-16
	Now        graph.Time       `json:"now"`
}

// Get reads one node.
var Get = verb.Define(verb.Spec{
	Command: "get", Right: verb.NoRight, Usage: "NODE [flags]", Group: "read",
	Title: "Print one node, or one field of it",
	Doc: "Print a node with everything in it. NODE is its exact key, its id, or at least 4 hex digits\n" +
		"that only its id begins with; key:NAME and id:ID force one reading. Or it is a text that means\n" +
		"one node for sure: its exact summary, or several words that it alone has all of. Where\n" +
		"several fit, they are listed.\n\n" +
		"--field prints the value of one field and nothing else: text as it is (escaped only on a\n" +
		"terminal), other values as JSON. Fields are those of the JSON form; a property is props.NAME.\n\n" +
		"A forgotten node is not found without --include forgotten. Other marked ones are printed with\n" +
		"a line that says so.\n\n" +
		"--importance tells the effective importance at --now and what it is made of: the importance\n" +
		"that the node states, how often it was said again or used, its age by the half-life of its\n" +
		"type, and its links. It is worked out when it is asked for and stored nowhere.",
	Example: "  mnem get alice\n  mnem get alice --field props.role\n  mnem get 'alice leads infra'\n  mnem get alice --importance\n" +
		"  mnem get svc/billing --at HEAD~1 --json\n  mnem get bob --include forgotten",
	Effect: verb.Reads, Pure: true, Answers: []any{WholeNode{}, ImportantNode{}, verb.FieldValue{}},
}, get)

// Check refuses fields that exclude each other.
func (q *GetRequest) Check() error {
	switch {
	case q.Given("field") && !isField(q.Field):
		return verb.Bad("field", "no field %q: want one of %s or props.NAME", q.Field,
			strings.Join(fieldNames(), ", "))
	case q.Importance && q.Field != "":
		return verb.Exclude("field", "importance")
	case q.Now != "" && !q.Importance:
		return verb.Between("%s is for %s", "now", "importance")
	}
	_, err := q.States()
	return err
}

func get(ctx context.Context, s *verb.Service, q *GetRequest) (any, error) {
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	now, err := s.Now(q.Now)
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	w, err := ReadNode(ctx, Visible{snap, let}, q.Node)
	switch {
	case err != nil:
		return nil, err
	case w.forgotten(let):
		return nil, verb.NodeHint(&state.NotFoundError{What: "node", Name: q.Node, Hidden: graph.Forgotten, ID: w.ID})
	case q.Field != "":
		return w.field(q.Field, q.Node)
	case !q.Importance:
		return w, nil
	}
	opt, err := importanceOptions(ctx, s, snap)
	if err != nil {
		return nil, err
	}
	e, err := memory.Importance(ctx, snap, w.ID, now, opt)
	if err != nil {
		return nil, err
	}
	return &ImportantNode{*w, e, now}, nil
}

// importanceOptions returns what importance is made of beside the snapshot: the half-lives of its
// commit, and how often memories were used, if that is counted.
func importanceOptions(
	ctx context.Context, s *verb.Service, snap *core.Snapshot,
) (opt memory.ImportanceOptions, err error) {
	if opt.HalfLives, err = memory.HalfLivesAt(ctx, snap); err != nil {
		return opt, err
	}
	opt.Accesses, err = s.Host.Accesses()
	return opt, err
}

// PropPrefix begins the name of a field that is a property.
const PropPrefix = "props."

// fieldNames are the members of a whole node that a field may name.
func fieldNames() []string {
	return []string{
		"id", "key", "type", "summary", "context", "props", "cues", "content", "media", "created",
		"updated", "validFrom", "validTo", "sources", "mark", "cid", "commit",
	}
}

func isField(name string) bool {
	if prop, ok := strings.CutPrefix(name, PropPrefix); ok {
		return prop != ""
	}
	for _, known := range fieldNames() {
		if name == known {
			return true
		}
	}
	return false
}

// field returns one value. A field that the node does not have is not found.
func (w *WholeNode) field(field, name string) (any, error) {
	missing := &state.NotFoundError{What: "field", Name: field + " of " + name}
	if prop, ok := strings.CutPrefix(field, PropPrefix); ok {
		value, ok := ipld.FindEntry(w.Props, prop)
		switch {
		case !ok:
			return nil, missing
		case value.Kind() == ipld.String:
			return &verb.FieldValue{Value: value.Text()}, nil
		}
		return &verb.FieldValue{Value: verb.Value(&value)}, nil
	}
	data, err := verb.JSON(memberNamed(reflect.ValueOf(*w), field))
	if err != nil || string(data) == "null" {
		return nil, cmp.Or[error](err, missing)
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		return &verb.FieldValue{Value: text}, nil
	}
	return &verb.FieldValue{Value: json.RawMessage(data)}, nil
}

// memberNamed returns the member of a struct that its JSON form gives a name.
func memberNamed(v reflect.Value, name string) any {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			if found := memberNamed(v.Field(i), name); found != nil {
				return found
			}
		} else if f.Tag.Get("json") == name {
			return v.Field(i).Interface()
		}
	}
	return nil
}
