package repo

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// TestChainVectors keeps chains of sessions beside each other as clause 13.5 says.
func TestChainVectors(t *testing.T) {
	for _, v := range cases.Read(t, "../spec/vectors/chains.jsonl") {
		var in struct {
			Records []string
			Refs    map[graph.RefName]string
			Place   string
		}
		cases.Parse(t, v.Input, &in)
		blocks := mem.New().Facts()
		for _, text := range in.Records {
			if err := blocks.Put(t.Context(), store.NewBlock(ipld.DagCBOR, cases.Bytes(t, text))); err != nil {
				t.Fatal(err)
			}
		}
		refs := make(map[graph.RefName]ipld.CID)
		for name, at := range in.Refs {
			refs[name] = cidOfText(t, at)
		}
		at := func(prefix string) (map[graph.RefName]ipld.CID, error) {
			out := maps.Clone(refs)
			maps.DeleteFunc(out, func(name graph.RefName, _ ipld.CID) bool { return !strings.HasPrefix(string(name), prefix) })
			return out, nil
		}
		change, moves, err := placeSession(t.Context(), blocks, cidOfText(t, in.Place), at)
		if v.Fails != "" {
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: error %v, want %s", v.Path(), err, v.Fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Path(), err)
			continue
		}
		if moves {
			if change.From != refs[change.Ref] {
				t.Errorf("%s: it was at %s, not at %s", v.Path(), refs[change.Ref], change.From)
			}
			refs[change.Ref] = change.To
		}
		var want struct{ Refs map[graph.RefName]string }
		cases.Parse(t, v.Expect, &want)
		got := make(map[graph.RefName]string)
		for name, c := range refs {
			got[name] = c.String()
			if err := graph.ValidateRef(name); err != nil {
				t.Errorf("%s: %v", v.Path(), err)
			}
		}
		if !maps.Equal(got, want.Refs) {
			t.Errorf("%s: %v, want %v", v.Path(), got, want.Refs)
		}
	}
}

func cidOfText(t *testing.T, text string) ipld.CID {
	t.Helper()
	c, err := ipld.ParseCID(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
