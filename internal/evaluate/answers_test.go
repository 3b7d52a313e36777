package evaluate_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// Files of a set with an update, a question without an answer, and vectors that put one memory first.
const (
	shopMemories = `{"key":"b","text":"The lamp in the hall is green now","type":"fact","time":"2026-01-03T10:00:00Z"}
{"key":"a","text":"The lamp in the hall is red","type":"fact","time":"2026-01-02T10:00:00Z"}

{"key":"c","text":"Ropes are sold by the metre","type":"fact","time":"2026-01-02T11:00:00Z","meta":{"any":1}}
`
	shopQuestions = `{"qid":"1","kind":"update","text":"which colour has the lamp in the hall?","gold":["b"],"old":["a"]}
{"qid":"2","kind":"plain","text":"cord","gold":["c"],"ok":[]}
{"qid":"3","kind":"none","text":"zeppelin","gold":[]}
`
	shopCues = `{"key":"c","cues":["cord","string"]}
`
	shopAlso = `{"qid":"1","also":["hall lamp"]}
{"qid":"2","also":["ropes"]}
{"qid":"3","also":["airship"]}
`
	shopVectors = `{"id":"a","vector":[1,0]}
{"id":"b","vector":[1,0]}
{"id":"c","vector":[0,1]}
{"id":"a+cues","vector":[1,0]}
{"id":"b+cues","vector":[1,0]}
{"id":"c+cues","vector":[0,1]}
{"id":"1","vector":[1,0]}
{"id":"2","vector":[0,0.5]}
{"id":"3","vector":[-1,-1]}
`
)

func shop(files ...string) fstest.MapFS {
	return dir(append([]string{"memories.jsonl", shopMemories, "questions.jsonl", shopQuestions,
		"cues.jsonl", shopCues, "also.jsonl", shopAlso, "vectors.jsonl", shopVectors}, files...)...)
}

func fill(t testing.TB, opt evaluate.AnswersOptions, sets ...fstest.MapFS) (*evaluate.Memories, error) {
	t.Helper()
	var list []evaluate.AnswerSet
	for i, files := range sets {
		list = append(list, evaluate.AnswerSet{Dir: files, Name: fmt.Sprint("set", i), Shown: "in"})
	}
	m, err := evaluate.Fill(t.Context(), list, opt)
	if err == nil {
		t.Cleanup(func() { must.OK(t, m.Close()) })
	}
	return m, err
}

// TestAnswers looks at the items of each question with cues, other wordings and vectors, and without.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		opt  evaluate.AnswersOptions
		want []string // the keys of the items of each question
	}{
		"plain":   {evaluate.AnswersOptions{}, []string{"b a", "", ""}},
		"cues":    {evaluate.AnswersOptions{Cues: true}, []string{"b a", "c", ""}},
		"also":    {evaluate.AnswersOptions{Also: true}, []string{"b a", "c", ""}},
		"vectors": {evaluate.AnswersOptions{Vectors: true}, []string{"b a", "c", ""}},
		"both":    {evaluate.AnswersOptions{Vectors: true, Cues: true}, []string{"b a", "c", ""}},
	} {
		m := must.Get(fill(t, c.opt, shop()))(t)
		report := must.Get(m.Ask(t.Context()))(t)
		var got []string
		for _, q := range report.Questions {
			got = append(got, strings.Join(q.Found, " "))
		}
		must.Same(t, got, c.want, name)
	}
}

// TestAnswersOfSets pools sets, and varies a constant.
func TestAnswersOfSets(t *testing.T) {
	var last string
	m, err := fill(t, evaluate.AnswersOptions{Also: true, Base: retrieve.Request{Floor: retrieve.FloorRest},
		Progress: func(what string, done, total int) { last = fmt.Sprint(what, done, "/", total) },
	}, shop(), shop())
	must.OK(t, err)
	must.Equal(t, last, "memories:6/6", "filling ended")
	report := must.Get(m.Ask(t.Context()))(t)
	must.True(t, last == "questions:6/6" && len(report.Questions) == 6 && report.Questions[3].Set == 1,
		"%q, %+v", last, report)
	must.Same(t, report.Sets, []evaluate.AnswersSet{{"set0", 3, 3}, {"set1", 3, 3}})
	same, err := m.Vary(t.Context(), "of-best", 39_322)
	must.True(t, err == nil && cmp.Equal(found(same), found(report)),
		"with its own value of the constant: %v, %v", found(same), err)
	if _, err := m.Vary(t.Context(), "magic", 1); !errors.Is(err, retrieve.ErrRequest) ||
		!strings.Contains(err.Error(), `in/questions.jsonl:1: ranking: no constant "magic": there are ease, ground, keeps, kin, `) {
		t.Errorf("unknown constant: %v", err)
	}
}

func found(r *evaluate.AnswersReport) (all [][]string) {
	for _, q := range r.Questions {
		all = append(all, q.Found)
	}
	return all
}

// TestAnswersRefuse breaks each file in turn.
func TestAnswersRefuse(t *testing.T) {
	all := evaluate.AnswersOptions{Cues: true, Also: true, Vectors: true}
	cases.Golden(t, filepath.Join("testdata", "answers-refused.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct{ File, Text string }
		cases.Parse(t, c.Input, &in)
		_, err := fill(t, all, shop(in.File, in.Text))
		return fmt.Sprint(err)
	})
	for _, name := range []string{"memories", "questions", "cues", "also", "vectors"} {
		files := shop()
		delete(files, name+".jsonl")
		if _, err := fill(t, all, files); err == nil || !strings.HasPrefix(err.Error(), "open in/"+name+".jsonl: ") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	// Files that no flag asks for are not read.
	plain := dir("memories.jsonl", shopMemories, "questions.jsonl", shopQuestions)
	must.OK(t, must.Err(fill(t, evaluate.AnswersOptions{}, plain)))
	var line *graph.LineError
	again := shopMemories + `{"key":"d","text":"Ropes are sold by the metre","type":"fact","time":"2026-01-04T00:00:00Z"}`
	_, err := fill(t, evaluate.AnswersOptions{}, shop("memories.jsonl", again))
	must.True(t, errors.As(err, &line) && line.Line == 5 &&
		strings.Contains(err.Error(), `"d" became one memory with "c"`), "two memories of one text: %v", err)
}
