package repo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// topics is a model with a dimension for each topic, which it knows by its words.
type topics struct {
	words [][]string
	asked int
	err   error
}

func (*topics) Model() string { return "topics" }

func (m *topics) Vectors(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i, text := range texts {
		m.asked++
		for topic, words := range m.words {
			for _, word := range words {
				if strings.Contains(text, word) {
					out[i] = make([]int8, len(m.words))
					out[i][topic] = 127
				}
			}
		}
	}
	return out, m.err
}

func (*topics) Whole(...string) (int, bool) { return 1000, true }

func meant(t *testing.T, m repo.Meaning) *repo.Repo {
	t.Helper()
	opt := ada
	opt.Meaning = m
	return open(t, opt)
}

// TestMeaning finds by vectors alone what Put, Remember and Embed gave some, by Retrieve, Recall and in a session.
func TestMeaning(t *testing.T) {
	ctx := t.Context()
	m := &topics{words: [][]string{{"pills", "medicine"}, {"car", "vehicle"}, {"harbour", "quay"}, {"note"}}}
	r := meant(t, m)
	must(r.Remember(ctx, repo.Memory{Text: "the pills are taken after breakfast"}))
	must(r.Put(ctx, "car", repo.Node{Key: "car", Type: "fact", Summary: "the car stands on floor three"}))
	many := []repo.Fact{repo.Node{Key: "quay", Type: "fact", Summary: "the quay has nine bollards"}}
	for i := range 70 {
		many = append(many, repo.Node{Type: "fact", Summary: fmt.Sprintf("note %d", i)})
	}
	must(r.Put(ctx, "many", many...))
	find := func(text string) string {
		t.Helper()
		a := must(must(r.Snapshot(ctx, "")).Retrieve(ctx, retrieve.Request{Text: text, Limit: new(1)}))
		if len(a.Items) == 0 {
			return ""
		}
		return must(must(r.Snapshot(ctx, "")).Node(ctx, a.Items[0].ID)).Summary
	}
	for text, want := range map[string]string{
		"medicine": "the pills are taken after breakfast", "vehicle": "the car stands on floor three",
		"harbour": "",
	} {
		if got := find(text); got != want {
			t.Errorf("%s finds %q, want %q", text, got, want)
		}
	}
	if n, err := r.Embed(ctx); n != 71 || err != nil {
		t.Errorf("embedded %d nodes, %v", n, err)
	}
	if n, err := r.Embed(ctx); n != 0 || err != nil {
		t.Errorf("embedded %d nodes again, %v", n, err)
	}
	if got := find("harbour"); got != "the quay has nine bollards" {
		t.Errorf("harbour finds %q", got)
	}
	snap := must(r.Snapshot(ctx, ""))
	if a := must(snap.Recall(ctx, retrieve.Request{Text: "vehicle"})); len(a.Items) == 0 {
		t.Error("recall finds nothing")
	}
	s := must(r.StartSession(ctx, "s", "", false))
	a, _, err := s.Retrieve(ctx, retrieve.Request{Text: "medicine", Limit: new(1)})
	if err != nil || len(a.Items) != 1 {
		t.Errorf("%v, %v", a, err)
	}
	before := m.asked
	if got := must(s.Replay(ctx)); !got.Identical || got.Receipts != 1 || m.asked != before {
		t.Errorf("%+v, asked the model %d times", got, m.asked-before)
	}
}

// TestMeaningFails passes on the model's error, and asks no model about nothing.
func TestMeaningFails(t *testing.T) {
	ctx := t.Context()
	m := &topics{words: [][]string{{"pills"}}}
	r := meant(t, m)
	must(r.Put(ctx, "one", repo.Node{Key: "a", Type: "fact", Summary: "pills"}))
	snap, asked := must(r.Snapshot(ctx, "")), m.asked
	for _, q := range []retrieve.Request{
		{Text: " "}, {Text: "x", Vectors: []retrieve.QueryVector{{Model: "topics", Values: []int8{127}}}},
	} {
		must(snap.Retrieve(ctx, q))
	}
	if m.asked != asked {
		t.Errorf("asked %d times", m.asked-asked)
	}
	m.err = errors.New("broken")
	if _, err := snap.Retrieve(ctx, retrieve.Request{Text: "pills"}); !errors.Is(err, m.err) {
		t.Errorf("retrieve: %v", err)
	}
	if _, err := snap.Recall(ctx, retrieve.Request{Text: "pills"}); !errors.Is(err, m.err) {
		t.Errorf("recall: %v", err)
	}
	if _, err := r.Put(ctx, "two", repo.Node{Key: "b", Type: "fact", Summary: "pills"}); !errors.Is(err, m.err) {
		t.Errorf("put: %v", err)
	}
	if _, err := r.Remember(ctx, repo.Memory{Text: "pills again"}); !errors.Is(err, m.err) {
		t.Errorf("remember: %v", err)
	}
	if at := must(r.Snapshot(ctx, "")).CID(); at != snap.CID() {
		t.Error("a failed write left a commit")
	}
	if _, err := meant(t, nil).Embed(ctx); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("embed without a model: %v", err)
	}
}
