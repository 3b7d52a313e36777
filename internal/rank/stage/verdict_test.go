package stage

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// evenMemory is a memory in which all words that the table of rarity does not know tell the same.
type evenMemory struct{ *memory }

func (m evenMemory) Counts(_ context.Context, terms []string) ([]int64, int64, error) {
	return slices.Repeat([]int64{1}, len(terms)), 1, m.fail("Counts")
}

func (m evenMemory) IDFs(_ context.Context, terms []string) ([]int64, error) {
	return slices.Repeat([]int64{1 << 16}, len(terms)), m.fail("IDFs")
}

// says makes a memory of nodes with summaries.
func says(summaries ...string) evenMemory {
	m := evenMemory{newMemory()}
	for i, s := range summaries {
		m.add(graph.Node{ID: num(i), Summary: s, Created: 1})
	}
	return m
}

// tenWords are words that nothing knows.
const tenWords = "zorb plim grak thix wexo brin dolf quem yarp fosk"

func (m evenMemory) answer(t *testing.T, req retrieve.Request) *retrieve.Answer {
	t.Helper()
	req.Expand, req.Budget = new(0), new(0)
	if req.Limit == nil {
		req.Limit = new(0)
	}
	a, err := Run(t.Context(), m, m, testCommit, req)
	must.OK(t, err)
	return a
}

// TestJudgedBeforeTheLimit has the same verdict, whatever is shown of the answer, and in its receipt.
func TestJudgedBeforeTheLimit(t *testing.T) {
	m := says("stranger zorb zorb zorb zorb", tenWords)
	m.scores = map[graph.ID]int64{num(0): 100, num(1): 99}
	for name, req := range map[string]retrieve.Request{
		"all": {}, "one item": {Limit: new(1)}, "no room": {Limit: new(0), Floor: retrieve.FloorAnswer},
	} {
		req.Text = tenWords
		a := m.answer(t, req)
		if a.Verdict != retrieve.Known || a.Because != "all of 'zorb', 'plim', 'grak', 'thix', 'wexo', 'brin' is in it" {
			t.Errorf("%s: %s, %s", name, a.Verdict, a.Because)
		}
		r, _ := a.Receipt()
		back, err := retrieve.DecodeReceipt(r.Encode())
		if err != nil || back.Verdict != retrieve.Known {
			t.Errorf("%s: the receipt has %q, %v", name, back.Verdict, err)
		}
	}
}

// TestNeverKnown has memories that have all words and are not to be relied on.
func TestNeverKnown(t *testing.T) {
	for name, c := range map[string]struct {
		said, asked string
		because     string
		missing     string
	}{
		"whole":           {"zorb plim grak", "zorb plim grak?", "all of 'zorb', 'plim', 'grak' is in it", ""},
		"a name":          {"zorb plim grak thix", "does Ottilie zorb plim grak thix?", "it does not say 'Ottilie'", "name Ottilie"},
		"a number":        {"zorb plim grak thix wexo 7", "zorb plim grak thix wexo 8?", "it does not say '8'", "number 8"},
		"a phrase":        {"zorb grak plim thix", "zorb \"plim grak\" thix?", "it does not say 'plim grak'", "phrase plim grak"},
		"denied":          {"zorb plim not grak", "zorb plim grak", "it does not say 'not'", "negation not"},
		"asked, not said": {"who does zorb plim grak thix ?", "zorb plim grak thix", "the memory only asks", ""},
	} {
		m := says(c.said)
		a := m.answer(t, retrieve.Request{Text: c.asked})
		var missing []string
		for _, l := range a.Missing {
			missing = append(missing, l.Kind+" "+l.Text)
		}
		want := retrieve.Unsure
		if name == "whole" {
			want = retrieve.Known
		}
		if a.Verdict != want || a.Because != c.because || strings.Join(missing, ", ") != c.missing {
			t.Errorf("%s: %s, %s, missing %v", name, a.Verdict, a.Because, missing)
		}
	}
	for state, want := range map[graph.State]string{graph.Stale: "the memory is marked stale"} {
		m := says("zorb plim grak")
		m.mark(num(0), state)
		if a := m.answer(t, retrieve.Request{Text: "zorb plim grak"}); a.Verdict != retrieve.Unsure || a.Because != want {
			t.Errorf("%s: %s, %s", state, a.Verdict, a.Because)
		}
	}
	m := says("zorb plim grak thix 7", "zorb plim grak thix 9")
	if a := m.answer(t, retrieve.Request{Text: "zorb plim grak thix"}); a.Verdict != retrieve.Unsure || !strings.Contains(a.Because, "two memories") {
		t.Errorf("two that differ: %s, %s", a.Verdict, a.Because)
	}
}

// TestWholeWords: what the model knows few words of counts by words, of what it knows all words by meaning.
func TestWholeWords(t *testing.T) {
	m := evenMemory{shelf()}
	for share, want := range map[int]graph.ID{1000: num(3), 0: num(1)} {
		a := m.answer(t, retrieve.Request{Text: "a vexil morn quib", Vectors: vectorOf("m", 1, 0),
			Whole: []retrieve.WholeWords{{Model: "m", Share: share}}, Floor: retrieve.FloorRest})
		if len(a.Items) == 0 || a.Items[0].ID != want {
			t.Errorf("%d of 1000: %v, want %s first", share, ids(a), want)
		}
	}
}
