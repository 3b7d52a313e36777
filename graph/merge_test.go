package graph

import (
	"bytes"
	"errors"
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
		if got, err := MergeNode(v, TakeOurs); !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestItems(t *testing.T) {
	id := NodeID("n")
	for _, item := range []Item{
		{NodeItem, id}, {EdgeItem, id}, MarkItem(OnNode, id), MarkItem(OnEdge, id),
	} {
		got, err := ParseItem(item.String())
		if err != nil || got != item {
			t.Errorf("%s reads as %+v, %v", item, got, err)
		}
	}
	for _, s := range []string{
		"", "/", "node", "node/", "nodes/" + id.String(), "mark/" + id.String(), id.String(),
		"node/" + strings.ToUpper(id.String()), "node/" + (ID{}).String(), "node/" + id.String() + "/",
	} {
		if got, err := ParseItem(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q reads as %+v, %v", s, got, err)
		}
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
	run := func(v Versions, take Take) MergedRecord {
		got, err := merge(v, take)
		must.OK(t, err)
		return got
	}
	ours, theirs := run(v, TakeOurs), run(v, TakeTheirs)
	mirror := run(Versions{v.Base, v.Theirs, v.Ours}, TakeTheirs)
	if ours.Kind != mirror.Kind || !bytes.Equal(ours.Record, mirror.Record) ||
		!slices.Equal(ours.Fields, mirror.Fields) {
		t.Fatalf("from the other side: %+v, want %+v", mirror, ours)
	}
	if ours.Kind == "" && !bytes.Equal(ours.Record, theirs.Record) {
		t.Fatal("a clean merge depends on who is preferred")
	}
	if same := run(Versions{v.Base, v.Ours, v.Ours}, TakeOurs); !bytes.Equal(same.Record, v.Ours) {
		t.Fatal("merging the same is not the same")
	}
	if one := run(Versions{v.Base, v.Ours, v.Base}, TakeOurs); !bytes.Equal(one.Record, v.Ours) {
		t.Fatal("a change on one side alone is lost")
	}
	for _, rec := range []MergedRecord{ours, theirs, run(v, TakeBase)} {
		if rec.Record == nil {
			continue
		}
		again := run(Versions{nil, rec.Record, nil}, TakeOurs)
		if !bytes.Equal(again.Record, rec.Record) {
			t.Fatal("what was merged is no record")
		}
		if _, err := merge(Versions{nil, rec.Record, v.Ours}, TakeOurs); err != nil {
			t.Fatalf("what was merged does not decode: %v", err)
		}
	}
}
