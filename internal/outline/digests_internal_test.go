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
	r := must.Get(care.New(t.Context(), st, by, core.Options{}))(t)
	defer r.Close()
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
		`{"node":{"key":"a","type":"Note","summary":"One thing is known."}}`), "lines"), core.CommitOptions{Stamp: by})
	must.OK(t, err)
	s := must.Get(r.At(t.Context(), res.Commit))(t)
	recipe := distill.Default()
	must.Get(outline.Open(t.Context(), s, recipe, outline.DigestOptions{Keep: true}))(t)
	mine := outline.DigestsKey(s.State.Root, recipe)
	others := outline.DigestsKeyUnder(s.State.Root, recipe, sha256.Sum256([]byte("other rules")))
	must.Require(t, mine != others && mine == outline.DigestsKeyUnder(s.State.Root, recipe, guard.Version()),
		"the key does not depend on the rules")
	head := must.Get(r.Derived().Cell(t.Context(), mine))(t)
	if err := r.Derived().SetCell(t.Context(), others, head); err != nil { // as a program with other rules left it
		t.Fatal(err)
	}
	must.OK(t, st.Derived().(store.CellDeleter).DeleteCells(t.Context(), mine))
	if d, err := outline.KeptDigests(t.Context(), r, s.State, recipe); err != nil || d != nil {
		t.Fatalf("found by other rules: %v, %v", d, err)
	}
	r.Digests.Clear()
	d, err := outline.Open(t.Context(), s, recipe, outline.DigestOptions{Keep: true})
	must.Check(t, err == nil && !d.Found && d.Work.Digests != 0, "not computed again: %+v, %v", d, err)
}
