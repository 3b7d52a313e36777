package verb_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// TestExtraMembersTravel has another process read an answer with members that its type lacks.
func TestExtraMembersTravel(t *testing.T) {
	type line struct {
		QID  string      `json:"qid"`
		Echo verb.Inline `json:"-"`
		N    int         `json:"n"`
	}
	spec := verb.Define(verb.Spec{Command: "lines"}, func(context.Context, *verb.Service, *struct{}) (*line, error) { return nil, nil })
	want := line{QID: "q", N: 3, Echo: verb.Inline{
		{Key: "cat", Value: ipld.StringValue("x")}, {Key: "gold", Value: ipld.ListValue(ipld.StringValue("ada"))},
	}}
	var out bytes.Buffer
	if err := verb.WriteAnswer(&out, &want, true); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := spec.ReadAnswers(&out, func(got any) error {
		n++
		if d := cmp.Diff(&want, got, cmp.Comparer(func(a, b ipld.Value) bool {
			return bytes.Equal(ipld.AppendJSON(nil, a), ipld.AppendJSON(nil, b))
		})); d != "" {
			t.Error(d)
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d answers, %v", n, err)
	}
}
