package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// fakeHost is a host with a repository in memory. It notes how that was opened.
type fakeHost struct {
	fakeAsker
	repo   *core.Repo
	opened []bool // for writing or not
	stamps int
	human  bool
}

func newHost(t *testing.T) *fakeHost {
	t.Helper()
	r, err := care.New(t.Context(), mem.New(), state.Stamp{Author: "a", Command: []string{"init"}}, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &fakeHost{repo: r}
	lines := `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra","content":"x"}}
{"node":{"key":"bob","type":"Person"}}
{"edge":{"type":"knows","src":"alice","dst":"bob","weight":0.5}}
`
	req := &CommitRequest{Message: "first"}
	req.SetChanges(func(context.Context) (state.Changes, error) {
		return state.ReadChanges(strings.NewReader(lines), "x"), nil
	})
	run(t, h, CommitVerb, req)
	h.opened, h.stamps = nil, 0
	return h
}

func (h *fakeHost) Open(ctx context.Context, write bool, fn func(context.Context) error) error {
	h.opened = append(h.opened, write)
	return fn(ctx)
}
func (h *fakeHost) Repo() *core.Repo                        { return h.repo }
func (h *fakeHost) Defaults(*Writing)                       {}
func (h *fakeHost) Elsewhere(context.Context) (bool, error) { return false, nil }
func (h *fakeHost) Stamp(spec *Spec, w *Writing) (state.Stamp, error) {
	h.stamps++
	return state.Stamp{Author: "a", Agent: w.Agent, Command: []string{spec.Name()}}, nil
}
func (h *fakeHost) Now() (graph.Time, error)                { return 0, nil }
func (h *fakeHost) Trusted() (commit.Verifier, error)       { return nil, nil }
func (h *fakeHost) Accesses() (func(graph.ID) int64, error) { return nil, nil }
func (h *fakeHost) Working(string) func()                   { return func() {} }
func (h *fakeHost) Setting(string, string) (string, error)  { return "", nil }
func (h *fakeHost) OpenRoot(dir string) (*os.Root, error)   { return os.OpenRoot(dir) }
func (h *fakeHost) Create(context.Context, string, func(io.Writer) error) error {
	return errors.ErrUnsupported
}
func (h *fakeHost) Read(context.Context, string) (*File, error) {
	return nil, errors.ErrUnsupported
}
func (h *fakeHost) Embedder(string, func(int, int)) (Embedder, error) {
	return nil, errors.ErrUnsupported
}
func (h *fakeHost) Progress() (func(string, int, int), func()) {
	return func(string, int, int) {}, func() {}
}
func (h *fakeHost) Permit(string, []string) error { return nil }

func (h *fakeHost) Human() bool { return h.human }
func (h *fakeHost) Require(string, bool) (func(iter.Seq2[commit.LogEntry, error]) error, error) {
	return nil, nil
}

// run runs a verb that succeeds and returns its answers as JSON, one a line.
func run[Req, Res any](t *testing.T, h *fakeHost, v *Verb[Req, Res], req *Req) string {
	t.Helper()
	out, err := try(t, h, v, req)
	if err != nil {
		t.Fatalf("%s: %v", v.Name(), err)
	}
	return out
}

func try[Req, Res any](t *testing.T, h *fakeHost, v *Verb[Req, Res], req *Req) (string, error) {
	t.Helper()
	for _, f := range v.Fields() {
		if f.Value(req).IsZero() {
			if err := f.SetDefault(req); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b strings.Builder
	err := v.Do(t.Context(), h, req, func(res any) error {
		readBack(t, &v.Spec, res)
		data, err := encode(res)
		b.Write(append(data, '\n'))
		return err
	})
	return b.String(), err
}

type toyRequest struct {
	Name   string   `op:",arg,required,remote" doc:"a name"`
	MaxAge int      `op:",short=a,remote,varies" default:"7" doc:"at most {N} days" note:" (MNEM_AGE)"`
	Kinds  []string `op:"kind,remote" enum:"x y" doc:"only this {KIND}"`
	Force  bool     `op:",remote,writes" remote:"in spite of it" doc:"in spite of --strict"`
	Key    string   `op:"" doc:"the key {NAME} of this machine"`
	Hidden string   `op:"-"`
	Other  string
	Trial
}

type toyAnswer struct {
	ID    graph.ID       `json:"id" shape:"null"`
	When  graph.OptTime  `json:"when"`
	Text  Text           `json:"text"`
	Names List[string]   `json:"names"`
	State *Mark          `json:"state"`
	Kind  string         `json:"kind" shape:"a|b"`
	More  map[string]int `json:"more,omitempty"`
	Note  string         `json:"-"`
}

func toy() *Verb[toyRequest, *toyAnswer] {
	return Define(Spec{
		Command: "toy box", Title: "Play", Doc: "Play with\na box.\n\nAnd more.", Effect: Reads, Pure: true,
	}, func(_ context.Context, _ *Service, q *toyRequest) (*toyAnswer, error) {
		return &toyAnswer{Text: Text(q.Name), Kind: "a"}, nil
	})
}

// TestOnlyWhatSaysRemoteIsRemote sees to it that a field is for this machine unless its tag says else.
func TestOnlyWhatSaysRemoteIsRemote(t *testing.T) {
	o := toy().Operation()
	want := operation.Operation{
		Name: "toy_box", Command: []string{"toy", "box"}, Title: "Play", Doc: "Play with a box.",
		Effect: Reads, Idempotent: true, Pure: true, Answer: operation.MediaJSON,
		Params: []operation.Param{
			{Name: "name", Kind: operation.String, Doc: "a name", Required: true},
			{Name: "dry_run", Flag: "dry-run", Kind: operation.Boolean,
				Doc: "print what would change and write nothing"},
			{Name: "force", Flag: "force", Kind: operation.Boolean, Doc: "in spite of it", Effect: Writes},
			{Name: "kind", Flag: "kind", Kind: operation.Strings, Doc: "only this KIND",
				Enum: []string{"x", "y"}},
			{Name: "max_age", Flag: "max-age", Kind: operation.Integer, Doc: "at most N days", Varies: true},
		},
		Shapes: []string{`{"id": "id|null", "when": "time|null", "text": "text|null", "names": ["text"], ` +
			`"state|null": {"state": "text", "by": "id|null", "reason": "text|null", "actor": "text", ` +
			`"time": "time"}, "kind": "a|b", "more?": "object"}`},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestAnswersAreTheirShapes(t *testing.T) {
	got := run(t, newHost(t), toy(), &toyRequest{Name: "n"})
	want := `{"id":null,"when":null,"text":"n","names":[],"state":null,"kind":"a"}` + "\n"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
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

// TestOpensForWhatItDoes sees to it that a verb is stamped and opened for writing where it writes, and
// that a dry run leaves the repository as it is.
func TestOpensForWhatItDoes(t *testing.T) {
	h := newHost(t)
	_, head, err := h.repo.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dry := &NodesRequest{Nodes: []string{"alice"}}
	dry.DryRun = true
	run(t, h, Get, &GetRequest{Node: "alice"})
	run(t, h, BranchVerb, &BranchRequest{})
	run(t, h, Forget, dry)
	if _, now, err := h.repo.Branch(t.Context()); err != nil || now != head {
		t.Errorf("a dry run moved the branch from %s to %s: %v", head, now, err)
	}
	run(t, h, BranchVerb, &BranchRequest{Name: "draft"})
	run(t, h, IndexRebuild, &IndexRequest{})
	if diff := cmp.Diff([]bool{false, false, false, true, true}, h.opened); diff != "" {
		t.Errorf("opened for writing (-want +have):\n%s", diff)
	}
	if h.stamps != 2 {
		t.Errorf("%d stamps were made, want one each for forget and branch", h.stamps)
	}
}

// TestWritingIsWhatItsPartsSay sees to it that a field which has the name of another verb's author or key
// is not taken for it.
func TestWritingIsWhatItsPartsSay(t *testing.T) {
	link := &LinkRequest{Key: "parallel"}
	link.Author, link.Branch, link.Stage, link.ExpectHead = "ada", "main", "draft", "none"
	merge := &MergeRequest{Rev: "x"}
	merge.Key, merge.Message, merge.DryRun = "work", "m", true
	for _, tt := range []struct {
		req  any
		want Writing
	}{
		{link, Writing{Author: "ada", Branch: "main", Stage: "draft", ExpectHead: "none"}},
		{merge, Writing{Key: "work", Message: "m", DryRun: true, Signs: true}},
		{&LogRequest{Author: []string{"ada"}, Agent: []string{"b"}}, Writing{}},
		{&TagRequest{Message: "of the tag", RefExpect: RefExpect{"none"}}, Writing{Expect: "none"}},
	} {
		if diff := cmp.Diff(tt.want, WritingOf(tt.req)); diff != "" {
			t.Errorf("%T (-want +have):\n%s", tt.req, diff)
		}
	}
}

// TestBulkIsWhatHelpSays holds the help to the number.
func TestBulkIsWhatHelpSays(t *testing.T) {
	for _, f := range CommitVerb.Fields() {
		if f.Name == "strict" && !strings.Contains(f.Doc, fmt.Sprintf(" %d changes", state.BulkChanges)) {
			t.Errorf("%q does not say %d", f.Doc, state.BulkChanges)
		}
	}
}

// TestAnswersBesideErrors sees to it that an error hides an answer unless it says that there is one.
func TestAnswersBesideErrors(t *testing.T) {
	plain := errors.New("failed")
	for _, tt := range []struct {
		err  error
		want operation.Outcome
		gave bool
	}{
		{nil, operation.OK, true}, {plain, operation.Failed, false},
		{Answered(state.ErrConflict), operation.Conflict, true}, {&News{operation.Mismatch}, operation.Mismatch, true},
	} {
		v := Define(Spec{Command: "x", Effect: Reads},
			func(context.Context, *Service, *toyRequest) (*toyAnswer, error) { return &toyAnswer{}, tt.err })
		out, err := try(t, newHost(t), v, &toyRequest{})
		if got := OutcomeOf(t.Context(), err); got != tt.want || (out != "") != tt.gave {
			t.Errorf("%v: outcome %v and answer %q", tt.err, got, out)
		}
	}
}

// TestErrorsSpeakToTheirSurface sees to it that remote callers are told neither of flags nor of commands.
func TestErrorsSpeakToTheirSurface(t *testing.T) {
	h := newHost(t)
	dropped := &MergeRequest{List: true, Rev: "x"}
	both := &MergeRequest{Rev: "main"}
	both.Ours, both.Theirs = true, true
	var errs []error
	add := func(_ string, err error) { errs = append(errs, err) }
	add(try(t, h, Get, &GetRequest{Node: "nobody"}))
	add(try(t, h, Get, &GetRequest{Node: "alice", Field: "summary", Importance: true}))
	add(try(t, h, Get, &GetRequest{Node: "alice", Now: "2026-01-01"}))
	add(try(t, h, Log, &LogRequest{Limit: -1}))
	add(try(t, h, Log, &LogRequest{Since: "yesterday"}))
	add(try(t, h, NeighborsOf, &NeighborsRequest{Node: "alice", Limit: -5}))
	add(try(t, h, Explore, &ExploreRequest{Topic: "nothing", Keyword: true}))
	add(try(t, h, Undo, &UndoRequest{Op: "77"}))
	add(try(t, h, Switch, &SwitchRequest{Name: "nowhere"}))
	add(try(t, h, Switch, &SwitchRequest{}))
	add(try(t, h, Set, &SetRequest{Node: "carol", Fields: []string{"x=1"}}))
	add(try(t, h, Merge, dropped))
	add(try(t, h, Merge, both))
	add(try(t, h, Merge, &MergeRequest{Rev: "nowhere"}))
	run(t, h, Forget, &NodesRequest{Nodes: []string{"bob"}})
	add(try(t, h, Stale, &NodesRequest{Nodes: []string{"bob"}}))
	add(try(t, h, Get, &GetRequest{Node: "bob"}))
	for _, err := range errs {
		if err == nil {
			t.Error("an error was expected")
			continue
		}
		told := MessageOf(err, true) + "; " + HintOf(err, true)
		if strings.Contains(told, "--") || strings.Contains(told, "'mnem ") {
			t.Errorf("remote callers are told: %s", told)
		}
	}
	if got := MessageOf(errs[3], false); got != "--limit: -1 is below 0" {
		t.Errorf("on the command line: %s", got)
	}
	if got := MessageOf(errs[3], true); got != "limit: -1 is below 0" {
		t.Errorf("for remote callers: %s", got)
	}
}
