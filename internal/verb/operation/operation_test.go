package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestOutcomes(t *testing.T) {
	codes := map[string]bool{}
	for _, o := range Outcomes() {
		if codes[o.Code] || o.Code == "" || o.When == "" || http.StatusText(o.HTTP) == "" {
			t.Errorf("%+v: twice, or not complete", o)
		}
		codes[o.Code] = true
		if o != Unknown && (o.Exit == 0) != (o.HTTP < 300) { // to know nothing is an answer
			t.Errorf("%s: exit code %d and status %d", o.Code, o.Exit, o.HTTP)
		}
		if got, ok := WithCode(o.Code); !ok || got != o {
			t.Errorf("WithCode(%s): %v", o.Code, got)
		}
		if got := WithExit(o.Exit); got.Exit != o.Exit {
			t.Errorf("WithExit(%d): %v", o.Exit, got)
		}
	}
	if _, ok := WithCode("other"); ok || WithExit(99) != Failed {
		t.Error("a row for what is in no row")
	}
}

var example = Operation{
	Name: "example", Command: []string{"some", "thing", "--fixed=-"}, Effect: Reads,
	Body: MediaNDJSON,
	Params: []Param{
		{Name: "a", Kind: String}, {Name: "b", Kind: String}, {Name: "rest", Kind: Strings},
		{Name: "lines", Flag: "batch", Kind: Lines},
		{Name: "text", Flag: "te-xt", Kind: String, Effect: Writes},
		{Name: "count", Flag: "count", Kind: Integer}, {Name: "share", Flag: "share", Kind: Number},
		{Name: "on", Flag: "on", Kind: Boolean, Effect: Destroys},
		{Name: "model", Flag: "model", Kind: Boolean, True: "configured"},
		{Name: "way", Flag: "way", Kind: Strings, Enum: []string{"x", "y"}},
	},
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ args, want, body string }{
		{`{}`, `map[string]interface {}{}`, ""},
		{`{"a":"--x","b":"","rest":["-y","z w"]}`, `map[string]interface {}{"a":"--x", "b":"", "rest":[]string{"-y", "z w"}}`, ""},
		{`{"text":"--all","count":-3,"share":0.5,"on":true,"way":["y","x"]}`,
			`map[string]interface {}{"count":-3, "on":true, "share":0.5, "text":"--all", "way":[]string{"y", "x"}}`, ""},
		{`{"model":true,"on":false,"a":null}`, `map[string]interface {}{"model":"configured", "on":false}`, ""},
		{`{"model":false}`, `map[string]interface {}{}`, ""},
		{`{"lines":[{"a": 1, "a": 2},{}]}`, `map[string]interface {}{}`, "{\"a\":1,\"a\":2}\n{}\n"},
	} {
		c := Call{Operation: &example}
		must.OK(t, json.Unmarshal([]byte(tt.args), &c.Args))
		got, err := c.Arguments()
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		must.Same(t, fmt.Sprintf("%#v", got.Values), tt.want, tt.args)
		body := ""
		if got.Body != nil {
			data := must.Get(io.ReadAll(got.Body))(t)
			body = string(data)
		}
		if body != tt.body || got.Lines != (body != "") {
			t.Errorf("%s: lines %t, body %q, want %q", tt.args, got.Lines, body, tt.body)
		}
	}
}

