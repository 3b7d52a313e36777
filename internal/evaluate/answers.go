package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/tuning"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// dayAfter is how long after the last memory questions are asked, in microseconds.
const dayAfter = 24 * 3600 * 1_000_000

// AnswerSet is a directory with a memory as agents write it and questions about it: memories.jsonl,
// questions.jsonl and, if they are wanted, cues.jsonl, also.jsonl and vectors.jsonl.
type AnswerSet struct {
	Dir   fs.FS
	Name  string // what rows call it
	Shown string // what messages call the directory, "" for nothing
}

// AnswersOptions says how memories are written and questions asked. The zero value works.
type AnswersOptions struct {
	Base    retrieve.Request // parameters of each question
	Cues    bool             // write each memory with its cues
	Also    bool             // ask each question in its other wordings too
	Vectors bool             // rank by the given vectors too
	// Profiles, Prepare, Ask and Progress are as in Options.
	Profiles *retrieve.Profiles
	Prepare  func(context.Context, *core.Repo, ipld.CID) (ipld.CID, error)
	Ask      func(context.Context, retrieve.Request) (retrieve.Request, error)
	Progress func(what string, done, total int)
}

// Memories are sets whose memories were written and whose questions can be asked. Close ends them.
type Memories struct {
	opt  AnswersOptions
	sets []*filled
}

type filled struct {
	*answerFiles
	rp   *core.Repo
	snap *core.Snapshot
	keys map[graph.ID]string // of the memories
	now  graph.OptTime
}

// Fill reads sets and writes the memories of each into a repository of its own, in order of time and each
// by itself, as an agent does. Errors in a line are a *graph.LineError; all that the files alone tell is
// seen before anything is written.
func Fill(ctx context.Context, sets []AnswerSet, opt AnswersOptions) (*Memories, error) {
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	m := &Memories{opt: opt}
	if err := m.fill(ctx, sets); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Memories) fill(ctx context.Context, sets []AnswerSet) error {
	total, done := 0, 0
	for _, set := range sets {
		files, err := set.files(&m.opt)
		if err != nil {
			return err
		}
		m.sets = append(m.sets, &filled{answerFiles: files})
		total += len(files.facts)
	}
	for _, s := range m.sets {
		err := s.fill(ctx, &m.opt, func() {
			done++
			m.opt.Progress("memories:", done, total)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close closes the repositories.
func (m *Memories) Close() (err error) {
	for _, s := range m.sets {
		if s.rp != nil {
			err = errors.Join(err, s.rp.Close())
		}
	}
	return err
}

func (s *filled) fill(ctx context.Context, opt *AnswersOptions, wrote func()) (err error) {
	stamp := state.Stamp{Author: "mnem bench", Time: s.facts[0].at, Command: []string{"bench", "answers"}}
	if s.rp, err = care.New(ctx, mem.New(), stamp, core.Options{}); err != nil {
		return err
	}
	s.keys = make(map[graph.ID]string)
	ids := make(map[string]graph.ID)
	agent := remember.New(s.rp)
	var head ipld.CID
	for i := range s.facts {
		one := &s.facts[i]
		stamp.Time = one.at
		res, err := agent.Remember(ctx, remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: stamp}},
			one.Request)
		if err != nil {
			return s.at(memoriesFile, one.line, err)
		}
		id := res.Memories[0].ID
		if other, merged := s.keys[id]; merged {
			return s.at(memoriesFile, one.line, fmt.Errorf("%q became one memory with %q", one.key, other))
		}
		s.keys[id], ids[one.key], head = one.key, id, res.Commit
		wrote()
	}
	s.now = graph.At(stamp.Time + dayAfter)
	if opt.Vectors {
		res, err := s.rp.Commit(ctx, s.embeddings(ids, opt.Cues),
			core.CommitOptions{Stamp: stamp, Message: "vectors"})
		if err != nil {
			return fmt.Errorf("%s: %w", s.shown(vectorsFile), err)
		}
		head = res.Commit
	}
	if opt.Prepare != nil {
		if head, err = opt.Prepare(ctx, s.rp, head); err != nil {
			return err
		}
	}
	s.snap, err = s.rp.At(ctx, head)
	return err
}

func (s *filled) embeddings(ids map[string]graph.ID, cues bool) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		for i := range s.facts {
			v := s.vectors[s.facts[i].vectorID(cues)]
			e := &graph.EmbeddingChange{Node: graph.Ref{ID: ids[s.facts[i].key]}, Model: vectorModel}
			for _, x := range v.Values {
				e.Vector = append(e.Vector, float64(x))
			}
			if !yield(graph.Change{Embedding: e}, nil) {
				return
			}
		}
	}
}

// Ask asks all questions a day after the last memory of their set.
func (m *Memories) Ask(ctx context.Context) (*AnswersReport, error) { return m.askAll(ctx, nil) }

// Vary is Ask with another value in the place of a constant of the ranking, which has none that a request could change.
func (m *Memories) Vary(ctx context.Context, name string, value int64) (*AnswersReport, error) {
	return m.askAll(ctx, &tuning.Constant{Name: name, Value: value})
}

func (m *Memories) askAll(ctx context.Context, tuned *tuning.Constant) (*AnswersReport, error) {
	report, total := &AnswersReport{}, 0
	for _, s := range m.sets {
		report.Sets = append(report.Sets, AnswersSet{s.Name, len(s.facts), len(s.questions)})
		total += len(s.questions)
	}
	for at, s := range m.sets {
		for i := range s.questions {
			q := &s.questions[i]
			asked, err := m.ask(ctx, s, q, tuned)
			if err != nil {
				return nil, s.at(questionsFile, q.line, err)
			}
			asked.Set = at
			report.Questions = append(report.Questions, *asked)
			m.opt.Progress("questions:", len(report.Questions), total)
		}
	}
	return report, nil
}

func (m *Memories) ask(ctx context.Context, s *filled, q *question, tuned *tuning.Constant) (*Asked, error) {
	req := m.opt.Base
	req.Text, req.Now, req.Rewrites = q.text, s.now, q.also
	if m.opt.Vectors {
		req.Vectors = []retrieve.QueryVector{s.vectors[q.id]}
	}
	var err error
	if m.opt.Ask != nil {
		if req, err = m.opt.Ask(ctx, req); err != nil {
			return nil, err
		}
	}
	if req, err = m.opt.Profiles.Apply(req); err != nil {
		return nil, err
	}
	answer, err := rank.RetrieveTuned(ctx, s.snap, req, tuned)
	if err != nil {
		return nil, err
	}
	items := make([]Printed, len(answer.Items))
	for i := range answer.Items {
		it := &answer.Items[i]
		items[i] = Printed{Key: s.keys[it.ID], Band: it.Band, Tokens: it.Tokens, Outdated: strings.Contains(it.Rendered, "replaced ")}
	}
	asked := &Asked{ID: q.id, Kind: q.kind, Text: q.text, Gold: q.gold, Scores: scoreAnswer(q, answer.Verdict, items),
		Verdict: answer.Verdict}
	for _, it := range items {
		asked.Found = append(asked.Found, it.Key)
	}
	return asked, nil
}
