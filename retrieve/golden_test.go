package retrieve

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/ipld"
)

// TestMeanGolden freezes the mean of the vectors of a text and of hypothetical answers to it.
func TestMeanGolden(t *testing.T) {
	cases.Golden(t, "testdata/mean.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Vectors []string }
		cases.Parse(t, c.Input, &in)
		var list [][]int8
		for _, text := range in.Vectors {
			var values []int8
			for _, b := range cases.Bytes(t, text) {
				values = append(values, int8(b))
			}
			list = append(list, values)
		}
		mean, err := MeanVector("m", list...)
		if refused := refusedGolden(t, err); refused != nil {
			return refused
		}
		var got []byte
		for _, x := range mean.Values {
			got = append(got, byte(x))
		}
		return map[string]any{"vector": hex.EncodeToString(got)}
	})
}

// TestPredicateGolden freezes how the text form of a predicate is read.
func TestPredicateGolden(t *testing.T) {
	cases.Golden(t, "testdata/predicate.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Predicate string }
		cases.Parse(t, c.Input, &in)
		p, err := ParsePredicate(in.Predicate)
		if err == nil {
			err = Request{Where: []Predicate{p}}.Validate()
		}
		if refused := refusedGolden(t, err); refused != nil {
			return refused
		}
		got := map[string]any{"name": p.Name, "op": p.Op}
		if p.Edges != "" {
			got["edges"] = p.Edges
		}
		if p.Op.hasValue() {
			got["value"] = json.RawMessage(ipld.AppendJSON(nil, p.Value))
		}
		return got
	})
}

// TestUnseenGolden freezes which nodes a session has shown.
func TestUnseenGolden(t *testing.T) {
	ids := func(t testing.TB, texts []string) []graph.ID {
		var all []graph.ID
		for _, s := range texts {
			id, err := graph.ParseID(s)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, id)
		}
		return all
	}
	cases.Golden(t, "testdata/unseen.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Exclude []string
			Records []struct {
				Seq   int64
				Shows []string
			}
		}
		cases.Parse(t, c.Input, &in)
		records := func(yield func(Shown, error) bool) {
			for _, r := range in.Records {
				if !yield(Shown{Seq: r.Seq, IDs: ids(t, r.Shows)}, nil) {
					return
				}
			}
		}
		req, err := Request{Exclude: ids(t, in.Exclude), Unseen: true}.ExcludeSeen(records)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, id := range req.Exclude {
			got = append(got, id.String())
		}
		return map[string]any{"exclude": got, "unseenFrom": req.UnseenFrom}
	})
}
