package review

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// fact is a line of a memory of its own.
func factLine(text, rest string) string {
	return fmt.Sprintf(`{"node":{"type":"fact","summary":%q,"created":"2025-06-01T00:00:00Z"%s}}`, text, rest)
}

// untidy is a memory with something of each kind.
var untidy = []string{
	factLine("The ledger is backed up every night at two", `,"props":{"tags":["backup"]}`),
	factLine("The ledger is backed up every night at 2", `,"props":{"importance":5,"tags":["back-ups"]}`),
	factLine("the ledger is backed up every night at two!", `,"props":{"importance":1}`),
	factLine("Visitors are allowed on Friday", ``),
	factLine("Visitors are not allowed on Friday", ``),
	factLine("The queue holds 500 messages", `,"props":{"expires":"2025-12-01T00:00:00Z"}`),
	factLine("The queue holds 800 messages", ``),
	factLine("Server alpha runs PostgreSQL", ``),
	factLine("Server beta runs PostgreSQL", ``),
	factLine("Der Server läuft nicht auf Linux", ``),
	factLine("Der Server läuft auf Linux", ``),
	factLine("数据库每天备份", ``), factLine("数据库不每天备份", ``),
	`{"node":{"type":"task","summary":"Server alpha runs PostgreSQL"}}`,
	`{"node":{"key":"k1","type":"fact","summary":"Visitors are allowed on Friday"}}`,
}

func proposed(t testing.TB, r *core.Repo, req ConsolidateRequest) []string {
	t.Helper()
	req.Now = memkit.By.Time
	got := must.Get(Propose(t.Context(), memkit.Tip(t, r), req))(t)
	var out []string
	for _, p := range got.List {
		out = append(out, fmt.Sprintf("%s %s %s | %s", p.ID, p.Kind, strings.Join(p.Names, " / "), p.Tag))
	}
	return out
}

// TestProposalsOfAnyOrder writes the same memories in random orders and in several commits.
func TestProposalsOfAnyOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	req := ConsolidateRequest{Cap: 3}
	want := proposed(t, memkit.Open(t, untidy...), req)
	for range 5 {
		lines := slices.Clone(untidy)
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		cut := rng.IntN(len(lines))
		r := memkit.Open(t, lines[:cut]...)
		memkit.Tell(t, r, lines[cut:]...)
		must.Same(t, proposed(t, r, req), want, "got\n")
	}
}

// TestConsolidateAll applies all there is, again and again, until nothing is proposed, and undoes it.
func TestConsolidateAll(t *testing.T) {
	r := memkit.Open(t, untidy...)
	before := memkit.Tip(t, r)
	req := ConsolidateRequest{Now: memkit.By.Time, Cap: 5}
	rounds := 0
	for {
		res := must.Get(Consolidate(t.Context(), r, memkit.Opt, req, nil))(t)
		if res.NoChange {
			break
		}
		rounds++
		must.Require(t, rounds <= 10, "it does not end")
	}
	after := memkit.Tip(t, r)
	nodes, edges, _, _ := before.Sizes()
	n, e, _, _ := after.Sizes()
	must.True(t, n == nodes && e == edges, "%d nodes and %d edges, want %d and %d", n, e, nodes, edges)
	for range rounds {
		must.Get(history.Undo(t.Context(), r, "", memkit.By))(t)
	}
	must.Equal(t, memkit.Tip(t, r).Graph(), before.Graph(), "the graph is another after undo")
}

// TestOtherSubjects keeps the same words about two subjects apart.
func TestOtherSubjects(t *testing.T) {
	lines := []string{
		factLine("It is owned by the platform team", ``),
		factLine("It is owned by the platform team!", ``),
		`{"node":{"key":"svc/a","type":"Service"}}`, `{"node":{"key":"svc/b","type":"Service"}}`,
	}
	r := memkit.Open(t, lines...)
	kinds := ConsolidateRequest{Kinds: []ProposalKind{ProposeDuplicate}}
	got := proposed(t, r, kinds)
	must.Require(t, len(got) == 1, "%v", got)
	i := 0
	for id, err := range memkit.Tip(t, r).IDs(t.Context()) {
		must.OK(t, err)
		if n, _, _ := memkit.Tip(t, r).Node(t.Context(), id); n.Key == "" {
			memkit.Tell(t, r, fmt.Sprintf(`{"edge":{"type":"about","src":"%s","dst":"svc/%c"}}`, id, 'a'+i))
			i++
		}
	}
	must.Equal(t, len(proposed(t, r, kinds)), 0)
}

