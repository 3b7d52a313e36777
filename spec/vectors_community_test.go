package spec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/retrieve"
)

// runCommunity runs a case of clause 20.1, or a request.
func runCommunity(t *testing.T, v vector) {
	var asks struct{ Request json.RawMessage }
	if json.Unmarshal(v.Input, &asks) == nil && asks.Request != nil {
		runRetrieval(t, v)
		return
	}
	var in changesInput
	parse(t, v.Input, &in)
	var want struct{ Communities [][][2]any }
	dec := json.NewDecoder(strings.NewReader(string(v.Expect)))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatal(err)
	}
	p, err := apply(t, in).tip(t).Communities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted strings.Builder
	for n := range p.Len() {
		for _, m := range p.Members(n) {
			fmt.Fprintf(&got, "%d %s %d\n", n, m.ID, m.Inside)
		}
	}
	for n, members := range want.Communities {
		for _, m := range members {
			fmt.Fprintf(&wanted, "%d %s %s\n", n, m[0], m[1])
		}
	}
	same(t, "communities", got.String(), wanted.String())
}

// runSentences runs a case of the ends of sentences.
func runSentences(t *testing.T, v vector) {
	in := struct {
		Text string
		Most int
	}{Most: 500}
	var want struct{ Sentences []string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	got := []string{}
	text.EachSentence(in.Text, in.Most, func(at text.Sentence) bool {
		got = append(got, in.Text[at.Start:at.End])
		return true
	})
	same(t, "sentences", fmt.Sprintf("%q", got), fmt.Sprintf("%q", want.Sentences))
}

func checkSummary(t *testing.T, answer *retrieve.Answer, want wantAnswer) {
	t.Helper()
	if (answer.Summary != nil) != (want.Summary != nil) {
		t.Fatalf("summary %v", answer.Summary)
	}
	if want.Summary != nil {
		same(t, "summary", answer.Summary.Rendered, *want.Summary)
		same(t, "tokens of the summary", fmt.Sprint(answer.Summary.Tokens),
			fmt.Sprint(want.SummaryTokens))
	}
}
