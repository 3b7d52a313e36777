package remember

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/ipld"
)

// ParseRememberJSON reads a request from a JSON object. Members are text (required), type,
// importance, tags, entities, cues, source (a string or a list of them), about, property, expires,
// validFrom, validTo, time (RFC 3339 or YYYY-MM-DD), supersedes (a string or a list of them), noDiff, and
// vector: {"model": NAME, "values": [numbers]}. Every other member is refused, as is a value of
// another kind, by a *RequestError that names it. What is not given is taken from base.
func ParseRememberJSON(v ipld.Value, base Request) (Request, error) {
	if v.Kind() != ipld.Map {
		return base, badRequest("line", "want a JSON object, found %s", v.Kind())
	}
	r := base
	for _, e := range v.Entries() {
		if err := r.member(e.Key, e.Value); err != nil {
			return base, err
		}
	}
	if _, ok := v.Get("text"); !ok {
		return base, badRequest("text", "missing")
	}
	return r, nil
}

func (r *Request) member(name string, v ipld.Value) (err error) {
	switch name {
	case "text":
		r.Text, err = jsonText(name, v)
	case "type":
		r.Type, err = jsonText(name, v)
	case "about":
		r.About, err = jsonText(name, v)
	case "property":
		r.Property, err = jsonText(name, v)
	case "importance":
		if v.Kind() != ipld.Int || v.Int() < memory.MinImportance || v.Int() > memory.MaxImportance {
			return badRequest(name, "want a number from %d to %d", memory.MinImportance, memory.MaxImportance)
		}
		r.Importance = int(v.Int())
	case "tags":
		r.Tags, err = jsonTexts(name, v, false)
	case "cues":
		r.Cues, err = jsonTexts(name, v, false)
	case "entities":
		r.Entities, err = jsonTexts(name, v, false)
	case "source":
		r.Sources, err = jsonTexts(name, v, true)
	case "supersedes":
		r.Supersedes, err = jsonTexts(name, v, true)
	case "expires":
		r.Expires, err = jsonTime(name, v)
	case "validFrom":
		r.ValidFrom, err = jsonTime(name, v)
	case "validTo":
		r.ValidTo, err = jsonTime(name, v)
	case "time":
		r.Time, err = jsonTime(name, v)
	case "noDiff":
		if v.Kind() != ipld.Bool {
			return badRequest(name, "want true or false")
		}
		r.NoDiff = v.Bool()
	case "vector":
		r.Vector, err = jsonVector(v)
	default:
		return badRequest(name, "no such member: there are text, type, importance, tags, entities, cues, "+
			"source, about, property, expires, validFrom, validTo, time, supersedes, noDiff and vector")
	}
	return err
}

func jsonText(name string, v ipld.Value) (string, error) {
	if v.Kind() != ipld.String {
		return "", badRequest(name, "want a string, found %s", v.Kind())
	}
	return v.Text(), nil
}

// jsonTexts reads a list of strings, or one string where one will do.
func jsonTexts(name string, v ipld.Value, one bool) ([]string, error) {
	if one && v.Kind() == ipld.String {
		return []string{v.Text()}, nil
	}
	if v.Kind() != ipld.List {
		return nil, badRequest(name, "want a list of strings, found %s", v.Kind())
	}
	var out []string
	for _, item := range v.List() {
		s, err := jsonText(name, item)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func jsonTime(name string, v ipld.Value) (graph.OptTime, error) {
	s, err := jsonText(name, v)
	if err != nil {
		return graph.OptTime{}, err
	}
	t, err := graph.ParseTime(s)
	if err != nil {
		return graph.OptTime{}, badRequest(name, "%v", err)
	}
	return graph.At(t), nil
}

func jsonVector(v ipld.Value) (*graph.EmbeddingChange, error) {
	model, _ := v.Get("model")
	values, _ := v.Get("values")
	if v.Kind() != ipld.Map || len(v.Entries()) != 2 || model.Kind() != ipld.String ||
		values.Kind() != ipld.List {
		return nil, badRequest("vector", `want {"model": NAME, "values": [NUMBERS]}`)
	}
	e := &graph.EmbeddingChange{Model: model.Text()}
	for _, n := range values.List() {
		switch n.Kind() {
		case ipld.Int:
			e.Vector = append(e.Vector, float64(n.Int()))
		case ipld.Float:
			e.Vector = append(e.Vector, n.Float())
		default:
			return nil, badRequest("vector", "values: want numbers, found %s", n.Kind())
		}
	}
	return e, nil
}
