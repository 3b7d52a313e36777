package retrieve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestResolveDefaults(t *testing.T) {
	want := Request{Limit: new(10), Budget: new(2000),
		Fusion: Convex,
		OutputOptions: OutputOptions{SummaryCap: new(8192), Order: ByRank, Pack: PackAuto, PassageTokens: new(64),
			Tokenizer: Estimate, Altitude: AltitudeEntity, Format: FormatYAML},
		ExpansionOptions: ExpansionOptions{Expand: new(3), Direction: Both, Expansion: Lend, MaxExpand: new(100)},
		Spelling:         SpellingOn,
		Pairs:            PairsOn,
		Floor:            FloorMaybe,
		Ranking:          RankingVersion}
	got := Request{Types: []string{}, OutputOptions: OutputOptions{Show: []string{}}, Where: []Predicate{}}.Resolve()
	must.Equal(t, diff(want, got), "")
	names := []string{"b", "a", "b"}
	r := Request{Types: names, Limit: new(0)}
	got = r.Resolve()
	must.Equal(t, diff([]string{"a", "b"}, got.Types), "")
	*got.Limit = 7
	must.Equal(t, *r.Limit, 0, "resolving changed the request it was given")
	must.Equal(t, names[0], "b", "resolving changed the request it was given")
}

