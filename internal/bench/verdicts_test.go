package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/model/builtin"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// bundled is the directory of the memories that come with the program's source.
var bundled = filepath.Join("..", "..", "testdata", "answers")

type bundledMemory struct {
	Key  string `json:"-"`
	Text string `json:"text"`
	Type string `json:"type"`
	Time string `json:"time"`
}

// bundledQuestion is a question of a bundled set. Its kind is off-topic if nothing related is stored, near-miss if the
// thing is known but not the property asked about, and another one if gold answers it.
type bundledQuestion struct {
	ID   string `json:"qid"`
	Kind string
	Text string
	Gold []string
}

// bundledSet is a memory filled and queried with the built-in model.
type bundledSet struct {
	*world
	memories  []bundledMemory
	questions []bundledQuestion
	keys      map[string]string // of the stored memories, by id
}

func openSet(t *testing.T, dir string) *bundledSet {
	t.Helper()
	if weights.File == "" {
		t.Skip("this build has no model")
	}
	s := &bundledSet{world: newWorld(t), keys: map[string]string{}}
	s.Meaning = builtin.New(weights.File)
	var keyed []struct{ Key string }
	readLines(t, filepath.Join(dir, "memories.jsonl"), &s.memories)
	readLines(t, filepath.Join(dir, "memories.jsonl"), &keyed)
	readLines(t, filepath.Join(dir, "questions.jsonl"), &s.questions)
	for i, m := range keyed {
		s.memories[i].Key = m.Key
	}
	s.run(0, "init")
	return s
}

// readLines appends the objects of a file, one a line, to a list.
func readLines[T any](t *testing.T, file string, list *[]T) {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	for line := range strings.Lines(string(data)) {
		var x T
		must.OK(t, json.Unmarshal([]byte(line), &x), file)
		*list = append(*list, x)
	}
	must.Require(t, len(*list) > 0, "%s is empty", file)
}

// remember stores the memories from one number up to another.
func (s *bundledSet) remember(from, to int) {
	s.t.Helper()
	var lines strings.Builder
	for _, m := range s.memories[from:to] {
		b := must.Get(json.Marshal(m))(s.t)
		lines.Write(append(b, '\n'))
	}
	s.Stdin = strings.NewReader(lines.String())
	out, _ := s.run(0, "remember", "--batch", "-", "--json")
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var got struct{ ID string }
		if err := json.Unmarshal([]byte(line), &got); err != nil || s.keys[got.ID] != "" {
			s.t.Fatalf("%v, or became one with %q: %s", err, s.keys[got.ID], line)
		}
		s.keys[got.ID] = s.memories[from+i].Key
	}
	must.Require(s.t, len(s.keys) == to, "%d memories of %d", len(s.keys), to)
}

// verdict is the answer to a question: its verdict, and the keys of its items.
type verdict struct {
	bundledQuestion
	Verdict string
	Items   []struct{ ID string }
	keys    []string
}

// ask asks questions as `recall` does.
func (s *bundledSet) ask(list []bundledQuestion) (out []verdict) {
	s.t.Helper()
	var lines strings.Builder
	for _, q := range list {
		b := must.Get(json.Marshal(map[string]any{"qid": q.ID, "text": q.Text, "intent": "auto", "limit": 10}))(s.t)
		lines.Write(append(b, '\n'))
	}
	s.Stdin = strings.NewReader(lines.String())
	printed, _ := s.run(0, "retrieve", "--batch", "-", "--json")
	for i, line := range strings.Split(strings.TrimSpace(printed), "\n") {
		v := verdict{bundledQuestion: list[i]}
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.ID != list[i].ID {
			s.t.Fatalf("%v, or not the answer to %s: %s", err, list[i].ID, line)
		}
		for _, it := range v.Items {
			v.keys = append(v.keys, s.keys[it.ID])
		}
		out = append(out, v)
	}
	must.Require(s.t, len(out) == len(list), "%d answers to %d questions", len(out), len(list))
	return out
}

// shows reports whether one of the first n items is gold.
func (v *verdict) shows(n int) bool {
	return slices.ContainsFunc(v.keys[:min(n, len(v.keys))], func(k string) bool { return slices.Contains(v.Gold, k) })
}

// right reports whether a verdict matches the question's kind: unknown if it is off-topic, not known if it is a
// near-miss; for all others not unknown, with the answer among the first two.
func (v *verdict) right() bool {
	switch v.Kind {
	case "off-topic":
		return v.Verdict == "unknown"
	case "near-miss":
		return v.Verdict != "known"
	}
	return v.Verdict != "unknown" && v.shows(2)
}

