package core_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestTermsAddUp compares the scores of the text lane with what its terms and their kin are said to give,
// over segments of several commits.
func TestTermsAddUp(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	r := haystack(t, 3)
	for range 3 {
		var b strings.Builder
		for i := range 20 {
			words := []string{"tide"}
			for range 1 + rng.IntN(30) {
				words = append(words, fmt.Sprintf("w%d", rng.IntN(60)))
			}
			if i%5 == 0 {
				words = append(words, "met")
			}
			fmt.Fprintf(&b, `{"node":{"key":"k%d","type":"T","summary":"%s"}}`+"\n", rng.IntN(30+i),
				strings.Join(words[rng.IntN(2):], " "))
		}
		repokit.Lines(t, r, b.String())
	}
	s := repokit.Head(t, r)
	answer, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: "tide w7 tide rendezvous",
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Limit: new(0), Budget: new(0),
		Floor: retrieve.FloorRest})
	must.OK(t, err)
	ids := make([]graph.ID, len(answer.Items))
	for i, item := range answer.Items {
		ids[i] = item.ID
	}
	rows, err := rank.TermScores(t.Context(), s, answer, ids)
	must.OK(t, err)
	added := 0
	for i, row := range rows {
		sum := int64(0)
		for _, term := range row {
			sum += term.Score
			if term.Added {
				added++
			}
		}
		if sum != answer.Items[i].Score {
			t.Errorf("%s: terms give %d of %d", ids[i], sum, answer.Items[i].Score)
		}
	}
	if added == 0 || len(answer.Kin) != 1 || answer.Kin[0].Term != "met" {
		t.Errorf("%d scores of added terms, kin %v", added, answer.Kin)
	}
}
