package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// RewriteDigest is the way by which a chat model writes the text of a digest.
const RewriteDigest = "digest"

const (
	maxCalls = 1000
	// modelTokens is how much of what is below a digest a model is told, and factChars of one memory.
	modelTokens = 4000
	factChars   = 600
	// modelFailures is after how many failures in a row the model is asked no more.
	modelFailures = 3
	textsAtOnce   = 10 // that become one commit
)

// DigestTexts is what a model is to write, or wrote.
type DigestTexts struct {
	Model   string              `json:"model"`
	Calls   int                 `json:"calls"`  // of the model
	Tokens  int                 `json:"tokens"` // that it was told, estimated
	Most    int                 `json:"most"`   // tokens that it may write
	Written int                 `json:"written"`
	Failed  List[DigestFailure] `json:"failed"`  // digests that keep their sentences
	Left    int                 `json:"left"`    // digests without a text of a model, for another run
	Dropped int                 `json:"dropped"` // texts of digests that are not there any more
	Commit  ipld.CID            `json:"commit" shape:"null"`
	DryRun  bool                `json:"dry_run"`
}

// DigestFailure is a digest of which a model wrote nothing that can be kept.
type DigestFailure struct {
	ID    Text   `json:"id"`
	Error string `json:"error"`
}

// modelWriting is a run of a model over digests.
type modelWriting struct {
	*digestView
	s     *Service
	model string
	ask   func(ctx context.Context, told string, n int) ([]string, error)
	out   *DigestTexts
	fresh map[distill.Source]string // texts of this run
	ready []repo.DigestText         // not committed yet
	row   int                       // failures in a row
}

// writeTexts lets a model write the texts of digests that have none: of those with the most memories below, the
// smaller ones first, so that those above are told what it wrote.
func (q *DistillRequest) writeTexts(ctx context.Context, s *Service) (*DigestTexts, error) {
	v, err := s.digestsToWrite(ctx, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	list, left, err := v.unwritten(ctx, q.Calls)
	if err != nil {
		return nil, err
	}
	models, _, err := s.host.Models(&QuestionModels{
		Rewrite: RewriteDigest, RewriteModel: q.Model, Rewrites: 1, Kept: true,
	})
	if err != nil {
		return nil, err
	}
	m := &modelWriting{
		digestView: v, s: s, model: modelName(models.Rewriter, q.Model), fresh: map[distill.Source]string{},
		ask: func(ctx context.Context, told string, n int) ([]string, error) {
			return models.Rewriter.Rewrite(ctx, RewriteDigest, told, n)
		},
	}
	m.out = &DigestTexts{Model: m.model, Left: left, Commit: v.snap.CID(), DryRun: s.DryRun}
	err = m.all(ctx, list)
	if len(m.ready) > 0 { // they are paid for, whatever stopped the run
		if kept := m.commit(context.WithoutCancel(ctx)); err == nil {
			err = kept
		} else if kept != nil {
			err = fmt.Errorf("%w; the texts that were ready are not kept: %w", err, kept)
		}
	}
	if err == nil {
		return m.out, nil
	}
	if m.out.Written > 0 {
		kept := plural(m.out.Written, "text") + " kept: the same "
		err = Hint(err, kept+"command goes on from there", kept+"call goes on from there")
	}
	return nil, err
}

// all lets the model write of digests, one after the other, and keeps all but the last few texts.
func (m *modelWriting) all(ctx context.Context, list []*distill.Digest) error {
	set, done := m.s.host.Progress()
	defer done()
	for i, d := range list {
		set(fmt.Sprintf("texts written of %d/%d:", i, len(list)), i, len(list))
		if m.row == modelFailures {
			m.out.Left += len(list) - i
			break
		}
		if err := m.one(ctx, d); err != nil {
			return err
		}
		if len(m.ready) == textsAtOnce {
			if err := m.commit(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
	}
	return nil
}

// modelName is what a text is said to be written by.
func modelName(m retrieve.Rewriter, asked string) string {
	if named, ok := m.(interface{ Model() string }); ok {
		return named.Model()
	}
	return asked
}

// unwritten returns so many digests that have no text of a model, the smallest first, and how many more it met.
func (v *digestView) unwritten(ctx context.Context, most int) (list []*distill.Digest, left int, err error) {
	seen := map[ipld.CID]bool{}
	root, _, err := v.Top(ctx, v.Blocks, graph.ID{})
	if root == nil || err != nil {
		return nil, 0, err
	}
	for todo := []*distill.Digest{root}; len(todo) > 0 && len(list) < most; {
		slices.SortStableFunc(todo, func(a, b *distill.Digest) int {
			return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.ID(), b.ID()))
		})
		d := todo[0]
		todo = todo[1:]
		w, refused, err := v.written(ctx, d)
		if err != nil {
			return nil, 0, err
		}
		if w == nil && refused == 0 && len(d.Text) > 0 {
			list = append(list, d)
		}
		for _, c := range v.below(d) {
			if seen[c] {
				continue
			}
			seen[c] = true
			one, err := distill.Read(ctx, v.Blocks, c)
			if err != nil {
				return nil, 0, err
			}
			if one.Facts > 1 {
				todo = append(todo, one)
			}
		}
		left = len(todo)
	}
	slices.Reverse(list)
	return list, left, nil
}

// one lets the model write of one digest.
func (m *modelWriting) one(ctx context.Context, d *distill.Digest) error {
	told, err := m.told(ctx, d)
	if err != nil {
		return err
	}
	limit := distill.WrittenTokens(d.Scope, d.Label)
	m.out.Calls++
	m.out.Tokens += distill.Tokens(told)
	m.out.Most += limit
	if m.s.DryRun {
		return nil
	}
	n := 1
	if d.Kind() == distill.Root {
		n = 2
	}
	said, err := m.ask(ctx, told, n)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		if err = checkSaid(said, told, limit); err == nil {
			one := repo.DigestText{Scope: d.Scope, Label: d.Label, Source: d.Source, Text: said[0], Model: m.model}
			if err = one.Check(m.s.Commit.Secrets); err == nil {
				m.ready, m.row = append(m.ready, one), 0
				m.fresh[d.Source] = one.Text
				return nil
			}
		}
	}
	m.row++
	m.out.Failed = append(m.out.Failed, DigestFailure{Text(d.ID()), err.Error()})
	return nil
}

