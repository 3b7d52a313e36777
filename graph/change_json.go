package graph

import (
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

// members calls fn for every member of an object; fn returns false for names it does not know.
func members(v ipld.Value, fn func(name string, v ipld.Value) (bool, error)) error {
	if v.Kind() != ipld.Map {
		return wrongKind("", "an object", v)
	}
	for _, e := range v.Entries() {
		known, err := fn(e.Key, e.Value)
		if err != nil {
			return within(strings.ToValidUTF8(e.Key, "?"), err)
		}
		if !known {
			return Fieldf("", "unknown member %s", quote(e.Key))
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

func textList(v ipld.Value) ([]string, error) {
	if v.Kind() != ipld.List {
		return nil, wrongKind("", "a list of strings", v)
	}
	list := make([]string, 0, len(v.List()))
	for _, item := range v.List() {
		s, err := anyText(item)
		if err != nil {
			return nil, wrongKind("", "a list of strings", item)
		}
		list = append(list, s)
	}
	return list, nil
}

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
	given := 0
	err = members(v, func(name string, v ipld.Value) (known bool, err error) {
		given++
		switch name {
		case "node":
			c.Node, err = nodeChangeOf(v)
		case "edge":
			c.Edge, err = edgeChangeOf(v)
		case "embedding":
			c.Embedding, err = embeddingChangeOf(v)
		case "mark":
			c.Mark, err = markChangeOf(v)
		case "remove":
			c.Remove, err = removalOf(v)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && given != 1 {
		err = Fieldf("", "want exactly one of node, edge, embedding, mark, remove")
	}
	return c, err
}

func nodeChangeOf(v ipld.Value) (*NodeChange, error) {
	c := new(NodeChange)
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "key":
			c.Key, err = text(v)
		case "id":
			c.ID, err = idOf(v)
		case "type":
			c.Type, err = text(v)
		case "summary":
			c.Summary, err = optText(v)
		case "context":
			c.Context, err = optText(v)
		case "content":
			err = c.contentOf(v)
		case "cues":
			c.Cues, err = textList(v)
		default:
			shared := sharedMembers{
				&c.Props, &c.Created, &c.ValidFrom, &c.ValidTo, &c.Sources, &c.Unset, &c.Replace,
			}
			return shared.read(name, v)
		}
		return true, err
	})
	return c, err
}

// contentOf reads a string, or an object with text and media.
func (c *NodeChange) contentOf(v ipld.Value) error {
	if v.Kind() == ipld.String {
		return unfielded(c.SetContent(v.Text(), ""))
	}
	var body *string
	media := ""
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "text":
			body, err = optText(v)
		case "media":
			media, err = text(v)
		default:
			return false, nil
		}
		return true, err
	})
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

// sharedMembers are the members that lines of nodes and edges have in common.
type sharedMembers struct {
	props                       *[]ipld.Entry
	created, validFrom, validTo *OptTime
	sources, unset              *[]string
	replace                     *bool
}

func (s sharedMembers) read(name string, v ipld.Value) (known bool, err error) {
	switch name {
	case "props":
		*s.props, err = entries(v)
	case "created":
		*s.created, err = timeOf(v)
	case "validFrom":
		*s.validFrom, err = timeOf(v)
	case "validTo":
		*s.validTo, err = timeOf(v)
	case "sources":
		*s.sources, err = textList(v)
	case "unset":
		*s.unset, err = textList(v)
	case "replace":
		*s.replace, err = boolean(v)
	default:
		return false, nil
	}
	return true, err
}

func edgeChangeOf(v ipld.Value) (*EdgeChange, error) {
	c := new(EdgeChange)
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "id":
			c.ID, err = idOf(v)
		case "type":
			c.Type, err = text(v)
		case "src":
			c.Src, err = refOf(v)
		case "dst":
			c.Dst, err = refOf(v)
		case "key":
			c.Key, err = text(v)
		case "weight":
			c.Weight, err = weightOf(v)
		default:
			shared := sharedMembers{
				&c.Props, &c.Created, &c.ValidFrom, &c.ValidTo, &c.Sources, &c.Unset, &c.Replace,
			}
			return shared.read(name, v)
		}
		return true, err
	})
	return c, err
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
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "node":
			c.Node, err = refOf(v)
		case "model":
			c.Model, err = text(v)
		case "vector":
			c.Vector, err = vectorOf(v)
		case "sparse":
			c.Sparse, err = sparseOf(v)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && c.Vector != nil && c.Sparse != nil {
		err = Fieldf("", "want either vector or sparse, got both")
	}
	return c, err
}

func vectorOf(v ipld.Value) ([]float64, error) {
	if v.Kind() != ipld.List {
		return nil, wrongKind("", "a list of numbers", v)
	}
	vector := make([]float64, 0, len(v.List()))
	for _, item := range v.List() {
		x, err := number(item)
		if err != nil {
			return nil, wrongKind("", "a list of numbers", item)
		}
		vector = append(vector, x)
	}
	return vector, nil
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
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		s := ""
		switch name {
		case "state":
			s, err = text(v)
			c.State = State(s)
		case "by":
			c.By, err = refOf(v)
		case "reason":
			c.Reason, err = text(v)
		case "actor":
			c.Actor, err = text(v)
		case "time":
			c.Time, err = timeOf(v)
		default:
			return c.On.member(name, v)
		}
		return true, err
	})
	return c, err
}

func (r *MarkRef) member(name string, v ipld.Value) (known bool, err error) {
	switch name {
	case "node":
		r.Node, err = refOf(v)
	case "edge":
		r.Edge, err = edgeRefOf(v)
	default:
		return false, nil
	}
	return true, err
}

func edgeRefOf(v ipld.Value) (*EdgeRef, error) {
	r := new(EdgeRef)
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "id":
			r.ID, err = idOf(v)
		case "type":
			r.Type, err = text(v)
		case "src":
			r.Src, err = refOf(v)
		case "dst":
			r.Dst, err = refOf(v)
		case "key":
			r.Key, err = text(v)
		case "all":
			if r.All, err = boolean(v); err == nil && !r.All {
				err = Fieldf("", "is true or left out")
			}
		default:
			return false, nil
		}
		return true, err
	})
	return r, err
}

func removalOf(v ipld.Value) (*Removal, error) {
	r := new(Removal)
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "node":
			r.Node, err = refOf(v)
		case "edge":
			r.Edge, err = edgeRefOf(v)
		case "mark":
			r.Mark = new(MarkRef)
			err = members(v, r.Mark.member)
		case "embedding":
			r.Embedding, err = embeddingRefOf(v)
		default:
			return false, nil
		}
		return true, err
	})
	return r, err
}

func embeddingRefOf(v ipld.Value) (*EmbeddingRef, error) {
	r := new(EmbeddingRef)
	err := members(v, func(name string, v ipld.Value) (known bool, err error) {
		switch name {
		case "node":
			r.Node, err = refOf(v)
		case "model":
			r.Model, err = text(v)
		default:
			return false, nil
		}
		return true, err
	})
	return r, err
}
