package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// The files of a set.
const (
	memoriesFile  = "memories.jsonl"
	questionsFile = "questions.jsonl"
	cuesFile      = "cues.jsonl"
	alsoFile      = "also.jsonl"
	vectorsFile   = "vectors.jsonl"
)

const (
	// vectorModel is the name of the model of the vectors of a set.
	vectorModel = "given"
	// withCues stands behind the key in the id of a vector of a memory with its cues.
	withCues = "+cues"
)

type fact struct {
	key  string
	line int
	at   graph.Time
	remember.Request
}

// question is a question of a set. Memories are named by their keys.
type question struct {
	id, kind, text string
	gold, ok, old  []string // needed for the answer, welcome next to it, and outdated by gold
	also           []string
	line           int
}

type answerFiles struct {
	AnswerSet
	facts     []fact // in order of time
	questions []question
	vectors   map[string]retrieve.QueryVector // by id
}

func (s AnswerSet) shown(file string) string { return path.Join(s.Shown, file) }

func (s AnswerSet) at(file string, line int, err error) error {
	return &graph.LineError{File: s.shown(file), Line: line, Err: err}
}

// read reads a file, each line by what parse returns members for, and calls done after each.
func (s AnswerSet) read(file string, parse func(line int) (m members, done func() error)) error {
	return openFile(s.Dir, file, s.shown(file), func(f io.Reader, shown string) error {
		return readLines(f, shown, func(line []byte, n int) error {
			m, done := parse(n)
			if err := m.read(line); err != nil {
				return err
			}
			return done()
		})
	})
}

func (s AnswerSet) files(opt *AnswersOptions) (*answerFiles, error) {
	f := &answerFiles{AnswerSet: s}
	for _, step := range []struct {
		wanted bool
		read   func() error
	}{
		{true, f.readFacts}, {true, f.readQuestions}, {opt.Cues, f.readCues}, {opt.Also, f.readAlso},
		{opt.Vectors, func() error { return f.readVectors(opt.Cues) }},
	} {
		if step.wanted {
			if err := step.read(); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(f.facts, func(a, b fact) int { return cmp.Compare(a.at, b.at) })
	return f, nil
}

// unique refuses a name that stands in an earlier line.
type unique map[string]int

func (u unique) add(member, name string, line int) error {
	if first, twice := u[name]; twice {
		return graph.Fieldf(member, "%q is taken by line %d", name, first)
	}
	u[name] = line
	return nil
}

func (f *answerFiles) readFacts() error {
	seen := make(unique)
	err := f.read(memoriesFile, func(n int) (members, func() error) {
		one, at := fact{line: n}, ""
		return members{
				"key": intoText(&one.key), "text": intoText(&one.Text), "type": intoText(&one.Type),
				"time": intoText(&at),
			}, func() (err error) {
				if one.at, err = graph.ParseTime(at); err != nil {
					return graph.Fieldf("time", "%v", err)
				}
				f.facts = append(f.facts, one)
				return seen.add("key", one.key, n)
			}
	})
	if err == nil && len(f.facts) == 0 {
		err = graph.Fieldf(f.shown(memoriesFile), "no memories")
	}
	return err
}

func (f *answerFiles) fact(key string) *fact {
	i := slices.IndexFunc(f.facts, func(one fact) bool { return one.key == key })
	if i < 0 {
		return nil
	}
	return &f.facts[i]
}

func (f *answerFiles) readQuestions() error {
	seen := make(unique)
	err := f.read(questionsFile, func(n int) (members, func() error) {
		q := question{line: n}
		return members{
				"qid": intoText(&q.id), "kind": intoText(&q.kind), "text": intoText(&q.text),
				"gold": intoTexts(&q.gold), "ok?": intoTexts(&q.ok), "old?": intoTexts(&q.old),
			}, func() error {
				for _, list := range []struct {
					member string
					keys   []string
				}{{"gold", q.gold}, {"ok", q.ok}, {"old", q.old}} {
					for _, key := range list.keys {
						if f.fact(key) == nil {
							return noMemory(list.member, key)
						}
					}
				}
				f.questions = append(f.questions, q)
				return seen.add("qid", q.id, n)
			}
	})
	if err == nil && len(f.questions) == 0 {
		err = graph.Fieldf(f.shown(questionsFile), "no questions")
	}
	return err
}

func noMemory(member, key string) error {
	return graph.Fieldf(member, "%s has no memory %q", memoriesFile, key)
}

func (f *answerFiles) readCues() error {
	seen := make(unique)
	return f.read(cuesFile, func(n int) (members, func() error) {
		var key string
		var cues []string
		return members{"key": intoText(&key), "cues": intoTexts(&cues)}, func() error {
			one := f.fact(key)
			if one == nil {
				return noMemory("key", key)
			}
			if one.Cues = cues; one.Validate() != nil {
				return one.Validate()
			}
			return seen.add("key", key, n)
		}
	})
}

func (f *answerFiles) readAlso() error {
	seen := make(unique)
	err := f.read(alsoFile, func(n int) (members, func() error) {
		var qid string
		var also []string
		return members{"qid": intoText(&qid), "also": intoTexts(&also)}, func() error {
			at := slices.IndexFunc(f.questions, func(q question) bool { return q.id == qid })
			if at < 0 {
				return graph.Fieldf("qid", "%s has no question %q", questionsFile, qid)
			}
			f.questions[at].also = also
			return seen.add("qid", qid, n)
		}
	})
	for _, q := range f.questions {
		if _, there := seen[q.id]; err == nil && !there {
			err = f.at(questionsFile, q.line, fmt.Errorf("%s has no line for %q", alsoFile, q.id))
		}
	}
	return err
}

// readVectors reads the vectors: each memory and each question must have one.
func (f *answerFiles) readVectors(cues bool) error {
	ids, seen := make(map[string]bool), make(unique)
	for _, one := range f.facts {
		ids[one.key], ids[one.key+withCues] = true, true
	}
	for _, q := range f.questions {
		ids[q.id] = true
	}
	f.vectors = make(map[string]retrieve.QueryVector)
	err := f.read(vectorsFile, func(n int) (members, func() error) {
		var id string
		var v retrieve.QueryVector
		return members{"id": intoText(&id), "vector": func(list ipld.Value) (err error) {
				v, err = retrieve.ParseQueryVector(vectorModel, list)
				return err
			}}, func() error {
				if f.vectors[id] = v; !ids[id] {
					return graph.Fieldf("id", "there is no memory and no question %q", strings.TrimSuffix(id, withCues))
				}
				return seen.add("id", id, n)
			}
	})
	want := func(file string, line int, id string) {
		if _, there := seen[id]; err == nil && !there {
			err = f.at(file, line, fmt.Errorf("%s has no line for %q", vectorsFile, id))
		}
	}
	for i := range f.facts {
		want(memoriesFile, f.facts[i].line, f.facts[i].vectorID(cues))
	}
	for _, q := range f.questions {
		want(questionsFile, q.line, q.id)
	}
	return err
}

// vectorID returns the id of the vector of a memory, with its cues or without.
func (m *fact) vectorID(cues bool) string {
	if cues {
		return m.key + withCues
	}
	return m.key
}
