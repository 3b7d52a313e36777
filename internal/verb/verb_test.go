package verb_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

type toyRequest struct {
	Name   string   `op:",arg,required,remote" doc:"a name"`
	MaxAge int      `op:",short=a,remote,varies" default:"7" doc:"at most {N} days" note:" (MNEM_AGE)"`
	Kinds  []string `op:"kind,remote" enum:"x y" doc:"only this {KIND}"`
	Force  bool     `op:",remote,writes" remote:"in spite of it" doc:"in spite of --strict"`
	Key    string   `op:"" doc:"the key {NAME} of this machine"`
	Hidden string   `op:"-"`
	Other  string
	verb.Trial
}

type toyAnswer struct {
	ID    graph.ID       `json:"id" shape:"null"`
	When  graph.OptTime  `json:"when"`
	Text  verb.Text      `json:"text"`
	Names []string       `json:"names"`
	State *toyMark       `json:"state"`
	Kind  string         `json:"kind" shape:"a|b"`
	More  map[string]int `json:"more,omitempty"`
	Note  string         `json:"-"`
}

type toyMark struct {
	State graph.State `json:"state"`
	By    graph.ID    `json:"by" shape:"null"`
	When  graph.Time  `json:"when"`
}

func toy() *verb.Verb[toyRequest, *toyAnswer] {
	return verb.Define(verb.Spec{
		Command: "toy box", Title: "Play", Doc: "Play with\na box.\n\nAnd more.", Effect: verb.Reads, Pure: true,
	}, func(_ context.Context, _ *verb.Service, q *toyRequest) (*toyAnswer, error) {
		return &toyAnswer{Text: verb.Text(q.Name), Kind: "a"}, nil
	})
}

// TestOnlyWhatSaysRemoteIsRemote sees to it that a field is for this machine unless its tag says else.
func TestOnlyWhatSaysRemoteIsRemote(t *testing.T) {
	o := toy().Operation()
	want := operation.Operation{
		Name: "toy_box", Command: []string{"toy", "box"}, Title: "Play", Doc: "Play with a box.",
		Effect: verb.Reads, Idempotent: true, Pure: true, Answer: operation.MediaJSON,
		Params: []operation.Param{
			{Name: "name", Kind: operation.String, Doc: "a name", Required: true},
			{Name: "dry_run", Flag: "dry-run", Kind: operation.Boolean,
				Doc: "print what would change and write nothing"},
			{Name: "force", Flag: "force", Kind: operation.Boolean, Doc: "in spite of it", Effect: verb.Writes},
			{Name: "kind", Flag: "kind", Kind: operation.Strings, Doc: "only this KIND",
				Enum: []string{"x", "y"}},
			{Name: "max_age", Flag: "max-age", Kind: operation.Integer, Doc: "at most N days", Varies: true},
		},
		Shapes: []string{`{"id": "id|null", "when": "time|null", "text": "text|null", "names": ["text"], ` +
			`"state|null": {"state": "text", "by": "id|null", "when": "time"}, ` +
			`"kind": "a|b", "more?": "object"}`},
	}
	must.Same(t, o, want)
}

func TestAnswersAreTheirShapes(t *testing.T) {
	got := verbkit.Run(t, verbkit.NewHost(t), toy(), &toyRequest{Name: "n"})
	want := `{"id":null,"when":null,"text":"n","names":[],"state":null,"kind":"a"}` + "\n"
	must.Equal(t, got, want)
}

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		field  string
		values []string
		want   func(*toyRequest) bool
	}{
		{"name", []string{"x"}, func(q *toyRequest) bool { return q.Name == "x" }},
		{"max-age", []string{"3"}, func(q *toyRequest) bool { return q.MaxAge == 3 }},
		{"max-age", []string{"99999999999999999999"}, nil},
		{"kind", []string{"x", "y"}, func(q *toyRequest) bool { return len(q.Kinds) == 2 }},
		{"force", []string{"true"}, func(q *toyRequest) bool { return q.Force }},
		{"force", []string{"false"}, func(q *toyRequest) bool { return !q.Force }},
	} {
		var q toyRequest
		for _, f := range toy().Fields() {
			if f.Name != tt.field {
				continue
			}
			if err := f.Set(&q, tt.values); (err == nil) != (tt.want != nil) {
				t.Errorf("%s = %q: %v", tt.field, tt.values, err)
			} else if err == nil && !tt.want(&q) {
				t.Errorf("%s = %q: %+v", tt.field, tt.values, q)
			}
		}
	}
}

// TestAnswersWithErrors checks that an error hides the answer unless it says that there is one.
func TestAnswersWithErrors(t *testing.T) {
	plain := errors.New("failed")
	for _, tt := range []struct {
		err  error
		want operation.Outcome
		gave bool
	}{
		{nil, operation.OK, true}, {plain, operation.Failed, false},
		{verb.Answered(state.ErrConflict), operation.Conflict, true}, {&verb.News{Outcome: operation.Mismatch}, operation.Mismatch, true},
	} {
		v := verb.Define(verb.Spec{Command: "x", Effect: verb.Reads},
			func(context.Context, *verb.Service, *toyRequest) (*toyAnswer, error) { return &toyAnswer{}, tt.err })
		out, err := verbkit.Try(t, verbkit.NewHost(t), v, &toyRequest{})
		if got := verb.OutcomeOf(t.Context(), err); got != tt.want || (out != "") != tt.gave {
			t.Errorf("%v: outcome %v and answer %q", tt.err, got, out)
		}
	}
}

// TestHiddenStates checks that callers can include exactly the states that are hidden.
func TestHiddenStates(t *testing.T) {
	field, _ := reflect.TypeFor[verb.Marks]().FieldByName("Include")
	for _, s := range graph.States() {
		if named := slices.Contains(strings.Fields(field.Tag.Get("enum")), string(s)); named != s.Hides() {
			t.Errorf("%s: named %v, hides %v", s, named, s.Hides())
		}
	}
}
