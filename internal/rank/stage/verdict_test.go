package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
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

// someOf returns the first n of tenWords.
func someOf(n int) string { return strings.Join(strings.Fields(tenWords)[:n], " ") }

func (m evenMemory) answer(t *testing.T, req retrieve.Request) *retrieve.Answer {
	t.Helper()
	req.Expand, req.Budget = new(0), new(0)
	if req.Limit == nil {
		req.Limit = new(0)
	}
	a, err := Run(t.Context(), m, m, testCommit, req)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// bandsOf returns the number and band of each item of an answer, in its order.
func (m evenMemory) bandsOf(t *testing.T, req retrieve.Request) string {
	t.Helper()
	a := m.answer(t, req)
	var out []string
	for i, n := range order(a) {
		out = append(out, fmt.Sprint(n, " ", a.Items[i].Band))
	}
	return strings.Join(out, ", ")
}

// TestVerdictByWords judges by the share of ten words that the best of two memories has.
func TestVerdictByWords(t *testing.T) {
	for n, want := range map[int]string{
		10: "known 0 answer", 7: "known 0 answer", 5: "unsure 0 maybe", 4: "unsure 0 maybe", 3: "unknown 0 maybe",
	} {
		m := says(someOf(n), "other")
		a := m.answer(t, retrieve.Request{Text: tenWords})
		if got := string(a.Verdict) + " " + m.bandsOf(t, retrieve.Request{Text: tenWords}); got != want {
			t.Errorf("%d of ten words: %s, want %s", n, got, want)
		}
	}
}

// TestVerdictByMeaning judges by cosines, which the words add to.
func TestVerdictByMeaning(t *testing.T) {
	for name, c := range map[string]struct {
		said   string
		vector []int8
		want   retrieve.Verdict
	}{
		"the same direction": {"other", []int8{127, 127, 127, 127}, retrieve.Known},
		"near":               {"other", []int8{127, 127, 0, 0}, retrieve.Unsure},
		"apart":              {"other", []int8{30, 0, 0, 0}, retrieve.Unknown},
		"near, most in word": {someOf(7), []int8{127, 127, 0, 0}, retrieve.Known},
		"apart, half":        {someOf(5), []int8{30, 0, 0, 0}, retrieve.Unsure},
	} {
		m := says(c.said)
		m.embed(num(0), "m", c.vector...)
		m.add(graph.Node{ID: num(1), Summary: "stranger", Created: 1})
		m.embed(num(1), "m", 1, 0, 0, 0)
		if got := m.answer(t, retrieve.Request{Text: tenWords, Vectors: vectorOf("m", 127, 127, 127, 127)}).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestVerdictOfWordings counts the better of two wordings for three fifths.
func TestVerdictOfWordings(t *testing.T) {
	m := says(tenWords)
	for other, want := range map[string]retrieve.Verdict{
		"vexil morn": retrieve.Unsure, // 3/5 is less than sure
		"zorb":       retrieve.Known,
	} {
		if got := m.answer(t, retrieve.Request{Text: tenWords,
			RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{other}}}); got.Verdict != want {
			t.Errorf("beside %q: %s, want %s (%d)", other, got.Verdict, want, got.Covered)
		}
	}
}

// TestCutWhereCoverageFalls shows what accounts for nearly as much as the best, and no more than so many.
func TestCutWhereCoverageFalls(t *testing.T) {
	m := says(tenWords, someOf(7), someOf(5))
	if got := m.bandsOf(t, retrieve.Request{Text: tenWords}); got != "0 answer, 1 answer" {
		t.Error(got)
	}
	if got := m.bandsOf(t, retrieve.Request{Text: tenWords, Floor: retrieve.FloorRest}); got != "0 answer, 1 answer, 2 rest" {
		t.Error(got)
	}
	for words, want := range map[int]int{10: maxAnswers, 5: maxUnsure, 2: maxWorded} {
		m := says(slices.Repeat([]string{someOf(words)}, 9)...)
		if a := m.answer(t, retrieve.Request{Text: tenWords}); len(a.Items) != want {
			t.Errorf("%d words: %d items, want %d", words, len(a.Items), want)
		}
		if a := m.answer(t, retrieve.Request{Text: tenWords, Floor: retrieve.FloorAnswer}); len(a.Items) > 0 != (words == 10) {
			t.Errorf("%d words, floor answer: %d items", words, len(a.Items))
		}
	}
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

// TestContradicted: what contradicts the best takes it back as long as it is there.
func TestContradicted(t *testing.T) {
	for hidden, want := range map[bool]retrieve.Verdict{false: retrieve.Unsure, true: retrieve.Known} {
		m := says("zorb plim grak", "wexo")
		m.markBy(num(0), graph.Contradicted, num(1))
		if hidden {
			m.mark(num(1), graph.Forgotten)
		}
		if a := m.answer(t, retrieve.Request{Text: "zorb plim grak"}); a.Verdict != want {
			t.Errorf("hidden %v: %s, %s", hidden, a.Verdict, a.Because)
		}
	}
}

// TestUnsureWithoutARival asks for something that two nearly equal memories have half of: what they lack is the reason, not
// that they differ.
func TestUnsureWithoutARival(t *testing.T) {
	m := says(someOf(5)+" at 30 percent", someOf(5)+" at 90 percent")
	a := m.answer(t, retrieve.Request{Text: tenWords})
	if a.Verdict != retrieve.Unsure || !strings.HasPrefix(a.Because, "the nearest does not say '") {
		t.Errorf("%s: %s", a.Verdict, a.Because)
	}
}

// TestUnknownSaysWhat names the words that nothing has.
func TestUnknownSaysWhat(t *testing.T) {
	m := says("stranger")
	if a := m.answer(t, retrieve.Request{Text: "zorb stranger plim grak thix", Floor: retrieve.FloorRest}); a.Verdict != retrieve.Unknown ||
		a.Because != "nothing stored mentions 'zorb', 'plim', 'grak'" {
		t.Errorf("%s: %s", a.Verdict, a.Because)
	}
	for text, because := range map[string]string{
		"zeppelin": "nothing stored mentions 'zeppelin'", "stranger": "nothing that may be shown mentions it",
	} {
		a := m.answer(t, retrieve.Request{Text: text, Types: []string{"none"}})
		if a.Verdict != retrieve.Unknown || len(a.Items) > 0 || a.Because != because {
			t.Errorf("%s: %s, %d items: %s", text, a.Verdict, len(a.Items), a.Because)
		}
	}
}

// TestVerdictOfNames: what the text names is known, whatever it says.
func TestVerdictOfNames(t *testing.T) {
	m := says("zorb x", "zorb y")
	m.add(graph.Node{Key: "boat", Summary: "none", Created: 1})
	for text, tier := range map[string]int{"boat": tierWhole, "zorb plim grak of `boat`": tierQuoted} {
		a := m.answer(t, retrieve.Request{Text: text, Floor: retrieve.FloorAnswer})
		if a.Verdict != retrieve.Known || len(a.Items) == 0 || a.Items[0].Key != "boat" || a.Items[0].Tier != tier {
			t.Errorf("%s: %s, %+v", text, a.Verdict, a.Items)
		}
	}
}

// TestNoVerdict has requests that ask nothing that could be known.
func TestNoVerdict(t *testing.T) {
	m := says("zorb x", "zorb y", "zorb z")
	s := sparseShelf()
	d := newMemory()
	d.add(graph.Node{ID: num(0), Summary: "zorb", Created: 1_700_000_000_000_000})
	for name, c := range map[string]struct {
		m interface {
			source.Graph
			source.Index
		}
		req   retrieve.Request
		items int
	}{
		"blank":           {m, retrieve.Request{}, 3},
		"sparse":          {s, retrieve.Request{Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 2})}, 1},
		"by a date alone": {d, retrieve.Request{Text: "what happened in November 2023"}, 1},
	} {
		c.req.Floor, c.req.Expand = retrieve.FloorAnswer, new(0)
		a, err := Run(t.Context(), c.m, c.m, testCommit, c.req)
		if err != nil || a.Verdict != "" || len(a.Items) < c.items || a.Items[0].Band != retrieve.BandAnswer {
			t.Errorf("%s: %q, %d items, %v", name, a.Verdict, len(a.Items), err)
		}
	}
	if got := m.bandsOf(t, retrieve.Request{Text: "zorb", Ranking: retrieve.PlainRanking}); got != "0 , 1 , 2 " {
		t.Errorf("plain: %s", got)
	}
}

// TestLaterFirst puts the later of two that say nearly the same first, unless it accounts for clearly less.
func TestLaterFirst(t *testing.T) {
	for name, c := range map[string]struct {
		old, newer string
		asked      string
		apart      graph.Time
		want       string
	}{
		"later":             {"zorb plim north", "zorb plim south", "zorb plim", laterApart, "1 0"},
		"at once":           {"zorb plim north", "zorb plim south", "zorb plim", laterApart - 1, "0 1"},
		"asked for the old": {"zorb plim grak thix", "zorb plim wexo brin", "zorb grak thix", laterApart, "0"},
		"something else":    {"zorb plim north yarp", "zorb fosk south brin", "zorb", laterApart, "0 1"},
		"asked by date":     {"zorb plim north", "zorb plim south", "zorb plim in March 2020", laterApart, "0 1"},
	} {
		m := says(c.old, c.newer)
		m.nodes[num(1)].Created = 1 + c.apart
		var got []string
		for _, n := range order(m.answer(t, retrieve.Request{Text: c.asked})) {
			got = append(got, fmt.Sprint(n))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// TestSaidGivesWay: what was only said is judged apart, and counts if it knows more.
func TestSaidGivesWay(t *testing.T) {
	m := says()
	m.add(graph.Node{ID: num(0), Type: "Turn", Summary: tenWords, Created: 1})
	m.add(graph.Node{ID: num(1), Summary: someOf(8), Created: 1})
	if got := m.bandsOf(t, retrieve.Request{Text: tenWords}); got != "1 answer" {
		t.Errorf("a memory knows: %s", got)
	}
	m.nodes[num(1)].Summary = someOf(5)
	if got := m.bandsOf(t, retrieve.Request{Text: tenWords}); got != "0 answer" {
		t.Errorf("only what was said does: %s", got)
	}
}

// TestNamesAreNoItems leaves out names, unless the request names one, asks for their type, or one says more.
func TestNamesAreNoItems(t *testing.T) {
	m := says()
	m.add(graph.Node{Key: "entity/part", Type: "Entity", Summary: "part name", Created: 1})
	m.add(graph.Node{Key: "entity/more", Type: "Entity", Summary: "part more", Context: "said", Created: 1})
	for want, req := range map[string]retrieve.Request{
		"entity/more": {Text: "part"},
		"entity/part": {Text: "entity/part",
			Exclusions: retrieve.Exclusions{Exclude: []graph.ID{graph.NodeID("entity/more")}}},
		"entity/more entity/part": {Text: "part", Types: []string{"Entity"}},
	} {
		a := m.answer(t, req)
		var keys []string
		for _, it := range a.Items {
			keys = append(keys, it.Key)
		}
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q of %v: %s, want %s", req.Text, req.Types, got, want)
		}
	}
}

// TestBandsOfPairs: what contradicts an item is shown with it and has its band.
func TestBandsOfPairs(t *testing.T) {
	m := says("zorb x", "zorb y", "none")
	m.markBy(num(0), graph.Contradicted, num(2))
	if got := m.bandsOf(t, retrieve.Request{Text: "zorb plim grak"}); got != "0 maybe, 2 maybe, 1 maybe" {
		t.Error(got)
	}
}

// TestVerdictErrors passes on what fails.
func TestVerdictErrors(t *testing.T) {
	for _, method := range []string{"Types", "TermWeights", "TermScores", "Counts", "IDFs", "Mark", "Node"} {
		m := says("zorb plim", "zorb plim grak")
		m.failOn = method
		_, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "zorb plim",
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
		if err == nil {
			t.Errorf("%s fails, and no error", method)
		}
	}
}

// TestLaterKeepsWhatIsAsked: of two memories that say nearly the same the later one comes first, unless it lacks a word
// of the question that the older one has.
func TestLaterKeepsWhatIsAsked(t *testing.T) {
	m := evenMemory{newMemory()}
	m.add(graph.Node{ID: num(0), Summary: "order 4812 went to the shop in Passau", Created: 1})
	m.add(graph.Node{ID: num(1), Summary: "order 4920 went to the shop in Erfurt", Created: 2 * laterApart})
	for text, want := range map[string]graph.ID{
		"to which shop went order": num(1),
		"shop of order 4812":       num(0),
	} {
		if a := m.answer(t, retrieve.Request{Text: text}); len(a.Items) != 2 || a.Items[0].ID != want {
			t.Errorf("%q: %v, want %s first", text, ids(a), want)
		}
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

// TestWordsInOnePlace: a long text that has the words of a question in several places accounts for less than one that
// has them together, and what only asks comes last.
func TestWordsInOnePlace(t *testing.T) {
	pasted := strings.Repeat("The zorb has roles and tables. Nothing more is known of those here. A page lies in the vexil of a log. ", 8)
	m := evenMemory{newMemory()}
	m.add(graph.Node{ID: num(0), Summary: pasted, Created: 2 * laterApart})
	m.add(graph.Node{ID: num(1), Summary: "is zorb in vexil ?", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "The zorb is in vexil next to the migrations.", Created: 1})
	m.scores = map[graph.ID]int64{num(0): 98, num(1): 100, num(2): 99}
	a := m.answer(t, retrieve.Request{Text: "zorb vexil"})
	if a.Verdict != retrieve.Known || len(a.Items) == 0 || a.Items[0].ID != num(2) {
		t.Errorf("%s (%s): %v", a.Verdict, a.Because, ids(a))
	}
	a = says(pasted).answer(t, retrieve.Request{Text: "zorb vexil"})
	if a.Covered >= 1<<16 {
		t.Errorf("the long text covers %d", a.Covered)
	}
}

// TestOnlyNamed: a memory about somebody of whom something else is asked is no answer, however much of the question the
// name is.
func TestOnlyNamed(t *testing.T) {
	m := evenMemory{newMemory()}
	m.add(graph.Node{ID: num(0), Summary: "Odile Marchand keeps the zorb here", Created: 1})
	m.embed(num(0), "m", 127, 0)
	for asked, want := range map[string]retrieve.Verdict{
		"vexil Odile Marchand": retrieve.Unsure,
		"zorb Odile Marchand":  retrieve.Known,
		"Odile Marchand":       retrieve.Known,
	} {
		if a := m.answer(t, retrieve.Request{Text: asked}); a.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", asked, a.Verdict, a.Because, want)
		}
	}
}

// TestLaterByAnotherWording: the later memory comes first though another wording finds the earlier one better.
func TestLaterByAnotherWording(t *testing.T) {
	m := evenMemory{newMemory()}
	m.add(graph.Node{ID: num(0), Summary: "vexil zorb morn quib", Created: 1})
	m.add(graph.Node{ID: num(1), Summary: "vexil zorb morn tarn", Created: 2 * laterApart})
	m.scores = map[graph.ID]int64{num(0): 100, num(1): 99}
	for other, want := range map[string]graph.ID{"quib": num(0), "morn tarn": num(1)} {
		a := m.answer(t, retrieve.Request{Text: "vexil zorb quib", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{other}}})
		if len(a.Items) == 0 || a.Items[0].ID != want {
			t.Errorf("with %q: %v, want %s first", other, ids(a), want)
		}
	}
}
