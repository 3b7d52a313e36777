package stage

import (
	"encoding/json"
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
	must.Get(retrieve.DecodeReceipt(r.Encode()))(t)
}

// TestParseRequestJSON freezes what requests in JSON are read as, over a request with some parameters.
func TestParseRequestJSON(t *testing.T) {
	base := retrieve.Request{Text: "base", Types: []string{"Base"}, Limit: new(3), Vectors: vectorOf("old", 1),
		Sparse:        sparseOf("old", manyTerms(1, 5)...),
		OutputOptions: retrieve.OutputOptions{Show: []string{"key"}, Adjacency: 9}}
	cases.Golden(t, "testdata/request-read.jsonl", func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		q := must.Get(complete.ParseRequestJSON(parsed(t, text), base))(t, text)
		r := q.Request.Resolve()
		return map[string]any{"id": q.ID, "text": r.Text, "params": json.RawMessage(ipld.AppendJSON(nil, keptParams(r))),
			"excludeNames": r.ExcludeNames, "unseen": r.Unseen, "profile": r.Profile, "explicit": r.Explicit,
			"echo": json.RawMessage(ipld.AppendJSON(nil, ipld.MapValue(q.Echo...)))}
	})
}

// TestParseRequestJSONRefuses freezes for which parameter requests are refused.
func TestParseRequestJSONRefuses(t *testing.T) {
	cases.Golden(t, "testdata/request-refused.jsonl", func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		_, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
		var re *retrieve.RequestError
		must.Require(t, errors.As(err, &re), "%s: %v", text, err)
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
		must.Check(t, errors.As(err, &re) && re.Param == name && !strings.Contains(re.Reason, "unknown"),
			"%s: %v", name, err)
	}
}
