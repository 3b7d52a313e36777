package graph

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestApplyNodeTooLarge grows a node beyond one block and beyond its number of properties.
func TestApplyNodeTooLarge(t *testing.T) {
	n := &Node{ID: ID{1}, Type: "T"}
	big := ipld.StringValue(strings.Repeat("x", ipld.MaxBlock/2))
	c := &NodeChange{ID: n.ID, Props: []ipld.Entry{{Key: "a", Value: big}}}
	n, _, err := c.Apply(n, 1)
	must.OK(t, err)
	c.Props = []ipld.Entry{{Key: "b", Value: big}}
	_, _, err = c.Apply(n, 1)
	must.Fail(t, err, ErrInvalid)
	c.Props = nil
	for i := range MaxProps {
		c.Props = append(c.Props, ipld.Entry{Key: string(rune(0x4e00 + i))})
	}
	if _, _, err = c.Apply(&Node{ID: n.ID, Type: "T"}, 1); err != nil {
		t.Errorf("%d properties: %v", MaxProps, err)
	}
	if _, _, err = c.Apply(n, 1); !errors.Is(err, ErrInvalid) {
		t.Errorf("%d properties: error %v", MaxProps+1, err)
	}
}

// TestApplyKeepsUnknownFields: an old program can edit the nodes of a newer one.
func TestApplyKeepsUnknownFields(t *testing.T) {
	n := goldenNode()
	c := &NodeChange{Key: "alice", Summary: ptr("other")}
	next, changed, err := c.Apply(n, 1)
	must.Check(t, err == nil && changed && len(next.Extra) == 1 && n.Summary != "other",
		"changed %t, error %v, unknown fields %v", changed, err, next.Extra)
	c = &NodeChange{Key: "alice", Replace: true}
	if next, _, err = c.Apply(n, 1); err != nil || next.Extra != nil {
		t.Errorf("error %v, unknown fields %v after replace", err, next.Extra)
	}
}

// TestApplyTwice checks for random nodes and changes that the second time changes nothing, that
// the first leaves the old node as it was, and that one batch is as good as two.
func TestApplyTwice(t *testing.T) {
	text := rapid.SampledFrom([]*string{nil, ptr(""), ptr("s"), ptr("t")})
	rapid.Check(t, func(t *rapid.T) {
		old := genNode().Draw(t, "node")
		before := string(old.Encode())
		c := &NodeChange{
			ID: old.ID, Summary: text.Draw(t, "summary"), Context: text.Draw(t, "context"),
			Props:   genEntries(1).Draw(t, "props"),
			Replace: rapid.Bool().Draw(t, "replace"),
			Unset: rapid.SliceOf(rapid.SampledFrom([]string{
				"content", "validTo", "sources", "props.a",
			})).Draw(t, "unset"),
		}
		if rapid.Bool().Draw(t, "content") {
			must.OK(t, c.SetContent(rapid.StringN(0, 5, -1).Draw(t, "text"), ""))
		}
		now := genTime().Draw(t, "now")
		next, changed, err := c.Apply(old, now)
		must.OK(t, err)
		must.Equal(t, string(old.Encode()), before, "Apply changed the old node")
		if same := string(next.Encode()) == before; changed && same || !changed && next != old {
			t.Fatalf("changed %t, the same %t", changed, same)
		}
		again, changed, err := c.Apply(next, now+1)
		must.Require(t, err == nil && !changed && again == next,
			"the second time: changed %t, error %v", changed, err)
	})
}

func TestMergeProps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, given := genEntries(0).Draw(t, "old"), genEntries(0).Draw(t, "given")
		want := make(map[string]ipld.Value)
		for _, e := range append(append([]ipld.Entry(nil), old...), given...) {
			want[e.Key] = e.Value
		}
		got := mergeProps(old, rapid.Permutation(given).Draw(t, "shuffled"))
		var m meter
		if err := m.props(got); err != nil || len(got) != len(want) {
			t.Fatalf("%d properties, want %d, error %v", len(got), len(want), err)
		}
		for _, e := range got {
			must.Require(t, e.Value.Equal(want[e.Key]), "property %q is wrong", e.Key)
		}
	})
}
