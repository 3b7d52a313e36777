package table_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/table"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// declaration is how a verb is declared.
var declaration = regexp.MustCompile(`= (?:verb\.)?(?:Define|Stream)\((?:verb\.)?Spec\{`)

// TestTable checks that the table has all declared verbs, in order, and each once.
func TestTable(t *testing.T) {
	files := must.Get(filepath.Glob("../*/*.go"))(t)
	declared := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := must.Get(os.ReadFile(file))(t)
		declared += len(declaration.FindAll(text, -1))
	}
	if len(table.Table()) != declared || declared < 40 || table.Named("toy_box") != nil || table.Named("op_log") != &branching.OpLog.Spec {
		t.Errorf("%d verbs are declared, and %d in the table", declared, len(table.Table()))
	}
	for i, s := range table.Table()[1:] {
		must.True(t, table.Table()[i].Command < s.Command, "%s is there twice, or not in order", s.Command)
	}
}

// TestSigningIsRefused sees to it that every request that may be signed can say that it is not to be.
func TestSigningIsRefused(t *testing.T) {
	signed := 0
	for _, s := range table.Table() {
		req := must.Get(s.New())(t)
		if !verb.WritingOf(req).Signs {
			continue
		}
		signed++
		if verb.SetGiven(req, []string{"sign"}); !verb.WritingOf(req).NoSign {
			t.Errorf("%s: --sign=false has no effect", s.Command)
		}
	}
	must.True(t, signed >= 10, "%d requests may be signed", signed)
}

// TestRequestsTravel sends a request of each verb with every field set, and one with none.
func TestRequestsTravel(t *testing.T) {
	for _, s := range table.Table() {
		req := must.Get(s.New())(t)
		if data, err := s.EncodeRequest(req); err != nil || string(data) != "{}" {
			t.Errorf("%s: the empty request is %s, %v", s.Name(), data, err)
		}
		var given []string
		for _, f := range s.Fields() {
			fill(f.Value(req))
			given = append(given, f.Name)
		}
		verb.SetGiven(req, given)
		data := must.Get(s.EncodeRequest(req))(t)
		got := must.Get(s.DecodeRequest(data, verb.GivenOf(req)))(t)
		for _, f := range s.Fields() {
			want, there := f.Value(req).Interface(), f.Value(got).Interface()
			if same := reflect.DeepEqual(want, there); same == f.Caller {
				t.Errorf("%s: %s is %v after %v", s.Name(), f.Name, there, want)
			}
		}
		must.Same(t, verb.GivenOf(got), verb.GivenOf(req), s.Name(), ": given")
	}
	log := &branching.LogRequest{Names: []string{"a"}, Dash: 1}
	data := must.Get(branching.Log.EncodeRequest(log))(t)
	if got, err := branching.Log.DecodeRequest(data, nil); err != nil || got.(*branching.LogRequest).Dash != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// fill sets a field to a value other than its default.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		v.Set(reflect.ValueOf([]string{"a", "b"}).Convert(v.Type()))
	case reflect.Struct:
		v.Set(reflect.ValueOf(graph.At(1)))
	default:
		v.SetInt(v.Int() + 1)
	}
}

// TestUnknownFields refuses fields of a later build if they are set.
func TestUnknownFields(t *testing.T) {
	for data, want := range map[string]string{
		`{}`: "", `{"name":"a"}`: "", `{"name":"a","later":true}`: "show has no field later",
		`{"name":1}`: "show has no field name", `{"z":1,"b":1}`: "show has no field b",
	} {
		_, err := branching.Show.DecodeRequest(json.RawMessage(data), nil)
		var unknown *verb.UnknownError
		if want == "" && err != nil || want != "" && (!errors.As(err, &unknown) || err.Error() != want) {
			t.Errorf("%s: %v", data, err)
		}
	}
	if _, err := branching.Show.DecodeRequest(json.RawMessage(`[]`), nil); err == nil {
		t.Error("a list is no request")
	}
	err := branching.Show.ReadAnswers(strings.NewReader(`"Later" {}`), func(any) error { return nil })
	var unknown *verb.UnknownError
	must.True(t, errors.As(err, &unknown), "%v", err)
}

