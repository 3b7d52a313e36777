package outlining

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/view/distill"
)

// DigestWritten reports the write of a text.
type DigestWritten struct {
	ID       verb.Text        `json:"id"`
	Name     verb.Text        `json:"name"`
	Source   string           `json:"source"`
	Model    string           `json:"model"`
	Tokens   int              `json:"tokens"`
	Dropped  int              `json:"dropped"` // texts of digests that are not there any more
	Branch   string           `json:"branch"`
	NoChange bool             `json:"no_change"`
	DryRun   bool             `json:"dry_run"`
	Warnings editing.Warnings `json:"warnings,omitempty"`
}

// writeDigest keeps the text of a digest.
func (q *MapRequest) writeDigest(ctx context.Context, s *verb.Service) (*MapAnswer, error) {
	v, err := digestsToWrite(ctx, s, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	d, err := v.toWrite(ctx, q.Write)
	if err != nil {
		return nil, digestHint(err)
	}
	one := outline.DigestText{
		Scope: d.Scope, Label: d.Label, Source: d.Source,
		Text: strings.TrimRight(cmp.Or(q.Text, q.Scope), "\n"), Model: cmp.Or(s.Commit.Agent, s.Commit.Author),
	}
	res, err := outline.WriteDigests(ctx, s.Repo, v.Recipe, []outline.DigestText{one}, s.Commit)
	if err != nil {
		return nil, digestHint(err)
	}
	name, err := v.name(ctx, d.Scope, d.Label)
	out := &DigestWritten{
		ID: verb.Text(d.ID()), Name: verb.Text(name), Source: d.Source.String(), Model: one.Model,
		Tokens: distill.Tokens(one.Text), Dropped: res.Dropped, Branch: res.Branch, NoChange: res.NoChange, DryRun: s.DryRun,
		Warnings: editing.WarningsOf(res.Secrets),
	}
	answer := &MapAnswer{Written: out}
	if !s.DryRun || res.NoChange { // else its time would be another
		answer.Commit = res.Commit
	}
	return answer, err
}

// toWrite returns the digest that a text is given to, by its name or its source.
func (v *digestView) toWrite(ctx context.Context, name string) (*distill.Digest, error) {
	of := name
	if source, ok := distill.ParseSource(name); ok {
		n, ok, err := v.Sourced(ctx, source)
		if err == nil && !ok {
			err = &outline.DigestSourceError{Name: "with the source " + name, Want: source}
		}
		if err != nil {
			return nil, err
		}
		of = n.ID
	}
	d, id, err := v.find(ctx, of)
	switch {
	case err != nil || d != nil:
		return d, err
	case id.IsZero():
		return nil, verb.Usagef("the memory is empty: there is nothing to write about")
	}
	return nil, verb.Usagef("%s is a memory and no scope: it says what it says itself", clip(name, digestTitle))
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

// digestHint says what to do about a source that has changed.
func digestHint(err error) error {
	var changed *outline.DigestSourceError
	if !errors.As(err, &changed) {
		return err
	}
	return verb.Hint(err, "'mnem map SCOPE' prints what the digest says now, and its source: write of that",
		"ask for the digest again, and write of what it says now")
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
