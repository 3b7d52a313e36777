package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/verbs"
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

// kinds check the values that stand for a word of a shape. Any other word stands for itself.
var kinds = map[string]func(v any) bool{
	"json":   func(any) bool { return true },
	"null":   func(v any) bool { return v == nil },
	"text":   func(v any) bool { _, ok := v.(string); return ok },
	"bool":   func(v any) bool { _, ok := v.(bool); return ok },
	"number": func(v any) bool { _, ok := v.(float64); return ok },
	"object": func(v any) bool { _, ok := v.(map[string]any); return ok },
	"int":    func(v any) bool { n, ok := v.(float64); return ok && n == math.Trunc(n) },
	"cid":    matches(`^baf(yrei|krei)[a-z2-7]{52}$`),
	"id":     matches(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`),
	"time":   matches(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`),
}

func matches(expr string) func(any) bool {
	re := regexp.MustCompile(expr)
	return func(v any) bool {
		s, ok := v.(string)
		return ok && re.MatchString(s)
	}
}

// checkShape returns what is wrong with a value at a path.
func checkShape(path string, shape, v any) error {
	switch shape := shape.(type) {
	case string:
		for word := range strings.SplitSeq(shape, "|") {
			if is, known := kinds[word]; known && is(v) || !known && v == word {
				return nil
			}
		}
		return fmt.Errorf("%s: %v is not %s", path, v, shape)
	case []any:
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s: %v is not a list", path, v)
		}
		for i, item := range list {
			if err := checkShape(fmt.Sprintf("%s[%d]", path, i), shape[0], item); err != nil {
				return err
			}
		}
		return nil
	}
	return checkObject(path, shape.(map[string]any), v)
}

func checkObject(path string, shape map[string]any, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %v is not an object", path, v)
	}
	named := make(map[string]bool)
	for name, want := range shape {
		bare, optional := strings.CutSuffix(name, "?")
		bare, null := strings.CutSuffix(bare, "|null")
		named[bare] = true
		got, there := object[bare]
		if !there && optional {
			continue
		}
		if !there {
			return fmt.Errorf("%s: no member %q", path, bare)
		}
		if null && got == nil {
			continue
		}
		if err := checkShape(path+"."+bare, want, got); err != nil {
			return err
		}
	}
	for name := range object {
		if !named[name] {
			return fmt.Errorf("%s: member %q is not documented", path, name)
		}
	}
	return nil
}

// checkSchemas returns what is wrong with a value by the last of several shapes' JSON Schemas, nil
// where it is right by one.
func checkSchemas(t *testing.T, shapes []string, v any) (err error) {
	t.Helper()
	for _, shape := range shapes {
		text, schemaErr := operation.Schema(shape)
		if schemaErr != nil {
			t.Fatal(schemaErr)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		resolved, schemaErr := schema.Resolve(nil)
		if schemaErr != nil {
			t.Fatalf("%v: %s", schemaErr, text)
		}
		if err = resolved.Validate(v); err == nil {
			return nil
		}
	}
	return err
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
		var errs []string
		for _, shape := range allShapes()[command] {
			var want any
			if err := json.Unmarshal([]byte(shape), &want); err != nil {
				t.Fatalf("%s: shape: %v: %s", command, err, shape)
			}
			err := checkShape("", want, v)
			if err == nil {
				errs = nil
				break
			}
			errs = append(errs, err.Error())
		}
		if err := checkSchemas(t, allShapes()[command], v); err != nil {
			t.Errorf("%s has none of its schemas: %v", command, err)
		}
		if len(errs) > 0 {
			t.Errorf("%s has none of its shapes: %q", command, errs)
		}
	}
}
