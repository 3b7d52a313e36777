package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
)

// rememberedJSON is what became of one memory.
type rememberedJSON struct {
	ID         string              `json:"id"`
	Action     memory.Action       `json:"action"`
	Type       string              `json:"type"`
	Commit     *string             `json:"commit"`
	NoChange   bool                `json:"no_change"` // of the whole call: there was nothing to commit
	DryRun     bool                `json:"dry_run"`
	Superseded []string            `json:"superseded"`
	Similar    []similarMemoryJSON `json:"similar"`
	Edges      map[string]int      `json:"edges"`
	Links      []writtenLinkJSON   `json:"links,omitempty"` // with --explain
	Candidates []linkCandidateJSON `json:"candidates"`
	Warnings   []memoryWarningJSON `json:"warnings"`
	Importance int                 `json:"importance"`
	Effective  int64               `json:"effective"` // in units of 2^-16
}

type similarMemoryJSON struct {
	ID         string            `json:"id"`
	Summary    string            `json:"summary"`
	Similarity int64             `json:"similarity"` // in units of 2^-16, of the texts
	Cosine     *int64            `json:"cosine"`     // likewise, null without vectors
	Differs    []memoryDiffJSON  `json:"differs"`
	Suggest    memory.Suggestion `json:"suggest"`
}

// memoryDiffJSON is one difference: what the new text says, and what the memory says.
type memoryDiffJSON struct {
	Kind string `json:"kind"`
	New  string `json:"new"`
	Old  string `json:"old"`
}

type writtenLinkJSON struct {
	Type   string `json:"type"`
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	Weight uint32 `json:"weight"`
	Why    string `json:"why"`
}

type linkCandidateJSON struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Score int64  `json:"score"`
}

type memoryWarningJSON struct {
	Code    memory.QualityCode `json:"code"`
	Detail  string             `json:"detail"`
	Message string             `json:"message"`
}

func jsonRemembered(
	r *memory.Remembered, res *memory.RememberResult, f *rememberFlags,
) rememberedJSON {
	out := rememberedJSON{
		ID: r.ID.String(), Action: r.Action, Type: r.Type, Commit: jsonCID(res.Commit),
		NoChange: res.NoChange, DryRun: f.dryRun, Superseded: idTexts(r.Superseded),
		Similar: []similarMemoryJSON{}, Edges: r.Edges, Candidates: []linkCandidateJSON{},
		Warnings: []memoryWarningJSON{}, Importance: r.Importance, Effective: r.Effective.Value,
	}
	if f.dryRun && !res.NoChange {
		out.Commit = nil // its time would be another
	}
	for _, s := range r.Similar {
		j := similarMemoryJSON{ID: s.ID.String(), Summary: s.Summary, Similarity: s.Text,
			Differs: []memoryDiffJSON{}, Suggest: s.Suggest}
		if s.Cosine > 0 {
			j.Cosine = new(s.Cosine)
		}
		for _, d := range s.Differs {
			j.Differs = append(j.Differs, memoryDiffJSON{string(d.Kind), d.A, d.B})
		}
		out.Similar = append(out.Similar, j)
	}
	if f.explain {
		for _, l := range r.Links {
			out.Links = append(out.Links, writtenLinkJSON{l.Type, refText(l.Src), refText(l.Dst),
				weightOf(l), l.Why})
		}
	}
	for _, d := range r.Candidates {
		out.Candidates = append(out.Candidates, linkCandidateJSON{d.Kind, d.ID.String(), d.Score})
	}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, memoryWarningJSON{w.Code, w.Detail, w.Message()})
	}
	return out
}

func refText(r graph.Ref) string {
	if r.Key != "" {
		return r.Key
	}
	return r.ID.String()
}

func weightOf(l memory.Link) uint32 {
	if l.Weight == 0 {
		return graph.MaxWeight
	}
	return l.Weight
}

func (c *cli) printRemembered(
	res *memory.RememberResult, reqs []memory.RememberRequest, f *rememberFlags,
) error {
	for i := range res.Memories {
		r := &res.Memories[i]
		var err error
		if c.global.json {
			err = c.printJSON(jsonRemembered(r, res, f))
		} else {
			err = c.rememberedText(r, reqs[i].Text, f)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case c.global.json:
		return nil
	case res.NoChange:
		return c.printf("nothing to commit\n")
	case f.dryRun:
		return c.printf("would commit %s\n", countActions(res.Memories))
	}
	return c.printf("[%s %s] %s\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit)), countActions(res.Memories))
}

// countActions says how many memories became what.
func countActions(list []memory.Remembered) string {
	times := map[memory.Action]int{}
	for _, r := range list {
		times[r.Action]++
	}
	var parts []string
	for _, a := range []memory.Action{
		memory.Added, memory.Superseded, memory.Conflict, memory.Updated, memory.Duplicate,
	} {
		if times[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", times[a], a))
		}
	}
	return strings.Join(parts, ", ")
}

// share writes units of 2^-16 with two digits.
func share(n int64) string {
	hundredths := (n*100 + 1<<15) >> 16
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}

func (c *cli) rememberedText(r *memory.Remembered, text string, f *rememberFlags) error {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("%s  %s  %s", r.Action, r.ID, c.paint(styleDim, brief(strings.TrimSpace(text), summaryWidth)))
	for _, id := range r.Superseded {
		put("  superseded  %s", id)
	}
	for _, s := range r.Similar {
		put("  similar %s  %s  %s", share(max(s.Text, s.Cosine)), s.ID, brief(s.Summary, summaryWidth))
		if differs := differsText(s.Differs); differs != "" {
			put("    differs: %s", differs)
		}
		if slices.Contains(r.Superseded, s.ID) {
			continue
		}
		switch s.Suggest {
		case memory.SuggestSupersede:
			put("    if it is no longer so: mnem supersede %s %s", shortID(s.ID), shortID(r.ID))
		case memory.SuggestContradict:
			put("    says the contrary: mnem contradict %s %s, or mnem supersede %s %s", shortID(s.ID),
				shortID(r.ID), shortID(s.ID), shortID(r.ID))
		}
	}
	if len(r.Edges) > 0 && !f.explain {
		var parts []string
		for _, typ := range slices.Sorted(maps.Keys(r.Edges)) {
			parts = append(parts, fmt.Sprintf("%d %s", r.Edges[typ], line(typ)))
		}
		put("  edges: %s", strings.Join(parts, ", "))
	}
	if f.explain {
		for _, l := range r.Links {
			put("  edge %s -> %s: %s", line(l.Type), line(refText(l.Dst)), line(l.Why))
		}
	}
	for _, d := range r.Candidates {
		put("  may be linked: %s %s %s", d.Kind, share(d.Score), d.ID)
	}
	for _, w := range r.Warnings {
		put("  warning: %s: %s", w.Code, line(w.Message()))
	}
	return c.printf("%s", b.String())
}

// shortID is enough of an id to name a node by in all but the largest memories.
func shortID(id graph.ID) string { return id.String()[:13] }

// differsText lists differences, what is new first.
func differsText(list []memory.Difference) string {
	var parts []string
	for _, d := range list {
		switch {
		case d.A == "" && d.B == "":
			parts = append(parts, string(d.Kind))
		case d.A == "":
			parts = append(parts, fmt.Sprintf("%s: no %q", d.Kind, line(d.B)))
		case d.B == "":
			parts = append(parts, fmt.Sprintf("%s: %q", d.Kind, line(d.A)))
		default:
			parts = append(parts, fmt.Sprintf("%s: %q, was %q", d.Kind, line(d.A), line(d.B)))
		}
	}
	return strings.Join(parts, "; ")
}
