package peers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/retrieve"
)

// fakeModel embeds, rewrites and judges, and notes what it was asked.
type fakeModel struct {
	asked []string
	fails bool
}

func (m *fakeModel) note(what string) error {
	m.asked = append(m.asked, what)
	if m.fails {
		return errors.New("the model is away")
	}
	return nil
}

func (m *fakeModel) Model() string { return "fake" }
func (m *fakeModel) Dim() int      { return 2 }
func (m *fakeModel) MaxText() int  { return 1000 }

func (m *fakeModel) Vectors(_ context.Context, list []string) ([][]int8, error) {
	out := make([][]int8, len(list))
	for i := range out {
		out[i] = []int8{100, 1}
	}
	return out, m.note("documents " + strings.Join(list, "|"))
}

func (m *fakeModel) Embed(_ context.Context, query string, _ []string) ([][]int8, error) {
	return [][]int8{{100, 2}}, m.note("embed " + query)
}

func (m *fakeModel) Rerank(_ context.Context, query string, list []string) ([]int64, error) {
	return make([]int64, len(list)), m.note("rerank " + query)
}

// calling is a caller whose repository is open elsewhere.
type calling struct {
	verb.Caller
	ask    func(v *verb.Spec, req any, call Call) (string, error)
	models func(*verb.QuestionModels) (*complete.Models, retrieve.Reranker, error)
	nodes  *fakeModel
	stdin  string
	out    strings.Builder
}

func (c *calling) Setting(string, string) (string, error) { return "", nil }
func (c *calling) Human() bool                            { return false }
func (c *calling) Permit(string, []string) error          { return nil }
func (c *calling) Only(string) (string, error)            { return "", nil }
func (c *calling) Defaults(*verb.Writing)                 {}

func (c *calling) Models(m *verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
	if c.models == nil {
		return &complete.Models{}, nil, nil
	}
	return c.models(m)
}

func (c *calling) Embedder(spec string, _ func(int, int)) (verb.Embedder, error) {
	return c.nodes, c.nodes.note("open " + spec)
}

func (c *calling) Progress() (func(string, int, int), func()) {
	return func(string, int, int) {}, func() {}
}

func (c *calling) Stamp(*verb.Spec, *verb.Writing) (state.Stamp, error) { return state.Stamp{}, nil }

func (c *calling) File(_ context.Context, name string) (io.ReadCloser, string, error) {
	if name != "-" {
		return nil, name, errors.New("there is no " + name)
	}
	return io.NopCloser(strings.NewReader(c.stdin)), "<stdin>", nil
}

func (c *calling) Open(_ context.Context, job *verb.Job, _ func(context.Context) error) error {
	out, err := c.ask(job.Spec, job.Req, Call{})
	c.out.WriteString(out)
	return err
}

