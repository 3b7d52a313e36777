package outline_test

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestAltitude: digests stand in place of what does not fit, say which facts they cover, and replay.
func TestAltitude(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(120))
	s := repokit.Head(t, r)
	ask := func(at retrieve.Altitude, text string, budget int) *retrieve.Answer {
		t.Helper()
		a, err := rank.Retrieve(t.Context(), s, retrieve.Request{
			Text: text, OutputOptions: retrieve.OutputOptions{Altitude: at}, Budget: new(budget), Floor: retrieve.FloorRest,
		})
		must.OK(t, err)
		must.Check(t, budget <= 0 || a.TokensUsed <= budget, "%s: %d tokens of %d", at, a.TokensUsed, budget)
		sum := 0
		covered := map[graph.ID]string{}
		for _, d := range a.Digests {
			sum += d.Tokens
			name, label, _ := strings.Cut(d.Name, "/")
			if id, err := graph.ParseID(name); err == nil { // a scope is called by its key
				n, _, err := s.Node(t.Context(), id)
				must.OK(t, err)
				name = n.Key
			}
			if !strings.HasPrefix(d.Rendered, "digest: "+strings.TrimSuffix(name+"/"+label, "/")+" (") {
				t.Errorf("%s is rendered %q", d.Name, d.Rendered)
			}
			for _, id := range d.Covers {
				if covered[id] != "" {
					t.Errorf("%s is covered by %s and by %s", id, covered[id], d.Name)
				}
				covered[id] = d.Name
			}
		}
		for _, it := range a.Items {
			sum += it.Tokens
			must.Equal(t, covered[it.ID], "", it.ID, " is an item and covered")
		}
		must.Equal(t, sum, a.TokensUsed, "tokens, said to be")
		return a
	}
	const broad, narrow = "what do we know about boats at a berth", "which boat does task 7 moor"
	plain := ask(retrieve.AltitudeEntity, broad, 400)
	must.Check(t, len(plain.Digests) <= 0 && len(plain.Items) != 0,
		"%d digests and %d items of entities", len(plain.Digests), len(plain.Items))
	for _, at := range []retrieve.Altitude{retrieve.AltitudeScope, retrieve.AltitudeAuto} {
		a := ask(at, broad, 400)
		if len(a.Digests) == 0 || len(a.Items) == 0 || len(a.Digests[0].Covers) == 0 || a.Digests[0].Facts == 0 {
			t.Errorf("%s: %d digests and %d items", at, len(a.Digests), len(a.Items))
		}
	}
	must.Check(t, len(ask(retrieve.AltitudeAuto, narrow, 400).Digests) <= 0, "digests for a narrow question")
	if a := ask(retrieve.AltitudeRoot, broad, 2000); len(a.Digests) == 0 || a.Digests[0].Name != "root" {
		t.Error("no digest of the whole")
	}
	if a := ask(retrieve.AltitudeScope, broad, 0); len(a.Digests) != 0 && a.TokensBudget != 0 {
		t.Errorf("%d digests without a budget", len(a.Digests))
	}
	if a := ask(retrieve.AltitudeAuto, "What do we know?", 2000); len(a.Digests) == 0 || a.Digests[0].Name != "root" {
		t.Error("no digest of the whole for a question about nothing in particular")
	}
	if a := ask(retrieve.AltitudeAuto, "Give me an overview of project number 3.", 600); len(a.Digests) == 0 ||
		a.Digests[0].Band != retrieve.BandAnswer || !strings.HasPrefix(a.Digests[0].Rendered, "digest: p3 (25 facts)\n") {
		t.Errorf("a question about one scope is answered by %+v", a.Digests)
	}
	if _, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: broad,
		OutputOptions: retrieve.OutputOptions{Altitude: "sky"}}); err == nil {
		t.Error("an altitude that there is not")
	}
	for _, at := range retrieve.Altitudes() {
		must.Get(session.Record(t.Context(), r, session.DefaultSession, ask(at, broad, 600), repokit.By))(t, at)
	}
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	must.Check(t, err == nil && res.Identical, "replay: %+v, %v", res, err)
	repokit.CheckClean(t, r)
}
