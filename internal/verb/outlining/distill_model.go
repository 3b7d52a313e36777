package outlining

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// RewriteDigest is the rewrite method with which a chat model is asked for the text of a digest.
const RewriteDigest = "digest"

const (
	maxCalls = 1000
	// modelTokens bounds the prompt: the tokens of what is below a digest. factChars bounds one memory in it.
	modelTokens = 4000
	factChars   = 600
	// modelFailures is the number of failures in a row that ends a run.
	modelFailures = 3
	textsAtOnce   = 10 // texts in one commit
)

// DigestTexts reports a run of a model, or with DryRun what a run would ask.
type DigestTexts struct {
	Model   string          `json:"model"`
	Calls   int             `json:"calls"`  // to the model
	Tokens  int             `json:"tokens"` // in its prompts, estimated
	Most    int             `json:"most"`   // tokens that its answers may have
	Written int             `json:"written"`
	Failed  []DigestFailure `json:"failed"`  // these keep their sentences
	Left    int             `json:"left"`    // digests without a model's text, for another run
	Dropped int             `json:"dropped"` // texts whose digests no longer exist
	Commit  ipld.CID        `json:"commit" shape:"null"`
	DryRun  bool            `json:"dry_run"`
}

// DigestFailure is a digest for which no text was kept, and why.
type DigestFailure struct {
	ID    verb.Text `json:"id"`
	Error string    `json:"error"`
}

// modelWriting is the state of one run.
type modelWriting struct {
	*digestView
	s     *verb.Service
	model string
	ask   func(ctx context.Context, told string, n int) ([]string, error)
	out   *DigestTexts
	fresh map[distill.Source]string // texts of this run
	ready []outline.DigestText      // to be committed
	row   int                       // failures in a row
}

// writeTexts asks a model for texts of the digests that have none and the most memories below. The smaller ones
// come first, so that the prompt of a digest above has the texts written for those below it.
func (q *DistillRequest) writeTexts(ctx context.Context, s *verb.Service) (*DigestTexts, error) {
	v, err := digestsToWrite(ctx, s, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	list, left, err := v.unwritten(ctx, q.Calls)
	if err != nil {
		return nil, err
	}
	models, _, err := s.Host.Models(&verb.QuestionModels{
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
	if len(m.ready) > 0 { // paid for, so kept, whatever stopped the run
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
		kept := plain.Plural(m.out.Written, "text") + " kept: the same "
		err = verb.Hint(err, kept+"command goes on from there", kept+"call goes on from there")
	}
	return nil, err
}

// all asks the model about one digest after the other. Texts are committed in batches; the last ones stay in ready.
func (m *modelWriting) all(ctx context.Context, list []*distill.Digest) error {
	set, done := m.s.Host.Progress()
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

// modelName is the name that texts are kept with: the model's own, or else the one asked for.
func modelName(m complete.Rewriter, asked string) string {
	if named, ok := m.(interface{ Model() string }); ok {
		return named.Model()
	}
	return asked
}

// unwritten returns up to most digests without a model's text, the smallest first, and how many more it saw.
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

// one asks the model for the text of one digest.
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
			one := outline.DigestText{Scope: d.Scope, Label: d.Label, Source: d.Source, Text: said[0], Model: m.model}
			if err = one.Check(m.s.Commit.Secrets); err == nil {
				m.ready, m.row = append(m.ready, one), 0
				m.fresh[d.Source] = one.Text
				return nil
			}
		}
	}
	m.row++
	m.out.Failed = append(m.out.Failed, DigestFailure{verb.Text(d.ID()), err.Error()})
	return nil
}

// checkSaid refuses an answer that is empty, too long, or that has few terms in common with the prompt, as an
// apology does.
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

// told builds the prompt for a digest: a line for each digest and memory directly below it.
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
				says = w.Text
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
		if f == nil || f.Hidden || outline.MayHoldCredential(f.Text) {
			continue
		}
		if !add(clip(f.Text, factChars)) {
			break
		}
	}
	return strings.Join(lines, "\n"), nil
}

// commit keeps the texts that are ready, except those whose digest has changed since.
func (m *modelWriting) commit(ctx context.Context) error {
	ready := m.ready
	m.ready = nil // tried once
	opt := m.s.Commit
	opt.Message = cmp.Or(opt.Message, fmt.Sprintf("write %s", plain.Plural(len(ready), "digest")))
	res, err := outline.WriteDigestsThatFit(ctx, m.s.Repo, m.Recipe, ready, opt)
	if err != nil {
		return err
	}
	for i, one := range ready {
		switch why := res.Refused[i]; {
		case errors.Is(why, state.ErrConflict):
			m.fail(one, "the digest has changed since the model was asked: run the command again")
		case why != nil:
			m.fail(one, why.Error())
		}
	}
	m.out.Written += len(ready) - len(res.Refused)
	m.out.Dropped += res.Dropped
	m.out.Commit = res.Commit
	m.s.Commit.Expect = nil // only the first commit has to find the expected one
	return nil
}

func (m *modelWriting) fail(one outline.DigestText, why string) {
	m.out.Failed = append(m.out.Failed, DigestFailure{verb.Text(distill.DigestID(one.Scope, one.Label)), why})
}
