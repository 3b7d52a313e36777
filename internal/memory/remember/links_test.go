package remember

import (
	"context"
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
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
		must.Check(t, err == nil && len(report.Errors) <= 0, "fsck: %v, %+v", err, report)
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
		lines = append(lines, fmt.Sprintf("%s -%s-> %s %d (%s)", name(l.Src), l.Type, name(l.Dst),
			l.Weight, l.Why))
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
	c := draft("The billing site went down because the cache server ran out of memory.", 5,
		"conversation:1")
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
		got := shown(m.writeDrafts(t, LinkOptions{}, x.near, x.d)[0], a, b, c, d)
		must.Equal(t, got, x.want, "#", i, ":\n")
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
		must.Check(t, len(want) != len(all), "%s: wrote nothing", rule)
		must.Equal(t, shown(Linked{Links: link(rule)}), shown(Linked{Links: want}), "without ", rule, ":\n")
	}
	if got := link(Rules()...); len(got) > 0 {
		t.Errorf("without any: %v", got)
	}
	must.Check(t, (LinkOptions{Off: []LinkRule{"x"}}).Validate() != nil, "an unknown rule passes")
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
		got := m.writeDrafts(t, LinkOptions{Off: []LinkRule{RuleTemporal, RuleEntity}},
			[]Near{{ID: a.ID}}, b)[0]
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
		must.Check(t, l.Type != memory.EdgeSimilar || l.Weight == 60_000, "weight %d", l.Weight)
	}
	if counts[memory.EdgeSimilar] != 3 || len(got.Candidates) != 2 || got.Candidates[0].Score != 52_428 ||
		got.Candidates[1].Score != 26_214 {
		t.Errorf("%v %v", counts, got.Candidates)
	}
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
	if s := shown(m.writeDrafts(t, LinkOptions{}, nil, three)[0], one, two); !strings.Contains(s,
		"-follows-> #0") || strings.Contains(s, "#1") {
		t.Error(s)
	}
	commitChanges(t, m, graph.Change{Remove: &graph.Removal{Node: graph.Ref{ID: three.ID}}})
	four := draft("four", 30, "s")
	four.Agent, four.Task = "claude", "t1"
	if s := shown(m.writeDrafts(t, LinkOptions{}, nil, four)[0], one); s !=
		"#- -follows-> #0 0 (the memory before it of the source s)" &&
		!strings.HasSuffix(s, "-follows-> #0 0 (the memory before it of the source s)") {
		t.Error(s)
	}
	five := draft("five", 60)
	five.Agent, five.Task = "claude", "t1"
	if s := shown(m.writeDrafts(t, LinkOptions{}, nil, five)[0], four); !strings.Contains(s,
		"-follows-> #0 0 (the memory before it of the task t1)") {
		t.Error(s)
	}
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
