// Package verbkit runs verbs in tests, on a host with a repository in memory.
package verbkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/retrieve"
)

// readBack looks that an answer is the same to a process that reads it.
func readBack(t *testing.T, s *verb.Spec, answer any) {
	t.Helper()
	if verb.Streams(reflect.TypeOf(answer).Elem()) {
		return // its lists can be read once
	}
	var sent, again bytes.Buffer
	must.OK(t, verb.WriteAnswer(&sent, answer, true))
	want := sent.String()
	n := 0
	err := s.ReadAnswers(&sent, func(read any) error {
		n++
		return verb.WriteAnswer(&again, read, true)
	})
	if err != nil || n != 1 || again.String() != want {
		t.Errorf("%s: %d answers, %v\nsent %s\nread %s", s.Name(), n, err, want, again.String())
	}
}

// FakeHost is a host with a repository in memory. It notes how that was opened.
type FakeHost struct {
	fakeAsker
	Kept   *core.Repo
	Opened []bool // for writing or not
	Stamps int
	People bool
	Branch string // that the caller is confined to
}

func NewHost(t *testing.T) *FakeHost {
	t.Helper()
	r, err := care.New(t.Context(), mem.New(), state.Stamp{Author: "a", Command: []string{"init"}}, core.Options{})
	must.OK(t, err)
	lines := `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra","content":"x"}}
{"node":{"key":"bob","type":"Person"}}
{"edge":{"type":"knows","src":"alice","dst":"bob","weight":0.5}}
`
	by := state.Stamp{Author: "a", Command: []string{"commit"}}
	_, err = r.Commit(t.Context(), state.ReadChanges(strings.NewReader(lines), "x"),
		core.CommitOptions{Stamp: by, Message: "first"})
	must.OK(t, err)
	return &FakeHost{Kept: r}
}

func (h *FakeHost) Open(ctx context.Context, job *verb.Job, fn func(context.Context) error) error {
	h.Opened = append(h.Opened, job.Write)
	return fn(ctx)
}

func (h *FakeHost) Repo() *core.Repo { return h.Kept }

func (h *FakeHost) Defaults(*verb.Writing) {}

func (h *FakeHost) Stamp(spec *verb.Spec, w *verb.Writing) (state.Stamp, error) {
	h.Stamps++
	return state.Stamp{Author: "a", Agent: w.Agent, Command: []string{spec.Name()}}, nil
}

func (h *FakeHost) Now() (graph.Time, error) { return 0, nil }

func (h *FakeHost) Trusted() (commit.Verifier, error) { return nil, nil }

func (h *FakeHost) Working(string) func() { return func() {} }

func (h *FakeHost) Setting(string, string) (string, error) { return "", nil }

func (h *FakeHost) OpenRoot(dir string) (*os.Root, error) { return os.OpenRoot(dir) }

func (h *FakeHost) Create(context.Context, string, func(io.Writer) error) error {
	return errors.ErrUnsupported
}

func (h *FakeHost) Read(context.Context, string) (*verb.File, error) {
	return nil, errors.ErrUnsupported
}

func (h *FakeHost) Embedder(string, func(int, int)) (verb.Embedder, error) {
	return nil, errors.ErrUnsupported
}

func (h *FakeHost) Progress() (func(string, int, int), func()) {
	return func(string, int, int) {}, func() {}
}

func (h *FakeHost) Permit(string, []string) error { return nil }

func (h *FakeHost) Only(string) (string, error) { return h.Branch, nil }

func (h *FakeHost) Human() bool { return h.People }

func (h *FakeHost) Require(string, bool) (func(iter.Seq2[commit.LogEntry, error]) error, error) {
	return nil, nil
}

// Run runs a verb that succeeds and returns its answers as JSON, one a line.
func Run[Req, Res any](t *testing.T, h *FakeHost, v *verb.Verb[Req, Res], req *Req) string {
	t.Helper()
	out := must.Get(Try(t, h, v, req))(t, v.Name())
	return out
}

func Try[Req, Res any](t *testing.T, h *FakeHost, v *verb.Verb[Req, Res], req *Req) (string, error) {
	t.Helper()
	for _, f := range v.Fields() {
		if f.Value(req).IsZero() {
			must.OK(t, f.SetDefault(req))
		}
	}
	var b strings.Builder
	err := v.Do(t.Context(), h, req, func(res any) error {
		readBack(t, &v.Spec, res)
		return verb.WriteJSON(&b, res)
	})
	return b.String(), err
}

// fakeAsker is the part of a host that questions need: files and models in memory.
type fakeAsker struct {
	Files map[string]string
	asked *verb.QuestionModels // the models that were opened last
	Other *FakeHost            // nil for none
}

func (a *fakeAsker) Models(m *verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
	a.asked = m
	out := &complete.Models{Failed: func(string, error) {}}
	if m.Embed != "" {
		out.Embedder = fakeEmbedder(m.Embed)
	}
	return out, nil, nil
}

func (a *fakeAsker) File(_ context.Context, name string) (io.ReadCloser, string, error) {
	text, ok := a.Files[name]
	if !ok {
		return nil, name, fmt.Errorf("no file %s", name)
	}
	return io.NopCloser(strings.NewReader(text)), name, nil
}

func (a *fakeAsker) Clock() func() time.Duration { return func() time.Duration { return 0 } }

func (a *fakeAsker) Global() (verb.Runner, error) {
	return func(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
		return v.Do(ctx, a.Other, req, emit)
	}, nil
}

// fakeEmbedder is a model of that name, to which each text is its place in a call. It finds nothing in a blank one.
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

// Question returns a request of a verb with its defaults, in which fields have values.
func Question(t *testing.T, v *verb.Spec, values map[string]string) any {
	t.Helper()
	req := must.Get(v.New())(t)
	var given []string
	for _, f := range v.Fields() {
		value, ok := values[f.Name]
		if !ok {
			continue
		}
		must.OK(t, f.Set(req, []string{value}))
		given = append(given, f.Name)
	}
	if len(given) != len(values) {
		t.Fatalf("%s: of the fields %v there are %v", v.Name(), values, given)
	}
	verb.SetGiven(req, given)
	return req
}

// Asks runs a verb with such a request and returns its answers.
func Asks(t *testing.T, h *FakeHost, v *verb.Spec, values map[string]string) (list []any, err error) {
	t.Helper()
	err = v.Do(t.Context(), h, Question(t, v, values), func(res any) error {
		list = append(list, res)
		return nil
	})
	return list, err
}

// CountedFacts is a store that counts the facts that are read.
type CountedFacts struct {
	store.Store
	Reads *storetest.Counting
}

func (c CountedFacts) Facts() store.Blocks { return c.Reads }
