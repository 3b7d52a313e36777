package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

func payments() *memory {
	m := newMemory()
	m.add(graph.Node{ID: num(0), Summary: "charge web", Created: 1})
	m.add(graph.Node{ID: num(1), Summary: "duplicate payment", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "payment", Created: 1})
	m.add(graph.Node{ID: num(3), Summary: "host", Created: 1})
	return m
}

// TestHostileRewrites refuses receipts whose links are not to different texts, and other texts.
func TestHostileRewrites(t *testing.T) {
	r, text := payments().ask(t, retrieve.Request{Text: "a",
		RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"b", "c"}}}).Receipt()
	if len(r.Rewrites()) != 2 || r.Rewrites()[1] != ipld.Sum(ipld.Raw, []byte("c")) {
		t.Fatal(r.Rewrites())
	}
	for _, texts := range [][]string{nil, {"b"}, {"c", "b"}, {"b", "c", "d"}} {
		if _, err := r.Request(string(text), texts...); err == nil {
			t.Errorf("%q are accepted", texts)
		}
	}
	raw := ipld.LinkValue(ipld.Sum(ipld.Raw, []byte("b")))
	for name, v := range map[string]ipld.Value{
		"twice": ipld.ListValue(raw, raw), "empty": ipld.ListValue(), "text": ipld.StringValue("b"),
		"texts": ipld.ListValue(ipld.StringValue("b")),
		"node":  ipld.ListValue(ipld.LinkValue(testCommit)),
		"nine":  ipld.ListValue(slices.Repeat([]ipld.Value{raw}, 9)...),
	} {
		bad := *r
		entries := slices.Clone(r.Params.Entries())
		at := slices.IndexFunc(entries, func(e ipld.Entry) bool { return e.Key == "rewrites" })
		entries[at].Value = v
		bad.Params = ipld.MapValue(entries...)
		if err := bad.Validate(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