// TestTagEdges gives memories the edges of the spelling that stays.
func TestTagEdges(t *testing.T) {
	r := memkit.Open(t,
		`{"node":{"key":"a","type":"fact","props":{"tags":[7,"x",{"n":1},"Release Notes",null]}}}`,
		`{"node":{"key":"b","type":"fact","props":{"tags":["release-notes"]}}}`,
		`{"node":{"key":"c","type":"fact","props":{"tags":["release-notes"]}}}`,
		`{"node":{"key":"tag/release notes","type":"Tag","summary":"Release Notes"}}`,
		`{"edge":{"type":"tagged","src":"a","dst":"tag/release notes"}}`)
	before := memkit.Tip(t, r).Graph()
	res, err := Consolidate(t.Context(), r, memkit.Opt, ConsolidateRequest{Now: memkit.By.Time}, nil)
	must.Require(t, err == nil && len(res.Retagged) == 1, "%v %v", err, res)
	s := memkit.Tip(t, r)
	n, _, err := s.Node(t.Context(), graph.NodeID("a"))
	must.OK(t, err)
	must.Same(t, TagsOf(n), []string{"release-notes", "x"})
	v, _ := ipld.FindEntry(n.Props, memory.PropTags)
	must.Equal(t, string(ipld.AppendJSON(nil, v)), `["release-notes","x",7,{"n":1},null]`, "tags")
	old := graph.EdgeID(graph.NodeID("a"), memory.EdgeTagged, graph.NodeID("tag/release notes"), "")
	next := graph.EdgeID(graph.NodeID("a"), memory.EdgeTagged, graph.NodeID(memory.TagKey("release-notes")), "")
	mark, err := s.Mark(t.Context(), graph.OnEdge, old)
	must.True(t, err == nil && mark != nil && mark.State == graph.Superseded, "%+v %v", mark, err)
	_, _, err = s.Edge(t.Context(), next)
	must.True(t, err == nil, "%v", err)
	memkit.Undo(t, r, before)
}

// TestCrowded finds a pair among many nodes that are more like either, and no memories that could be paired with it.
func TestCrowded(t *testing.T) {
	lines := []string{factLine("Visitors are allowed in on Friday", ``),
		factLine("Visitors are not allowed in on Friday", ``)}
	for i := range 3 * maxLike {
		lines = append(lines, fmt.Sprintf(
			`{"node":{"key":"k%d","type":"fact","summary":"Visitors not allowed allowed Friday"}}`, i),
			factLine("Visitors are allowed in on Friday", fmt.Sprintf(`,"validTo":"2030-01-%02d"`, i+1)))
	}
	r := memkit.Open(t, lines...)
	got := proposed(t, r, ConsolidateRequest{Kinds: []ProposalKind{ProposeContradiction}})
	must.True(t, len(got) == 1 && strings.Contains(got[0], "not allowed in on"), "%q", got)
}

// TestPickSeen applies a proposal that was listed before others came and went in front of it.
func TestPickSeen(t *testing.T) {
	r := memkit.Open(t, untidy...)
	req := ConsolidateRequest{Now: memkit.By.Time}
	seen := must.Get(Propose(t.Context(), memkit.Tip(t, r), req))(t)
	memkit.Tell(t, r, factLine("The lease of the office ends", `,"props":{"expires":"2025-11-01T00:00:00Z"}`))
	last := seen.List[len(seen.List)-1]
	res, err := Consolidate(t.Context(), r, memkit.Opt, req, []string{last.ID[:8]})
	must.Require(t, err == nil && len(res.Picked) == 1 && res.Picked[0].ID == last.ID &&
		slices.Equal(res.Picked[0].Nodes, last.Nodes), "%v %v", err, res)
	var missing *state.NotFoundError
	_, err = Consolidate(t.Context(), r, memkit.Opt, req, []string{last.ID})
	must.True(t, errors.As(err, &missing), "%v", err)
}

