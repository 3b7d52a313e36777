package graph

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/ipld"
)

// nodeLines applies lines about one node, each as a commit of its own at times 1, 2 …. It returns
// the last state and the number of lines that changed nothing.
func nodeLines(t *testing.T, lines ...string) (n *Node, unchanged int, err error) {
	t.Helper()
	for i, line := range lines {
		c, err := ParseChange([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if n == nil {
			if n, err = c.Node.Make(Time(i + 1)); err != nil {
				return nil, 0, err
			}
			continue
		}
		next, changed, err := c.Node.Apply(n, Time(i+1))
		if err != nil {
			return n, unchanged, err
		}
		if !changed {
			unchanged++
		}
		n = next
	}
	return n, unchanged, nil
}

func TestApplyNode(t *testing.T) {
	const first = `{"node":{"key":"a","type":"T","summary":"s","context":"c","props":{"p":1,"q":2},
		"content":"x","sources":["u"],"validFrom":"1970-01-01","validTo":"1970-01-02"}}`
	base := Node{
		ID: NodeID("a"), Key: "a", Type: "T", Summary: "s", Context: "c",
		Props: []ipld.Entry{
			{Key: "p", Value: ipld.IntValue(1)}, {Key: "q", Value: ipld.IntValue(2)},
		},
		Content: &Content{Text: "x", Size: 1}, Sources: []string{"u"}, Created: 1,
		ValidFrom: At(0), ValidTo: At(86400e6),
	}
	cases := []struct {
		name      string
		members   string // of the second line, besides the key
		edit      func(n *Node)
		unchanged int
	}{
		{"nothing given", ``, func(n *Node) {}, 1},
		{"the same again", `"summary":"s","props":{"q":2},"content":"x"`, func(n *Node) {}, 1},
		{"only created", `"created":"1970-01-03"`, func(n *Node) {}, 1},
		{"summary", `"summary":"t"`, func(n *Node) { n.Summary = "t" }, 0},
		{"type", `"type":"U"`, func(n *Node) { n.Type = "U" }, 0},
		{"empty texts remove", `"summary":"","context":"","content":"","sources":[]`, func(n *Node) {
			n.Summary, n.Context, n.Content, n.Sources = "", "", nil, nil
		}, 0},
		{"unset", `"unset":["summary","context","content","sources","validFrom","validTo"]`,
			func(n *Node) {
				n.Summary, n.Context, n.Content, n.Sources = "", "", nil, nil
				n.ValidFrom, n.ValidTo = OptTime{}, OptTime{}
			}, 0},
		{"unset absent", `"unset":["props.none"]`, func(n *Node) {}, 1},
		{"unset after given", `"props":{"r":3},"unset":["props.r","props.p"]`, func(n *Node) {
			n.Props = []ipld.Entry{{Key: "q", Value: ipld.IntValue(2)}}
		}, 0},
		{"props merge", `"props":{"p":null,"aa":4,"b":5}`, func(n *Node) {
			n.Props = []ipld.Entry{
				{Key: "b", Value: ipld.IntValue(5)}, {Key: "p"}, {Key: "q", Value: ipld.IntValue(2)},
				{Key: "aa", Value: ipld.IntValue(4)},
			}
		}, 0},
		{"validity", `"validFrom":"1969-01-01"`, func(n *Node) {
			n.ValidFrom = At(-365 * 86400e6)
		}, 0},
		{"created with a change", `"summary":"t","created":"1970-01-03"`, func(n *Node) {
			n.Summary, n.Created = "t", 2*86400e6
		}, 0},
		{"created as the time of the change", `"summary":"t","created":"1970-01-01T00:00:00.000002Z"`,
			func(n *Node) { n.Summary, n.Created = "t", 2 }, 0},
		{"replace", `"summary":"t","replace":true`, func(n *Node) {
			*n = Node{ID: n.ID, Key: n.Key, Type: n.Type, Created: n.Created, Summary: "t"}
		}, 0},
		{"replace by the same", `"replace":true,` +
			strings.TrimSuffix(strings.TrimPrefix(first, `{"node":{"key":"a",`), `}}`),
			func(n *Node) {}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := base
			c.edit(&want)
			if c.unchanged == 0 && want.Created != 2 {
				want.Updated = At(2)
			}
			line := `{"node":{"key":"a"` + strings.TrimSuffix(","+c.members, ",") + `}}`
			got, unchanged, err := nodeLines(t, first, line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, got, equalRecords); diff != "" || unchanged != c.unchanged {
				t.Errorf("unchanged %d, node differs (-want +got):\n%s", unchanged, diff)
			}
		})
	}
}

func TestApplyNodeRefuses(t *testing.T) {
	const keyed, keyless = `{"node":{"key":"a","type":"T","validFrom":"1970-01-02"}}`,
		`{"node":{"id":"` + someID + `","type":"T"}}`
	cases := []struct{ first, second, field string }{
		{`{"node":{"key":"a"}}`, ``, "type"},
		{keyed, `{"node":{"key":"a","validTo":"1970-01-01"}}`, "validTo"},
		{keyless, `{"node":{"key":"alice"}}`, "key"}, // the key alice has someID
	}
	for _, c := range cases {
		lines := []string{c.first}
		if c.second != "" {
			lines = append(lines, c.second)
		}
		_, _, err := nodeLines(t, lines...)
		var fe *FieldError
		if !errors.As(err, &fe) || fe.Field != c.field {
			t.Errorf("%s then %s: error %v, want one about %s", c.first, c.second, err, c.field)
		}
	}
}

// TestApplyNodeTooLarge grows a node beyond one block and beyond its number of properties.
func TestApplyNodeTooLarge(t *testing.T) {
	n := &Node{ID: ID{1}, Type: "T"}
	big := ipld.StringValue(strings.Repeat("x", ipld.MaxBlock/2))
	c := &NodeChange{ID: n.ID, Props: []ipld.Entry{{Key: "a", Value: big}}}
	n, _, err := c.Apply(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Props = []ipld.Entry{{Key: "b", Value: big}}
	if _, _, err = c.Apply(n, 1); !errors.Is(err, ErrInvalid) {
		t.Errorf("two halves of a block: error %v", err)
	}
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

// TestMakeNode checks identity: by key, by id, by content.
func TestMakeNode(t *testing.T) {
	n, _, err := nodeLines(t, `{"node":{"type":"T","summary":"s","created":"1970-01-01"}}`)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := nodeLines(t, `{"node":{"summary":"s","type":"T"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if n.ID != again.ID || n.ID != ContentID(n.Canonical(), 0) {
		t.Errorf("the same content has ids %s and %s", n.ID, again.ID)
	}
	if n.Created != 0 || again.Created != 1 || n.Updated.Given || again.Updated.Given {
		t.Errorf("created %s and %s", n.Created, again.Created)
	}
	other, _, err := nodeLines(t, `{"node":{"summary":"s","type":"T","props":{"a":1}}}`)
	if err != nil || other.ID == n.ID {
		t.Errorf("other content has the same id, error %v", err)
	}
	given, _, err := nodeLines(t, `{"node":{"id":"`+someID+`","type":"T"}}`)
	if err != nil || given.ID.String() != someID || given.Key != "" {
		t.Errorf("id given: %v, %v", given, err)
	}
}

// TestApplyKeepsUnknownFields: an old program can edit the nodes of a newer one.
func TestApplyKeepsUnknownFields(t *testing.T) {
	n := goldenNode()
	c := &NodeChange{Key: "alice", Summary: ptr("other")}
	next, changed, err := c.Apply(n, 1)
	if err != nil || !changed || len(next.Extra) != 1 || n.Summary == "other" {
		t.Errorf("changed %t, error %v, unknown fields %v", changed, err, next.Extra)
	}
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
			if err := c.SetContent(rapid.StringN(0, 5, -1).Draw(t, "text"), ""); err != nil {
				t.Fatal(err)
			}
		}
		now := genTime().Draw(t, "now")
		next, changed, err := c.Apply(old, now)
		if err != nil {
			t.Fatal(err)
		}
		if string(old.Encode()) != before {
			t.Fatal("Apply changed the old node")
		}
		if same := string(next.Encode()) == before; changed && same || !changed && next != old {
			t.Fatalf("changed %t, the same %t", changed, same)
		}
		again, changed, err := c.Apply(next, now+1)
		if err != nil || changed || again != next {
			t.Fatalf("the second time: changed %t, error %v", changed, err)
		}
	})
}

func TestApplyEdge(t *testing.T) {
	parse := func(line string) *EdgeChange {
		c, err := ParseChange([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return c.Edge
	}
	const head = `{"edge":{"type":"t","src":"a","dst":"b"`
	first, err := parse(head + `,"props":{"p":1},"weight":0.5,"sources":["u"]}}`).Make(1)
	if err != nil {
		t.Fatal(err)
	}
	base := Edge{
		ID: EdgeID(NodeID("a"), "t", NodeID("b"), ""), Type: "t", Src: NodeID("a"), Dst: NodeID("b"),
		Weight: 1 << 15, Props: []ipld.Entry{{Key: "p", Value: ipld.IntValue(1)}}, Created: 1,
		Sources: []string{"u"},
	}
	if diff := cmp.Diff(&base, first, equalRecords); diff != "" {
		t.Errorf("new edge differs (-want +got):\n%s", diff)
	}
	cases := []struct {
		name, line string
		edit       func(e *Edge)
	}{
		{"nothing given", head + `}}`, nil},
		{"only created", head + `,"created":"1970-01-02"}}`, nil},
		{"by id", `{"edge":{"id":"` + base.ID.String() + `","weight":1}}`,
			func(e *Edge) { e.Weight = MaxWeight }},
		{"unset", head + `,"unset":["weight","props.p","sources","validFrom"]}}`,
			func(e *Edge) { e.Weight, e.Props, e.Sources = MaxWeight, nil, nil }},
		{"replace", head + `,"replace":true,"validFrom":"1970-01-01"}}`, func(e *Edge) {
			e.Weight, e.Props, e.Sources, e.ValidFrom = MaxWeight, nil, nil, At(0)
		}},
		{"created with a change", head + `,"created":"1970-01-02","weight":0.25}}`,
			func(e *Edge) { e.Created, e.Weight = 86400e6, 1<<14 }},
	}
	for _, c := range cases {
		want := base
		if c.edit != nil {
			c.edit(&want)
		}
		got, changed, err := parse(c.line).Apply(first)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		diff := cmp.Diff(&want, got, equalRecords, cmp.Transformer("len", func(e []ipld.Entry) int {
			return len(e)
		}))
		if diff != "" || changed != (c.edit != nil) {
			t.Errorf("%s: changed %t, edge differs (-want +got):\n%s", c.name, changed, diff)
		}
	}
	id := `{"edge":{"id":"` + base.ID.String() + `",`
	for field, line := range map[string]string{
		"type": id + `"type":"u"}}`, "src": id + `"src":"b"}}`, "dst": id + `"dst":"a"}}`,
	} {
		var fe *FieldError
		if _, _, err := parse(line).Apply(first); !errors.As(err, &fe) || fe.Field != field {
			t.Errorf("%s: error %v, want one about %s", line, err, field)
		}
	}
	if _, err := parse(id + `"weight":1}}`).Make(1); !errors.Is(err, ErrInvalid) {
		t.Errorf("new edge without ends: error %v", err)
	}
	keyed, err := parse(head + `,"key":"k","id":"` +
		EdgeID(base.Src, "t", base.Dst, "k").String() + `"}}`).Make(1)
	if err != nil || keyed.Key != "k" || keyed.Weight != MaxWeight {
		t.Errorf("edge with key and id: %v, %v", keyed, err)
	}
	loop, err := parse(`{"edge":{"type":"t","src":"a","dst":"a","id":"` + someID + `"}}`).Make(1)
	if err != nil || loop.Src != loop.Dst || loop.ID.String() != someID {
		t.Errorf("self-loop: %v, %v", loop, err)
	}
}

