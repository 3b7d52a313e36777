package spec_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

// runSem runs a case of clause 29.2.
func runSem(t *testing.T, v vector) {
	var in struct{ Text string }
	var want struct{ Sem string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	sem, err := distill.SemOf(in.Text)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "sem", sem.String(), want.Sem)
}

// runDigest runs a case of clause 29.3.
func runDigest(t *testing.T, v vector) {
	var in changesInput
	var want struct {
		Root   *string
		Record string
		Scopes map[string]string
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	d, err := apply(t, in).tip(t).Digests(t.Context(), distill.Default(), repo.DigestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want.Root == nil {
		if d.Root.Defined() {
			t.Errorf("a root of nothing: %s", d.Root)
		}
		return
	}
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	if err != nil {
		t.Fatal(err)
	}
	if int(d.Scopes.Len()) != len(want.Scopes) {
		t.Errorf("%d scopes, want %d", d.Scopes.Len(), len(want.Scopes))
	}
	for id, c := range want.Scopes {
		scope, err := graph.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Scope(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "scope "+id, got.String(), c)
	}
	same(t, "record", fmt.Sprintf("%x", root.Encode()), want.Record)
	same(t, "root", d.Root.String(), *want.Root)
}
