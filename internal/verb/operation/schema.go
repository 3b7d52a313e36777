package operation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A shape is how the docs write what an answer looks like: JSON whose strings say what stands in their place. "cid",
// "id", "time", "int", "number", "text", "bool", "object", "json" and "null" are kinds of values, other words are
// themselves, "a|b" is one of both; a list has any number of items of the one shape in it; a member whose name ends
// in |null may be null, and one whose name ends in ? may be missing.

// Schema returns the JSON Schema, 2020-12, of a shape. Members that it does not name are allowed:
// later releases may add some.
func Schema(shape string) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal([]byte(shape), &v); err != nil {
		return nil, fmt.Errorf("shape: %w: %s", err, shape)
	}
	return json.Marshal(schemaOf(v))
}

func schemaOf(shape any) map[string]any {
	switch shape := shape.(type) {
	case string:
		return wordSchema(shape)
	case []any:
		if len(shape) == 0 {
			return map[string]any{"type": "array"}
		}
		return map[string]any{"type": "array", "items": schemaOf(shape[0])}
	case map[string]any:
		return objectSchema(shape)
	}
	return map[string]any{}
}

func objectSchema(shape map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for name, member := range shape {
		bare, optional := strings.CutSuffix(name, "?")
		bare, null := strings.CutSuffix(bare, "|null")
		s := schemaOf(member)
		if null {
			s["type"] = []any{s["type"], "null"}
		}
		properties[bare] = s
		if !optional {
			required = append(required, bare)
		}
	}
	return map[string]any{
		"type": "object", "properties": properties, "required": slices.Sorted(slices.Values(required)),
	}
}

// kindSchemas lists the schemas of the words that stand for a kind of value, made when a door first wants them.
var kindSchemas = sync.OnceValue(func() map[string]map[string]any {
	return map[string]map[string]any{
		"json":   {},
		"null":   {"type": "null"},
		"text":   {"type": "string"},
		"bool":   {"type": "boolean"},
		"number": {"type": "number"},
		"object": {"type": "object"},
		"int":    {"type": "integer"},
		"cid":    {"type": "string", "pattern": "^baf(yrei|krei)[a-z2-7]{52}$"},
		"id":     {"type": "string", "format": "uuid"},
		"time":   {"type": "string", "format": "date-time"},
	}
})

// wordSchema returns the schema of words with | between them.
func wordSchema(shape string) map[string]any {
	var literals []any
	var kinds []map[string]any
	null := false
	for word := range strings.SplitSeq(shape, "|") {
		switch s, known := kindSchemas()[word]; {
		case word == "null":
			null = true
		case known:
			kinds = append(kinds, maps.Clone(s)) // which are changed below
		default:
			literals = append(literals, word)
		}
	}
	if literals != nil {
		if null && kinds == nil {
			literals, null = append(literals, nil), false
		}
		kinds = append(kinds, map[string]any{"enum": literals})
	}
	switch {
	case len(kinds) == 0:
		return map[string]any{"type": "null"}
	case len(kinds) > 1:
		if null {
			kinds = append(kinds, map[string]any{"type": "null"})
		}
		return map[string]any{"anyOf": kinds}
	}
	if typ, has := kinds[0]["type"]; has && null {
		kinds[0]["type"] = []any{typ, "null"}
	}
	return kinds[0]
}

// Schema returns the JSON Schema of a parameter's value.
func (p *Param) Schema() map[string]any {
	item := map[string]any{"type": "string"}
	if p.Enum != nil {
		item["enum"] = p.Enum
	}
	s := map[string]any{"type": map[ParamKind]string{Integer: "integer", Number: "number", Boolean: "boolean"}[p.Kind]}
	switch p.Kind {
	case String:
		s = item
		if p.True != "" {
			s = map[string]any{"anyOf": []any{map[string]any{"type": "boolean"}, item}}
		}
	case Strings:
		s = map[string]any{"type": "array", "items": item}
	case Lines:
		s = map[string]any{"type": "array", "items": map[string]any{"type": "object"}}
	}
	if p.Doc != "" {
		s["description"] = p.Doc
	}
	return s
}

// InputSchema returns the JSON Schema of the arguments: an object with no other members.
func (o *Operation) InputSchema() json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for i := range o.Params {
		p := &o.Params[i]
		properties[p.Name] = p.Schema()
		if p.Required {
			required = append(required, p.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	data, _ := json.Marshal(s) // maps and strings always have a JSON form
	return data
}

// OutputSchema returns the JSON Schema of an answer, or of each line of one, nil for one that is no
// JSON. It is an object's wherever all shapes are, so that a surface which wants objects can tell.
func (o *Operation) OutputSchema() (json.RawMessage, error) {
	if len(o.Shapes) == 0 {
		return nil, nil
	}
	var all []json.RawMessage
	objects := true
	for _, shape := range o.Shapes {
		s, err := Schema(shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		all = append(all, s)
		objects = objects && strings.HasPrefix(shape, "{")
	}
	if len(all) == 1 {
		return all[0], nil
	}
	s := map[string]any{"anyOf": all}
	if objects {
		s["type"] = "object"
	}
	return json.Marshal(s)
}