func TestArgumentsRefused(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"c":1}`, `unknown parameter "c"`}, {`{"b":"x"}`, `b: needs "a" too`},
		{`{"rest":["x"]}`, `rest: needs "a" too`}, {`{"a":["x"]}`, "a: want a string"},
		{`{"count":1.0}`, "count: want an integer"}, {`{"count":9223372036854775808}`, "count: want"},
		{`{"share":"1"}`, "share: want a number"}, {`{"share":1e999}`, "share: want a number"}, {`{"on":1}`, "on: want true or false"},
		{`{"way":["z"]}`, "way: \"z\" is not one of x, y"}, {`{"way":"x"}`, "way: want a list"},
		{`{"a":"-"}`, "a: \"-\" is standard input"}, {`{"rest":["-"],"a":"x","b":"y"}`, "rest: \"-\""},
		{`{"text":"a\u0000"}`, "text: has a NUL"}, {`{"lines":[1]}`, "lines: item 1 is not an object"},
		{`{"lines":"x"}`, "lines: want a list of objects"},
	} {
		c := Call{Operation: &example}
		must.OK(t, json.Unmarshal([]byte(tt.args), &c.Args))
		_, err := c.Arguments()
		var bad *Error
		if !errors.As(err, &bad) || bad.Outcome != Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	c := Call{Operation: &example, Body: strings.NewReader("{}"),
		Args: map[string]json.RawMessage{"lines": json.RawMessage(`[{}]`)}}
	if _, err := c.Arguments(); err == nil {
		t.Error("lines and a body were taken")
	}
}

func TestEffectOf(t *testing.T) {
	for args, want := range map[string]Effect{
		`{}`: Reads, `{"text":"x"}`: Writes, `{"on":false}`: Reads, `{"on":true,"text":"x"}`: Destroys,
	} {
		var m map[string]json.RawMessage
		must.OK(t, json.Unmarshal([]byte(args), &m))
		must.Equal(t, example.EffectOf(m), want, args)
	}
}

// FuzzArguments checks that every accepted argument has a parameter that allows its value.
func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"--x","text":"-"}`)
	f.Add(`{"rest":["a"],"way":["x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c := Call{Operation: &example}
		if json.Unmarshal([]byte(text), &c.Args) != nil {
			return
		}
		got, err := c.Arguments()
		if err != nil {
			return
		}
		for name, value := range got.Values {
			p := example.Param(name)
			list, is := value.([]string)
			must.Require(t, p != nil && is == (p.Kind == Strings), "%s: %q", name, value)
			if text, is := value.(string); is {
				list = []string{text}
			}
			for _, v := range list {
				if strings.ContainsRune(v, 0) || p.Enum != nil && v != p.True && !slices.Contains(p.Enum, v) {
					t.Fatalf("%s: %q", name, v)
				}
			}
		}
	})
}

func TestSchema(t *testing.T) {
	const shape = `{"id": "id", "n?": "int", "state": "a|b|null", "by|null": {"cid": "cid|null"}, ` +
		`"list": [{"x": "text"}], "any": "json", "mixed": "text|int|null"}`
	text := must.Get(Schema(shape))(t)
	var s jsonschema.Schema
	must.OK(t, json.Unmarshal(text, &s))
	r := must.Get(s.Resolve(nil))(t)
	const id = `"id":"b4a9765e-f642-c681-561b-de25662639d2"`
	cid := `"baf` + "yrei" + strings.Repeat("a", 52) + `"`
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{`{` + id + `,"state":"a","by":null,"list":[],"any":[1],"mixed":null}`, true},
		{`{` + id + `,"state":null,"by":{"cid":` + cid + `},"list":[{"x":""}],"any":1,"mixed":2,"n":3,` +
			`"later":true}`, true},
		{`{` + id + `,"state":"c","by":null,"list":[],"any":1,"mixed":1}`, false},
		{`{` + id + `,"state":"a","by":{"cid":"x"},"list":[],"any":1,"mixed":1}`, false},
		{`{` + id + `,"state":"a","by":null,"list":[{}],"any":1,"mixed":1}`, false},
		{`{` + id + `,"state":"a","by":null,"list":[],"any":1,"mixed":1.5}`, false},
		{`{` + id + `,"state":"a","by":null,"list":[],"any":1,"mixed":1,"n":"1"}`, false},
		{`{` + id + `,"state":"a","list":[],"any":1,"mixed":1}`, false},
		{`[]`, false},
	} {
		var v any
		must.OK(t, json.Unmarshal([]byte(tt.text), &v))
		if err := r.Validate(v); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want ok %t", tt.text, err, tt.ok)
		}
	}
	if _, err := Schema("{"); err == nil {
		t.Error("a broken shape has a schema")
	}
}

func TestInputSchema(t *testing.T) {
	var s jsonschema.Schema
	must.OK(t, json.Unmarshal(example.InputSchema(), &s))
	r := must.Get(s.Resolve(nil))(t)
	for text, ok := range map[string]bool{
		`{}`: true, `{"a":"x","count":3,"way":["x"],"lines":[{}]}`: true,
		`{"other":1}`: false, `{"way":["z"]}`: false, `{"lines":[1]}`: false, `{"count":"3"}`: false,
	} {
		var v any
		must.OK(t, json.Unmarshal([]byte(text), &v))
		if err := r.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v, want ok %t", text, err, ok)
		}
	}
}

func TestEveryOutcomeHasARefusal(t *testing.T) {
	kinds := map[string]bool{
		KindValidation: true, KindNotAllowed: true, KindVersion: true,
		KindNotFound: true, KindExec: true,
	}
	for _, o := range Outcomes() {
		if kind := o.Refusal(); (o == OK) != (kind == "") || kind != "" && !kinds[kind] {
			t.Errorf("%s has the kind %q", o.Code, kind)
		}
	}
	must.Equal(t, Conflict.Refusal(), KindVersion, "a conflict is no conflict of versions")
}
