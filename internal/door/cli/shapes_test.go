package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// allShapes lists the shapes of each command's answer, as operation.Schema reads them; an answer has one of them.
// Commands that are not here print no JSON.
var allShapes = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for _, v := range append(verbs.Verbs(), locals()...) {
		if shapes := v.Spec.Shapes(); len(shapes) > 0 {
			all["mnem "+v.Spec.Command] = shapes
		}
	}
	return all
})

// streams reports whether a command prints one object a line instead of one.
func streams(path string) bool {
	return slices.ContainsFunc(append(verbs.Verbs(), locals()...), func(v *line.Bound) bool {
		return "mnem "+v.Spec.Command == path && v.Spec.Stream()
	})
}

// checkSchemas returns what is wrong with a value by the last of several shapes' JSON Schemas, nil
// where it is right by one.
func checkSchemas(t *testing.T, shapes []string, v any) (err error) {
	t.Helper()
	for _, shape := range shapes {
		text, schemaErr := operation.Schema(shape)
		must.OK(t, schemaErr)
		var schema jsonschema.Schema
		must.OK(t, json.Unmarshal(text, &schema), text)
		closeSchema(&schema)
		resolved, schemaErr := schema.Resolve(nil)
		must.OK(t, schemaErr, text)
		if err = resolved.Validate(v); err == nil {
			return nil
		}
	}
	return err
}

// closeSchema refuses members that are not named.
func closeSchema(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, p := range s.Properties {
		closeSchema(p)
	}
	closeSchema(s.Items)
	for _, p := range s.AnyOf {
		closeSchema(p)
	}
}

// checkAnswer fails the test unless what a command printed with --json has one of its shapes.
func checkAnswer(t *testing.T, command, stdout string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) > 1 && !streams(command) {
		t.Errorf("%s prints %d lines", command, len(lines))
	}
	for _, text := range lines {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v: %s", command, err, text)
			return
		}
		if err := checkSchemas(t, allShapes()[command], v); err != nil {
			t.Errorf("%s has none of its schemas: %v", command, err)
		}
	}
}
