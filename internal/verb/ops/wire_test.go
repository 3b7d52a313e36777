package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// readBack looks that an answer is the same to a process that reads it.
func readBack(t *testing.T, s *Spec, answer any) {
	t.Helper()
	if streams(reflect.TypeOf(answer).Elem()) {
		return // its lists can be read once
	}
	var sent, again bytes.Buffer
	if err := WriteAnswer(&sent, answer, true); err != nil {
		t.Fatal(err)
	}
	want := sent.String()
	n := 0
	err := s.ReadAnswers(&sent, func(read any) error {
		n++
		return WriteAnswer(&again, read, true)
	})
	if err != nil || n != 1 || again.String() != want {
		t.Errorf("%s: %d answers, %v\nsent %s\nread %s", s.Name(), n, err, want, again.String())
	}
}

// declaration is how a verb is declared.
var declaration = regexp.MustCompile(`= (?:verb\.)?(?:Define|Stream)\((?:verb\.)?Spec\{`)

// TestTable looks that the table has what is declared anywhere, in order, and each once.
func TestTable(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		declared += len(declaration.FindAll(text, -1))
	}
	if len(Table()) != declared || declared < 40 || Named("toy_box") != nil || Named("op_log") != &OpLog.Spec {
		t.Errorf("%d verbs are declared, and %d in the table", declared, len(Table()))
	}
	for i, s := range Table()[1:] {
		if Table()[i].Command >= s.Command {
			t.Errorf("%s is there twice, or not in order", s.Command)
		}
	}
	if len(TableHash()) != 8 || !bytes.Equal(TableHash(), TableHash()) {
		t.Error("the hash of the table")
	}
}

// TestRequestsTravel sends a request of each verb with every field set, and one with none.
func TestRequestsTravel(t *testing.T) {
	for _, s := range Table() {
		req, err := s.New()
		if err != nil {
			t.Fatal(err)
		}
		if data, err := s.EncodeRequest(req); err != nil || string(data) != "{}" {
			t.Errorf("%s: the empty request is %s, %v", s.Name(), data, err)
		}
		var given []string
		for _, f := range s.Fields() {
			fill(f.Value(req))
			given = append(given, f.Name)
		}
		SetGiven(req, given)
		data, err := s.EncodeRequest(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.DecodeRequest(data, GivenOf(req))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Fields() {
			want, there := f.Value(req).Interface(), f.Value(got).Interface()
			if same := reflect.DeepEqual(want, there); same == f.caller {
				t.Errorf("%s: %s is %v after %v", s.Name(), f.Name, there, want)
			}
		}
		if names := GivenOf(got); !reflect.DeepEqual(names, GivenOf(req)) {
			t.Errorf("%s: given %q", s.Name(), names)
		}
	}
	log := &LogRequest{Names: []string{"a"}, Dash: 1}
	data, err := Log.EncodeRequest(log)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Log.DecodeRequest(data, nil); err != nil || got.(*LogRequest).Dash != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// fill sets a field to what it is not by default.
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
	default:
		v.SetInt(v.Int() + 1)
	}
}

// TestUnknownFields refuses what a later build has, where it is used.
func TestUnknownFields(t *testing.T) {
	for data, want := range map[string]string{
		`{}`: "", `{"node":"a"}`: "", `{"node":"a","later":true}`: "get has no field later",
		`{"node":1}`: "get has no field node", `{"z":1,"b":1}`: "get has no field b",
	} {
		_, err := Get.DecodeRequest(json.RawMessage(data), nil)
		var unknown *UnknownError
		if want == "" && err != nil || want != "" && (!errors.As(err, &unknown) || err.Error() != want) {
			t.Errorf("%s: %v", data, err)
		}
	}
	if _, err := Get.DecodeRequest(json.RawMessage(`[]`), nil); err == nil {
		t.Error("a list is no request")
	}
	err := Get.ReadAnswers(strings.NewReader(`"Later" {}`), func(any) error { return nil })
	var unknown *UnknownError
	if !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}

