package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// runHorizon lists the operations that stay behind a horizon.
func runHorizon(t *testing.T, v vector) {
	var in struct{ Horizon uint64 }
	var want struct{ Kept []uint64 }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	same(t, "kept", fmt.Sprint(commit.Kept(in.Horizon)), fmt.Sprint(want.Kept))
}

// runRedaction reads a redaction, and if it is asked for, what is shown of it.
func runRedaction(t *testing.T, v vector) {
	var in struct{ Block string }
	var want struct{ CID, JSON, Shown, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	if want.Shown == "" {
		runRecord(t, v)
		return
	}
	rec := must.Get(commit.DecodeRedaction(expand(t, in.Block)))(t)
	same(t, "shown", rec.String(), want.Shown)
}

// runMergeErased merges two sides of an item whose record before both was erased.
func runMergeErased(t *testing.T, v vector) {
	var in struct{ Kind, Ours, Theirs string }
	var want struct {
		Conflict string
		Fields   []string
		Ours     string `json:"taking-ours"`
		Theirs   string `json:"taking-theirs"`
		Base     string `json:"taking-base"`
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	var sides graph.Versions
	if in.Ours != "" {
		sides.Ours = expand(t, in.Ours)
	}
	if in.Theirs != "" {
		sides.Theirs = expand(t, in.Theirs)
	}
	kind := map[string]graph.ItemKind{
		"node": graph.NodeItem, "edge": graph.EdgeItem, "mark": graph.NodeMarkItem,
	}[in.Kind]
	for take, cid := range map[graph.Take]string{
		graph.TakeOurs: want.Ours, graph.TakeTheirs: want.Theirs, graph.TakeBase: want.Base,
	} {
		m := must.Get(graph.MergeErased(kind, sides, take))(t)
		got := ""
		if m.Record != nil {
			got = ipld.Sum(ipld.DagCBOR, m.Record).String()
		}
		same(t, "taking "+string(take), got, cid)
		same(t, "conflict", string(m.Kind), want.Conflict)
		same(t, "fields", strings.Join(m.Fields, " "), strings.Join(want.Fields, " "))
	}
}