// tally counts verdicts of questions.
type tally struct{ asked, right int }

// count adds verdicts to the tallies of their kinds and that of "all".
func count(t *testing.T, tallies map[string]tally, where string, list []verdict) {
	t.Helper()
	for i := range list {
		v := &list[i]
		for _, kind := range []string{v.Kind, "all"} {
			c := tallies[kind]
			c.asked++
			if v.right() {
				c.right++
			}
			tallies[kind] = c
		}
		if !v.right() {
			t.Logf("%s: %s %q: %s %v, want %v", where, v.Kind, v.Text, v.Verdict, v.keys, v.Gold)
		}
	}
}

// hold fails the test if less than a percentage of the verdicts of a kind are right.
func hold(t *testing.T, tallies map[string]tally, where string, least map[string]int) {
	t.Helper()
	t.Logf("%s: %v", where, tallies)
	for kind, share := range least {
		if c := tallies[kind]; c.asked == 0 || 100*c.right < share*c.asked {
			t.Errorf("%s: of %d questions %s %d verdicts are right, want %d in a hundred", where, c.asked, kind, c.right, share)
		}
	}
}

// TestVerdictsOfSmallMemories asks ten memories of ten facts each.
func TestVerdictsOfSmallMemories(t *testing.T) {
	effort.Alone(t)
	dirs, err := filepath.Glob(filepath.Join(bundled, "small", "*"))
	must.Require(t, err == nil && len(dirs) == 10, "%v %v", dirs, err)
	tallies := map[string]tally{}
	for _, dir := range dirs {
		s := openSet(t, dir)
		s.remember(0, len(s.memories))
		count(t, tallies, filepath.Base(dir), s.ask(s.questions))
	}
	hold(t, tallies, "small", map[string]int{"all": 85, "off-topic": 80, "near-miss": 80})
}

// TestVerdictsOfWeek queries a memory that grows from 5 to 100 facts, like an agent's in a week. At each size it asks 40
// questions: the last twenty that the memory can answer, ten that are off-topic and ten near misses.
func TestVerdictsOfWeek(t *testing.T) {
	effort.Alone(t)
	s := openSet(t, filepath.Join(bundled, "week"))
	var never []bundledQuestion
	for _, q := range s.questions {
		if len(q.Gold) == 0 {
			never = append(never, q)
		}
	}
	had := 0
	for _, size := range []int{5, 10, 20, 50, 100} {
		s.remember(had, size)
		had = size
		var can []bundledQuestion
		for _, q := range s.questions {
			if len(q.Gold) == 1 && q.Gold[0] <= fmt.Sprintf("m%03d", size) {
				can = append(can, q)
			}
		}
		tallies := map[string]tally{}
		list := append(can[len(can)-20:], never...)
		count(t, tallies, fmt.Sprint("week of ", size), s.ask(list))
		if c := tallies["all"]; c.asked != 40 {
			t.Fatalf("%d questions of %d facts", c.asked, size)
		}
		hold(t, tallies, fmt.Sprint("week of ", size), map[string]int{"all": 90})
	}
}

// TestLanguages asks for one of three near-identical facts, in a memory of sixty facts for each language. It bounds the
// questions whose answer is first, and those whose answer is among the first five.
func TestLanguages(t *testing.T) {
	effort.Alone(t)
	for _, c := range effort.Pick(languageBounds[:2], languageBounds, languageBounds) {
		t.Run(c.lang, func(t *testing.T) {
			s := openSet(t, filepath.Join(bundled, "languages", c.lang))
			s.remember(0, len(s.memories))
			first, five := 0, 0
			list := s.ask(s.questions)
			for i := range list {
				v := &list[i]
				if v.shows(1) {
					first++
				} else {
					t.Logf("%q: %s %v, want %v", v.Text, v.Verdict, v.keys, v.Gold)
				}
				if v.shows(5) {
					five++
				}
			}
			t.Logf("first %d, in five %d, of %d", first, five, len(list))
			if len(list) != 20 || len(s.memories) != 60 || first < c.first || five < c.five {
				t.Errorf("of %d questions to %d facts %d are first and %d in five, want %d and %d", len(list), len(s.memories),
					first, five, c.first, c.five)
			}
		})
	}
}

var languageBounds = []struct {
	lang        string
	first, five int
}{
	{"de", 18, 20}, {"ko", 18, 20}, {"fr", 16, 20}, {"es", 18, 20}, {"ru", 19, 20}, {"ja", 19, 20}, {"ar", 19, 20},
}
