package remembering

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// HalfLifeRequest asks for the half-lives, or for a change of them.
type HalfLifeRequest struct {
	HalfLives []string `op:",arg,remote,writes" doc:"TYPE=DAYS or TYPE=default, to change those of these types"`
	Remove    bool     `op:",remote,writes" doc:"go back to the built-in half-lives of all types"`
	Message   string   `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect    string   `op:",remote" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	DryRun    bool     `op:",remote" doc:"print what would be and write nothing"`
	verb.AtRevision
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params
}

func (q *HalfLifeRequest) Into(w *verb.Writing) {
	w.Message, w.Expect, w.DryRun = cmp.Or(q.Message, "change half-lives"), q.Expect, q.DryRun
}

// HalfLives are after how many days memories count half.
type HalfLives struct {
	HalfLives memory.HalfLives `json:"half_lives"` // days by type
	Other     int              `json:"other"`      // of any other type
	Own       []string         `json:"own"`        // types that the memory gives one itself
	Commit    ipld.CID         `json:"commit" shape:"null"`
	NoChange  bool             `json:"no_change"`
	DryRun    bool             `json:"dry_run"`

	Branch string `json:"_branch,omitempty"` // that was written to, "" for none; for people
}

// HalfLife lists or changes half-lives.
var HalfLife = verb.Define(verb.Spec{
	Command: "config half-life", Right: verb.OwnRight, Confined: true, Usage: "[TYPE=DAYS…]", Effect: verb.Reads, Idempotent: true,
	Title: "Show or change the half-lives of memories by type",
	Doc: "List after how many days a memory of each type counts half in its effective importance, which\n" +
		"'mnem show NODE --importance' shows, and which decides what 'mnem consolidate' proposes. A type\n" +
		"that is not listed has what * has, which cannot be changed: give it one of its own.\n\n" +
		"With TYPE=DAYS, 1 to 36500, change those of these types in one commit; TYPE=default goes back to\n" +
		"the built-in one. They are part of the memory: they merge, revert and branch as it does.",
	Example: "  mnem config half-life\n  mnem config half-life task=7 note=90\n  mnem config half-life task=default\n" +
		"  mnem config half-life --remove --dry-run",
}, halfLife)

func (q *HalfLifeRequest) Check() error {
	if _, err := parseHalfLives(q.HalfLives); err != nil {
		return err
	}
	switch {
	case q.Remove && len(q.HalfLives) > 0:
		return verb.Between("%s takes all half-lives back: give TYPE=DAYS in a command of its own", "remove")
	case q.Remove || len(q.HalfLives) > 0:
		if q.Given("at") {
			return verb.Between("%s is for looking: what is written goes onto the branch", "at")
		}
		return nil
	}
	return verb.RefuseWriting(q, "%s needs TYPE=DAYS or remove: without them half-lives are listed")
}

func halfLife(ctx context.Context, s *verb.Service, q *HalfLifeRequest) (*HalfLives, error) {
	if !q.Remove && len(q.HalfLives) == 0 {
		snap, err := s.At(ctx, q.At)
		if err != nil {
			return nil, err
		}
		own, err := memory.OwnHalfLivesAt(ctx, snap)
		if err != nil {
			return nil, err
		}
		return halfLives(s, own, &core.CommitResult{Commit: snap.CID(), NoChange: true}), nil
	}
	if q.Remove {
		res, err := memory.SetHalfLives(ctx, s.Repo, s.Commit, nil)
		if err != nil {
			return nil, err
		}
		return halfLives(s, nil, res), nil
	}
	change, err := parseHalfLives(q.HalfLives)
	if err != nil {
		return nil, err
	}
	own, res, err := memory.ChangeHalfLives(ctx, s.Repo, s.Commit, func(own memory.HalfLives) error {
		for typ, days := range change {
			if own[typ] = days; days == 0 {
				delete(own, typ)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return halfLives(s, own, res), nil
}

func halfLives(s *verb.Service, own memory.HalfLives, res *core.CommitResult) *HalfLives {
	out := &HalfLives{
		HalfLives: own.All(), Other: memory.DefaultHalfLife, Own: slices.Sorted(maps.Keys(own)),
		Commit: s.MadeBy(res), NoChange: res.NoChange, DryRun: s.DryRun,
	}
	if s.Human {
		out.Branch = res.Branch
	}
	return out
}

// parseHalfLives reads TYPE=DAYS and TYPE=default, which is 0.
func parseHalfLives(args []string) (map[string]int, error) {
	out := make(map[string]int)
	for _, arg := range args {
		cut := strings.LastIndexByte(arg, '=')
		if cut < 1 {
			return nil, verb.Usagef("%q is not of the form TYPE=DAYS", arg)
		}
		typ, value := arg[:cut], arg[cut+1:]
		if typ == "*" && value != "default" { // as the list calls all others: it would be a type of its own
			return nil, verb.Usagef("* stands for all other types, which have %d days: name the type",
				memory.DefaultHalfLife)
		}
		if _, again := out[typ]; again {
			return nil, verb.Usagef("the half-life of %q is given twice", typ)
		}
		if out[typ] = 0; value == "default" {
			continue
		}
		days, err := strconv.Atoi(value)
		if err != nil || days < 1 || days > memory.MaxHalfLife {
			return nil, verb.Usagef("%q: want 1 to %d days, or default", arg, memory.MaxHalfLife)
		}
		out[typ] = days
	}
	return out, nil
}
