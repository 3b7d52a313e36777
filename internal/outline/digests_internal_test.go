package outline_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
)

// TestDigestsOfOtherRules: digests made by other rules of the guard are computed again, and the old ones are collected.
func TestDigestsOfOtherRules(t *testing.T) {
	st, by := mem.New(), state.Stamp{Author: "test", Time: 1, Command: []string{"test"}}
	r, err := care.New(t.Context(), st, by, core.Options{})
	must.OK(t, err)
	defer r.Close()
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
		`{"node":{"key":"a","type":"Note","summary":"One thing is known."}}`), "lines"), core.CommitOptions{Stamp: by})
	must.OK(t, err)
	s, err := r.At(t.Context(), res.Commit)
	must.OK(t, err)
	recipe := distill.Default()
	_, err = outline.Open(t.Context(), s, recipe, outline.DigestOptions{Keep: true})
	must.OK(t, err)
	mine := outline.DigestsKey(s.State.Root, recipe)
	others := outline.DigestsKeyUnder(s.State.Root, recipe, sha256.Sum256([]byte("other rules")))
	if mine == others || mine != outline.DigestsKeyUnder(s.State.Root, recipe, guard.Version()) {
		t.Fatal("the key does not depend on the rules")
	}
	head, err := r.Derived().Cell(t.Context(), mine)
	must.OK(t, err)
	if err := r.Derived().SetCell(t.Context(), others, head); err != nil { // as a program with other rules left it
		t.Fatal(err)
	}
	must.OK(t, st.Derived().(store.CellDeleter).DeleteCells(t.Context(), mine))
	if d, err := outline.KeptDigests(t.Context(), r, s.State, recipe); err != nil || d != nil {
		t.Fatalf("found by other rules: %v, %v", d, err)
	}
	r.Digests.Clear()
	d, err := outline.Open(t.Context(), s, recipe, outline.DigestOptions{Keep: true})
	if err != nil || d.Found || d.Work.Digests == 0 {
		t.Errorf("not computed again: %+v, %v", d, err)
	}
}
