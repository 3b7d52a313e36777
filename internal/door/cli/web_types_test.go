package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// The types of the web view: those of the arguments and answers of the operations that its sources name.
const (
	webSources = "../../../web/src"
	webTypes   = "operations.gen.ts"
)

const webTypesHead = `// Code generated from the OpenAPI document by go test ./internal/door/cli -rewrite; DO NOT EDIT.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

`

// schemaPart is the part of JSON Schema that the OpenAPI document uses.
type schemaPart struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	Const      any
	AnyOf      []*schemaPart
	Items      *schemaPart
	Properties map[string]*schemaPart
	Required   []string
}

// TestWebTypes compares the types with the document.
func TestWebTypes(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema *schemaPart }
			}
			RequestBody struct {
				Content map[string]struct{ Schema *schemaPart }
			}
		}
		Components struct{ Schemas map[string]*schemaPart }
	}
	must.OK(t, json.Unmarshal(openAPIDocument(t), &doc))
	w := &typeWriter{t: t, schemas: doc.Components.Schemas}
	var arguments, answers strings.Builder
	count := 0
	for _, path := range sortedKeys(doc.Paths) {
		name, ok := strings.CutPrefix(path, "/v1/")
		if !ok || !slices.Contains(namedByWeb(t), name) {
			continue
		}
		count++
		post := doc.Paths[path]["post"]
		asked, answered := post.RequestBody.Content["application/json"].Schema,
			post.Responses["200"].Content["application/json"].Schema
		must.Require(t, asked != nil && answered != nil, "%s has no JSON arguments or no JSON answer", path)
		fmt.Fprintf(&arguments, "  %s: %s;\n", name, w.of(asked, "  "))
		fmt.Fprintf(&answers, "  %s: %s;\n", name, w.of(answered, "  "))
	}
	must.Require(t, count >= 10, "the sources name %d operations", count)
	want := webTypesHead + "/** Arguments of operations by name. */\nexport interface Arguments {\n" + arguments.String() +
		"}\n\n/** Answers of operations by name; unions have one form for each use. */\nexport interface Answers {\n" +
		answers.String() + "}\n"
	file := filepath.Join(webSources, webTypes)
	if flag.Lookup("rewrite").Value.String() == "true" {
		must.OK(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("%s is out of date: run this test with -rewrite (-want +have):\n%s", file, diff)
	}
}

// namedByWeb returns the names that the sources of the web view give to what asks operations.
func namedByWeb(t *testing.T) (names []string) {
	t.Helper()
	asked := regexp.MustCompile(`(?:[aA]sk|run)\([^'\n]*'([a-z_]+)'`)
	files, err := filepath.Glob(filepath.Join(webSources, "*.ts*"))
	must.Require(t, err == nil && len(files) > 0, "%d sources, %v", len(files), err)
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		if filepath.Base(file) == webTypes {
			continue
		}
		for _, m := range asked.FindAllSubmatch(data, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// typeWriter writes schemas as types of TypeScript.
type typeWriter struct {
	t       *testing.T
	schemas map[string]*schemaPart
}

const widestType = 100 // columns of an object on one line

func (w *typeWriter) of(s *schemaPart, indent string) string {
	s = w.resolve(s)
	switch {
	case len(s.AnyOf) > 0:
		return w.union(s.AnyOf, indent)
	case len(s.Enum) > 0:
		var all []string
		for _, v := range s.Enum {
			all = append(all, literal(w.t, v))
		}
		return strings.Join(all, " | ")
	case s.Const != nil:
		return literal(w.t, s.Const)
	}
	types, ok := s.Type.([]any)
	if !ok {
		types = []any{s.Type}
	}
	var all []string
	for _, kind := range types {
		all = append(all, w.kind(s, kind, indent))
	}
	return strings.Join(all, " | ")
}

// resolve follows a reference.
func (w *typeWriter) resolve(s *schemaPart) *schemaPart {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		if s = w.schemas[name]; s == nil {
			w.t.Fatalf("no schema %s", name)
		}
	}
	return s
}

// unites reports whether the type of a schema is a union.
func (w *typeWriter) unites(s *schemaPart) bool {
	s = w.resolve(s)
	types, _ := s.Type.([]any)
	return len(s.AnyOf) > 1 || len(s.Enum) > 1 || len(types) > 1
}

func (w *typeWriter) kind(s *schemaPart, kind any, indent string) string {
	switch kind {
	case nil:
		return "Json"
	case "string", "boolean", "null":
		return kind.(string)
	case "integer", "number":
		return "number"
	case "array":
		item := w.of(s.Items, indent)
		if w.unites(s.Items) {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return w.object(s, indent)
	}
	w.t.Fatalf("no type for %v", kind)
	return ""
}

func (w *typeWriter) union(parts []*schemaPart, indent string) string {
	var all []string
	for _, p := range parts {
		if text := w.of(p, indent); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " | ")
}

func (w *typeWriter) object(s *schemaPart, indent string) string {
	if s.Properties == nil {
		return "Record<string, Json>"
	}
	var one []string
	in := indent + "  "
	for _, name := range sortedKeys(s.Properties) {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		one = append(one, name+mark+": "+w.of(s.Properties[name], in))
	}
	if line := "{ " + strings.Join(one, "; ") + " }"; len(line) <= widestType && !strings.Contains(line, "\n") {
		return line
	}
	return "{\n" + in + strings.Join(one, ";\n"+in) + ";\n" + indent + "}"
}

func literal(t *testing.T, v any) string {
	t.Helper()
	text := must.Get(json.Marshal(v))(t)
	return strings.ReplaceAll(string(text), `"`, `'`)
}
