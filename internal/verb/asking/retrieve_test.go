package asking

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
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
			if err := v.SetParameters(req, &r); err != nil {
				t.Errorf("%s: %s: %v", v.Name(), p.Flag, err)
			}
			if err := v.SetParameters(verbkit.Question(t, v, nil), &none); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%+v", r) == fmt.Sprintf("%+v", none) {
				t.Errorf("%s: %s=%s changes nothing", v.Name(), p.Flag, value)
			}
		}
	}
	if n < 35 {
		t.Errorf("only %d parameters", n)
	}
}

// TestRecallHasIntent: the field that recall declares replaces the table's.
func TestRecallHasIntent(t *testing.T) {
	for v, want := range map[*verb.Spec]retrieve.Intent{&Retrieve.Spec: "", &Recall.Spec: retrieve.IntentAuto} {
		var r retrieve.Request
		if err := v.SetParameters(verbkit.Question(t, v, nil), &r); err != nil || r.Intent != want {
			t.Errorf("%s: intent %q, %v", v.Name(), r.Intent, err)
		}
		if err := v.SetParameters(verbkit.Question(t, v, map[string]string{"intent": "why"}), &r); err != nil ||
			r.Intent != "why" {
			t.Errorf("%s: intent %q, %v", v.Name(), r.Intent, err)
		}
	}
}

// TestLongQuestionsAreRefused: of a question on standard input one byte more is read than it may have.
func TestLongQuestionsAreRefused(t *testing.T) {
	for _, v := range []*verb.Spec{&Retrieve.Spec, &Recall.Spec} {
		if most := v.Fields()[0].Most; most != retrieve.MaxText+1 {
			t.Errorf("%s: %d bytes, want %d", v.Name(), most, retrieve.MaxText+1)
		}
	}
}

func TestBatchIsAnOperation(t *testing.T) {
	list := Recall.Operations()
	if len(list) != 2 || list[0].Name != "recall" || list[1].Name != "recall_batch" ||
		list[0].Stream() || !list[1].Stream() || !list[0].Pure || list[1].Pure ||
		list[1].Params[0].Kind != operation.Lines || list[1].Param("query") != nil ||
		list[1].Param("limit") == nil || list[0].Param("batch") != nil || list[0].Param("vector") != nil {
		t.Errorf("%+v", list)
	}
}

func TestBatchAnswersLines(t *testing.T) {
	h := verbkit.NewHost(t)
	h.Files = map[string]string{
		"q": "{\"qid\":\"1\",\"text\":\"alice\",\"meta\":{\"a\":\"<\"}}\n\n{\"text\":\"zeppelin\"}\n",
		"b": "{\"text\":\"alice\"}\n{\"text\":1}\n",
	}
	got, err := verbkit.Asks(t, h, &Retrieve.Spec, map[string]string{"batch": "q"})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	data, err := verb.JSON(got[0])
	if err != nil || !strings.HasPrefix(string(data), `{"qid":"1","meta":{"a":"<"},"commit":"`) || !json.Valid(data) {
		t.Errorf("%s, %v", data, err)
	}
	got, err = verbkit.Asks(t, h, &Retrieve.Spec, map[string]string{"batch": "b"})
	var at *graph.LineError
	if len(got) != 1 || !errors.As(err, &at) || at.Line != 2 || at.File != "b" {
		t.Errorf("%d answers, %v", len(got), err)
	}
}

func TestQuestionsRefuse(t *testing.T) {
	h := verbkit.NewHost(t)
	for _, tt := range []struct {
		values map[string]string
		want   string
	}{
		{map[string]string{"follow": "true"}, "needs --session"},
		{map[string]string{"follow": "true", "at": "HEAD", "session": "s"}, "exclude each other"},
		{map[string]string{"unseen": "true"}, "needs --session"},
		{map[string]string{"embed": "hash"}, "needs a query"},
		{map[string]string{"embed": "", "query": "x"}, "want a model"},
		{map[string]string{"rerank-top": "3", "query": "x"}, "is for --set rerank"},
		{map[string]string{"rewrites": "3", "query": "x"}, "is for --set rewrite=multi"},
		{map[string]string{"also": "y"}, "need a query"},
		{map[string]string{"task": "y", "query": "x"}, "nothing is recorded"},
		{map[string]string{"batch": "-", "query": "x"}, "exclude each other"},
		{map[string]string{"batch": "-", "vector": "m=@-"}, "named twice: for --batch and --vector m"},
		{map[string]string{"with-global": "true", "explain": "true", "query": "x"}, "exclude each other"},
		{map[string]string{"weight": "text", "query": "x"}, `--set weight "text": want LANE=W`},
		{map[string]string{"fusion": "", "query": "x"}, "want convex"},
		{map[string]string{"limit": "-1", "query": "x"}, "limit"},
		{map[string]string{"vector": "m", "query": "x"}, "want MODEL=@FILE"},
	} {
		got, err := verbkit.Asks(t, h, &Retrieve.Spec, tt.values)
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(got) > 0 {
			t.Errorf("%v: %v, want %q", tt.values, err, tt.want)
		}
	}
	if len(h.Opened) > 0 {
		t.Errorf("opened %d times", len(h.Opened))
	}
}

// TestTogether asks two repositories; only the first has the session.
func TestTogether(t *testing.T) {
	h := verbkit.NewHost(t)
	h.Other = verbkit.NewHost(t)
	got, err := verbkit.Asks(t, h, &Recall.Spec, map[string]string{
		"query": "who leads infra", "with-global": "true", "receipt": "true", "limit": "3",
	})
	if err != nil {
		t.Fatal(err)
	}
	a := got[0].(*Answer)
	var from []string
	for i, it := range a.Items {
		if from = append(from, it.Repository); it.Rank != i+1 ||
			!strings.HasPrefix(it.Rendered, "repository: "+it.Repository+"\n") {
			t.Errorf("item %d: %+v", i+1, it)
		}
	}
	if len(from) < 2 || from[0] != verb.FromProject || from[1] != verb.FromGlobal || len(a.Repositories) != 2 || !a.Receipt.Defined() {
		t.Errorf("items of %v, repositories %v, receipt %s", from, a.Repositories, a.Receipt)
	}
	if !slices.Contains(h.Opened, true) || slices.Contains(h.Other.Opened, true) {
		t.Errorf("opened for writing: %v and %v", h.Opened, h.Other.Opened)
	}
}
