package check_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/check"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
)

func checkStamp(verb string) state.Stamp {
	return state.Stamp{Author: "tester", Time: 1_700_000_000_000_000, Command: []string{verb}}
}

// openCheck makes a repository of change lines, which is checked at the end.
func openCheck(t *testing.T, lines ...string) (*core.Repo, *core.Snapshot) {
	t.Helper()
	ctx := context.Background()
	r, err := care.New(ctx, mem.New(), checkStamp("init"), core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := care.Fsck(ctx, r, care.FsckOptions{})
		if err != nil || len(report.Errors) > 0 {
			t.Errorf("fsck: %v %v", err, report)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, commitLines(t, r, lines...)
}

func commitLines(t *testing.T, r *core.Repo, lines ...string) *core.Snapshot {
	t.Helper()
	ctx := context.Background()
	in := strings.NewReader(strings.Join(lines, "\n"))
	res, err := r.Commit(ctx, state.ReadChanges(in, "lines"),
		core.CommitOptions{Stamp: checkStamp("commit"), Message: "lines"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.At(ctx, res.Commit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCheck(t *testing.T, s *core.Snapshot, text string) *check.Result {
	t.Helper()
	res, err := check.Check(context.Background(), s, check.Request{
		Request: retrieve.Request{Text: text},
	})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return res
}

// checkedMemory is a memory of facts in five languages.
var checkedMemory = []string{
	`{"node":{"key":"bill","type":"fact","summary":"Alice owns the billing service and is on call for it every second week."}}`,
	`{"node":{"key":"search","type":"fact","summary":"Bob looks after the search index. Who owns the backups?"}}`,
	`{"node":{"key":"move","type":"decision","summary":"We moved billing from MySQL 5.7 to PostgreSQL 16 on 3 March 2025, because of the locks."}}`,
	`{"node":{"key":"friday","type":"fact","summary":"Deployments are not allowed on Friday."}}`,
	`{"node":{"key":"zh","type":"fact","summary":"爱丽丝负责计费系统，每两周值班一次。"}}`,
	`{"node":{"key":"de","type":"fact","summary":"Das Auto von Anna steht in der Garage."}}`,
	`{"node":{"key":"fr","type":"fact","summary":"Le serveur alpha utilise une base de données depuis mars."}}`,
	`{"node":{"key":"es","type":"fact","summary":"La impresora de la segunda planta necesita papel grueso."}}`,
	`{"node":{"key":"tide","type":"event","summary":"The tide mill was repaired.","created":"2024-06-05T10:00:00Z"}}`,
}

func TestCheckVerdicts(t *testing.T) {
	_, s := openCheck(t, checkedMemory...)
	for _, c := range []struct {
		text    string
		verdict check.Verdict
		key     string   // of the memory, "" for MISS
		missing []string // kinds
	}{
		{"who owns billing?", check.Strong, "bill", nil},
		{"when did billing move to PostgreSQL?", check.Strong, "move", nil},
		{"does Bob own billing?", check.Weak, "bill", []string{check.MissingName, check.MissingLead}},
		{"when did billing move to PostgreSQL 17?", check.Weak, "move", []string{check.MissingUnknown}},
		{"did billing move to PostgreSQL 16 in 2025?", check.Strong, "move", nil},
		{`are deployments "not allowed on Friday"?`, check.Strong, "friday", nil},
		{`are "deployments on Friday" allowed?`, check.Weak, "friday", []string{check.MissingPhrase}},
		{"are deployments allowed on Friday?", check.Strong, "friday", nil},
		{"Deployments are allowed on Friday", check.Weak, "friday", []string{check.MissingNegation}},
		{"Deployments are not allowed on Friday.", check.Strong, "friday", nil},
		{"how many deployments are allowed on Friday?", check.Weak, "friday", []string{check.MissingCount}},
		{"who owns the backups?", check.Miss, "", nil},
		{"what is the capital of Peru?", check.Miss, "", nil},
		{"does Alice like pears?", check.Miss, "", nil},
		{"Alice?", check.Miss, "", nil},
		{"谁负责计费系统？", check.Strong, "zh", nil},
		{"谁负责搜索？", check.Miss, "", nil},
		{"Wo steht das Auto von Anna?", check.Strong, "de", nil},
		{"Quel serveur utilise une base de données ?", check.Strong, "fr", nil},
		{"¿Qué impresora necesita papel grueso?", check.Strong, "es", nil},
		{"was the tide mill repaired in June 2024?", check.Strong, "tide", nil},
		{"was the tide mill repaired in July 2024?", check.Weak, "tide", []string{check.MissingDate}},
		{"bill", check.Strong, "bill", nil}, // by its key
	} {
		res := mustCheck(t, s, c.text)
		if res.Verdict != c.verdict {
			t.Errorf("%q: %s, want %s: %+v", c.text, res.Verdict, c.verdict, res.Signals)
			continue
		}
		if c.key == "" {
			if res.Best != nil {
				t.Errorf("%q: MISS has the memory %s", c.text, res.Best.Key)
			}
			continue
		}
		if res.Best.Key != c.key {
			t.Errorf("%q: %s, want %s", c.text, res.Best.Key, c.key)
		}
		for _, kind := range c.missing {
			if !slices.ContainsFunc(res.Best.Missing, func(m check.Missing) bool { return m.Kind == kind }) {
				t.Errorf("%q: missing %v, want %s among them", c.text, res.Best.Missing, kind)
			}
		}
		if c.verdict == check.Strong && len(res.Best.Missing) > 0 {
			t.Errorf("%q: STRONG misses %v", c.text, res.Best.Missing)
		}
	}
}

func TestCheckMarks(t *testing.T) {
	r, s := openCheck(t, checkedMemory...)
	before := mustCheck(t, s, "who owns billing?")
	for _, c := range []struct {
		state   string
		verdict check.Verdict
	}{{"stale", check.Weak}, {"forgotten", check.Miss}} {
		s := commitLines(t, r, fmt.Sprintf(
			`{"mark":{"node":"bill","state":%q,"reason":"the team changed"}}`, c.state))
		res := mustCheck(t, s, "who owns billing?")
		if res.Verdict != c.verdict {
			t.Errorf("%s: %s, want %s", c.state, res.Verdict, c.verdict)
		}
	}
	if after := mustCheck(t, s, "who owns billing?"); cmp.Diff(before.Verdict, after.Verdict) != "" {
		t.Error("the past changed")
	}
}

// TestCheckDeniedInOtherWords: what is denied in a language is no repeat of what is said, however much
// else both share.
func TestCheckDeniedInOtherWords(t *testing.T) {
	said := "Die Abteilung Buchhaltung darf Rechnungen über tausend Euro im neuen Portal freitags " +
		"nach Freigabe der Leitung%s bezahlen."
	var lines []string
	for _, word := range []string{"", " nicht"} {
		lines = append(lines, `{"node":{"type":"fact","summary":"`+fmt.Sprintf(said, word)+`"}}`)
	}
	_, one := openCheck(t, lines[0])
	_, both := openCheck(t, lines...)
	question := "Darf die Abteilung Buchhaltung Rechnungen über tausend Euro im neuen Portal bezahlen?"
	if v := mustCheck(t, one, question).Verdict; v != check.Strong {
		t.Errorf("alone: %s", v)
	}
	if v := mustCheck(t, both, question).Verdict; v != check.Weak {
		t.Errorf("denied: %s", v)
	}
}

// A question of one word that all memories have is no evidence, and what stands in sentences far
// apart is none either.
func TestCheckSpansAndChance(t *testing.T) {
	rain := strings.Repeat("It rained all day. ", 3)
	apart := "The kiln is old. " + rain + "The glaze ran. " + rain + "Blue was the sky. " + rain + "Mice came."
	_, s := openCheck(t,
		`{"node":{"type":"fact","summary":"`+apart+`"}}`,
		`{"node":{"type":"fact","summary":"The oven of the bakery has a purple door."}}`)
	if res := mustCheck(t, s, "had mice in the kiln a blue glaze?"); res.Verdict == check.Strong {
		t.Errorf("words far apart are STRONG: %+v", res.Best)
	}
	if res := mustCheck(t, s, "has the oven a purple door?"); res.Verdict != check.Strong {
		t.Errorf("%s: %+v", res.Verdict, res.Signals)
	}
}

func TestCheckVectors(t *testing.T) {
	_, s := openCheck(t,
		`{"node":{"key":"a","type":"fact","summary":"The customer paid two times."}}`,
		`{"node":{"key":"b","type":"fact","summary":"The lamp is green."}}`,
		`{"embedding":{"node":"a","model":"m","vector":[1,0,0]}}`,
		`{"embedding":{"node":"b","model":"m","vector":[0,1,0]}}`)
	v, err := retrieve.NewQueryVector("m", []float64{1, 0.1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gate check.Gate
		text string
		want check.Verdict
	}{
		{check.GateLexical, "was somebody charged twice?", check.Miss},
		{check.GateSemantic, "was somebody charged twice?", check.Strong},
		{check.GateFused, "was somebody charged twice?", check.Strong},
		{"", "was somebody charged twice?", check.Strong},
		{check.GateFused, "was Alice charged 7 dollars?", check.Strong},
	} {
		res, err := check.Check(context.Background(), s, check.Request{
			Request: retrieve.Request{Text: c.text, Vectors: []retrieve.QueryVector{v}}, Gate: c.gate,
		})
		if err != nil {
			t.Fatal(err)
		}
		if res.Verdict != c.want {
			t.Errorf("%q %q: %s, want %s: %+v", c.gate, c.text, res.Verdict, c.want, res.Signals)
		}
	}
}

// TestCheckVectorsTakeNothing has memories that are like the question without having its words: beside
// them the one that has the words is less far ahead, and is relied on as before.
func TestCheckVectorsTakeNothing(t *testing.T) {
	lines := []string{`{"node":{"key":"bill","type":"fact","summary":"Alice owns the billing service."}}`,
		`{"embedding":{"node":"bill","model":"m","vector":[1,1,0]}}`}
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(
			`{"node":{"key":"n%d","type":"fact","summary":"The billing of year %d."}}`, i, 1990+i),
			fmt.Sprintf(`{"embedding":{"node":"n%d","model":"m","vector":[9,%d,1]}}`, i, i%3))
	}
	_, s := openCheck(t, lines...)
	for _, text := range []string{"who owns the billing service?", "does Alice own the billing service?",
		"who owns billing?", "what of the billing of year 1994?", "who owns the lamp?"} {
		words := mustCheck(t, s, text)
		for _, numbers := range [][]float64{{1, 0, 0}, {1, 1, 0}, {-1, 0, 0}, {0, 0, 1}, {9, 1, 1}} {
			v, err := retrieve.NewQueryVector("m", numbers)
			if err != nil {
				t.Fatal(err)
			}
			for _, weights := range [][]retrieve.LaneWeight{nil, {{Lane: retrieve.LaneDense("m"), Weight: 1 << 20}}} {
				req := retrieve.Request{Text: text, Vectors: []retrieve.QueryVector{v}, Weights: weights}
				res, err := check.Check(t.Context(), s, check.Request{Request: req})
				if err != nil {
					t.Fatal(err)
				}
				rank := map[check.Verdict]int{check.Miss: 0, check.Weak: 1, check.Strong: 2}
				if rank[res.Verdict] < rank[words.Verdict] {
					t.Errorf("%q with %v: %s, by words %s", text, numbers, res.Verdict, words.Verdict)
				}
				if words.Verdict == check.Strong && res.Best.ID != words.Best.ID {
					t.Errorf("%q with %v relies on %s, by words on %s", text, numbers, res.Best.Key, words.Best.Key)
				}
				lexical, err := check.Check(t.Context(), s, check.Request{
					Request: req, Gate: check.GateLexical})
				if err != nil || lexical.Verdict != words.Verdict {
					t.Errorf("%q by words with a vector: %v, want %s (%v)", text, lexical, words.Verdict, err)
				}
			}
		}
	}
	v, err := retrieve.NewQueryVector("m", []float64{1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	res, err := check.Check(t.Context(), s, check.Request{Request: retrieve.Request{
		Text: "who owns the billing service?", Vectors: []retrieve.QueryVector{v},
		Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 0}}}})
	if err != nil || res.Verdict != check.Strong {
		t.Errorf("where words have no weight vectors alone decide: %v %+v", err, res)
	}
}

func TestCheckRefuses(t *testing.T) {
	_, s := openCheck(t, checkedMemory...)
	over := check.DefaultThresholds()
	over.Coverage = 70_000
	for name, req := range map[string]check.Request{
		"text":     {Request: retrieve.Request{Text: " ?! "}},
		"gate":     {Request: retrieve.Request{Text: "x"}, Gate: "both"},
		"vectors":  {Request: retrieve.Request{Text: "x"}, Gate: check.GateSemantic},
		"nearest":  {Request: retrieve.Request{Text: "x"}, Nearest: new(10)},
		"coverage": {Request: retrieve.Request{Text: "x"}, Thresholds: &over},
		"long":     {Request: retrieve.Request{Text: strings.Repeat("x ", 40_000)}},
	} {
		if _, err := check.Check(context.Background(), s, req); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What a question is made of does not matter: nothing here may panic or take long.
func TestCheckHostileText(t *testing.T) {
	_, s := openCheck(t, append(checkedMemory, `{"node":{"type":"fact","summary":"x","content":"`+
		strings.Repeat("alice? billing! ", 3000)+`","props":{"a":["`+strings.Repeat("b", 9000)+`"]}}}`)...)
	for _, text := range []string{
		strings.Repeat("alice ", 5000), strings.Repeat("\"", 4000) + "a", strings.Repeat("谁负责", 4000),
		"\"" + strings.Repeat("billing ", 500) + "\"", "x\u202ey", strings.Repeat("3 May 2024 ", 900),
		strings.Repeat("Ab1 ", 3000), "？？？谁", "„“«»「」x",
	} {
		mustCheck(t, s, text)
	}
}

func TestCheckThresholdsAreVersioned(t *testing.T) {
	r, s := openCheck(t, checkedMemory...)
	ctx := context.Background()
	strict := check.DefaultThresholds()
	strict.Evidence = 20 << 16
	strict.Cosines = map[string]int64{"minilm": 30_000}
	opt := core.CommitOptions{Stamp: checkStamp("check"), Message: "stricter"}
	res, err := check.SetThresholds(ctx, r, strict, opt)
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.At(ctx, res.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if got, own, err := check.ThresholdsAt(ctx, after); err != nil || !own || !got.Equal(strict) {
		t.Errorf("%+v %v %v", got, own, err)
	}
	if got := mustCheck(t, after, "who owns billing?").Verdict; got != check.Weak {
		t.Errorf("stricter: %s", got)
	}
	if got := mustCheck(t, s, "who owns billing?").Verdict; got != check.Strong {
		t.Errorf("before: %s", got)
	}
	if after.Graph() != s.Graph() {
		t.Error("thresholds changed the facts")
	}
	d, err := rank.DiffProfiles(ctx, s.Diff(after))
	if err != nil || len(d.Fields) != 1 || d.Fields[0].Field != "check" {
		t.Errorf("diff: %+v %v", d, err)
	}
	if res, err = check.SetThresholds(ctx, r, strict, opt); err != nil || !res.NoChange {
		t.Errorf("again: %+v %v", res, err)
	}
	if _, err = check.SetThresholds(ctx, r, check.DefaultThresholds(), opt); err != nil {
		t.Fatal(err)
	}
	head, err := r.Snapshot(ctx, string(graph.Head))
	if err != nil {
		t.Fatal(err)
	}
	if _, own, err := check.ThresholdsAt(ctx, head); err != nil || own {
		t.Errorf("after a reset: own %v %v", own, err)
	}
	bad := strict
	bad.Lead = -1
	if _, err := check.SetThresholds(ctx, r, bad, opt); err == nil {
		t.Error("a threshold below 0 is taken")
	}
}
