package verbkit

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// CheckShapes returns what is wrong with a value by the last of several shapes, nil if it is right by one: no member is
// missing, and none is not named.
func CheckShapes(t *testing.T, shapes []string, v any) (err error) {
	t.Helper()
	for _, shape := range shapes {
		var schema jsonschema.Schema
		must.OK(t, json.Unmarshal(must.Get(operation.Schema(shape))(t), &schema), shape)
		closeSchema(&schema)
		if err = must.Get(schema.Resolve(nil))(t, shape).Validate(v); err == nil {
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