func (c *calling) do(t *testing.T, v *verb.Spec, req any) (string, error) {
	c.out.Reset()
	err := v.Do(t.Context(), c, req, func(any) error { return nil })
	return c.out.String(), err
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func newRequest[T any](t *testing.T, s *verb.Spec, given ...string) *T {
	t.Helper()
	req, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	verb.SetGiven(req, given)
	return req.(*T)
}

// TestModelsOfTheCaller has the owner embed nodes, embed a query and judge answers, by models that only the
// caller has.
func TestModelsOfTheCaller(t *testing.T) {
	dir, _, _ := answering(t, HostOptions{Build: "v1"})
	model := &fakeModel{}
	var warned []string
	by := lines(alice + "\n" + strings.ReplaceAll(alice, "lice", "nna"))
	ask := askerOf(t, dir, by)
	here := &calling{ask: ask, nodes: model, models: func(m *verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
		return &complete.Models{Embedder: model, Failed: func(use string, err error) {
			warned = append(warned, use+": "+err.Error())
		}}, model, model.note("models " + m.Embed)
	}}
	if _, err := ask(&editing.CommitVerb.Spec, &editing.CommitRequest{Message: "x"}, Call{Inputs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	embed := newRequest[ingesting.EmbedRequest](t, &ingesting.Embed.Spec)
	embed.Model = "some"
	if out, err := here.do(t, &ingesting.Embed.Spec, embed); err != nil || !strings.Contains(out, `"embedded":2`) {
		t.Errorf("%s, %v", out, err)
	}
	question := newRequest[asking.RetrieveRequest](t, &asking.Retrieve.Spec, "query", "embed", "rerank")
	question.Query, question.Embed, question.Rerank = "who leads?", "some", "some"
	out, err := here.do(t, &asking.Retrieve.Spec, question)
	if err != nil || !strings.Contains(out, `"lane":"dense:fake"`) {
		t.Errorf("%s, %v", out, err)
	}
	want := "open some,documents Alice leads infra|Anna leads infra,models some,embed who leads?,rerank who leads?"
	if got := strings.Join(model.asked, ","); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	model.fails = true
	here.models = func(*verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
		return &complete.Models{Embedder: model, Failed: func(use string, err error) {
			warned = append(warned, use+": "+err.Error())
		}}, nil, nil
	}
	question = newRequest[asking.RetrieveRequest](t, &asking.Retrieve.Spec, "query", "embed")
	question.Query, question.Embed = "who leads?", "some"
	out, err = here.do(t, &asking.Retrieve.Spec, question)
	if err != nil || !strings.Contains(out, "alice") || len(warned) != 1 || !strings.HasPrefix(warned[0], "embed: the model is away") {
		t.Errorf("%s, %v, warned %q", out, err, warned)
	}
}

// TestFilesOfTheCaller has the caller's files be written and read: an export, its import, and a batch of
// questions.
func TestFilesOfTheCaller(t *testing.T) {
	dir, _, _ := answering(t, HostOptions{Build: "v1"})
	var car bytes.Buffer
	by := lines(alice)
	by.Output = &car
	ask := askerOf(t, dir, by)
	if _, err := ask(&editing.CommitVerb.Spec, &editing.CommitRequest{Message: "x"}, Call{Inputs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	export := newRequest[transfer.ExportRequest](t, &transfer.Export.Spec, "output")
	export.Output = "x.car"
	if out, err := ask(&transfer.Export.Spec, export, Call{}); err != nil || car.Len() == 0 {
		t.Errorf("%s, %v, %d bytes", out, err, car.Len())
	}
	full := by
	full.Output = fullDisk{}
	if _, err := askerOf(t, dir, full)(&transfer.Export.Spec, export, Call{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	other, _, _ := answering(t, HostOptions{Build: "v1"})
	by.Input = func(int) (io.Reader, error) { return bytes.NewReader(car.Bytes()), nil }
	in := newRequest[transfer.ImportRequest](t, &transfer.Import.Spec)
	in.File = "x.car"
	if out, err := askerOf(t, other, by)(&transfer.Import.Spec, in, Call{Inputs: []string{"x.car"}}); err != nil || !strings.Contains(out, "refs/heads/main") {
		t.Errorf("%s, %v", out, err)
	}
	by.Input = func(int) (io.Reader, error) { return nil, errors.New("there is no z.car") }
	if _, err := askerOf(t, other, by)(&transfer.Import.Spec, in, Call{Inputs: []string{"z.car"}}); err == nil || err.Error() != "there is no z.car" {
		t.Errorf("%v", err)
	}
	batch := newRequest[asking.RetrieveRequest](t, &asking.Retrieve.Spec, "batch")
	batch.Batch = "-"
	here := &calling{ask: ask, stdin: `{"text":"alice"}` + "\n" + `{"text":"infra"}`}
	if out, err := here.do(t, &asking.Retrieve.Spec, batch); err != nil || strings.Count(out, `"query":`) != 2 {
		t.Errorf("%s, %v", out, err)
	}
}
