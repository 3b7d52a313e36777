package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"io"
	"iter"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
)

// readBack looks that an answer is the same to a process that reads it.
func readBack(t *testing.T, s *Spec, answer any) {
	t.Helper()
	if Streams(reflect.TypeOf(answer).Elem()) {
		return // its lists can be read once
	}
	var sent, again bytes.Buffer
	if err := WriteAnswer(&sent, answer, true); err != nil {
		t.Fatal(err)
	}
	want := sent.String()
	n := 0
	err := s.ReadAnswers(&sent, func(read any) error {
		n++
		return WriteAnswer(&again, read, true)
	})
	if err != nil || n != 1 || again.String() != want {
		t.Errorf("%s: %d answers, %v\nsent %s\nread %s", s.Name(), n, err, want, again.String())
	}
}

// fakeHost is a host with a repository in memory. It notes how that was opened.
type fakeHost struct {
	fakeAsker
	kept   *core.Repo
	opened []bool // for writing or not
	stamps int
	people bool
}

func newHost(t *testing.T) *fakeHost {
	t.Helper()
	r, err := care.New(t.Context(), mem.New(), state.Stamp{Author: "a", Command: []string{"init"}}, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra","content":"x"}}
{"node":{"key":"bob","type":"Person"}}
{"edge":{"type":"knows","src":"alice","dst":"bob","weight":0.5}}
`
	by := state.Stamp{Author: "a", Command: []string{"commit"}}
	_, err = r.Commit(t.Context(), state.ReadChanges(strings.NewReader(lines), "x"),
		core.CommitOptions{Stamp: by, Message: "first"})
	if err != nil {
		t.Fatal(err)
	}
	return &fakeHost{kept: r}
}

func (h *fakeHost) Open(ctx context.Context, write bool, fn func(context.Context) error) error {
	h.opened = append(h.opened, write)
	return fn(ctx)
}

func (h *fakeHost) Repo() *core.Repo { return h.kept }

func (h *fakeHost) Defaults(*Writing) {}

func (h *fakeHost) Elsewhere(context.Context) (bool, error) { return false, nil }

func (h *fakeHost) Stamp(spec *Spec, w *Writing) (state.Stamp, error) {
	h.stamps++
	return state.Stamp{Author: "a", Agent: w.Agent, Command: []string{spec.Name()}}, nil
}

func (h *fakeHost) Now() (graph.Time, error) { return 0, nil }

func (h *fakeHost) Trusted() (commit.Verifier, error) { return nil, nil }

func (h *fakeHost) Accesses() (func(graph.ID) int64, error) { return nil, nil }

func (h *fakeHost) Working(string) func() { return func() {} }

func (h *fakeHost) Setting(string, string) (string, error) { return "", nil }

func (h *fakeHost) OpenRoot(dir string) (*os.Root, error) { return os.OpenRoot(dir) }

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

func (h *fakeHost) Human() bool { return h.people }

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

// fakeAsker is the part of a host that questions need: files and models in memory.
type fakeAsker struct {
	files map[string]string
	asked *QuestionModels // the models that were opened last
	seen  map[graph.ID]int64
	other *fakeHost // nil for none
}

func (a *fakeAsker) Models(m *QuestionModels) (*complete.Models, retrieve.Reranker, error) {
	a.asked = m
	out := &complete.Models{Failed: func(string, error) {}}
	if m.Embed != "" {
		out.Embedder = fakeEmbedder(m.Embed)
	}
	return out, nil, nil
}

func (a *fakeAsker) File(_ context.Context, name string) (io.ReadCloser, string, error) {
	text, ok := a.files[name]
	if !ok {
		return nil, name, fmt.Errorf("no file %s", name)
	}
	return io.NopCloser(strings.NewReader(text)), name, nil
}

func (a *fakeAsker) Clock() func() time.Duration { return func() time.Duration { return 0 } }

func (a *fakeAsker) Shown(_ context.Context, nodes map[graph.ID]int64) { a.seen = nodes }

func (a *fakeAsker) Global() (Runner, error) {
	return func(ctx context.Context, v *Spec, req any, emit func(any) error) error {
		return v.Do(ctx, a.other, req, emit)
	}, nil
}

// fakeEmbedder is a model of that name, to which each text is its place in a call. It finds nothing in
// a blank one.
type fakeEmbedder string

func (e fakeEmbedder) Model() string { return string(e) }

func (e fakeEmbedder) Embed(_ context.Context, query string, answers []string) (list [][]int8, err error) {
	if query != "" {
		answers = append([]string{query}, answers...)
	}
	for i, text := range answers {
		list = append(list, nil)
		if text != "" {
			list[i] = []int8{127, int8(i)}
		}
	}
	return list, nil
}

// question returns a request of a verb with its defaults, in which fields have values.
func question(t *testing.T, v *Spec, values map[string]string) any {
	t.Helper()
	req, err := v.New()
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	for _, f := range v.Fields() {
		value, ok := values[f.Name]
		if !ok {
			continue
		}
		if err := f.Set(req, []string{value}); err != nil {
			t.Fatal(err)
		}
		given = append(given, f.Name)
	}
	if len(given) != len(values) {
		t.Fatalf("%s: of the fields %v there are %v", v.Name(), values, given)
	}
	SetGiven(req, given)
	return req
}

// asks runs a verb with such a request and returns its answers.
func asks(t *testing.T, h *fakeHost, v *Spec, values map[string]string) (list []any, err error) {
	t.Helper()
	err = v.Do(t.Context(), h, question(t, v, values), func(res any) error {
		list = append(list, res)
		return nil
	})
	return list, err
}
