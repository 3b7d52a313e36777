package commit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
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

func TestMergeRecordsComeBack(t *testing.T) {
	c, m := goldenConflict(), goldenMerge()
	if err := errors.Join(c.Validate(), m.Validate()); err != nil {
		t.Fatal(err)
	}
	gotC, err := DecodeConflict(c.Encode())
	if err != nil {
		t.Fatal(err)
	}
	gotM, err := DecodeMerge(m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, gotC, equalRecords); diff != "" {
		t.Errorf("conflict: %s", diff)
	}
	if diff := cmp.Diff(m, gotM, equalRecords); diff != "" {
		t.Errorf("merge: %s", diff)
	}
}

func TestMergeRecordsRefused(t *testing.T) {
	conflicts := map[string]func(*Conflict){
		"no item":       func(c *Conflict) { c.Item = graph.Item{} },
		"unknown cause": func(c *Conflict) { c.Cause = "moved" },
		"same sides":    func(c *Conflict) { c.Theirs = c.Ours },
		"raw link":      func(c *Conflict) { c.Base = ipld.Sum(ipld.Raw, nil) },
		"order":         func(c *Conflict) { c.Fields = []string{"b", "a"} },
		"twice":         func(c *Conflict) { c.Fields = []string{"a", "a"} },
		"empty name":    func(c *Conflict) { c.Fields = []string{""} },
		"long name":     func(c *Conflict) { c.Fields = []string{strings.Repeat("x", 1025)} },
		"many names":    func(c *Conflict) { c.Fields = make([]string, MaxConflictFields+1) },
		"extra":         func(c *Conflict) { c.Extra = []ipld.Entry{{Key: "ours"}} },
	}
	for name, change := range conflicts {
		c := goldenConflict()
		change(c)
		if err := c.Validate(); !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("conflict, %s: %v", name, err)
		}
	}
	merges := map[string]func(*Merge){
		"no ours":        func(m *Merge) { m.Ours = ipld.CID{} },
		"no theirs":      func(m *Merge) { m.Theirs = ipld.CID{} },
		"no graph":       func(m *Merge) { m.Graph = ipld.CID{} },
		"no conflicts":   func(m *Merge) { m.Conflicts = ipld.CID{} },
		"no resolutions": func(m *Merge) { m.Resolutions = ipld.CID{} },
		"raw vectors":    func(m *Merge) { m.Vectors = ipld.Sum(ipld.Raw, nil) },
		"unknown verb":   func(m *Merge) { m.Verb = "rebase" },
		"long message":   func(m *Merge) { m.Message.Text = strings.Repeat("x", MaxMessage+1) },
		"dropped":        func(m *Merge) { m.Dropped = graph.MaxCount + 1 },
		"extra":          func(m *Merge) { m.Extra = []ipld.Entry{{Key: "verb"}} },
	}
	for name, change := range merges {
		m := goldenMerge()
		change(m)
		if err := m.Validate(); !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("merge, %s: %v", name, err)
		}
	}
	m := goldenMerge()
	m.Verb, m.Theirs = VerbRevert, ipld.CID{}
	if err := m.Validate(); err != nil {
		t.Errorf("revert of a first commit: %v", err)
	}
}

func TestSetFields(t *testing.T) {
	c := goldenConflict()
	names := []string{"b", "", "a", "b", strings.Repeat("x", MaxConflictField+1)}
	c.SetFields(names)
	if diff := cmp.Diff([]string{"a", "b"}, c.Fields); diff != "" {
		t.Error(diff)
	}
	if names[0] != "b" {
		t.Error("the names given were changed")
	}
	names = nil
	for i := range 2 * MaxConflictFields {
		names = append(names, fmt.Sprintf("%04d%s", i, strings.Repeat("x", MaxConflictField-4)))
	}
	c.SetFields(names)
	if err := c.Validate(); err != nil || len(c.Fields) != MaxConflictFields {
		t.Errorf("%d fields: %v", len(c.Fields), err)
	}
}

func TestResolutions(t *testing.T) {
	for _, r := range []Resolution{
		{Take: graph.TakeOurs}, {Take: graph.TakeTheirs}, {Take: graph.TakeBase}, {},
		{Record: link("r")},
	} {
		got, err := DecodeResolution(r.Encode())
		if err != nil || got != r {
			t.Errorf("%+v comes back as %+v, %v", r, got, err)
		}
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
		if r, err := DecodeResolution(item); !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
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
