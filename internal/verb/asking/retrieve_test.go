package asking

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/retrieve"
)

// TestParametersMatchTheTable checks that each parameter of retrieval is a field of retrieve and recall, for remote
// callers if the table says so, and that it reaches the request.
func TestParametersMatchTheTable(t *testing.T) {
	values := map[retrieve.ParamKind]string{
		retrieve.ParamMoment: "2020-01-01", retrieve.ParamNumber: "2", retrieve.ParamShare: "0.5",
		retrieve.ParamTruth: "true", retrieve.ParamTexts: "x",
	}
	special := map[string]string{
		"where": "a = 1", "weights": "text=2", "edgeWeights": "owns=2", "damping": "0.5",
	}
	n := 0
	for _, p := range retrieve.Params() {
		if p.Flag == "" {
			continue
		}
		n++
		for _, v := range []*verb.Spec{&Retrieve.Spec, &Recall.Spec} {
			i := slices.IndexFunc(v.Fields(), func(f verb.Field) bool { return f.Name == p.Flag })
			if i < 0 || v.Fields()[i].Remote != p.Remote {
				t.Errorf("%s: no field %s that is remote %t", v.Name(), p.Flag, p.Remote)
				continue
			}
			value := values[p.Kind]
			if p.Words != nil {
				value = p.Words[len(p.Words)-1]
			}
			if s, ok := special[p.Name]; ok {
				value = s
			}
			var r, none retrieve.Request
			req := verbkit.Question(t, v, map[string]string{p.Flag: value})
			must.OK(t, v.SetParameters(req, &r), v.Name(), ": ", p.Flag)
			must.OK(t, v.SetParameters(verbkit.Question(t, v, nil), &none))
			if fmt.Sprintf("%+v", r) == fmt.Sprintf("%+v", none) {
				t.Errorf("%s: %s=%s changes nothing", v.Name(), p.Flag, value)
			}
		}
	}
	must.True(t, n >= 35, "only %d parameters", n)
}

// TestLongQuestionsAreRefused: of a question on standard input one byte more is read than it may have.
func TestLongQuestionsAreRefused(t *testing.T) {
	for _, v := range []*verb.Spec{&Retrieve.Spec, &Recall.Spec} {
		if most := v.Fields()[0].Most; most != retrieve.MaxText+1 {
			t.Errorf("%s: %d bytes, want %d", v.Name(), most, retrieve.MaxText+1)
		}
	}
}

func TestQuestionsRefuse(t *testing.T) {
	h := verbkit.NewHost(t)
	for _, tt := range []struct {
		values map[string]string
		want   string
	}{
		{map[string]string{"embed": "hash"}, "needs a query"},
		{map[string]string{"rerank-top": "3", "query": "x"}, "is for --set rerank"},
		{map[string]string{"rewrites": "3", "query": "x"}, "is for --set rewrite=multi"},
		{map[string]string{"also": "y"}, "need a query"},
	} {
		got, err := verbkit.Asks(t, h, &Retrieve.Spec, tt.values)
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(got) > 0 {
			t.Errorf("%v: %v, want %q", tt.values, err, tt.want)
		}
	}
	must.True(t, len(h.Opened) == 0, "opened %d times", len(h.Opened))
}
