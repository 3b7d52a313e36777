package outlining

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// DigestWriteRequest gives the text of a digest.
type DigestWriteRequest struct {
	Digest  string `op:",arg,required,remote" doc:"root, or a scope or cluster of the map"`
	Source  string `op:",arg,required,remote" doc:"the digest's source hash, as it was read"`
	Text    string `op:",arg,required,remote" doc:"the new text"`
	Model   string `op:",remote" doc:"what wrote it, {NAME} (default: the agent, or else the author)"`
	Message string `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Secrets
	verb.Trial
	ScopeRules
}

func (q *DigestWriteRequest) Into(w *verb.Writing) {
	w.Message, w.Expect = cmp.Or(q.Message, clip(guard.Mask("write digest "+q.Digest), len("write digest ")+digestTitle)), q.Expect
}

// DigestWritten is what became of a text.
type DigestWritten struct {
	ID       verb.Text        `json:"id"`
	Name     verb.Text        `json:"name"`
	Source   string           `json:"source"`
	Model    string           `json:"model"`
	Tokens   int              `json:"tokens"`
	Dropped  int              `json:"dropped"` // texts of digests that are not there any more
	Commit   ipld.CID         `json:"commit" shape:"null"`
	Branch   string           `json:"branch"`
	NoChange bool             `json:"no_change"`
	DryRun   bool             `json:"dry_run"`
	Warnings editing.Warnings `json:"warnings,omitempty"`
}

// DigestWrite keeps the text of a digest.
var DigestWrite = verb.Define(verb.Spec{
	Command: "digest-write", Right: verb.OwnRight,
	Usage: "DIGEST SOURCE TEXT [flags]", Group: "change", Effect: verb.Writes, Idempotent: true,
	Title: "Write the text of a digest",
	Doc: "Give a digest a text of your own. It takes the place of its sentences, in one commit. Read the\n" +
		"digest first with 'mnem digest': SOURCE is the hash that it prints of what it is made from. The limit is\n" +
		fmt.Sprint(2*distill.ClusterTokens) + " tokens, for root " + fmt.Sprint(2*distill.RootTokens) + ".\n\n" +
		"The text is shown while its source is the same. If the source has changed, nothing is written: ask\n" +
		"for the digest again. Texts of digests that are not there any more are dropped and counted.",
	Example: "  mnem digest-write root 3f0c… 'Harbour operations: berths, tides, and who is on call.'\n" +
		"  mnem digest-write root 3f0c… 'The harbour: who keeps it, and when the tides turn.' --model my-model",
}, writeDigest)

// Check refuses what is out of bounds.
func (q *DigestWriteRequest) Check() error {
	if _, ok := distill.ParseSource(q.Source); !ok {
		return verb.Usagef("%q is no source: want 64 hex digits", clip(q.Source, digestTitle))
	}
	_, err := q.recipe()
	return err
}

func writeDigest(ctx context.Context, s *verb.Service, q *DigestWriteRequest) (*DigestWritten, error) {
	v, err := digestsToWrite(ctx, s, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	d, id, err := v.find(ctx, q.Digest)
	if err != nil {
		return nil, err
	}
	if d == nil {
		what := "the memory is empty: there is nothing to write about"
		if !id.IsZero() {
			what = clip(q.Digest, digestTitle) + " is a memory and no scope: it says what it says itself"
		}
		return nil, verb.Usagef("%s", what)
	}
	source, _ := distill.ParseSource(q.Source)
	one := outline.DigestText{
		Scope: d.Scope, Label: d.Label, Source: source, Text: q.Text,
		Model: cmp.Or(q.Model, s.Commit.Agent, s.Commit.Author),
	}
	res, err := outline.WriteDigests(ctx, s.Repo, v.Recipe, []outline.DigestText{one}, s.Commit)
	if err != nil {
		return nil, digestHint(err, q.Digest)
	}
	name, err := v.name(ctx, d.Scope, d.Label)
	out := &DigestWritten{
		ID: verb.Text(d.ID()), Name: verb.Text(name), Source: q.Source, Model: one.Model, Tokens: distill.Tokens(q.Text),
		Dropped: res.Dropped, Commit: res.Commit, Branch: res.Branch, NoChange: res.NoChange, DryRun: s.DryRun,
		Warnings: editing.WarningsOf(res.Secrets),
	}
	if s.DryRun && !res.NoChange {
		out.Commit = ipld.CID{} // its time would be another
	}
	return out, err
}

// digestsToWrite returns the digests of the branch that is written to, kept where they may be.
func digestsToWrite(ctx context.Context, s *verb.Service, rules ScopeRules) (*digestView, error) {
	recipe, err := rules.recipe()
	if err != nil {
		return nil, err
	}
	info, err := verb.TargetBranch(ctx, s.Repo, s.Commit.Branch)
	if err != nil {
		return nil, err
	}
	if !info.Commit.Defined() {
		return nil, verb.CommitHint(&state.NotFoundError{What: verb.NoCommitYet, Name: info.Name})
	}
	snap, err := s.Repo.At(ctx, info.Commit)
	if err != nil {
		return nil, err
	}
	d, err := outline.Open(ctx, snap, recipe, outline.DigestOptions{Keep: !s.DryRun})
	return &digestView{d, snap, reading.NewLabels(snap)}, err
}

// digestHint says what to do about a source that has changed, of a digest as it was named.
func digestHint(err error, name string) error {
	var changed *outline.DigestSourceError
	if !errors.As(err, &changed) {
		return err
	}
	name = clip(name, digestTitle)
	return verb.Hint(err, "read it again with 'mnem digest "+name+"', and write of what it says now",
		"ask for digest "+name+" again, and write of what it says now")
}

// written returns the text that a model wrote of a digest, nil for none, and how many were left out since they
// may hold a credential.
func (v *digestView) written(ctx context.Context, d *distill.Digest) (*distill.Written, int, error) {
	w, refused, err := outline.ReadDigestText(ctx, v.snap, d.Source)
	if refused {
		return nil, 1, nil
	}
	return w, 0, err
}
