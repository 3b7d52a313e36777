package verb

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/retrieve"
)

// Field is one field of a request, as its tags describe it.
type Field struct {
	Name       string // of the flag
	Short      string
	Kind       operation.ParamKind
	Doc        string // with {WORD} for what help calls the value
	Note       string
	RemoteDoc  string
	Enum       []string
	Default    string
	Complete   string
	Not        []string
	Arg        bool
	Required   bool
	Remote     bool
	RemoteOnly bool
	Varies     bool
	Writes     bool
	Destroys   bool
	Wide       bool // whether it leads out of the branch that a caller is confined to
	Comma      bool
	Words      bool
	Named      bool // whether the command line has it by --set NAME=VALUE, whether or not as a flag
	NoFlag     bool // whether it is no flag
	Sets       bool // whether its values, each NAME=VALUE, set the fields with Named
	Most       int  // bytes of standard input in place of Words, 0 for what a memory may have
	// True is the value that a remote caller's true stands for, "" for true itself; Alone is whether the
	// flag without a value means that too.
	True  string
	Alone bool

	index  []int
	of     *retrieve.Param // retrieval, nil for none
	table  bool            // whether it is one of Parameters
	Caller bool            // whether it describes the caller, not the request
}

// Fields returns the fields of the verb's request: positional arguments in their order, then flags by
// name. The list must not be changed.
func (s *Spec) Fields() []Field { return s.fields() }

func sortedFields(request reflect.Type) []Field {
	all := resolveTable(fieldsOf(request, nil))
	name := func(f Field) string {
		if f.Arg {
			return "" // before all flags
		}
		return f.Name
	}
	slices.SortStableFunc(all, func(a, b Field) int { return strings.Compare(name(a), name(b)) })
	return all
}

func fieldsOf(t reflect.Type, index []int) (all []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		tag, tagged := f.Tag.Lookup("op")
		switch {
		case f.Type == parametersType:
			all = append(all, tableFields(f.Tag.Get("table"), at)...)
		case f.Anonymous:
			part := fieldsOf(f.Type, at)
			flags, some := f.Tag.Lookup("flags")
			for i := range part {
				part[i].Remote = part[i].Remote && tag != "local"
				part[i].NoFlag = part[i].NoFlag || some && !part[i].Arg && !slices.Contains(strings.Fields(flags), part[i].Name)
			}
			all = append(all, part...)
		case tagged && tag != "-":
			one := fieldOf(f, tag, at)
			one.Caller = t == reflect.TypeFor[Actor]() || t == reflect.TypeFor[Signing]()
			all = append(all, one)
		}
	}
	return all
}

func fieldOf(f reflect.StructField, tag string, index []int) Field {
	name, options, _ := strings.Cut(tag, ",")
	out := Field{
		Name: cmp.Or(name, kebab(f.Name)), Doc: f.Tag.Get("doc"), Note: f.Tag.Get("note"),
		RemoteDoc: f.Tag.Get("remote"), Enum: strings.Fields(f.Tag.Get("enum")),
		Default: f.Tag.Get("default"), Complete: f.Tag.Get("complete"),
		Not: strings.Fields(f.Tag.Get("not")), index: index,
	}
	if len(out.Enum) == 0 {
		out.Enum = nil
	}
	switch f.Type.Kind() {
	case reflect.String, reflect.Int64, reflect.Struct: // a time.Duration, a graph.OptTime
		out.Kind = operation.String
	case reflect.Int:
		out.Kind = operation.Integer
	case reflect.Float64:
		out.Kind = operation.Number
	case reflect.Bool:
		out.Kind = operation.Boolean
	case reflect.Slice:
		out.Kind = operation.Strings
	default:
		panic(fmt.Sprintf("field %s: no surface has values of %s", f.Name, f.Type))
	}
	is := map[string]*bool{
		"arg": &out.Arg, "required": &out.Required, "remote": &out.Remote, "varies": &out.Varies, "writes": &out.Writes,
		"destroys": &out.Destroys, "words": &out.Words, "wide": &out.Wide, "comma": &out.Comma, "settable": &out.Named,
		"sets": &out.Sets, "alone": &out.Alone, "remoteonly": &out.RemoteOnly, "set": &out.NoFlag,
	}
	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch set := is[key]; {
		case key == "":
		case key == "short":
			out.Short = value
		case key == "true":
			out.True = value
		case set == nil:
			panic(fmt.Sprintf("field %s: unknown option %q", f.Name, option))
		default:
			*set = true
		}
		if key == "words" {
			out.Most, _ = strconv.Atoi(value) // 0 without one
		}
	}
	out.Remote = out.Remote || out.RemoteOnly
	out.Named = out.Named || out.NoFlag
	return out
}

