package remember

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

const day0 = graph.Time(1_780_000_000_000_000)

var linkBy = state.Stamp{Author: "t", Time: day0, Command: []string{"test"}}

// newMemory returns a memory over an empty repository, which is checked at the end.
func newMemory(t testing.TB) *Writer {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), linkBy, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
		must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v, %+v", err, report)
		r.Close()
	})
	return New(r)
}

// draft returns a draft of a text, some hours after the beginning.
func draft(text string, hours int, sources ...string) *Draft {
	return &Draft{Request: Request{Type: memory.Fact, Text: text, Sources: sources}, ID: ID(memory.Fact, text, 0),
		Created: day0 + graph.Time(hours)*hourMicros}
}

// changes returns the lines that write a draft and its links.
func changes(s *core.Snapshot, d *Draft, links []Link) []graph.Change {
	out := []graph.Change{{Node: &graph.NodeChange{ID: d.ID, Type: d.Type, Summary: &d.Text,
		Sources: d.Sources, Created: graph.At(d.Created)}}}
	for _, l := range links {
		if l.Makes != nil {
			if _, err := s.Name(context.Background(), "key:"+l.Makes.Key); err != nil {
				out = append(out, graph.Change{Node: l.Makes})
			}
		}
		out = append(out, graph.Change{Edge: &graph.EdgeChange{Type: l.Type, Src: l.Src, Dst: l.Dst,
			Key: l.Key, Weight: l.Weight, Props: l.Props}})
	}
	return out
}

func (m *Writer) headOf(t testing.TB) *core.Snapshot {
	t.Helper()
	s, err := m.r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		s = must.Get(m.r.At(t.Context(), ipld.CID{}))(t)
	}
	return s
}