// TestAnswersTravel checks the types of all answers: their members must survive JSON.
func TestAnswersTravel(t *testing.T) {
	for _, s := range table.Table() {
		for _, a := range s.AnswerTypes() {
			travels(t, s.Name(), a, map[reflect.Type]bool{})
		}
	}
}

var (
	marshaler   = reflect.TypeFor[json.Marshaler]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

func travels(t *testing.T, at string, typ reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	if seen[typ] {
		return
	}
	seen[typ] = true
	if typ.Kind() == reflect.Pointer {
		travels(t, at, typ.Elem(), seen)
		return
	}
	reads := reflect.PointerTo(typ).Implements(unmarshaler)
	list := typ.Kind() == reflect.Slice && strings.HasPrefix(typ.Name(), "List[")
	text := typ.Kind() == reflect.String // null leaves it empty
	switch {
	case reads:
		return
	case typ.Implements(marshaler) && !list && !text:
		t.Errorf("%s: %s is written as JSON and cannot be read from it", at, typ)
	case typ.Kind() == reflect.Func && strings.HasPrefix(typ.Name(), "Each["):
		travels(t, at, typ.In(0).In(0), seen)
		return
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		travels(t, at, typ.Elem(), seen)
	case reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			if typ == reflect.TypeFor[asking.Answer]() && f.Name == "Echo" {
				continue // of lines, whose answers are never read back
			}
			if hidden := !f.IsExported() || f.Tag.Get("json") == "-"; hidden && !strings.Contains(typ.PkgPath(), "/internal/verb/") {
				continue // in a struct of the domain, which declares its members itself
			} else if hidden {
				t.Errorf("%s: %s.%s is not in the JSON form: call it _name where people alone are told", at, typ, f.Name)
			}
			travels(t, at+"."+f.Name, f.Type, seen)
		}
	case reflect.Interface:
		if at != "commit.Commit" { // always null
			t.Errorf("%s is of any type", at)
		}
	case reflect.Func, reflect.Chan:
		t.Errorf("%s: %s cannot be written", at, typ)
	}
}

// TestOpensForWhatItDoes checks that a writing verb is stamped and opens the repository for writing, and that a dry run
// leaves the repository unchanged.
func TestOpensForWhatItDoes(t *testing.T) {
	h := verbkit.NewHost(t)
	_, head, err := h.Kept.Branch(t.Context())
	must.OK(t, err)
	dry := &editing.ForgetRequest{Nodes: []string{"alice"}}
	dry.DryRun = true
	verbkit.Run(t, h, branching.Show, &branching.ShowRequest{Name: "alice"})
	verbkit.Run(t, h, branching.BranchVerb, &branching.BranchRequest{})
	verbkit.Run(t, h, editing.Forget, dry)
	if _, now, err := h.Kept.Branch(t.Context()); err != nil || now != head {
		t.Errorf("a dry run moved the branch from %s to %s: %v", head, now, err)
	}
	verbkit.Run(t, h, branching.BranchVerb, &branching.BranchRequest{Name: "draft"})
	verbkit.Run(t, h, upkeep.Fsck, &upkeep.FsckRequest{Rebuild: true})
	must.Same(t, h.Opened, []bool{false, false, false, true, true}, "opened for writing")
	must.Equal(t, h.Stamps, 2, "stamps were made, want one each for forget and branch")
}

// TestWritingMatchesParts checks that a field with the name of another verb's author or key is not taken for it.
func TestWritingMatchesParts(t *testing.T) {
	link := &editing.AddRequest{Link: true, Key: "parallel"}
	link.Author, link.Branch, link.Stage, link.ExpectHead = "ada", "main", "draft", "none"
	merge := &branching.MergeRequest{Rev: "x"}
	merge.Key, merge.Message, merge.DryRun = "work", "m", true
	for _, tt := range []struct {
		req  any
		want verb.Writing
	}{
		{link, verb.Writing{Author: "ada", Branch: "main", Stage: "draft", ExpectHead: "none"}},
		{merge, verb.Writing{Key: "work", Message: "m", DryRun: true, Signs: true}},
		{&branching.LogRequest{Author: []string{"ada"}, Agent: []string{"b"}}, verb.Writing{}},
		{&branching.TagRequest{Message: "of the tag", RefExpect: branching.RefExpect{Expect: "none"}}, verb.Writing{Expect: "none"}},
	} {
		must.Same(t, verb.WritingOf(tt.req), tt.want, tt.req)
	}
}

