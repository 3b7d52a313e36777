package outlining

import (
	"cmp"
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// DistillRequest asks for digests to be made and kept.
type DistillRequest struct {
	Auto          bool   `op:",remote" doc:"only where digests were kept before: for hooks, which begin nothing"`
	Model         string `op:",true=configured,alone" not:"auto" doc:"let a chat model write texts of digests: {SPEC} is $REWRITERS" note:" (alone: MNEM_REWRITE_MODEL; config: rewrite.model)"`
	Calls         int    `op:"" default:"20" doc:"with --model: ask it at most {N} times, 1 to 1000"`
	DryRun        bool   `op:"" doc:"with --model: print how often it would be asked, and how much it would be told"`
	Message       string `op:",short=m" doc:"with --model: what the commits are about (default: \"write N digests\")"`
	Expect        string `op:"" doc:"with --model: the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor    `op:"local"`
	verb.OnBranch `op:"local"`
	verb.Signing
	verb.AtRevision
	verb.Params
	ScopeRules

	State   *TextsState `op:"-"` // where the run before has come to, nil for the first
	Said    Said        `op:"-"` // by the model, of the digest that it was told of
	Stopped bool        `op:"-"` // whether the run is broken off: what is ready is committed
	Named   string      `op:"-"` // the name of the model

	model complete.Rewriter
}

func (q *DistillRequest) Into(w *verb.Writing) {
	w.Message, w.Expect, w.DryRun = q.Message, q.Expect, q.DryRun
}

// Authored reports whether more is written than what is derived.
func (q *DistillRequest) Authored() bool { return q.Model != "" }

// Distilled is what became of digests.
type Distilled struct {
	Commit  ipld.CID `json:"commit" shape:"null"`
	Root    ipld.CID `json:"root" shape:"null"`
	Source  string   `json:"source"` // of the root, "" for a memory without facts
	Facts   int      `json:"facts"`
	Scopes  int      `json:"scopes"`
	Made    int      `json:"made"`  // digests
	Read    int      `json:"read"`  // digests
	Texts   int      `json:"texts"` // of facts that were read to make them
	Found   bool     `json:"found"` // whether they began from digests that were kept
	Skipped bool     `json:"skipped"`

	Written *DigestTexts `json:"written,omitempty"` // by a model, where one was asked
}

// Distill makes digests and keeps them.
var Distill = verb.Define(verb.Spec{
	Command: "distill", Right: verb.OwnRight,
	Usage: "[flags]", Group: "care", Effect: verb.Writes, Idempotent: true, Derived: true, Long: true,
	Title: "Make the digests of a commit, and keep them",
	Doc: "Make the digests of a commit and keep them. A digest is a few sentences quoted from the\n" +
		"memories below it: one for each scope, each cluster of similar memories, and the whole memory.\n" +
		"Digests are derived from the commit, like its index: they are the same on every machine, and\n" +
		"no commit is made. 'mnem map' and 'mnem digest' show them; digests that were not kept are made\n" +
		"again each time. After a change only the digests that contain it are made again.\n\n" +
		"With --model a chat model writes texts for the digests with the most memories below them\n" +
		"that have no text yet; these texts are kept in commits. The model's server is told the\n" +
		"memories' texts, without those that may hold a credential. Where the model fails, the digest\n" +
		"keeps its sentences and the answer says so; after 3 failures in a row it is not asked again.\n" +
		"--dry-run prints how often it would be asked. Servers' addresses and keys are those of\n" +
		"'mnem retrieve --set rewrite'. See docs/internals/digests.md.",
	Example: "  mnem distill\n  mnem distill --model=ollama:llama3 --calls 10 --dry-run\n  mnem distill --auto\n  mnem distill --by edge:part-of --by prop:project",
}, makeDigests)

func makeDigests(ctx context.Context, s *verb.Service, q *DistillRequest) (*Distilled, error) {
	recipe, err := q.recipe()
	if err != nil {
		return nil, err
	}
	if q.State != nil {
		out := &q.State.All
		var err error
		out.Written, err = q.writeTexts(ctx, s, out)
		return out, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	done := s.Host.Working("making digests")
	defer done()
	d, err := outline.Open(ctx, snap, recipe, outline.DigestOptions{Keep: true, Only: q.Auto})
	if err != nil {
		return nil, err
	}
	out := &Distilled{
		Commit: snap.CID(), Root: d.Root, Made: d.Work.Digests, Read: d.Work.Read, Texts: d.Work.Facts,
		Found: d.Found, Skipped: d.Scopes == nil,
	}
	if out.Skipped {
		return out, nil
	}
	root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
	if root != nil {
		out.Source, out.Facts = root.Source.String(), root.Facts
	}
	out.Scopes = int(d.Scopes.Len())
	if err == nil && q.Model != "" {
		out.Written, err = q.writeTexts(ctx, s, out)
	}
	return out, err
}

// Check refuses what is out of bounds, and what would do nothing.
func (q *DistillRequest) Check() error {
	if q.Model == "" {
		for _, name := range []string{"calls", "dry-run", "message", "expect", "branch"} {
			if q.Given(name) {
				return verb.Between("%s is for %s", name, "model")
			}
		}
	} else if q.Given("at") {
		return verb.Between("%s is for looking: what is written goes onto the branch", "at")
	}
	_, err := q.recipe()
	return cmp.Or(verb.CheckRange("calls", q.Calls, 1, maxCalls), err)
}
