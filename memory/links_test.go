package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

const day0 = graph.Time(1_780_000_000_000_000)

var linkBy = repo.Stamp{Author: "t", Time: day0, Command: []string{"test"}}

// newMemory returns a memory over an empty repository, which is checked at the end.
func newMemory(t testing.TB) *Memory {
	t.Helper()
	r, err := repo.New(t.Context(), mem.New(), linkBy, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := r.Fsck(context.Background(), repo.FsckOptions{})
		if err != nil || len(report.Errors) > 0 {
			t.Errorf("fsck: %v, %+v", err, report)
		}
		r.Close()
	})
	return New(r)
}

// draft returns a draft of a text, some hours after the beginning.
func draft(text string, hours int, sources ...string) *Draft {
	return &Draft{ID: ID(Fact, text, 0), Type: Fact, Text: text, Sources: sources,
		Created: day0 + graph.Time(hours)*hourMicros}
}

// changes returns the lines that write a draft and its links.
func changes(s *repo.Snapshot, d *Draft, links []Link) []graph.Change {
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

func headOf(t testing.TB, m *Memory) *repo.Snapshot {
	t.Helper()
	s, err := m.r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		if s, err = m.r.At(t.Context(), ipld.CID{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// write commits drafts with their links and returns these.
func (m *Memory) writeDrafts(t testing.TB, opt LinkOptions, near []Near, ds ...*Draft) []Linked {
	t.Helper()
	s := headOf(t, m)
	l, err := m.newLinker(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	var all []graph.Change
	var out []Linked
	for _, d := range ds {
		got, err := l.links(t.Context(), d, near)
		if err != nil {
			t.Fatal(err)
		}
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
	if _, err := m.r.Commit(t.Context(), lines, repo.CommitOptions{Stamp: by, Message: "m"}); err != nil {
		t.Fatal(err)
	}
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

func TestLinks(t *testing.T) {
	m := newMemory(t)
	a := draft("The cache server of billing ran out of memory at night.", 0, "conversation:1")
	b := draft("Alice Ng restarted the gateway.", 2, "conversation:2")
	c := draft("The billing site went down because the cache server ran out of memory.", 5,
		"conversation:1")
	c.Tags, c.Entities = []string{"Outage"}, []string{"Billing"}
	d := draft("Therefore we moved the billing cache of Alice Ng to Redis.", 30, "conversation:1")
	near := []Near{{ID: a.ID, Text: 30_000}}
	for i, x := range []*Draft{a, b, c, d} {
		list := near
		if i < 2 {
			list = nil
		}
		got := m.writeDrafts(t, LinkOptions{}, list, x)
		t.Logf("#%d\n%s", i, shown(got[0], a, b, c, d))
	}
	_ = slices.Sort[[]string]
}