// TestAnswersTravel looks at the types of all answers: what one has must come back from JSON.
func TestAnswersTravel(t *testing.T) {
	for _, s := range Table() {
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
	case typ.Implements(reflect.TypeFor[eacher]()):
		travels(t, at, typ.In(0).In(0), seen)
		return
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		travels(t, at, typ.Elem(), seen)
	case reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			if typ == reflect.TypeFor[Answer]() && f.Name == "Echo" {
				continue // of lines, whose answers are never read back
			}
			if !f.IsExported() || f.Tag.Get("json") == "-" {
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

type inner struct {
	Before int        `json:"before"`
	List   Each[*int] `json:"list"`
	After  Text       `json:"after"`
}

type outer struct {
	Head  string             `json:"head"`
	First Each[Text]         `json:"first"`
	Inner *inner             `json:"inner"`
	None  *inner             `json:"none"`
	Last  map[string]int     `json:"last"`
	Ends  Each[List[Value1]] `json:"ends"`
}

// Value1 is an item of a list in a list.
type Value1 struct {
	A Weight `json:"a"`
}

// TestListsAreReadAsTheyAreAskedFor reads an answer with lists, all of them, some, and in a wrong order.
func TestListsAreReadAsTheyAreAskedFor(t *testing.T) {
	const data = `"outer" {"head":"h","first":["a","b",null],"later":[{"x":[1]}],"inner":{"before":1,"list":[1,2],` +
		`"after":"z"},"none":null,"last":{"k":1},"ends":[[{"a":0.5}],[]]}` + "\n" + `"outer" {"head":"i"}`
	v := Define(Spec{Command: "lists", Effect: Reads}, func(context.Context, *Service, *toyRequest) (*outer, error) {
		return nil, nil
	})
	read := func(fn func(o *outer) error) (heads string) {
		t.Helper()
		err := v.ReadAnswers(strings.NewReader(data), func(a any) error {
			o := a.(*outer)
			heads += o.Head
			if o.Head == "i" {
				return nil
			}
			return fn(o)
		})
		if err != nil {
			t.Error(err)
		}
		return heads
	}
	var got []string
	all := func(o *outer) error {
		err := o.First(func(x Text) error { got = append(got, string(x)); return nil })
		if err != nil || o.Inner.Before != 1 || o.Inner.After != "" {
			t.Errorf("%+v, %v", o.Inner, err)
		}
		if err := o.Inner.List(func(x *int) error { got = append(got, strings.Repeat("x", *x)); return nil }); err != nil {
			return err
		}
		if o.Inner.After != "z" || o.Last["k"] != 1 {
			t.Errorf("%+v", o)
		}
		return o.Ends(func(x List[Value1]) error { got = append(got, string(rune('0'+len(x)))); return nil })
	}
	if heads := read(all); heads != "hi" || !cmp.Equal(got, []string{"a", "b", "", "x", "xx", "1", "0"}) {
		t.Errorf("%s %q", heads, got)
	}
	n := 0
	read(func(o *outer) error { return o.Ends(func(List[Value1]) error { n++; return nil }) })
	read(func(o *outer) error {
		if err := o.Ends(func(List[Value1]) error { return nil }); err != nil {
			return err
		}
		return o.First(func(Text) error { n += 100; return nil }) // it was passed over
	})
	if heads := read(func(*outer) error { return nil }); n != 2 || heads != "hi" {
		t.Errorf("%d items, %s", n, heads)
	}
	stop := errors.New("enough")
	err := v.ReadAnswers(strings.NewReader(data), func(a any) error {
		return a.(*outer).First(func(Text) error { return stop })
	})
	if !errors.Is(err, stop) {
		t.Error(err)
	}
	for _, cut := range []string{`"outer" {"first":[1`, `"outer" {"inner":[]}`, `"outer" [`, `5`} {
		err := v.ReadAnswers(strings.NewReader(cut), func(a any) error {
			return a.(*outer).First(func(Text) error { return nil })
		})
		if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && cut == "5" {
			t.Errorf("%s: %v", cut, err)
		}
	}
}

// TestFailures sends errors and news.
func TestFailures(t *testing.T) {
	for _, err := range []error{
		nil, Bad("max-age", "%d is below 0", -1), &News{operation.Mismatch},
		Hint(errors.New("no luck"), "try 'mnem log'", "try log"),
		&operation.Error{Outcome: operation.Busy, Message: "m", Unknown: true},
	} {
		for _, remote := range []bool{false, true} {
			got := FailureOf(t.Context(), err, remote).Err()
			if (got == nil) != (err == nil) || OutcomeOf(t.Context(), got) != OutcomeOf(t.Context(), err) {
				t.Errorf("%v became %v", err, got)
			}
			var news *News
			if err == nil || errors.As(err, &news) && errors.As(got, &news) {
				continue
			}
			if MessageOf(got, remote) != MessageOf(err, remote) || HintOf(got, remote) != HintOf(err, remote) {
				t.Errorf("%v became %v, %s", err, got, HintOf(got, remote))
			}
		}
	}
	if got := (&Failure{Code: "later", Message: "m"}).Err(); OutcomeOf(t.Context(), got) != operation.Failed {
		t.Errorf("%v", got)
	}
}

// TestFailurePlace has an error name its line as a value, whichever process met it.
func TestFailurePlace(t *testing.T) {
	err := error(&graph.LineError{File: "a.jsonl", Line: 3, Err: errors.New("no good")})
	want := operation.Place{Line: 3, Name: "a.jsonl:3"}
	for range 2 {
		data, jsonErr := json.Marshal(FailureOf(t.Context(), err, false))
		var f Failure
		if jsonErr != nil || json.Unmarshal(data, &f) != nil || f.Place != want || f.Message != "a.jsonl:3: no good" {
			t.Errorf("%s, %v", data, jsonErr)
		}
		err = f.Err()
	}
	if f := FailureOf(t.Context(), errors.New("x"), false); f.Place != (operation.Place{}) {
		t.Errorf("%+v", f)
	}
}
