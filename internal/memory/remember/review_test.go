package remember

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestLinksHeedTheBatch holds that no rule links a memory to one that a request before it in the same
// commit superseded, as none would one by one.
func TestLinksHeedTheBatch(t *testing.T) {
	employer := func(text string) Request {
		return Request{Text: text, About: "alice", Property: "employer", Sources: []string{"manual:ana"}}
	}
	reqs := []Request{employer("Alice works at Initech"), employer("Alice works at Globex"),
		employer("Alice works at Hooli")}
	for _, old := range []int{0, 1} { // that many are in a commit before
		m := newMemory(t)
		first := keep(t, m, reqs[:old]...)
		res := must.Get(m.RememberAll(t.Context(), rememberAt(1), reqs[old:]))(t)
		all := append(first, res.Memories...)
		for _, l := range all[2].Links {
			must.True(t, l.Dst != all[0].ID.String(), "%d before: %s to a memory that was superseded", old, l.Type)
		}
	}
}

// TestSubjectIsNotMentioned holds that what a memory is about is no entity besides.
func TestSubjectIsNotMentioned(t *testing.T) {
	for _, batch := range []bool{false, true} {
		m := newMemory(t)
		reqs := []Request{
			{Text: "Carol met Dave Dunn in Lyon", About: "carol", Entities: []string{"Carol"}},
			{Text: "Erin Ek met Dave Dunn in Lyon", About: "entity/erin ek"},
			{Text: "Carol met Dave Dunn in Lyon", Tags: []string{"people"}},
			{Text: "Erin Ek moved to Bern", About: "entity/erin ek"},
		}
		var got []Remembered
		if batch {
			res := must.Get(m.RememberAll(t.Context(), rememberAt(0), reqs))(t)
			got = res.Memories
		} else {
			got = keep(t, m, reqs...)
		}
		must.Equal(t, actions(got), "added added updated added")
		for i, r := range got {
			for _, l := range r.Links {
				if l.Type != memory.EdgeMentions {
					continue
				}
				must.True(t, (l.Dst != "entity/carol" || i == 1) && l.Dst != "entity/erin ek",
					"batch %t, memory %d mentions its subject %s", batch, i, l.Dst)
			}
		}
	}
	m := newMemory(t)
	keep(t, m, Request{Text: "Moved to Bern", About: "entity/erin ek"})
	n, _, err := m.headOf(t).Node(t.Context(), graph.NodeID("entity/erin ek"))
	must.True(t, err == nil && n.Summary == "erin ek", "%+v, %v", n, err)
	m = newMemory(t) // the subject by its id, named by its summary
	name := "Carol Jones"
	change := graph.Change{Node: &graph.NodeChange{Key: "cj", Type: "Person", Summary: &name}}
	must.Get(m.r.Commit(t.Context(), memkit.Each([]graph.Change{change}), rememberAt(0).CommitOptions))(t)
	got := keep(t, m, Request{Text: "Carol Jones met Dave", About: graph.NodeID("cj").String()})
	for _, l := range got[0].Links {
		must.True(t, l.Dst != "entity/carol jones", "a subject is mentioned by its summary")
	}
}

// TestForeignProperties holds that properties of another form than a memory's are not replaced.
func TestForeignProperties(t *testing.T) {
	m := newMemory(t)
	text := "Bob likes tea"
	id := ID(memory.Fact, text, 0)
	change := graph.Change{Node: &graph.NodeChange{ID: id, Type: memory.Fact, Summary: &text,
		Props: []ipld.Entry{{Key: memory.PropTags, Value: ipld.StringValue("a, b")},
			{Key: memory.PropImportance, Value: ipld.StringValue("high")}}}}
	must.Get(m.r.Commit(t.Context(), memkit.Each([]graph.Change{change}), rememberAt(0).CommitOptions))(t)
	got := keep(t, m, Request{Text: text, Tags: []string{"c"}, Importance: 5, Entities: []string{"Bob"}})[0]
	must.True(t, got.Action == Updated && slices.Contains(got.Warnings, quality(QualityFull, "")), "%+v", got)
	n, _, err := m.headOf(t).Node(t.Context(), id)
	must.OK(t, err)
	for name, want := range map[string]string{memory.PropTags: "a, b", memory.PropImportance: "high"} {
		v, _ := ipld.FindEntry(n.Props, name)
		must.True(t, v.Kind() == ipld.String && v.Text() == want, "%s was replaced: %+v", name, v)
	}
	must.Same(t, memory.Texts(n.Props, memory.PropEntities), []string{"Bob"}, "entities")
	d, err := m.headOf(t).Adjacency().Degree(t.Context(), id, adjacency.Out, memory.EdgeMentions)
	must.True(t, d != 0 && err == nil, "%d mentions, %v", d, err)
}

