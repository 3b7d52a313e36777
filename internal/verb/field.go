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
	"github.com/mnem-project/mnem/ipld"
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

// The fields below are in the requests of many verbs.

// AtRevision is of verbs that read one commit.
type AtRevision struct {
	At string `op:",remote" default:"HEAD" complete:"rev" doc:"the {REV}ision to read; see 'mnem help revisions'"`
}

// Marks is of verbs that leave out what marks hide.
type Marks struct {
	Include []string `op:",remote,comma" enum:"forgotten superseded expired retired" doc:"show nodes and edges in these hidden {STATES} too: forgotten, superseded, expired, retired"`
}

// States returns the hidden states that are let through.
func (p *Marks) States() ([]graph.State, error) {
	var states []graph.State
	for _, name := range p.Include {
		states = append(states, graph.State(name))
	}
	return states, retrieve.Request{Marks: states}.Validate()
}

// Actor says who makes a change, and when.
type Actor struct {
	Author string `op:"" doc:"who makes the change" note:" (MNEM_AUTHOR; config: author)"`
	Agent  string `op:"" doc:"the program that acts for the author" note:" (MNEM_AGENT)"`
	Task   string `op:"" doc:"what the agent works on" note:" (MNEM_TASK)"`
	Time   string `op:",remote" doc:"time of the change, RFC 3339" note:" (SOURCE_DATE_EPOCH; default: now)"`
}

func (p *Actor) Into(w *Writing) {
	w.Author, w.Agent, w.Task, w.Time = p.Author, p.Agent, p.Task, p.Time
}

// OnBranch is of verbs that write to a branch.
type OnBranch struct {
	Branch string `op:",short=b,remote" complete:"branch" doc:"the branch to write to" note:" (MNEM_BRANCH; default: the one HEAD is on)"`
}

func (p *OnBranch) Into(w *Writing) { w.Branch = p.Branch }

// OnHead is of verbs that write elsewhere than to one branch.
type OnHead struct {
	ExpectHead string `op:"expect,remote" doc:"the {CID} of the commit that HEAD must be at, or \"none\" before the first; else exit code 5"`
}

func (p *OnHead) Into(w *Writing) { w.ExpectHead = p.ExpectHead }

// OnStage is of verbs that use a stage.
type OnStage struct {
	Stage string `op:",remote" complete:"stage" doc:"the stage to use" note:" (MNEM_STAGE; default: main, in a database the name of the client)"`
}

func (p *OnStage) Into(w *Writing) { w.Stage = p.Stage }

// Signing is of verbs that make commits.
type Signing struct {
	Sign bool   `op:"" doc:"sign the commit; --sign=false does not, whatever is configured" note:" (MNEM_SIGN; config: sign)"`
	Key  string `op:"" complete:"key" doc:"sign with the key {NAME}" note:" (MNEM_KEY; config: key; default: the only key there is)"`
}

func (p *Signing) Into(w *Writing) {
	w.Signs, w.Sign, w.Key = true, p.Sign, p.Key
}

// Secrets is of verbs that write texts which somebody gives.
type Secrets struct {
	AllowSecret []string `op:",remote" complete:"rule" doc:"write what {RULE} of 'mnem config secrets' takes for a credential" note:" (repeatable)"`
}

func (p *Secrets) Into(w *Writing) { w.AllowSecret = p.AllowSecret }

// Trial is of verbs that can be tried out.
type Trial struct {
	DryRun bool `op:",remote" doc:"print what would change and write nothing"`
}

func (p *Trial) Into(w *Writing) { w.DryRun = p.DryRun }

// CheckRange returns an error unless low <= n <= high.
func CheckRange(field string, n, low, high int) error {
	if n < low || n > high {
		return Bad(field, "%d is outside %d to %d", n, low, high)
	}
	return nil
}

// CheckLimit refuses a negative number of results.
func CheckLimit(n int) error {
	if n < 0 {
		return Bad("limit", "%d is below 0", n)
	}
	return nil
}

// AtMostOne refuses a request in which more than one of several fields are given.
func AtMostOne(q interface{ Given(string) bool }, names ...string) error {
	return exclusive(q.Given, names)
}

// OptTime reads a time that a field may have.
func OptTime(field, text string) (graph.OptTime, error) {
	if text == "" {
		return graph.OptTime{}, nil
	}
	t, err := graph.ParseTime(text)
	if err != nil {
		return graph.OptTime{}, Bad(field, "%w", err)
	}
	return graph.At(t), nil
}

// NewestOp names the newest operation.
const NewestOp = "@"

// RefuseWriting refuses the fields that say how a change is made in a request that makes none. The format has a %s
// for the field.
func RefuseWriting(q interface{ Given(string) bool }, format string) error {
	for _, name := range []string{
		"dry-run", "message", "expect", "branch", "author", "agent", "task", "time", "sign", "key",
	} {
		if q.Given(name) {
			return Between(format, name)
		}
	}
	return nil
}

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