func TestConsolidateRequests(t *testing.T) {
	r := memkit.Open(t, untidy...)
	for _, req := range []ConsolidateRequest{{Cap: -1}, {Kinds: []ProposalKind{"all"}}, {Now: graph.MaxTime + 1}} {
		must.True(t, must.Err(Propose(t.Context(), memkit.Tip(t, r), req)) != nil, "%+v is taken", req)
	}
	req := ConsolidateRequest{Now: memkit.By.Time}
	for _, pick := range []string{"0", "1", "99", "x", "-1", "123456", ""} {
		_, err := Consolidate(t.Context(), r, memkit.Opt, req, []string{pick})
		var missing *state.NotFoundError
		must.True(t, errors.As(err, &missing) && missing.What == "proposal", "%q: %v", pick, err)
	}
	list, err := Propose(t.Context(), memkit.Tip(t, r), req)
	must.Require(t, err == nil && len(list.List) >= 2, "%v", err)
	same := slices.Clone(list.List)
	same[1].ID = same[0].ID[:MinPick] + strings.Repeat("x", idDigits-MinPick)
	var several *state.AmbiguousError
	_, err = pick(same, []string{same[0].ID[:MinPick]})
	must.True(t, errors.As(err, &several), "%v", err)
	must.Equal(t, len(must.Get(pick(same, []string{same[0].ID}))(t)), 1)
	must.Fail(t, must.Err(Decline(t.Context(), r, memkit.Opt, req, nil)), state.ErrInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	req.Progress = func(done, _ int) {
		if done == 3 {
			cancel()
		}
	}
	must.Fail(t, must.Err(Propose(ctx, memkit.Tip(t, r), req)), context.Canceled)
	empty := memkit.Open(t)
	must.Equal(t, len(proposed(t, empty, ConsolidateRequest{Cap: 1})), 0)
}

// TestUndecidedSince has three later memories, each with an earlier one, and looks at some of the newest alone.
func TestUndecidedSince(t *testing.T) {
	said := func(day, what string) string {
		return fmt.Sprintf(`{"node":{"type":"fact","summary":%q,"created":"2025-%sT00:00:00Z"}}`, what, day)
	}
	r := memkit.Open(t,
		said("01-05", "Group meeting takes place on Monday at 9 in room 2"),
		said("01-05", "Audit logs of the ledger stay for 30 days in bucket west"),
		said("01-05", "Bread oven number four heats up to 230 degrees"),
		said("01-05", "Coffee is kept in the kitchen"))
	from := memkit.Tip(t, r)
	memkit.Tell(t, r,
		said("03-01", "Group meeting takes place on Thursday at 10 in room 2"),
		said("03-02", "Audit logs of the ledger stay for 90 days in bucket west"),
		said("03-03", "Bread oven number four heats up to 250 degrees"))
	to := memkit.Tip(t, r)
	meeting, logs, oven := "Group", "Audit", "Bread"
	for _, c := range []struct {
		newest, most int
		want         []string
	}{
		{200, 10, []string{oven, logs, meeting}},
		{200, 2, []string{oven, logs}},
		{2, 10, []string{oven, logs}},
		{1, 10, []string{oven}},
	} {
		pairs := must.Get(UndecidedSince(t.Context(), from, to, c.newest, c.most))(t)
		var got []string
		for _, p := range pairs {
			must.True(t, p.Later.Summary[:5] == p.Earlier.Summary[:5] && p.Later.Created > p.Earlier.Created,
				"%q after %q", p.Later.Summary, p.Earlier.Summary)
			got = append(got, p.Later.Summary[:5])
		}
		must.Same(t, got, c.want, c.newest, " newest, ", c.most, " pairs")
	}
	pairs, err := UndecidedSince(t.Context(), to, to, 200, 10)
	must.True(t, err == nil && len(pairs) == 0, "%d pairs of nothing new, %v", len(pairs), err)
}

// TestForgottenByVerbs asks every verb that reads for what is next to a forgotten memory.
func TestForgottenByVerbs(t *testing.T) {
	r := memkit.Open(t, append(memkit.SecretLines,
		`{"node":{"key":"tag/wombat","type":"Tag","summary":"wombat"}}`,
		`{"edge":{"type":"tagged","src":"secret","dst":"tag/wombat"}}`)...)
	secret := graph.NodeID("secret")
	told := func(s *core.Snapshot) (n int) {
		t.Helper()
		look := func(what string, v any, err error) {
			t.Helper()
			must.Require(t, err == nil || memory.IsMissing(err), "%s: %v", what, err)
			text := fmt.Sprintf("%+v", v)
			for _, word := range []string{secret.String(), "xylitol", "Zanzibar Quokka\""} {
				if strings.Contains(text, word) {
					n++
				}
			}
		}
		for _, text := range []string{"zanzibar quokka", "harbour office", "office", "secret", "wombat"} {
			for _, req := range []recall.ExploreRequest{{Topic: text}, {Node: graph.NodeID("tag/" + text)}} {
				e, err := recall.Explore(t.Context(), s, req)
				look("explore", said(e), err)
			}
			tags, err := recall.Suggest(t.Context(), s, text)
			look("suggest", tags, err)
		}
		for _, key := range []string{"a", "b", "tag/office"} {
			list, err := recall.Related(t.Context(), s, recall.RelatedRequest{ID: graph.NodeID(key)})
			look("related", said(list), err)
		}
		p := must.Get(Propose(t.Context(), s, ConsolidateRequest{Now: memkit.By.Time, Cap: 1}))(t)
		look("consolidate", p.List, nil)
		return n
	}
	must.Require(t, told(memkit.Tip(t, r)) != 0, "nothing tells of it before")
	req := memory.MarkRequest{State: graph.Forgotten, Nodes: []string{"secret"}}
	must.Get(memory.Mark(t.Context(), r, memkit.Opt, req))(t)
	// That b is contradicted by it, its mark says; who it was, get says of its id alone.
	memkit.Tell(t, r, `{"remove":{"mark":{"node":"b"}}}`)
	n := told(memkit.Tip(t, r))
	must.True(t, n <= 0, "%d answers tell of what is forgotten", n)
}

// said writes what was explored.
func said(x *recall.Exploration) (text string) {
	if x == nil {
		return ""
	}
	for _, n := range x.Nodes {
		text += fmt.Sprintf("%+v %+v\n", *n.Node, n.Reasons)
	}
	return text
}