// checkSaid refuses what is no digest of what a model was told: nothing, too much, or a text whose terms are
// mostly of something else, as those of an apology are.
func checkSaid(said []string, told string, limit int) error {
	if len(said) == 0 || strings.TrimSpace(said[0]) == "" {
		return errors.New("the model wrote nothing")
	}
	if n := distill.Tokens(said[0]); n > limit {
		return fmt.Errorf("the model wrote %d tokens, limit %d", n, limit)
	}
	own, err := distill.Overlap(said[0], told)
	if err != nil {
		return err
	}
	if !own {
		return errors.New("the model wrote of something else, or refused")
	}
	return nil
}

// told is what a model is told of a digest: what is right below it, in lines.
func (m *modelWriting) told(ctx context.Context, d *distill.Digest) (string, error) {
	var lines []string
	tokens := 0
	add := func(s string) bool {
		s = "- " + strings.Join(strings.Fields(s), " ")
		tokens += distill.Tokens(s) + 1
		if tokens <= modelTokens {
			lines = append(lines, s)
		}
		return tokens <= modelTokens
	}
	for _, c := range m.below(d) {
		one, err := distill.Read(ctx, m.Blocks, c)
		if err != nil {
			return "", err
		}
		says := m.fresh[one.Source]
		if says == "" {
			w, _, err := m.written(ctx, one)
			if err != nil {
				return "", err
			}
			if says = distill.JoinText(one.Text); w != nil {
				says = string(w.Text)
			}
		}
		if says != "" && !add(says) {
			return strings.Join(lines, "\n"), nil
		}
	}
	for _, e := range d.Entries {
		if e.Link.Defined() {
			continue
		}
		f, err := m.Reader.Fact(ctx, e.Key.ID())
		if err != nil {
			return "", err
		}
		if f == nil || f.Hidden || repo.MayHoldCredential(f.Text) {
			continue
		}
		if !add(clip(f.Text, factChars)) {
			break
		}
	}
	return strings.Join(lines, "\n"), nil
}

// commit keeps what is ready, but for what is of something else by now.
func (m *modelWriting) commit(ctx context.Context) error {
	ready := m.ready
	m.ready = nil // it is tried once
	opt := m.s.Commit
	opt.Message = firstOf(opt.Message, fmt.Sprintf("write %s", plural(len(ready), "digest")))
	res, err := m.s.Repo.WriteDigestsThatFit(ctx, m.Recipe, ready, opt)
	if err != nil {
		return err
	}
	for i, one := range ready {
		switch why := res.Refused[i]; {
		case errors.Is(why, repo.ErrConflict):
			m.fail(one, "the digest has changed since the model was asked: run it again")
		case why != nil:
			m.fail(one, why.Error())
		}
	}
	m.out.Written += len(ready) - len(res.Refused)
	m.out.Dropped += res.Dropped
	m.out.Commit = res.Commit
	m.s.Commit.Expect = nil // it was for the first
	return nil
}

func (m *modelWriting) fail(one repo.DigestText, why string) {
	m.out.Failed = append(m.out.Failed, DigestFailure{Text(distill.DigestID(one.Scope, one.Label)), why})
}