func TestApplyMark(t *testing.T) {
	c := &MarkChange{On: MarkRef{Node: Ref{Key: "a"}}, State: Superseded, By: Ref{Key: "b"}}
	m, err := c.Make("author", 5)
	want := &Mark{
		On: OnNode, ID: NodeID("a"), State: Superseded, By: NodeID("b"), Actor: "author", Time: 5,
	}
	if diff := cmp.Diff(want, m, equalRecords); err != nil || diff != "" {
		t.Fatalf("error %v, mark differs (-want +got):\n%s", err, diff)
	}
	if next, changed, err := c.Apply(m, "author", 6); err != nil || changed || next != m {
		t.Errorf("only the time: changed %t, error %v", changed, err)
	}
	if next, changed, err := c.Apply(m, "other", 6); err != nil || !changed || next.Actor != "other" {
		t.Errorf("other author: changed %t, error %v", changed, err)
	}
	c.Actor, c.Time, c.Reason = "x", At(7), "why"
	if next, changed, err := c.Apply(m, "author", 6); err != nil || !changed || next.Time != 7 ||
		next.Actor != "x" || next.Reason != "why" {
		t.Errorf("all given: mark %v, changed %t, error %v", next, changed, err)
	}
	edge := &MarkChange{On: MarkRef{Edge: &EdgeRef{ID: ID{1}}}, State: Stale}
	if m, err := edge.Make("author", 5); err != nil || m.On != OnEdge || m.ID != (ID{1}) {
		t.Errorf("mark on an edge: %v, %v", m, err)
	}
	if _, err := edge.Make("", 5); !errors.Is(err, ErrInvalid) {
		t.Errorf("mark without an actor: error %v", err)
	}
}

func TestMakeEmbedding(t *testing.T) {
	c := &EmbeddingChange{Node: Ref{Key: "a"}, Model: "m", Vector: []float64{1, -1}}
	e, err := c.Make([32]byte{1})
	if err != nil || e.DType != Int8 || e.Dims != 2 || e.Text != ([32]byte{1}) {
		t.Errorf("embedding %v, %v", e, err)
	}
	c.Vector, c.Sparse = nil, []SparseWeight{{"t", 1}}
	if e, err = c.Make([32]byte{}); err != nil || e.DType != Sparse || e.Dims != 1 {
		t.Errorf("embedding %v, %v", e, err)
	}
	c.Model = ""
	if _, err = c.Make([32]byte{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("embedding without a model: error %v", err)
	}
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
			if !e.Value.Equal(want[e.Key]) {
				t.Fatalf("property %q is wrong", e.Key)
			}
		}
	})
}
