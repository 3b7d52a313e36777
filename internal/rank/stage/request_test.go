package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestLargestReceipt checks that the receipt of the largest request and answer fits into a block.
func TestLargestReceipt(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("%0255d", i) }
	req := retrieve.Request{Text: strings.Repeat("x", retrieve.MaxText), Limit: new(0), Budget: new(0)}
	for i := range 64 {
		req.Types = append(req.Types, name(i))
		req.ExpandTypes = append(req.ExpandTypes, name(i))
		req.Where = append(req.Where, retrieve.Predicate{Name: name(i), Op: retrieve.OneOf,
			Value: ipld.ListValue(slices.Repeat([]ipld.Value{ipld.IntValue(1)}, 1000)...), Edges: retrieve.In})
	}
	req.Exclude = manyIDs(retrieve.MaxExclude)
	a := &retrieve.Answer{Commit: testCommit, Request: req.Resolve(), Engine: retrieve.CurrentEngine(),
		Candidates: 1000}
	for i := range 1000 {
		a.Items = append(a.Items, retrieve.Item{ID: num(i), Node: testCommit, Score: graph.MaxCount,
			Tokens: 1 << 30})
		a.TokensUsed += 1 << 30
	}
	r, _ := a.Receipt()
	must.OK(t, r.Validate())
	_, err := retrieve.DecodeReceipt(r.Encode())
	must.OK(t, err)
}

func TestParseRequestJSON(t *testing.T) {
	base := retrieve.Request{Types: []string{"Base"}, Limit: new(3),
		OutputOptions: retrieve.OutputOptions{Show: []string{"key"}, Adjacency: 9}}
	v := parsed(t, `{"qid":"q1","text":"who?","type":"Person","where":["a = 1","b !exists"],
		"since":"2026-01-01","until":"2026-01-02T00:00:00Z","updated-from":"1970-01-01",
		"updated-to":"1970-01-02","valid-at":"2026-11-20","include":"retired,expired","limit":40,
		"budget":0,"expand":0,"expand-type":["owns","feeds"],"direction":"in","adjacency":2,
		"show":["times","content"],"summary-cap":100,"exclude":["alice","id:7cf0"],"unseen":true,
		"dedup":true,"order":"time",
		"gold":["alice"],"gold_rank":1,"meta":{"x":1},"cat":"names"}`)
	q, err := complete.ParseRequestJSON(v, base)
	must.OK(t, err)
	day := func(s string) graph.OptTime {
		at, err := graph.ParseTime(s)
		must.OK(t, err)
		return graph.At(at)
	}
	want := complete.Query{
		ID: "q1",
		Request: retrieve.Request{
			Text: "who?", Types: []string{"Person"},
			Where: []retrieve.Predicate{{Name: "a", Op: retrieve.Equal, Value: ipld.IntValue(1), Edges: ""},
				{Name: "b", Op: retrieve.Missing, Value: ipld.Value{}, Edges: ""}},
			TimeFilter: retrieve.TimeFilter{CreatedFrom: day("2026-01-01"), CreatedTo: day("2026-01-02"),
				UpdatedFrom: graph.At(0), UpdatedTo: graph.At(86_400_000_000), ValidAt: day("2026-11-20")},

			Marks: []graph.State{"retired", "expired"},
			Limit: new(40), Budget: new(0), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0),
				ExpandTypes: []string{"owns", "feeds"}, Direction: retrieve.In},
			OutputOptions: retrieve.OutputOptions{Adjacency: 2, Show: []string{"times", "content"}, SummaryCap: new(100),
				Order: retrieve.ByTime},

			Exclusions: retrieve.Exclusions{ExcludeNames: []string{"alice", "id:7cf0"}, Unseen: true}, Dedup: true,
		},
		Echo: parsed(t, `{"gold":["alice"],"gold_rank":1,"meta":{"x":1},"cat":"names"}`).Entries(),
	}
	must.Equal(t, diff(want, q), "")

	q, err = complete.ParseRequestJSON(parsed(t, `{"text":"x","show":"","type":[]}`), base)
	must.OK(t, err)
	want = complete.Query{Request: retrieve.Request{
		Text: "x", Limit: new(3), OutputOptions: retrieve.OutputOptions{Adjacency: 9},
		ProfileChoice: retrieve.ProfileChoice{Explicit: []string{"show"}},
	}}
	must.Equal(t, diff(want, q), "")
}

// TestParseRequestJSONRefuses freezes for which parameter requests are refused.
func TestParseRequestJSONRefuses(t *testing.T) {
	cases.Golden(t, "testdata/request-refused.jsonl", func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		_, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
		var re *retrieve.RequestError
		if !errors.As(err, &re) {
			t.Fatalf("%s: %v", text, err)
		}
		return re.Param
	})
}

// TestFlagNames checks that every parameter of a receipt has a member in JSON requests.
func TestFlagNames(t *testing.T) {
	r, _ := fullLibrary().ask(t, fullRequest()).Receipt()
	for _, e := range r.Params.Entries() {
		name := retrieve.MemberName(e.Key)
		v := ipld.MapValue(ipld.Entry{Key: name, Value: ipld.Value{}})
		_, err := complete.ParseRequestJSON(v, retrieve.Request{})
		var re *retrieve.RequestError
		if !errors.As(err, &re) || re.Param != name || strings.Contains(re.Reason, "unknown") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
