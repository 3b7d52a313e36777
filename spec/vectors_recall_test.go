package spec_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/retrieve"
)

func init() {
	runners["intent"], runners["recall"] = runIntent, runRetrieval
}

func runIntent(t *testing.T, v vector) {
	var in struct{ Text string }
	var want struct{ Intent string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	same(t, "intent", string(retrieve.ReadIntent(in.Text)), want.Intent)
}

// checkSignals compares what a recall ranks by: keyword, entity, similarity, graph.
func checkSignals(t *testing.T, answer *retrieve.Answer, want wantAnswer) {
	t.Helper()
	for i := range min(len(answer.Items), len(want.Items)) {
		got := "none"
		if r := answer.Items[i].Recall; r != nil {
			got = fmt.Sprint([4]int64{r.Keyword, r.Entity, r.Similarity, r.Graph})
		}
		wanted := "none"
		if want.Items[i].Signals != nil {
			wanted = fmt.Sprint(*want.Items[i].Signals)
		}
		same(t, "signals of "+want.Items[i].ID, got, wanted)
	}
}