// many returns n distinct strings.
func many(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

func TestValidate(t *testing.T) {
	exists := Predicate{Name: "a", Op: Exists}
	text := func(n int) ipld.Value { return ipld.StringValue(strings.Repeat("x", n)) }
	cases := []struct {
		param   string
		good    Request // at the bound
		bad     Request // beyond it
		badToo  Request // of another kind
		reason  string  // part of the first error
		reason2 string  // part of the second
	}{
		{"text", Request{Text: strings.Repeat("x", 65_536)}, Request{Text: strings.Repeat("x", 65_537)},
			Request{Text: "\xff"}, "65537", "UTF-8"},
		{"types", Request{Types: many(64)}, Request{Types: many(65)},
			Request{Types: []string{""}}, "limit 64", "not a type"},
		{"where", Request{Where: slices.Repeat([]Predicate{exists}, 64)},
			Request{Where: slices.Repeat([]Predicate{exists}, 65)},
			Request{Where: []Predicate{{Name: "a", Op: "like"}}}, "limit 64", "not an operator"},
		{"where", Request{Where: []Predicate{{Name: "a", Op: Equal, Value: text(65_000)}}},
			Request{Where: slices.Repeat([]Predicate{{Name: "a", Op: Equal, Value: text(30_000)}}, 3)},
			Request{Where: []Predicate{{Name: "a", Op: Equal, Value: ipld.FloatValue(math.NaN())}}},
			"limit 65536", "NaN"},
		{"createdFrom", Request{TimeFilter: TimeFilter{CreatedFrom: graph.At(graph.MaxTime)}},
			Request{TimeFilter: TimeFilter{CreatedFrom: graph.At(graph.MaxTime + 1)}},
			Request{TimeFilter: TimeFilter{CreatedFrom: graph.At(graph.MinTime - 1)}}, "outside", "outside"},
		{"validAt", Request{TimeFilter: TimeFilter{ValidAt: graph.At(graph.MinTime)}},
			Request{TimeFilter: TimeFilter{ValidAt: graph.At(graph.MinTime - 1)}},
			Request{TimeFilter: TimeFilter{ValidAt: graph.At(graph.MaxTime + 1)}}, "outside", "outside"},
		{"marks", Request{Marks: []graph.State{graph.Expired}},
			Request{Marks: []graph.State{graph.Stale}}, Request{Marks: []graph.State{"x"}},
			"not a hidden state", "not a hidden state"},
		{"limit", Request{Limit: new(1000)}, Request{Limit: new(1001)}, Request{Limit: new(-1)},
			"0 to 1000", "0 to 1000"},
		{"budget", Request{Budget: new(MaxBudget)}, Request{Budget: new(MaxBudget + 1)},
			Request{Budget: new(-1)}, "outside", "outside"},
		{"expand", Request{ExpansionOptions: ExpansionOptions{Expand: new(4)}},
			Request{ExpansionOptions: ExpansionOptions{Expand: new(5)}},
			Request{ExpansionOptions: ExpansionOptions{Expand: new(-1)}},
			"0 to 4", "0 to 4"},
		{"expandTypes", Request{ExpansionOptions: ExpansionOptions{ExpandTypes: many(64)}},
			Request{ExpansionOptions: ExpansionOptions{ExpandTypes: many(65)}},
			Request{ExpansionOptions: ExpansionOptions{ExpandTypes: []string{strings.Repeat("x", 256)}}}, "limit 64",
			"255 bytes"},
		{"direction", Request{ExpansionOptions: ExpansionOptions{Direction: Both}},
			Request{ExpansionOptions: ExpansionOptions{Direction: "up"}},
			Request{ExpansionOptions: ExpansionOptions{Direction: "BOTH"}},
			"not out", "not out"},
		{"adjacency", Request{OutputOptions: OutputOptions{Adjacency: 1000}},
			Request{OutputOptions: OutputOptions{Adjacency: 1001}}, Request{OutputOptions: OutputOptions{Adjacency: -1}},
			"0 to 1000", "0 to 1000"},
		{"show", Request{OutputOptions: OutputOptions{Show: []string{"times", "key", "content"}}},
			Request{OutputOptions: OutputOptions{Show: []string{"all"}}},
			Request{OutputOptions: OutputOptions{Show: []string{""}}}, "not times", "not times"},
		{"summaryCap", Request{OutputOptions: OutputOptions{SummaryCap: new(262_144)}},
			Request{OutputOptions: OutputOptions{SummaryCap: new(262_145)}},
			Request{OutputOptions: OutputOptions{SummaryCap: new(-1)}}, "outside", "outside"},
		{"exclude", Request{Exclusions: Exclusions{Exclude: manyIDs(999), ExcludeNames: []string{"a"}}},
			Request{Exclusions: Exclusions{Exclude: manyIDs(999), ExcludeNames: []string{"a", "b"}}},
			Request{Exclusions: Exclusions{Exclude: []graph.ID{{}}}}, "limit 1000", "zeros"},
		{"exclude", Request{Exclusions: Exclusions{ExcludeNames: []string{"key:" + strings.Repeat("x", graph.MaxKey)}}},
			Request{Exclusions: Exclusions{ExcludeNames: []string{""}}},
			Request{Exclusions: Exclusions{ExcludeNames: []string{"\xff"}}},
			"not the name", "not the name"},
		{"unseenFrom", Request{Exclusions: Exclusions{UnseenFrom: graph.MaxCount}},
			Request{Exclusions: Exclusions{UnseenFrom: -1}},
			Request{Exclusions: Exclusions{UnseenFrom: graph.MaxCount + 1}}, "outside", "outside"},
		{"order", Request{OutputOptions: OutputOptions{Order: ByTime}},
			Request{OutputOptions: OutputOptions{Order: "docs"}}, Request{OutputOptions: OutputOptions{Order: "TIME"}},
			"not rank or time", "not rank or time"},
		{"pack", Request{OutputOptions: OutputOptions{Pack: PackPassages}},
			Request{OutputOptions: OutputOptions{Pack: "part"}}, Request{OutputOptions: OutputOptions{Pack: "Whole"}},
			"not auto, whole or", "not auto, whole or"},
		{"passageTokens", Request{OutputOptions: OutputOptions{Pack: PackPassages, PassageTokens: new(65_536)}},
			Request{OutputOptions: OutputOptions{Pack: PackPassages, PassageTokens: new(65_537)}},
			Request{OutputOptions: OutputOptions{PassageTokens: new(9)}}, "outside 1", "only with pack passages"},
		{"tokenizer", Request{OutputOptions: OutputOptions{Tokenizer: "mine"}},
			Request{OutputOptions: OutputOptions{Tokenizer: "a\nb"}},
			Request{OutputOptions: OutputOptions{Tokenizer: strings.Repeat("x", 1000)}}, "not the name", "not the name"},
	}
	for _, c := range cases {
		must.OK(t, c.good.Validate(), c.param, " at its bound")
		for i, bad := range []Request{c.bad, c.badToo} {
			err := bad.Validate()
			var re *RequestError
			reason := []string{c.reason, c.reason2}[i]
			must.True(t, errors.As(err, &re) && re.Param == c.param && strings.Contains(re.Reason, reason) &&
				errors.Is(err, ErrRequest), "%s: error %v, want %q", c.param, err, reason)
		}
	}
}

// TestParams: every parameter can be found by its name and by its member.
func TestParams(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range params {
		must.True(t, p.read != nil && !seen[p.Name] && !seen["member "+p.Member] && !seen["flag "+p.Flag],
			"%s, member %s, flag %s: twice, or read from no member", p.Name, p.Member, p.Flag)
		seen[p.Name], seen["member "+p.Member], seen["flag "+p.Flag] = true, true, p.Flag != ""
		must.Equal(t, p.Flag == "", p.Doc == "", p.Name, ": flag ", p.Flag, " with help ", p.Doc)
		must.True(t, p.Own != "" || p.at != nil, "%s: a profile may set it, and it has no field", p.Name)
		must.Equal(t, MemberName(p.Name), p.Member, p.Name)
	}
	for name, want := range map[string]string{
		"types": "type", "expandTypes": "expand-type", "unseenFrom": "unseen",
		"passageTokens": "passage-tokens", "nobodysParam": "nobodys-param",
	} {
		must.Equal(t, MemberName(name), want, name)
	}
	for _, name := range []string{"text", "rewrites", "unseen", "nobodys"} {
		must.True(t, new(Request).setParam(name, ipld.StringValue("x")) != nil, "a receipt sets %s", name)
	}
}

// judge is a judge that nothing asks.
type judge struct{}

func (judge) Model() string { return "judge:1" }

func (judge) Rerank(context.Context, string, []string) ([]int64, error) { return nil, nil }

func TestRerankRefused(t *testing.T) {
	scored := func(s int64) []RerankScore { return []RerankScore{{num(1), s}} }
	var many []RerankScore
	for i := range MaxRerankTop + 1 {
		many = append(many, RerankScore{num(i), 0})
	}
	for name, c := range map[string]struct {
		req   Request
		param string // "" for none
	}{
		"scores":       {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: scored(-MaxRerankScore)}}, ""},
		"200":          {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: many[1:], RerankTop: new(200)}}, ""},
		"201":          {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: many}}, "reranked"},
		"top 0":        {Request{RerankOptions: RerankOptions{Rerank: "m", RerankTop: new(0)}}, "rerankTop"},
		"top 201":      {Request{RerankOptions: RerankOptions{Rerank: "m", RerankTop: new(201)}}, "rerankTop"},
		"top alone":    {Request{RerankOptions: RerankOptions{RerankTop: new(9)}}, "rerankTop"},
		"scores alone": {Request{RerankOptions: RerankOptions{Reranked: scored(1)}}, "reranked"},
		"another":      {Request{RerankOptions: RerankOptions{Rerank: "m", Reranker: judge{}}}, "rerank"},
		"too great": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: scored(MaxRerankScore + 1)}},
			"reranked"},
		"too small": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: scored(-MaxRerankScore - 1)}},
			"reranked"},
		"no id": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: []RerankScore{{}}}}, "reranked"},
		"twice": {Request{RerankOptions: RerankOptions{Rerank: "m", Reranked: append(scored(1),
			scored(2)...)}}, "reranked"},
		"NUL":  {Request{RerankOptions: RerankOptions{Rerank: "a\x00"}}, "rerank"},
		"long": {Request{RerankOptions: RerankOptions{Rerank: strings.Repeat("x", 256)}}, "rerank"},
	} {
		err := c.req.Validate()
		var re *RequestError
		must.True(t, (err != nil) == (c.param != "") && (err == nil || (errors.As(err, &re) && re.Param == c.param)),
			"%s: %v, want %q", name, err, c.param)
	}
}

// testSessions returns valid records, the first with every field.
func testSessions() []Session {
	return []Session{
		{
			Name: "review/1", Seq: 3, Prev: testCommit, Commit: testCommit, Agent: "agent",
			Task: "task", Actor: "alice", Time: -1, Receipt: testCommit, Ended: true,
			Extra: []ipld.Entry{{Key: "zz", Value: ipld.StringValue("later")}},
		},
		{Name: "_default", Follow: true, Actor: "a"},
	}
}

func FuzzDecodeSession(f *testing.F) {
	for _, s := range testSessions() {
		f.Add(s.Encode())
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		s, err := DecodeSession(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		must.Same(t, s.Encode(), block, "decoded, but encodes to other bytes")
	})
}