// write commits drafts with their links and returns these.
func (m *Writer) writeDrafts(t testing.TB, opt LinkOptions, near []Near, ds ...*Draft) []Linked {
	t.Helper()
	s := m.headOf(t)
	l := m.newLinker(s, opt)
	var all []graph.Change
	var out []Linked
	for _, d := range ds {
		got := must.Get(l.links(t.Context(), d, nil, near))(t)
		l.wrote(d)
		all = append(all, changes(s, d, got.Links)...)
		out = append(out, got)
	}
	by := linkBy
	by.Time, by.Agent, by.Task = ds[0].Created, ds[0].Agent, ds[0].Task
	lines := func(yield func(graph.Change, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
	must.Get(m.r.Commit(t.Context(), lines, core.CommitOptions{Stamp: by, Message: "m"}))(t)
	return out
}

// shown lists links in one line each, ids by the numbers of drafts.
func shown(got Linked, ds ...*Draft) string {
	name := func(r graph.Ref) string {
		if r.Key != "" {
			return r.Key
		}
		for i, d := range ds {
			if d.ID == r.ID {
				return fmt.Sprint("#", i)
			}
		}
		return r.ID.String()
	}
	var lines []string
	for _, l := range got.Links {
		lines = append(lines, fmt.Sprintf("%s -%s-> %s %d (%s)", name(l.Src), l.Type, name(l.Dst), l.Weight, l.Why))
	}
	for _, c := range got.Candidates {
		lines = append(lines, fmt.Sprintf("? %s %s %d", c.Kind, name(graph.Ref{ID: c.ID}), c.Score))
	}
	return strings.Join(lines, "\n")
}

// TestLinks writes a story and holds the links of each part to what they should be.
func TestLinks(t *testing.T) {
	m := newMemory(t)
	a := draft("The cache server of billing ran out of memory at night.", 0, "conversation:1")
	b := draft("Alice Ng restarted the gateway.", 2, "conversation:2")
	c := draft("The billing site went down because the cache server ran out of memory.", 5, "conversation:1")
	c.Tags, c.Entities = []string{"Outage", "outage"}, []string{"Billing"}
	d := draft("Therefore we moved the billing cache of Alice Ng to Redis.", 30, "conversation:1")
	near := []Near{{ID: a.ID, Text: 30_000}}
	for i, x := range []struct {
		d    *Draft
		near []Near
		want string
	}{
		{a, nil, ""},
		{b, nil, `#1 -near-> #0 21845 (remembered 2 hours before it)
#1 -mentions-> entity/alice ng 0 (the text has Alice Ng: name)`},
		{c, near, `#2 -follows-> #0 0 (the memory before it of the source conversation:1)
#2 -near-> #1 16384 (remembered 3 hours before it)
#2 -mentions-> entity/billing 0 (named by the caller)
#2 -tagged-> tag/outage 0 (tag Outage)
#0 -causes-> #2 0 (the text says “because”: overlap 0.59)`},
		{d, near, `#3 -follows-> #2 0 (the memory before it of the source conversation:1)
#3 -mentions-> entity/billing 0 (the text has billing, which the memory knows)
#3 -mentions-> entity/alice ng 0 (the text has Alice Ng, which the memory knows)
#3 -mentions-> entity/redis 0 (the text has Redis: technology)
#0 -causes-> #3 0 (the text says “therefore”: overlap 0.16)
? causal #1 14563`},
	} {
		must.Equal(t, shown(m.writeDrafts(t, LinkOptions{}, x.near, x.d)[0], a, b, c, d), x.want, "#", i, ":\n")
	}
}

// TestLinkRules: a rule that is off writes nothing, and the others what they write with it.
func TestLinkRules(t *testing.T) {
	of := map[string]LinkRule{memory.EdgeFollows: RuleTemporal, memory.EdgeNear: RuleTemporal, memory.EdgeMentions: RuleEntity,
		memory.EdgeTagged: RuleKeyword, memory.EdgeCauses: RuleCausal, memory.EdgeSimilar: RuleSemantic}
	m := newMemory(t)
	a := draft("The cache server ran out of memory.", 0, "s")
	b := draft("Bob says hello.", 1, "t")
	m.writeDrafts(t, LinkOptions{}, nil, a, b)
	d := draft("The site of Alice went down because the cache server ran out of memory.", 2, "s")
	d.Tags = []string{"outage"}
	similar := []Near{{ID: a.ID, Text: 30_000, Cosine: 60_000}}
	link := func(off ...LinkRule) []Link {
		l := m.newLinker(m.headOf(t), LinkOptions{Off: off})
		got := must.Get(l.links(t.Context(), d, nil, similar))(t)
		return got.Links
	}
	all := link()
	for _, rule := range Rules() {
		want := slices.DeleteFunc(slices.Clone(all), func(l Link) bool { return of[l.Type] == rule })
		must.True(t, len(want) != len(all), "%s: wrote nothing", rule)
		must.Equal(t, shown(Linked{Links: link(rule)}), shown(Linked{Links: want}), "without ", rule, ":\n")
	}
	got := link(Rules()...)
	must.True(t, len(got) == 0, "without any: %v", got)
	must.True(t, (LinkOptions{Off: []LinkRule{"x"}}).Validate() != nil, "an unknown rule passes")
}

// TestCausalDirection: an edge leads from cause to effect whichever of them the text names first, and
// there is never one back.
func TestCausalDirection(t *testing.T) {
	disk, site := "The disk of the archive was full.", "The archive site was down."
	for _, c := range []struct{ before, text, want string }{
		{disk, "The archive site broke because the archive disk was full.", "#0 -causes-> #1"},
		{site, "The archive site was down because of a full moon.", "#1 -causes-> #0"},
		{site, "A full moon rose, so the archive site was down.", "#1 -causes-> #0"},
		{disk, "Because the disk of the archive was full, writing stopped.", "#0 -causes-> #1"},
		{disk, "This caused errors when the archive disk was read.", "#0 -causes-> #1"},
		{site, "The standby prevents that the archive site was down.", "#1 -prevents-> #0"},
		{disk, "Compression allows to keep the archive disk, which was full.", "#1 -enables-> #0"},
		{site, "The new disk does not prevent that the archive site was down.", ""},
		{"因为缓存服务器内存不足", "缓存服务器内存不足，导致网站停机", "#0 -causes-> #1"},
		{"Der Speicher des Servers war voll.", "Der Dienst stand, weil der Speicher des Servers voll war.",
			"#0 -causes-> #1"},
		{"An entirely different matter.", "It rained because of clouds.", ""},
	} {
		m := newMemory(t)
		a, b := draft(c.before, 0), draft(c.text, 1)
		m.writeDrafts(t, LinkOptions{}, nil, a)
		got := m.writeDrafts(t, LinkOptions{Off: []LinkRule{RuleTemporal, RuleEntity}}, []Near{{ID: a.ID}}, b)[0]
		line, _, _ := strings.Cut(shown(got, a, b), " 0 (")
		if len(got.Links) > 1 || line != c.want {
			t.Errorf("%s / %s:\n%s\nwant %s", c.before, c.text, shown(got, a, b), c.want)
		}
	}
}

// TestSemanticLinks holds the rule for vectors to its thresholds.
func TestSemanticLinks(t *testing.T) {
	m := newMemory(t)
	var ds []*Draft
	var near []Near
	for i, cosine := range []int64{52_429, 52_428, 26_214, 26_213, 60_000, 60_000, 60_000} {
		ds = append(ds, draft(fmt.Sprintf("note %d", i), -40))
		near = append(near, Near{ID: ds[i].ID, Cosine: cosine})
	}
	m.writeDrafts(t, LinkOptions{}, nil, ds...)
	got := m.writeDrafts(t, LinkOptions{}, near, draft("another", 0))[0]
	counts := map[string]int{}
	for _, l := range got.Links {
		counts[l.Type]++
		must.True(t, l.Type != memory.EdgeSimilar || l.Weight == 60_000, "weight %d", l.Weight)
	}
	must.True(t, counts[memory.EdgeSimilar] == 3 && len(got.Candidates) == 2 && got.Candidates[0].Score == 52_428 &&
		got.Candidates[1].Score == 26_214, "%v %v", counts, got.Candidates)
}

// TestTemporal: drafts of one commit follow each other, tasks and agents are sources too, and what is
// hidden or gone is not followed.
func TestTemporal(t *testing.T) {
	m := newMemory(t)
	one, two := draft("one", 0, "s"), draft("two", 0, "s")
	got := m.writeDrafts(t, LinkOptions{}, nil, one, two)
	must.Equal(t, shown(got[1], one, two), "#1 -follows-> #0 0 (the memory before it of the source s)")
	mark := graph.Change{Mark: &graph.MarkChange{On: graph.MarkRef{Node: graph.Ref{ID: two.ID}},
		State: graph.Forgotten}}
	commitChanges(t, m, mark)
	three := draft("three", 3, "s")
	s := shown(m.writeDrafts(t, LinkOptions{}, nil, three)[0], one, two)
	must.True(t, strings.Contains(s, "-follows-> #0") && !strings.Contains(s, "#1"), "%v", s)
	commitChanges(t, m, graph.Change{Remove: &graph.Removal{Node: graph.Ref{ID: three.ID}}})
	four := draft("four", 30, "s")
	four.Agent, four.Task = "claude", "t1"
	s = shown(m.writeDrafts(t, LinkOptions{}, nil, four)[0], one)
	must.True(t, s == "#- -follows-> #0 0 (the memory before it of the source s)" ||
		strings.HasSuffix(s, "-follows-> #0 0 (the memory before it of the source s)"), "%v", s)
	five := draft("five", 60)
	five.Agent, five.Task = "claude", "t1"
	s = shown(m.writeDrafts(t, LinkOptions{}, nil, five)[0], four)
	must.True(t, strings.Contains(s, "-follows-> #0 0 (the memory before it of the task t1)"), "%v", s)
	six := draft("six", 90)
	six.Agent = "claude"
	must.Equal(t, shown(m.writeDrafts(t, LinkOptions{}, nil, six)[0], four, five), "")
}

func commitChanges(t *testing.T, m *Writer, list ...graph.Change) {
	t.Helper()
	seq := func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
	must.Get(m.r.Commit(t.Context(), seq, core.CommitOptions{Stamp: linkBy}))(t)
}

// TestLinksDeterminism: neither what a Writer remembers of earlier commits nor the order of what is
// similar changes a link; and undoing the commit gives the graph before it.
func TestLinksDeterminism(t *testing.T) {
	m := newMemory(t)
	var near []Near
	for i := range 40 {
		d := story(i)
		before := m.headOf(t).Graph()
		m.writeDrafts(t, LinkOptions{}, near, d)
		near = append(near, Near{ID: d.ID, Text: int64(20_000 + i%7), Cosine: int64(30_000 + 1000*i)})
		if i%10 == 9 {
			by := linkBy
			must.Get(history.Undo(t.Context(), m.r, "", by))(t)
			must.Equal(t, m.headOf(t).Graph(), before, "undo of ", i)
			near = near[:len(near)-1]
		}
	}
	s, d := m.headOf(t), story(99)
	want := ""
	for i := range 5 {
		fresh := m
		if i%2 == 1 {
			fresh = New(m.r)
		}
		l := fresh.newLinker(s, LinkOptions{})
		rand.Shuffle(len(near), func(a, b int) { near[a], near[b] = near[b], near[a] })
		got := must.Get(l.links(t.Context(), d, nil, near))(t)
		if text := shown(got); want == "" {
			want = text
		} else if text != want {
			t.Errorf("%s\nwant\n%s", text, want)
		}
	}
}

// nodeOf returns the id of the node that a written link names.
func nodeOf(name string) graph.ID {
	if id, err := graph.ParseID(name); err == nil {
		return id
	}
	return graph.NodeID(name)
}

// aliases returns the keys of the nodes that the node of a first name is an alias of.
func aliases(t *testing.T, r Remembered) (out []graph.ID) {
	t.Helper()
	for _, l := range r.Links {
		if l.Type == memory.EdgeAlias {
			out = append(out, nodeOf(l.Dst))
		}
	}
	return out
}

// TestAlias holds that a first name alone binds to the full name that begins with it if there is one.
func TestAlias(t *testing.T) {
	full := graph.NodeID("entity/caroline smith")
	for _, c := range []struct {
		name   string
		before []string
		say    string
		want   []graph.ID
	}{
		{"one", []string{"On Monday Caroline Smith moved"}, "On Friday Caroline left", []graph.ID{full}},
		{"two", []string{"On Monday Caroline Smith moved", "On Tuesday Caroline Jones moved"},
			"On Friday Caroline left", nil},
		{"none", []string{"On Monday Carol Smith moved"}, "On Friday Caroline left", nil},
		{"last name", []string{"On Monday Caroline Smith moved"}, "On Friday Smith left", nil},
		{"no person", []string{"On Monday the Kafka Cluster moved"}, "On Friday Kafka left", nil},
	} {
		m := newMemory(t)
		keep(t, m, said(c.before...)...)
		must.Same(t, aliases(t, keep(t, m, said(c.say)...)[0]), c.want, c.name)
	}
}

// TestAliasStays checks that an alias is not bound again, whatever comes later, nor after its edge was hidden.
func TestAliasStays(t *testing.T) {
	m := newMemory(t)
	got := keep(t, m, said("On Monday Caroline Smith moved", "On Friday Caroline left")...)
	short, full := graph.NodeID("entity/caroline"), graph.NodeID("entity/caroline smith")
	must.Same(t, aliases(t, got[1]), []graph.ID{full}, "bound to")
	edge := graph.EdgeID(short, memory.EdgeAlias, full, "")
	_, _, err := m.headOf(t).Edge(t.Context(), edge)
	must.Require(t, err == nil, "%v", err)
	commitChanges(t, m, graph.Change{Mark: &graph.MarkChange{
		On: graph.MarkRef{Edge: &graph.EdgeRef{ID: edge}}, State: graph.Forgotten,
	}})
	for _, s := range []string{"On Sunday Caroline came back", "On Monday Caroline Jones moved",
		"On Tuesday Caroline rowed"} {
		got := aliases(t, keep(t, m, said(s)...)[0])
		must.True(t, got == nil, "%s: bound to %v again", s, got)
	}
}

// TestAliasKeepsNoName holds that purging the only memory that mentions a name takes the name with it,
// though it is an alias.
func TestAliasKeepsNoName(t *testing.T) {
	m := newMemory(t)
	got := keep(t, m, said("On Monday Caroline Smith moved", "On Friday Caroline left")...)
	res := must.Get(care.Purge(t.Context(), m.r, got[1].ID.String(), care.PurgeOptions{Stamp: linkBy}))(t)
	must.True(t, slices.Contains(res.Derived, graph.NodeID("entity/caroline")), "gone are %v", res.Derived)
	must.True(t, !slices.Contains(res.Derived, graph.NodeID("entity/caroline smith")),
		"a name goes that another memory mentions")
}

// linked returns the names of the nodes that edges of a type lead to.
func linked(t *testing.T, m *Writer, r Remembered, typ string) []string {
	t.Helper()
	var out []string
	for _, l := range r.Links {
		if l.Type != typ {
			continue
		}
		n, _, err := m.headOf(t).Node(t.Context(), nodeOf(l.Dst))
		must.OK(t, err)
		out = append(out, cmp.Or(n.Key, n.ID.String()))
	}
	return out
}

// TestOneNameOneNode checks that everything under one name is one node, whichever way it came first, and that people
// who share a title stay separate.
func TestOneNameOneNode(t *testing.T) {
	type said struct {
		req             Request
		about, mentions []string
	}
	tell := func(text, about string, named ...string) Request {
		return Request{Text: text, About: about, Entities: named}
	}
	for name, list := range map[string][]said{
		"subject first": {
			{tell("The desk is hers", "carol"), []string{"carol"}, nil},
			{tell("On Monday Carol moved to Lyon", ""), nil, []string{"carol", "entity/lyon"}},
			{tell("It was sold", "", "CAROL"), nil, []string{"carol"}},
			{tell("The chair is hers", "Carol"), []string{"carol"}, nil},
			{tell("The lamp is hers", "entity/carol"), []string{"carol"}, nil},
			{tell("On Monday Carol Cole left", ""), nil, []string{"entity/carol cole"}},
		},
		"mention first": {
			{tell("On Monday Dana Dahl moved", ""), nil, []string{"entity/dana dahl"}},
			{tell("The desk is hers", "Dana  dahl"), []string{"entity/dana dahl"}, nil},
			{tell("The chair is hers", "key:dana dahl"), []string{"dana dahl"}, nil},
			{tell("On Tuesday Dana Dahl left", ""), nil, []string{"entity/dana dahl"}},
		},
	} {
		for _, batch := range []bool{false, true} {
			m := newMemory(t)
			var reqs []Request
			for _, s := range list {
				reqs = append(reqs, s.req)
			}
			var got []Remembered
			if !batch {
				got = keep(t, m, reqs...)
			} else if res, err := m.RememberAll(t.Context(), rememberAt(0), reqs); err != nil {
				t.Fatal(err)
			} else {
				got = res.Memories
			}
			for i, s := range list {
				mentions := linked(t, m, got[i], memory.EdgeMentions)
				a := linked(t, m, got[i], memory.EdgeAbout)
				must.True(t, slices.Equal(a, s.about) && slices.Equal(mentions, s.mentions),
					"%s, batch %t, %q: about %q, mentions %q", name, batch, s.req.Text, a, mentions)
			}
		}
	}
}

// TestNamesakes makes two entities of one title, and a person of another type. A mention of the title means neither
// entity, and the person does not count as an entity.
func TestNamesakes(t *testing.T) {
	m := newMemory(t)
	memkit.Tell(t, m.r,
		`{"node":{"key":"p1","type":"Entity","summary":"Max Muster"}}`,
		`{"node":{"key":"p2","type":"Entity","summary":"max muster"}}`,
		`{"node":{"key":"p3","type":"Entity","summary":"Eva Evers"}}`,
		`{"node":{"key":"olga","type":"Person","summary":"Olga Orr"}}`,
		`{"node":{"id":"feedbeef-0000-0000-0000-000000000000","type":"fact","summary":"x"}}`)
	got := keep(t, m,
		Request{Text: "On Monday Max Muster met Eva Evers and Olga Orr"},
		Request{Text: "The desk is hers", About: "eva evers"},
		Request{Text: "The desk is theirs", About: "olga orr"})
	a := linked(t, m, got[0], memory.EdgeMentions)
	must.True(t, slices.Equal(a, []string{"p3", "entity/max muster", "entity/olga orr"}), "%q", a)
	must.Same(t, linked(t, m, got[1], memory.EdgeAbout), []string{"p3"})
	must.Same(t, linked(t, m, got[2], memory.EdgeAbout), []string{"entity/olga orr"})
	_, err := m.Remember(t.Context(), rememberAt(9), Request{Text: "It is so", About: "feedbeef"})
	var bad *RequestError
	must.True(t, errors.As(err, &bad) && bad.Param == "about", "%v", err)
	keep(t, m, Request{Text: "It is so", About: "key:feedbeef"})
}

// TestEdgesAreCounted checks that the reported edges equal the written ones.
func TestEdgesAreCounted(t *testing.T) {
	m := newMemory(t)
	req := Request{Text: "Dana Dahl works at Globex", About: "dana", Property: "employer",
		Tags: []string{"work"}, Sources: []string{"manual:ana"}}
	again := req
	again.Text, again.Sources, again.Tags = "dana dahl works at globex!", []string{"manual:bo"},
		[]string{"people", "work"}
	for i, req := range []Request{req, again, req} {
		_, before, _, _ := m.headOf(t).Sizes()
		got := keep(t, m, req)[0]
		_, after, _, _ := m.headOf(t).Sizes()
		of, all := map[string]int{}, 0
		for _, l := range got.Links {
			of[l.Type]++
			all++
			must.True(t, l.Why != "", "nothing explains %s", l.Type)
			e, _, err := m.headOf(t).Edge(t.Context(), l.ID)
			must.True(t, err == nil && e.Src == nodeOf(l.Src) && e.Dst == nodeOf(l.Dst) && e.Type == l.Type,
				"%+v: %+v, %v", l, e, err)
		}
		must.Same(t, of, got.Edges, "memory ", i)
		must.Equal(t, int(after-before), all, "memory ", i)
	}
}

// fill makes a memory of n nodes with texts; each mentions an entity.
func fill(t testing.TB, r *core.Repo, n int) {
	t.Helper()
	names := []string{"Alice", "Redis", "Berlin", "Kafka", "Priya", "Lyon"}
	changes := func(yield func(graph.Change, error) bool) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, name := range names {
			c := graph.Change{Node: &graph.NodeChange{Key: memory.EntityKey(name), Type: memory.TypeEntity, Summary: &name}}
			if !yield(c, nil) {
				return
			}
		}
		for i := range n {
			d := draft(fmt.Sprintf("note %d says that w%d met w%d", i, rng.IntN(5000), rng.IntN(5000)), 0)
			e := &graph.EdgeChange{Type: memory.EdgeMentions, Src: graph.Ref{ID: d.ID},
				Dst: graph.Ref{Key: memory.EntityKey(names[i%len(names)])}}
			if !yield(graph.Change{Node: &graph.NodeChange{ID: d.ID, Type: memory.Fact, Summary: &d.Text}}, nil) ||
				!yield(graph.Change{Edge: e}, nil) {
				return
			}
		}
	}
	must.Get(r.Commit(t.Context(), changes, core.CommitOptions{Stamp: linkBy}))(t)
}

// story is a draft with names, a signal and tags.
func story(i int) *Draft {
	d := draft(fmt.Sprintf("Alice moved note %d from Redis to Kafka because w%d ran out of memory in "+
		"Berlin, so Priya called Hamburg %d.", i, i, i), i%20, "conversation:1")
	d.Tags = []string{"move", "outage"}
	return d
}

// TestReadingWork bounds what exploring, related and suggest read, with nothing cached.
func TestReadingWork(t *testing.T) {
	effort.Alone(t)
	last := map[string]int64{}
	for _, n := range []int{1_000, 10_000} {
		st := mem.New()
		r := must.Get(care.New(t.Context(), st, linkBy, core.Options{}))(t)
		fill(t, r, n)
		m := New(r)
		d := story(1)
		m.writeDrafts(t, LinkOptions{}, nil, d)
		for _, c := range []struct {
			name string
			most int64
			fn   func(*core.Snapshot) error
		}{
			{"explore", 8000, func(s *core.Snapshot) error {
				_, err := recall.Explore(t.Context(), s, recall.ExploreRequest{Node: graph.NodeID("entity/redis")})
				return err
			}},
			{"related", 2500, func(s *core.Snapshot) error {
				return must.Err(recall.Related(t.Context(), s, recall.RelatedRequest{ID: d.ID}))
			}},
			{"suggest", 500, func(s *core.Snapshot) error {
				return must.Err(recall.Suggest(t.Context(), s, "w77 ran out of memory in Berlin"))
			}},
		} {
			counts := repokit.NewCounted(st)
			cold := must.Get(care.New(t.Context(), counts, linkBy, core.Options{}))(t)
			s := New(cold).headOf(t)
			counts.FactCounts.Reset()
			counts.DerivedCounts.Reset()
			must.OK(t, c.fn(s))
			reads := counts.FactCounts.Counts().BlocksRead + counts.DerivedCounts.Counts().BlocksRead
			must.True(t, reads <= c.most && (last[c.name] <= 0 || reads <= 3*last[c.name]+50),
				"%d nodes: %s reads %d blocks, %d in a tenth of it", n, c.name, reads, last[c.name])
			last[c.name] = reads
		}
	}
}
