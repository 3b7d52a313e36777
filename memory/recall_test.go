package memory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store/mem"
)

// TestRecall asks a small memory: the intent is read from the question unless it is given.
func TestRecall(t *testing.T) {
	by := repo.Stamp{Author: "erin", Time: 1_767_225_600_000_000, Command: []string{"test"}}
	r, err := repo.New(t.Context(), mem.New(), by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(
		`{"node":{"key":"fail","type":"event","summary":"The pump failed"}}
{"node":{"key":"silt","type":"fact","summary":"Silt blocked the inlet"}}
{"edge":{"type":"causes","src":"silt","dst":"fail"}}
`), "test.jsonl"), repo.CommitOptions{Stamp: by, Message: "first"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	m := memory.New(r)
	a, err := m.Recall(t.Context(), s, retrieve.Request{Text: "Why did the pump fail?"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Recall.Intent != retrieve.IntentWhy || len(a.Items) != 2 || a.Items[1].Key != "silt" ||
		a.Items[1].Recall.Graph == 0 {
		t.Errorf("%+v, items %+v", a.Recall, a.Items)
	}
	a, err = m.Recall(t.Context(), s, retrieve.Request{Text: "Why quagga?", Intent: retrieve.IntentWhen})
	if err != nil {
		t.Fatal(err)
	}
	if a.Recall.Intent != retrieve.IntentWhen || !slices.ContainsFunc(a.Warnings,
		func(w retrieve.Warning) bool { return w.Code == retrieve.NothingRelevant }) {
		t.Errorf("%+v, warnings %v", a.Recall, a.Warnings)
	}
}
