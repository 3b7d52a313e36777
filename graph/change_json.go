package graph

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

// jsonNames are the names of JSON kinds in messages.
var jsonNames = map[ipld.Kind]string{
	ipld.Null: "null", ipld.Bool: "a boolean", ipld.Int: "a number", ipld.Float: "a number",
	ipld.String: "a string", ipld.Bytes: "bytes", ipld.List: "a list", ipld.Map: "an object",
	ipld.Link: "a link",
}

func wrongKind(field, want string, v ipld.Value) error {
	return Fieldf(field, "want %s, got %s", want, jsonNames[v.Kind()])
}

// member is a member of an object that may be given.
type member struct {
	name string
	read func(v ipld.Value) error
}

// into reads a member into a field.
func into[T any](name string, to *T, read func(ipld.Value) (T, error)) member {
	return member{name, func(v ipld.Value) (err error) {
		*to, err = read(v)
		return err
	}}
}

// members reads an object. It refuses members that are not known.
func members(v ipld.Value, known ...member) error {
	if v.Kind() != ipld.Map {
		return wrongKind("", "an object", v)
	}
	for _, e := range v.Entries() {
		i := slices.IndexFunc(known, func(m member) bool { return m.name == e.Key })
		if i < 0 {
			return Fieldf("", "unknown member %s", quote(e.Key))
		}
		if err := known[i].read(e.Value); err != nil {
			return within(strings.ToValidUTF8(e.Key, "?"), err)
		}
	}
	return nil
}

// The functions below read the value of one member; their errors have no field, which members prepends.

func anyText(v ipld.Value) (string, error) {
	if v.Kind() != ipld.String {
		return "", wrongKind("", "a string", v)
	}
	return v.Text(), nil
}

// text reads a string that must not be empty.
func text(v ipld.Value) (string, error) {
	s, err := anyText(v)
	if err == nil && s == "" {
		err = Fieldf("", "must not be empty")
	}
	return s, err
}

func optText(v ipld.Value) (*string, error) {
	s, err := anyText(v)
	return &s, err
}

func boolean(v ipld.Value) (bool, error) {
	if v.Kind() != ipld.Bool {
		return false, wrongKind("", "a boolean", v)
	}
	return v.Bool(), nil
}

func number(v ipld.Value) (float64, error) {
	if x, ok := v.Number(); ok {
		return x, nil
	}
	return 0, wrongKind("", "a number", v)
}

func textList(v ipld.Value) ([]string, error) { return listOf(v, "a list of strings", anyText) }

func entries(v ipld.Value) ([]ipld.Entry, error) {
	if v.Kind() != ipld.Map {
		return nil, wrongKind("", "an object", v)
	}
	return v.Entries(), nil
}

func idOf(v ipld.Value) (ID, error) {
	s, err := text(v)
	if err != nil {
		return ID{}, err
	}
	return ParseID(s)
}

func refOf(v ipld.Value) (Ref, error) {
	s, err := text(v)
	if err != nil {
		return Ref{}, err
	}
	return ParseRef(s)
}

func timeOf(v ipld.Value) (OptTime, error) {
	s, err := text(v)
	if err != nil {
		return OptTime{}, err
	}
	t, err := ParseTime(s)
	return At(t), err
}

// changeOf reads the object of a line.
func changeOf(v ipld.Value) (c Change, err error) {
	err = members(v,
		into("node", &c.Node, nodeChangeOf),
		into("edge", &c.Edge, edgeChangeOf),
		into("embedding", &c.Embedding, embeddingChangeOf),
		into("mark", &c.Mark, markChangeOf),
		into("remove", &c.Remove, removalOf),
	)
	if err == nil && len(v.Entries()) != 1 {
		err = Fieldf("", "want exactly one of node, edge, embedding, mark, remove")
	}
	return c, err
}

func nodeChangeOf(v ipld.Value) (*NodeChange, error) {
	c := new(NodeChange)
	return c, members(v,
		into("key", &c.Key, text),
		into("id", &c.ID, idOf),
		into("type", &c.Type, text),
		into("summary", &c.Summary, optText),
		into("context", &c.Context, optText),
		member{"content", c.contentOf},
		into("cues", &c.Cues, textList),
		into("props", &c.Props, entries),
		into("created", &c.Created, timeOf),
		into("validFrom", &c.ValidFrom, timeOf),
		into("validTo", &c.ValidTo, timeOf),
		into("sources", &c.Sources, textList),
		into("unset", &c.Unset, textList),
		into("replace", &c.Replace, boolean),
	)
}

// contentOf reads a string, or an object with text and media.
func (c *NodeChange) contentOf(v ipld.Value) error {
	if v.Kind() == ipld.String {
		return unfielded(c.SetContent(v.Text(), ""))
	}
	var body *string
	media := ""
	err := members(v, into("text", &body, optText), into("media", &media, text))
	if err == nil && body == nil {
		err = Fieldf("text", "missing")
	}
	if err != nil {
		return err
	}
	return unfielded(c.SetContent(*body, media))
}

