package rank_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// goldenFacts are the kinds of golden files without requests: facts that a ranking reads from a memory, and requests
// completed by profiles.
var goldenFacts = map[string]func(t testing.TB, c cases.Case) any{
	"communities": ofMemory(goldenCommunities), "digest": ofMemory(goldenDigests), "stats": ofMemory(goldenStats),
	"profile-choice": goldenChoice,
}

func TestRankingFactsGolden(t *testing.T) {
	for layer, answer := range goldenFacts {
		cases.Golden(t, filepath.Join(goldens, layer+".jsonl"), answer)
	}
}

// ofMemory looks at the memory of a case in each layout.
func ofMemory(look func(t testing.TB, c cases.Case, s *core.Snapshot) any) func(t testing.TB, c cases.Case) any {
	return func(t testing.TB, c cases.Case) any {
		var g goldenMemory
		cases.Parse(t, c.Input, &g)
		var first any
		for _, l := range layouts {
			got := g.with(t, l, func(s *core.Snapshot) any {
				if s == nil {
					return nil
				}
				return look(t, c, s)
			})
			if first == nil {
				first = got
			}
			must.Equal(t, fmt.Sprint(got), fmt.Sprint(first), c.Path(), ": ", l.name, ":\n got ", got, "\nwant ", first)
		}
		return first
	}
}

// goldenCommunities are the members of each community in order: id, and the weight of their edges within.
func goldenCommunities(t testing.TB, _ cases.Case, s *core.Snapshot) any {
	p := must.Get(outline.Communities(t.Context(), s))(t)
	all := [][]string{}
	for n := range p.Len() {
		var members []string
		for _, m := range p.Members(n) {
			members = append(members, fmt.Sprintf("%s %d", m.ID, m.Inside))
		}
		all = append(all, members)
	}
	return all
}

// goldenDigests is the record of the root's digest, and the CIDs of all.
func goldenDigests(t testing.TB, _ cases.Case, s *core.Snapshot) any {
	d := must.Get(outline.Open(t.Context(), s, distill.Default(), outline.DigestOptions{}))(t)
	if !d.Root.Defined() {
		return "none"
	}
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	must.OK(t, err)
	value := must.Get(ipld.DecodeValue(root.Encode()))(t)
	scopes := map[string]string{}
	for e, err := range d.Scopes.Scan(t.Context(), nil, nil) {
		must.OK(t, err)
		id := graph.ID(e.Key)
		c := must.Get(d.Scope(t.Context(), id))(t)
		scopes[id.String()] = c.String()
	}
	return map[string]any{"root": d.Root.String(), "record": string(ipld.AppendJSON(nil, value)), "scopes": scopes}
}

// goldenStats returns an index's counts: nodes, terms and nodes of each field, and the nodes of each term that the file
// names.
func goldenStats(t testing.TB, c cases.Case, s *core.Snapshot) any {
	st := mem.New().Facts()
	manifest, err := index.Update(t.Context(), st, ipld.CID{}, goldenDocuments(t, s), index.UpdateOptions{})
	must.OK(t, err)
	x := must.Get(index.Open(t.Context(), st, manifest, nil))(t)
	stats := x.Stats()
	fields := []string{}
	for f := range stats.Terms {
		fields = append(fields, fmt.Sprintf("%d %d", stats.Terms[f], stats.Filled[f]))
	}
	var asked struct{ DF map[string]int64 }
	must.OK(t, json.Unmarshal(c.Expect, &asked))
	df := map[string]int64{}
	for term := range asked.DF {
		df[term] = must.Get(x.TermStats(t.Context(), term))(t)
	}
	return map[string]any{"nodes": stats.Nodes, "fields": fields, "df": df}
}

// goldenDocuments are the nodes of a snapshot as additions to an index.
func goldenDocuments(t testing.TB, s *core.Snapshot) iter.Seq2[index.Change, error] {
	t.Helper()
	return func(yield func(index.Change, error) bool) {
		for e, err := range s.Nodes(t.Context(), graph.ID{}) {
			if err != nil {
				yield(index.Change{}, err)
				return
			}
			doc := &index.Document{Node: e.Node}
			if e.Node.Content != nil {
				if doc.Content, err = s.Content(t.Context(), e.Node.Content); err != nil {
					yield(index.Change{}, err)
					return
				}
			}
			if !yield(index.Change{ID: e.Node.ID, New: doc}, nil) {
				return
			}
		}
	}
}

// goldenChoice resolves a request by profiles. All fields in the file count as given, also those at their defaults.
func goldenChoice(t testing.TB, c cases.Case) any {
	var in struct {
		Profiles string
		Request  json.RawMessage
	}
	cases.Parse(t, c.Input, &in)
	var members map[string]json.RawMessage
	cases.Parse(t, in.Request, &members)
	var name string
	if given := members["profile"]; given != nil {
		cases.Parse(t, given, &name)
		delete(members, "profile")
	}
	rest := must.Get(json.Marshal(members))(t)
	req := goldenRequest(t, rest)
	req.Profile = name
	var given []string
	for member := range members {
		given = append(given, member)
	}
	var profiles *retrieve.Profiles
	if in.Profiles != "" {
		profiles = must.Get(retrieve.DecodeProfiles(cases.Bytes(t, in.Profiles)))(t)
	}
	got, err := profiles.Apply(req.Explicitly(given...))
	var refused *retrieve.RequestError
	switch {
	case errors.As(err, &refused):
		return map[string]any{"error": refused.Param}
	case errors.Is(err, retrieve.ErrRequest):
		return map[string]any{"error": "profile"}
	case err != nil:
		t.Fatal(err)
	}
	got.Pairs = retrieve.PairsOff // nothing was answered, so nothing is paired
	if got.Pack == "" {
		got.Pack = retrieve.PackWhole // nor was a text trimmed
	}
	receipt, _ := (&retrieve.Answer{Request: got}).Receipt()
	return map[string]any{"request": string(ipld.AppendJSON(nil, receipt.Params))}
}
