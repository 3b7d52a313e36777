package graph

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func mergeNode(change func(*Node)) []byte {
	n := &Node{ID: NodeID("n"), Key: "n", Type: "T", Created: 100}
	change(n)
	if err := n.Validate(); err != nil {
		panic(err)
	}
	return n.Encode()
}

func TestMergeRefusesWhatIsNoRecord(t *testing.T) {
	good := mergeNode(func(*Node) {})
	for _, v := range []Versions{
		{good, []byte{0}, []byte{1}}, {[]byte{0}, good, mergeNode(func(n *Node) { n.Summary = "S" })},
	} {
		must.Fail(t, must.Err(MergeNode(v, TakeOurs)), ipld.ErrInvalid)
	}
}

func TestItems(t *testing.T) {
	id := NodeID("n")
	for _, item := range []Item{{NodeItem, id}, {EdgeItem, id}, MarkItem(OnNode, id), MarkItem(OnEdge, id)} {
		must.Equal(t, must.Get(ParseItem(item.String()))(t, "reads as"), item, "reads as")
	}
	for _, s := range []string{
		"", "/", "node", "node/", "nodes/" + id.String(), "mark/" + id.String(), id.String(),
		"node/" + strings.ToUpper(id.String()), "node/" + (ID{}).String(), "node/" + id.String() + "/",
	} {
		must.Fail(t, must.Err(ParseItem(s)), ErrInvalid, s, " reads as")
	}
}

// TestMergeProperties holds merges of any records to the laws of a merge.
func TestMergeProperties(t *testing.T) {
	kinds := map[string]struct {
		record func(*rapid.T) []byte
		merge  func(Versions, Take) (MergedRecord, error)
	}{
		"node": {func(t *rapid.T) []byte {
			n := genNode().Draw(t, "node")
			n.ID, n.Key = NodeID("n"), "n"
			return valid(t, n)
		}, MergeNode},
		"edge": {func(t *rapid.T) []byte {
			e := genEdge().Draw(t, "edge")
			e.ID, e.Key = NodeID("e"), ""
			return valid(t, e)
		}, MergeEdge},
		"mark": {func(t *rapid.T) []byte {
			m := genMark().Draw(t, "mark")
			m.On, m.ID = OnNode, NodeID("n")
			return valid(t, m)
		}, MergeMark},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				pool := [][]byte{nil, kind.record(t), kind.record(t), kind.record(t)}
				version := rapid.SampledFrom(pool)
				v := Versions{version.Draw(t, "base"), version.Draw(t, "ours"), version.Draw(t, "theirs")}
				checkMerge(t, v, kind.merge)
			})
		})
	}
}

func valid(t *rapid.T, r interface {
	Validate() error
	Encode() []byte
}) []byte {
	if r.Validate() != nil {
		t.Skip("not a valid record")
	}
	return r.Encode()
}

func checkMerge(t *rapid.T, v Versions, merge func(Versions, Take) (MergedRecord, error)) {
	run := func(v Versions, take Take) MergedRecord { return must.Get(merge(v, take))(t) }
	ours, theirs := run(v, TakeOurs), run(v, TakeTheirs)
	mirror := run(Versions{v.Base, v.Theirs, v.Ours}, TakeTheirs)
	if ours.Kind != mirror.Kind || !bytes.Equal(ours.Record, mirror.Record) ||
		!slices.Equal(ours.Fields, mirror.Fields) {
		t.Fatalf("from the other side: %+v, want %+v", mirror, ours)
	}
	must.Require(t, ours.Kind != "" || bytes.Equal(ours.Record, theirs.Record),
		"a clean merge depends on who is preferred")
	must.Require(t, bytes.Equal(run(Versions{v.Base, v.Ours, v.Ours}, TakeOurs).Record, v.Ours),
		"merging the same is not the same")
	must.Require(t, bytes.Equal(run(Versions{v.Base, v.Ours, v.Base}, TakeOurs).Record, v.Ours),
		"a change on one side alone is lost")
	for _, rec := range []MergedRecord{ours, theirs, run(v, TakeBase)} {
		if rec.Record == nil {
			continue
		}
		again := run(Versions{nil, rec.Record, nil}, TakeOurs)
		must.Require(t, bytes.Equal(again.Record, rec.Record), "what was merged is no record")
		must.Get(merge(Versions{nil, rec.Record, v.Ours}, TakeOurs))(t, "what was merged does not decode")
	}
}