// kebab writes a Go name as flags have it: MaxHops is max-hops.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Parameter is the name that remote callers know the field by.
func (f *Field) Parameter() string { return strings.ReplaceAll(f.Name, "-", "_") }

func (f *Field) param() operation.Param {
	p := operation.Param{
		Name: f.Parameter(), Flag: f.Name, Kind: f.Kind, Enum: f.Enum, Required: f.Required,
		Doc: strings.NewReplacer("{", "", "}", "").Replace(cmp.Or(f.RemoteDoc, f.Doc)), Varies: f.Varies,
		True: f.True,
	}
	if f.True != "" && f.Enum == nil {
		p.Kind = operation.Boolean
	}
	if f.Arg {
		p.Flag = ""
	}
	switch {
	case f.Destroys:
		p.Effect = Destroys
	case f.Writes:
		p.Effect = Writes
	}
	return p
}

// Value returns the field of a request, a pointer to a struct.
func (f *Field) Value(req any) reflect.Value {
	v := reflect.ValueOf(req).Elem().FieldByIndex(f.index)
	if f.table {
		return v.Addr().Interface().(*Parameters).value(f)
	}
	return v
}

// SetDefault gives the field of a request what it is if it is not given; that of a list has blanks between.
func (f *Field) SetDefault(req any) error {
	switch {
	case f.Default == "":
		return nil
	case f.Kind == operation.Strings:
		return f.Set(req, strings.Fields(f.Default))
	}
	return f.Set(req, []string{f.Default})
}

// Set gives the field of a request its value, which texts stand for as on the command line; of a field
// that is no list there is one.
func (f *Field) Set(req any, values []string) error {
	v, last := f.Value(req), ""
	if len(values) > 0 {
		last = values[len(values)-1]
	}
	switch f.Kind {
	case operation.Strings:
		if f.Comma {
			values = strings.Split(strings.Join(values, ","), ",")
		}
		v.Set(reflect.ValueOf(values).Convert(v.Type()))
	case operation.Integer:
		n, err := strconv.ParseInt(last, 0, strconv.IntSize)
		if err != nil {
			return Bad(f.Name, "%q is no integer of this machine", last)
		}
		v.SetInt(n)
	case operation.Number:
		x, err := strconv.ParseFloat(last, 64)
		if err != nil {
			return Bad(f.Name, "%q is no number", last)
		}
		v.SetFloat(x)
	case operation.Boolean:
		v.SetBool(last == "true")
	default:
		switch to := v.Addr().Interface().(type) {
		case *time.Duration:
			d, err := time.ParseDuration(last)
			if err != nil {
				return Bad(f.Name, "%q is no duration like 336h", last)
			}
			*to = d
		case *graph.OptTime:
			t, err := OptTime(f.Name, last)
			if err != nil {
				return err
			}
			*to = t
		default:
			v.SetString(last)
		}
	}
	return nil
}

// Assign gives the field of a request the value of an argument, as operation.Arguments have it.
func (f *Field) Assign(req, value any) error {
	switch x := value.(type) {
	case string:
		return f.Set(req, []string{x})
	case []string:
		return f.Set(req, x)
	case int64:
		to := f.Value(req)
		if to.OverflowInt(x) {
			return Bad(f.Name, "%d is no integer of this machine", x)
		}
		to.SetInt(x)
	case float64:
		f.Value(req).SetFloat(x)
	case bool:
		f.Value(req).SetBool(x)
	}
	return nil
}

// Params is embedded in requests that ask which of their fields were given.
type Params struct{ given map[string]bool }

// Given reports whether a field was given, by the name of its flag.
func (p *Params) Given(name string) bool { return p != nil && p.given[name] }

func (p *Params) params() *Params { return p }

// paramsOf returns the Params of a request, nil if it has none.
func paramsOf(req any) *Params {
	if q, ok := req.(interface{ params() *Params }); ok {
		return q.params()
	}
	return nil
}

// GivenOf returns the names of the fields that a request was told are given, nil if it does not ask.
func GivenOf(req any) []string {
	if p := paramsOf(req); p != nil {
		return slices.Sorted(maps.Keys(p.given))
	}
	return nil
}

// Forget makes fields as if they had not been given.
func (p *Params) Forget(names []string) {
	p.given = maps.Clone(p.given)
	for _, name := range names {
		delete(p.given, name)
	}
}

// SetGiven tells a request which of its fields were given, by the names of their flags.
func SetGiven(req any, names []string) {
	if p := paramsOf(req); p != nil {
		p.given = make(map[string]bool, len(names))
		for _, name := range names {
			p.given[name] = true
		}
	}
}