// TestErrorsSpeakToTheirSurface checks that errors for remote callers mention neither flags nor commands.
func TestErrorsSpeakToTheirSurface(t *testing.T) {
	h := verbkit.NewHost(t)
	dropped := &branching.MergeRequest{List: true, Rev: "x"}
	both := &branching.MergeRequest{Rev: "main"}
	both.Conflicts, both.List = branching.Ours, true
	var errs []error
	add := func(_ string, err error) { errs = append(errs, err) }
	add(verbkit.Try(t, h, branching.Show, &branching.ShowRequest{Name: "nobody"}))
	add(verbkit.Try(t, h, branching.Show, &branching.ShowRequest{Name: "alice", Field: "summary", Importance: true}))
	add(verbkit.Try(t, h, branching.Show, &branching.ShowRequest{Name: "alice", Now: "2026-01-01"}))
	add(verbkit.Try(t, h, branching.Log, &branching.LogRequest{Limit: -1}))
	add(verbkit.Try(t, h, branching.Log, &branching.LogRequest{Since: "yesterday"}))
	add(verbkit.Try(t, h, reading.Explore, &reading.ExploreRequest{Topic: "alice", Limit: -5}))
	add(verbkit.Try(t, h, reading.Explore, &reading.ExploreRequest{Topic: "key:nothing"}))
	add(verbkit.Try(t, h, branching.Undo, &branching.UndoRequest{Op: "77"}))
	add(verbkit.Try(t, h, branching.Switch, &branching.SwitchRequest{Name: "nowhere"}))
	add(verbkit.Try(t, h, branching.Switch, &branching.SwitchRequest{}))
	add(verbkit.Try(t, h, editing.Add, &editing.AddRequest{Set: true, Files: []string{"carol", "x=1"}}))
	add(verbkit.Try(t, h, branching.Merge, dropped))
	add(verbkit.Try(t, h, branching.Merge, both))
	add(verbkit.Try(t, h, branching.Merge, &branching.MergeRequest{Rev: "nowhere"}))
	verbkit.Run(t, h, editing.Forget, &editing.ForgetRequest{Nodes: []string{"bob"}})
	add(verbkit.Try(t, h, editing.Mark, &editing.MarkRequest{Kind: "stale", Nodes: []string{"bob"}}))
	add(verbkit.Try(t, h, branching.Show, &branching.ShowRequest{Name: "bob"}))
	for _, err := range errs {
		if err == nil {
			t.Error("an error was expected")
			continue
		}
		told := verb.MessageOf(err, true) + "; " + verb.HintOf(err, true)
		if strings.Contains(told, "--") || strings.Contains(told, "'mnem ") {
			t.Errorf("remote callers are told: %s", told)
		}
	}
	must.Equal(t, verb.MessageOf(errs[3], false), "--limit: -1 is below 0", "on the command line")
	must.Equal(t, verb.MessageOf(errs[3], true), "limit: -1 is below 0", "for remote callers")
}

// TestCompletionsAreNames looks that what completes a field is a kind of name that the verb names knows.
func TestCompletionsAreNames(t *testing.T) {
	fields := reading.Names.Fields()
	kinds := fields[slices.IndexFunc(fields, func(f verb.Field) bool { return f.Name == "kind" })].Enum
	seen := 0
	for _, s := range table.Table() {
		tags := []string{s.Complete}
		for _, f := range s.Fields() {
			tags = append(tags, f.Complete)
		}
		for _, tag := range tags {
			if tag != "" && tag != "key" && tag != "rule" {
				if seen++; !slices.Contains(kinds, tag) {
					t.Errorf("%s: nothing completes %q", s.Name(), tag)
				}
			}
		}
	}
	must.True(t, seen >= 20, "only %d", seen)
}
