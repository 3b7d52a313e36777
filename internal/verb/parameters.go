package verb

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Parameters is embedded in requests that have parameters of retrieval as fields: those that the tag table
// names, by their names in the table of package retrieve, or without the tag all that have flags; where it
// is profile, those that a profile can hold, without usual values. A
// field of the same flag that the request declares itself stands for the parameter in its place.
type Parameters struct {
	Params
	values map[string]reflect.Value
}

func (p *Parameters) value(f *Field) reflect.Value {
	v, ok := p.values[f.Name]
	if !ok {
		if p.values == nil {
			p.values = make(map[string]reflect.Value)
		}
		v = reflect.New(kindTypes[f.Kind]).Elem()
		p.values[f.Name] = v
	}
	return v
}

// Denies reports whether the request gives a parameter that is true or false, and says false.
func (p *Parameters) Denies(name string) bool {
	v, ok := p.values[name]
	return ok && p.Given(name) && !v.Bool()
}

var parametersType = reflect.TypeFor[Parameters]()

var kindTypes = map[operation.ParamKind]reflect.Type{
	operation.String: reflect.TypeFor[string](), operation.Strings: reflect.TypeFor[[]string](),
	operation.Integer: reflect.TypeFor[int](), operation.Number: reflect.TypeFor[float64](),
	operation.Boolean: reflect.TypeFor[bool](),
}

// paramKinds are the kinds of fields by those of parameters.
var paramKinds = map[retrieve.ParamKind]operation.ParamKind{
	retrieve.ParamText: operation.String, retrieve.ParamMoment: operation.String,
	retrieve.ParamTexts: operation.Strings, retrieve.ParamWords: operation.Strings,
	retrieve.ParamObject: operation.Strings, retrieve.ParamNumber: operation.Integer,
	retrieve.ParamShare: operation.Number, retrieve.ParamTruth: operation.Boolean,
}

// summaryCapEnv is the one variable that stands for a parameter of the table.
const summaryCapEnv = "MNEM_RENDER_SUMMARY_CAP_CHARS"

// tableFields returns the fields that Parameters with a tag stand for.
func tableFields(tag string, index []int) (all []Field) {
	names, profile := strings.Fields(tag), tag == "profile"
	if profile {
		names = nil
	}
	for _, p := range retrieve.Params() {
		if p.Flag == "" || profile && p.Own != "" || len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		doc, repeatable := strings.CutSuffix(p.Doc, " (repeatable)")
		before, word, _ := strings.Cut(doc, "`")
		word, after, quoted := strings.Cut(word, "`")
		if quoted {
			doc = before + "{" + word + "}" + after
		}
		f := Field{
			Name: p.Flag, Kind: paramKinds[p.Kind], Doc: doc, Enum: p.Words, Default: p.Usual,
			Remote: p.Remote, Varies: p.Varies, Comma: p.Kind == retrieve.ParamWords,
			Named: true, NoFlag: p.Set, index: index, of: &p, table: true,
		}
		if profile {
			f.Default, f.NoFlag, f.Writes = "", true, true
		}
		switch {
		case repeatable:
			f.Note = " (repeatable)"
		case p.Name == "summaryCap":
			f.Note = " (" + summaryCapEnv + ")"
		}
		all = append(all, f)
	}
	return all
}

// resolveTable lets fields that the request declares stand for those of the table.
func resolveTable(all []Field) []Field {
	for i := range all {
		at := slices.IndexFunc(all, func(f Field) bool { return f.table && f.Name == all[i].Name })
		if at >= 0 && !all[i].table {
			all[i].of = all[at].of
		}
	}
	return slices.DeleteFunc(all, func(f Field) bool {
		return f.table && slices.ContainsFunc(all, func(other Field) bool {
			return other.Name == f.Name && !other.table
		})
	})
}

// SetParameters sets the parameters of a retrieval that a request gives by fields of the table.
func (s *Spec) SetParameters(req any, to *retrieve.Request) error {
	asked := paramsOf(req)
	for _, f := range s.Fields() {
		if f.of == nil || !asked.Given(f.Name) && (f.table || f.Default == "") {
			continue
		}
		v, err := f.member(req)
		if err == nil {
			err = to.SetMember(f.of.Member, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Param returns the parameter of retrieval that the field stands for, nil for none.
func (f *Field) Param() *retrieve.Param { return f.of }

// member returns the value of a field as the member of a request that it stands for.
func (f *Field) member(req any) (ipld.Value, error) {
	v := f.Value(req)
	switch f.of.Kind {
	case retrieve.ParamNumber:
		return ipld.IntValue(v.Int()), nil
	case retrieve.ParamShare:
		return ipld.FloatValue(v.Float()), nil
	case retrieve.ParamTruth:
		return ipld.BoolValue(v.Bool()), nil
	case retrieve.ParamObject:
		return f.weights(v.Interface().([]string))
	case retrieve.ParamTexts, retrieve.ParamWords:
		items := make([]ipld.Value, v.Len())
		for i := range items {
			items[i] = ipld.StringValue(v.Index(i).String())
		}
		return ipld.ListValue(items...), nil
	}
	if v.Len() == 0 && len(f.of.Words) > 0 {
		return ipld.Value{}, Bad(f.shown(), "want %s", f.of.Choice())
	}
	return ipld.StringValue(v.String()), nil
}

// shown is how errors call the field.
func (f *Field) shown() string {
	if f.NoFlag && f.Named {
		return Set + f.Name
	}
	return f.Name
}

// weights reads values of the form NAME=W as the members of an object: W follows the last "=". The
// reader of the object deals with duplicate names.
func (f *Field) weights(values []string) (ipld.Value, error) {
	_, form, _ := strings.Cut(f.Doc, "{")
	form, _, _ = strings.Cut(form, "}")
	var entries []ipld.Entry
	for _, s := range values {
		at := strings.LastIndexByte(s, '=')
		if at < 1 {
			return ipld.Value{}, BadValue(f.shown(), s, "want %s", cmp.Or(form, "NAME=W"))
		}
		w, err := ipld.ParseJSON([]byte(s[at+1:]))
		if err != nil {
			return ipld.Value{}, BadValue(f.shown(), s, "%q is not a number", s[at+1:])
		}
		entries = append(entries, ipld.Entry{Key: s[:at], Value: w})
	}
	return ipld.MapValue(entries...), nil
}