// unfielded removes the field "content" from an error to which members will add it.
func unfielded(err error) error {
	fe, ok := err.(*FieldError)
	if !ok {
		return err
	}
	return &FieldError{Field: strings.TrimPrefix(fe.Field, "content."), Reason: fe.Reason}
}

func edgeChangeOf(v ipld.Value) (*EdgeChange, error) {
	c := new(EdgeChange)
	return c, members(v,
		into("id", &c.ID, idOf),
		into("type", &c.Type, text),
		into("src", &c.Src, refOf),
		into("dst", &c.Dst, refOf),
		into("key", &c.Key, text),
		into("weight", &c.Weight, weightOf),
		into("props", &c.Props, entries),
		into("created", &c.Created, timeOf),
		into("validFrom", &c.ValidFrom, timeOf),
		into("validTo", &c.ValidTo, timeOf),
		into("sources", &c.Sources, textList),
		into("unset", &c.Unset, textList),
		into("replace", &c.Replace, boolean),
	)
}

func weightOf(v ipld.Value) (uint32, error) {
	x, err := number(v)
	if err != nil {
		return 0, err
	}
	w, err := EdgeWeight(x)
	if err != nil {
		return 0, Fieldf("", "%s", err.(*FieldError).Reason)
	}
	return w, nil
}

func embeddingChangeOf(v ipld.Value) (*EmbeddingChange, error) {
	c := new(EmbeddingChange)
	err := members(v,
		into("node", &c.Node, refOf),
		into("model", &c.Model, text),
		into("vector", &c.Vector, vectorOf),
		into("sparse", &c.Sparse, sparseOf),
	)
	if err == nil && c.Vector != nil && c.Sparse != nil {
		err = Fieldf("", "want either vector or sparse, got both")
	}
	return c, err
}

func vectorOf(v ipld.Value) ([]float64, error) { return listOf(v, "a list of numbers", number) }

// listOf reads a list with one function for all its items.
func listOf[T any](v ipld.Value, what string, read func(ipld.Value) (T, error)) ([]T, error) {
	if v.Kind() != ipld.List {
		return nil, wrongKind("", what, v)
	}
	list := make([]T, 0, len(v.List()))
	for _, item := range v.List() {
		x, err := read(item)
		if err != nil {
			return nil, wrongKind("", what, item)
		}
		list = append(list, x)
	}
	return list, nil
}

func sparseOf(v ipld.Value) ([]SparseWeight, error) {
	if v.Kind() != ipld.Map {
		return nil, wrongKind("", "an object", v)
	}
	terms := make([]SparseWeight, 0, len(v.Entries()))
	for _, e := range v.Entries() {
		x, err := number(e.Value)
		if err != nil {
			return nil, within(e.Key, err)
		}
		terms = append(terms, SparseWeight{e.Key, x})
	}
	return terms, nil
}

func markChangeOf(v ipld.Value) (*MarkChange, error) {
	c := new(MarkChange)
	return c, members(v,
		into("node", &c.On.Node, refOf),
		into("edge", &c.On.Edge, edgeRefOf),
		into("state", (*string)(&c.State), text),
		into("by", &c.By, refOf),
		into("reason", &c.Reason, text),
		into("actor", &c.Actor, text),
		into("time", &c.Time, timeOf),
	)
}

func markRefOf(v ipld.Value) (*MarkRef, error) {
	r := new(MarkRef)
	return r, members(v, into("node", &r.Node, refOf), into("edge", &r.Edge, edgeRefOf))
}

func edgeRefOf(v ipld.Value) (*EdgeRef, error) {
	r := new(EdgeRef)
	return r, members(v,
		into("id", &r.ID, idOf),
		into("type", &r.Type, text),
		into("src", &r.Src, refOf),
		into("dst", &r.Dst, refOf),
		into("key", &r.Key, text),
		into("all", &r.All, func(v ipld.Value) (bool, error) {
			all, err := boolean(v)
			if err == nil && !all {
				err = Fieldf("", "is true or left out")
			}
			return all, err
		}),
	)
}

func removalOf(v ipld.Value) (*Removal, error) {
	r := new(Removal)
	return r, members(v,
		into("node", &r.Node, refOf),
		into("edge", &r.Edge, edgeRefOf),
		into("mark", &r.Mark, markRefOf),
		into("embedding", &r.Embedding, embeddingRefOf),
	)
}

func embeddingRefOf(v ipld.Value) (*EmbeddingRef, error) {
	r := new(EmbeddingRef)
	return r, members(v, into("node", &r.Node, refOf), into("model", &r.Model, text))
}
