package stage

import (
	"encoding/hex"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
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
		mean, err := complete.MeanVector("m", list...)
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

// TestUnseenGolden freezes which nodes a session has shown.
func TestUnseenGolden(t *testing.T) {
	ids := func(t testing.TB, texts []string) []graph.ID {
		var all []graph.ID
		for _, s := range texts {
			id := must.Get(graph.ParseID(s))(t)
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
		records := func(yield func(complete.Shown, error) bool) {
			for _, r := range in.Records {
				if !yield(complete.Shown{Seq: r.Seq, IDs: ids(t, r.Shows)}, nil) {
					return
				}
			}
		}
		req, err := complete.ExcludeSeen(retrieve.Request{Exclusions: retrieve.Exclusions{Exclude: ids(t, in.Exclude),
			Unseen: true}}, records)
		must.OK(t, err)
		got := []string{}
		for _, id := range req.Exclude {
			got = append(got, id.String())
		}
		return map[string]any{"exclude": got, "unseenFrom": req.UnseenFrom}
	})
}