// TestHiddenEdges holds that an edge that is hidden says nothing: not what a memory is about, nor
// what the value of a property is, nor what is related or may be a tag.
func TestHiddenEdges(t *testing.T) {
	m := newMemory(t)
	first := Request{Text: "Lives upstairs", About: "key:ann", Property: " home ", Tags: []string{"houses"}}
	old := keep(t, m, first, Request{Text: "Grows roses", Tags: []string{"houses"}})
	subject := graph.NodeID("ann")
	var hide []graph.Change
	for _, id := range []graph.ID{graph.EdgeID(old[0].ID, memory.EdgeAbout, subject, ""),
		graph.EdgeID(subject, "home", old[0].ID, ""),
		graph.EdgeID(old[0].ID, memory.EdgeTagged, graph.NodeID("tag/houses"), "")} {
		hide = append(hide, graph.Change{Mark: &graph.MarkChange{On: graph.MarkRef{Edge: &graph.EdgeRef{ID: id}},
			State: graph.Forgotten}})
	}
	must.Get(m.r.Commit(t.Context(), memkit.Each(hide), rememberAt(1).CommitOptions))(t)
	x := must.Get(recall.Related(t.Context(), m.headOf(t), recall.RelatedRequest{ID: old[0].ID}))(t)
	for _, r := range x.Nodes {
		for _, why := range r.Reasons {
			must.True(t, why.Kind != "shared", "related by an edge that is hidden: %+v", why)
		}
	}
	got := keep(t, m, first, Request{Text: "Lives downstairs", About: "ann", Property: "home"})
	must.True(t, got[0].Action == Added && len(got[1].Superseded) == 1 && got[1].Superseded[0] == got[0].ID,
		"%+v", got)
}

// TestSecretsAreNoEntities remembers texts with credentials, put together here so that the source has
// none, and looks at every node, edge and message that came of them.
func TestSecretsAreNoEntities(t *testing.T) {
	github := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	unknown := "q8Zt5Xw2Lk9Rv3Bn" + "7Mc1Yd4F" // of no rule
	password := "Tr0ub4" + "dor99"
	m := newMemory(t)
	opt := rememberAt(1)
	_, err := m.Remember(t.Context(), opt, Request{Text: "Deploys use `" + github + "`"})
	must.True(t, errors.Is(err, state.ErrSecret) && !strings.Contains(err.Error(), github) &&
		strings.HasPrefix(err.Error(), "text: "), "%v", err)
	_, err = m.RememberAll(t.Context(), opt, []Request{
		{Text: "Alice leads infra"}, {Text: "Deploys run at night", Tags: []string{github}}})
	must.True(t, errors.Is(err, state.ErrSecret) && strings.HasPrefix(err.Error(), "memory 2: tags: "), "%v", err)
	opt.Secrets.Allow = []string{"github-pat"}
	texts := []string{
		"Deploys of `billing` use `" + github + "` at night", "`billing` sends " + unknown + " with it",
		"`billing` has the password: " + password,
	}
	for _, s := range texts {
		must.Get(m.Remember(t.Context(), opt, Request{Text: s}))(t)
	}
	id := keep(t, m, said("Deploys of `billing` take an hour")...)[0].ID
	must.Get(memory.Mark(t.Context(), m.r, opt.CommitOptions, memory.MarkRequest{
		State: graph.Stale, Nodes: []string{id.String()}}))(t)
	has := func(s string) bool {
		s = strings.ToLower(s)
		for _, secret := range []string{github, unknown, password} {
			if strings.Contains(s, strings.ToLower(secret)) {
				return true
			}
		}
		return false
	}
	s := must.Get(m.r.Snapshot(t.Context(), "HEAD"))(t)
	entities, memories := 0, 0
	for entry, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		n := entry.Node
		switch {
		case n.Type != memory.TypeEntity:
			memories++
		case has(n.Key) || has(n.Summary):
			t.Errorf("entity %q", n.Key)
		default:
			entities++
		}
	}
	must.True(t, entities != 0 && memories == len(texts)+1, "%d entities, %d memories", entities, memories)
	for e, err := range history.Log(t.Context(), m.r, "HEAD") {
		must.True(t, err == nil && !has(e.Message), "%v, %v", e.Commit, err)
	}
	for _, text := range texts {
		tags := must.Get(recall.Suggest(t.Context(), s, text))(t)
		for _, tag := range tags {
			must.True(t, !has(tag.Name), "suggested: %q", tag.Name)
		}
	}
}

// TestMessagesQuoteNoSecrets forgets a node whose key is a credential.
func TestMessagesQuoteNoSecrets(t *testing.T) {
	m := newMemory(t)
	key := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	opt := rememberAt(1).CommitOptions
	opt.Secrets.Allow, opt.Message = []string{"github-pat"}, "m"
	_, err := m.r.Commit(t.Context(), memkit.Each([]graph.Change{{Node: &graph.NodeChange{Key: key, Type: "N"}}}), opt)
	must.OK(t, err)
	opt = rememberAt(2).CommitOptions
	must.Get(memory.Mark(t.Context(), m.r, opt, memory.MarkRequest{State: graph.Forgotten, Nodes: []string{key}}))(t)
	s := must.Get(m.r.Snapshot(t.Context(), "HEAD"))(t)
	got, err := s.Message(t.Context())
	must.True(t, err == nil && !strings.Contains(got, key) && got == "forget "+(graph.Ref{Key: key}).Target().String(),
		"%q, %v", got, err)
}
