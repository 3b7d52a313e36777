package commit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func goldenConflict() *Conflict {
	return &Conflict{
		Item:  graph.Item{Kind: graph.NodeItem, ID: graph.NodeID("alice")},
		Cause: graph.EditEdit, Fields: []string{"props.team", "summary"},
		Base: link("b"), Ours: link("o"), Theirs: link("t"),
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
}

func goldenMerge() *Merge {
	return &Merge{
		Verb: VerbMerge, Ours: link("o"), Theirs: link("t"), Message: Message{Text: "merge"}, Graph: link("g"),
		Vectors: link("v"), Dropped: 3, Conflicts: link("c"), Resolutions: link("r"),
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
}

func TestSetFields(t *testing.T) {
	c := goldenConflict()
	names := []string{"b", "", "a", "b", strings.Repeat("x", MaxConflictField+1)}
	c.SetFields(names)
	must.Same(t, c.Fields, []string{"a", "b"})
	must.Equal(t, names[0], "b", "the names given were changed")
	names = nil
	for i := range 2 * MaxConflictFields {
		names = append(names, fmt.Sprintf("%04d%s", i, strings.Repeat("x", MaxConflictField-4)))
	}
	c.SetFields(names)
	must.OK(t, c.Validate(), "fields")
	must.Equal(t, len(c.Fields), MaxConflictFields, "fields")
}

func TestResolutions(t *testing.T) {
	for _, r := range []Resolution{
		{Take: graph.TakeOurs}, {Take: graph.TakeTheirs}, {Take: graph.TakeBase}, {},
		{Record: link("r")},
	} {
		got := must.Get(DecodeResolution(r.Encode()))(t, "comes back as")
		must.Equal(t, got, r, "comes back as")
	}
	str := func(s string) []byte { return ipld.AppendString(nil, s) }
	take := func(v []byte) []byte { return append(append(ipld.AppendMap(nil, 1), str("take")...), v...) }
	both := append(ipld.AppendMap(nil, 2), str("take")...)
	both = append(append(both, str("ours")...), str("record")...)
	for name, item := range map[string][]byte{
		"empty": {}, "no map": str("ours"), "nothing": ipld.AppendMap(nil, 0),
		"unknown side": take(str("mine")), "number": take(ipld.AppendInt(nil, 1)),
		"empty side": take(str("")), "bytes after": append(take(str("ours")), 0),
		"side and record": ipld.AppendLink(both, link("r")),
		"unknown field":   append(append(ipld.AppendMap(nil, 1), str("tape")...), str("ours")...),
	} {
		must.Fail(t, must.Err(DecodeResolution(item)), ipld.ErrInvalid, name)
	}
}

func FuzzDecodeMergeRecords(f *testing.F) {
	f.Add(goldenConflict().Encode())
	f.Add(goldenMerge().Encode())
	f.Add(Resolution{Record: link("r")}.Encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		check := func(kind string, encode func() []byte, err error) {
			t.Helper()
			switch {
			case err != nil && !errors.Is(err, ipld.ErrInvalid):
				t.Errorf("%s: error does not wrap ipld.ErrInvalid: %v", kind, err)
			case err == nil && !bytes.Equal(encode(), block):
				t.Errorf("%s: %x encodes to %x", kind, block, encode())
			}
		}
		c, err := DecodeConflict(block)
		check(KindConflict, c.Encode, err)
		m, err := DecodeMerge(block)
		check(KindMerge, m.Encode, err)
		r, err := DecodeResolution(block)
		check("resolution", r.Encode, err)
	})
}
