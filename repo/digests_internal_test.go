package repo

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// TestDigestsOfOtherRules: digests that were made by other rules of the guard are made anew, and the old ones are
// collected.
func TestDigestsOfOtherRules(t *testing.T) {
	st, by := mem.New(), Stamp{Author: "test", Time: 1, Command: []string{"test"}}
	r, err := New(t.Context(), st, by, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res, err := r.Commit(t.Context(), ReadChanges(strings.NewReader(
		`{"node":{"key":"a","type":"Note","summary":"One thing is known."}}`), "lines"), CommitOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.At(t.Context(), res.Commit)
	if err != nil {
		t.Fatal(err)
	}
	recipe := distill.Default()
	if _, err := s.Digests(t.Context(), recipe, DigestOptions{Keep: true}); err != nil {
		t.Fatal(err)
	}
	mine := digestsKey(s.state.root, recipe)
	others := digestsKeyUnder(s.state.root, recipe, sha256.Sum256([]byte("other rules")))
	if mine == others || mine != digestsKeyUnder(s.state.root, recipe, guard.Version()) {
		t.Fatal("the key does not depend on the rules")
	}
	head, err := r.derived().Cell(t.Context(), mine)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.derived().SetCell(t.Context(), others, head); err != nil { // as a program with other rules left it
		t.Fatal(err)
	}
	if err := st.Derived().(store.CellDeleter).DeleteCells(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if d, err := r.keptDigests(t.Context(), s.state, recipe); err != nil || d != nil {
		t.Fatalf("found by other rules: %v, %v", d, err)
	}
	r.digests.forget()
	d, err := s.Digests(t.Context(), recipe, DigestOptions{Keep: true})
	if err != nil || d.Found || d.Work.Digests == 0 {
		t.Errorf("not made anew: %+v, %v", d, err)
	}
}
