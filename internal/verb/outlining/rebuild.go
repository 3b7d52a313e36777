package outlining

import (
	"cmp"
	"context"
	"encoding/json"
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
	maxCalls = 20 // to the model, of one run
	// modelTokens bounds the prompt: the tokens of what is below a digest. factChars bounds one memory in it.
	modelTokens = 4000
	factChars   = 600
	// modelFailures is the number of failures in a row that ends a run.
	modelFailures = 3
	textsAtOnce   = 10 // texts in one commit
)

// Rebuilt reports how digests were made.
type Rebuilt struct {
	Root   ipld.CID `json:"root" shape:"null"`
	Source string   `json:"source"` // of the root, "" for a memory without facts
	Facts  int      `json:"facts"`
	Scopes int      `json:"scopes"`
	Made   int      `json:"made"`  // digests
	Read   int      `json:"read"`  // digests
	Texts  int      `json:"texts"` // of facts that were read to make them
	Found  bool     `json:"found"` // whether they began from digests that were kept

	Written *DigestTexts `json:"written,omitempty"` // by a model, if one was asked
}

// rebuild makes the digests of a revision and keeps them, and lets a model write texts of them.
func (q *mapRequest) rebuild(ctx context.Context, s *verb.Service) (*MapAnswer, error) {
	if q.State != nil {
		out := &q.State.All
		var err error
		out.Rebuilt.Written, err = q.writeTexts(ctx, s, out)
		return out, err
	}
	recipe, err := q.recipe()
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	done := s.Host.Working("making digests")
	defer done()
	d, err := outline.Open(ctx, snap, recipe, outline.DigestOptions{Keep: true})
	if err != nil {
		return nil, err
	}
	out := &MapAnswer{Commit: snap.CID(), Rebuilt: &Rebuilt{
		Root: d.Root, Scopes: int(d.Scopes.Len()), Made: d.Work.Digests, Read: d.Work.Read, Texts: d.Work.Facts, Found: d.Found,
	}}
	root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
	if root != nil {
		out.Rebuilt.Source, out.Rebuilt.Facts = root.Source.String(), root.Facts
	}
	if err == nil && q.Model != "" {
		out.Rebuilt.Written, err = q.writeTexts(ctx, s, out)
	}
	return out, err
}

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

// TextsState is where a run has come to between two questions to the model.
type TextsState struct {
	All       MapAnswer // what the first part of the run did
	Model     string
	Out       *DigestTexts
	At        ipld.CID             // the commit whose digests the prompts are of
	List      []ipld.CID           // digests to be asked about
	Told      string               // of the first of these
	Texts     int                  // that the model is asked for
	Total     int                  // of List at first
	Fresh     []outline.DigestText // of this run
	Ready     []outline.DigestText // to be committed
	Row       int                  // failures in a row
	Committed bool
}

// Said has the answer of the model, or why there is none.
type Said struct {
	Texts  []string
	Failed string
}

type modelWriting struct {
	*digestView
	*TextsState
	s *verb.Service
}

// Prepare opens the model.
func (q *mapRequest) Prepare(_ context.Context, s *verb.Service, _ any) error {
	if q.Model == "" {
		return nil
	}
	models, _, err := s.Caller.Models(&verb.QuestionModels{
		Rewrite: RewriteDigest, RewriteModel: q.Model, Rewrites: 1, Kept: true,
	})
	if err == nil {
		q.model, q.Named = models.Rewriter, modelName(models.Rewriter, q.Model)
	}
	return err
}

func (q *mapRequest) Drives() bool { return q.Model != "" }

// Drive asks the model for texts of the digests that have none and the most memories below, each in a run of its own.
// The smaller ones come first, so that the prompt of a digest above has the texts written for those below it.
func (q *mapRequest) Drive(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	set, done := s.Host.Progress()
	defer done()
	err := s.Until(ctx, req, emit, func(ctx context.Context, want *verb.Want) (err error) {
		q.State, q.Said = new(TextsState), Said{}
		if err = json.Unmarshal(want.State, q.State); err != nil {
			return err
		}
		st := q.State
		set(fmt.Sprintf("texts written of %d/%d:", st.Total-len(st.List), st.Total), st.Total-len(st.List), st.Total)
		if q.Said.Texts, err = q.model.Rewrite(ctx, RewriteDigest, want.Texts[0], st.Texts); ctx.Err() != nil {
			q.Stopped = true
			return context.Cause(ctx)
		} else if err != nil {
			q.Said.Failed = err.Error()
		}
		return nil
	})
	if !q.Stopped {
		return err
	}
	kept := s.Call(context.WithoutCancel(ctx), req, func(res any) error {
		q.State.Out = res.(*MapAnswer).Rebuilt.Written
		return nil
	})
	if kept != nil {
		return fmt.Errorf("%w; the texts that were ready are not kept: %w", err, kept)
	}
	return textsHint(err, q.State.Out)
}

func textsHint(err error, out *DigestTexts) error {
	if out.Written == 0 {
		return err
	}
	kept := plain.Plural(out.Written, "text") + " kept: the same "
	return verb.Hint(err, kept+"command goes on from there", kept+"call goes on from there")
}

// writeTexts goes on to the next digest that the model is asked about.
func (q *mapRequest) writeTexts(ctx context.Context, s *verb.Service, all *MapAnswer) (*DigestTexts, error) {
	m := &modelWriting{s: s, TextsState: q.State}
	var err error
	if q.State == nil {
		m.TextsState = &TextsState{All: *all, Model: q.Named}
		err = m.begin(ctx, q)
	} else {
		m.digestView, err = digestsAt(ctx, s, m.At.String(), q.ScopeRules)
		if m.Committed {
			s.Commit.Expect = nil // only the first commit has to find the expected one
		}
		if err == nil && !q.Stopped {
			err = m.take(ctx, q.Said)
		}
	}
	if err != nil {
		return nil, err
	}
	told := ""
	if !q.Stopped {
		told, err = m.next(ctx)
	}
	if err == nil && told != "" {
		want := &verb.Want{Texts: []string{told}, At: m.At}
		if want.State, err = json.Marshal(m.TextsState); err == nil {
			err = want
		}
		return nil, err
	}
	if kept := m.commit(context.WithoutCancel(ctx)); err == nil { // paid for, so kept, whatever stopped the run
		err = kept
	} else if kept != nil {
		err = fmt.Errorf("%w; the texts that were ready are not kept: %w", err, kept)
	}
	if err != nil {
		return nil, textsHint(err, m.Out)
	}
	return m.Out, nil
}

func (m *modelWriting) begin(ctx context.Context, q *mapRequest) (err error) {
	if m.digestView, err = digestsToWrite(ctx, m.s, q.ScopeRules); err != nil {
		return err
	}
	m.At = m.snap.CID()
	m.Out = &DigestTexts{Model: m.Model, Commit: m.At, DryRun: m.s.DryRun}
	m.List, m.Out.Left, err = m.unwritten(ctx)
	m.Total = len(m.List)
	return err
}

// modelName is the name that texts are kept with: the model's own, or else the one asked for.
func modelName(m complete.Rewriter, asked string) string {
	if named, ok := m.(interface{ Model() string }); ok {
		return named.Model()
	}
	return asked
}

// unwritten returns up to maxCalls digests without a model's text, the smallest first, and how many more it saw.
func (v *digestView) unwritten(ctx context.Context) (list []ipld.CID, left int, err error) {
	type linked struct {
		*distill.Digest
		at ipld.CID
	}
	seen := map[ipld.CID]bool{}
	root, at, err := v.Top(ctx, v.Blocks, graph.ID{})
	if root == nil || err != nil {
		return nil, 0, err
	}
	for todo := []linked{{root, at}}; len(todo) > 0 && len(list) < maxCalls; {
		slices.SortStableFunc(todo, func(a, b linked) int {
			return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.ID(), b.ID()))
		})
		d := todo[0]
		todo = todo[1:]
		w, refused, err := v.written(ctx, d.Digest)
		if err != nil {
			return nil, 0, err
		}
		if w == nil && refused == 0 && len(d.Text) > 0 {
			list = append(list, d.at)
		}
		for _, c := range v.below(d.Digest) {
			if seen[c] {
				continue
			}
			seen[c] = true
			one, err := distill.Read(ctx, v.Blocks, c)
			if err != nil {
				return nil, 0, err
			}
			if one.Facts > 1 {
				todo = append(todo, linked{one, c})
			}
		}
		left = len(todo)
	}
	slices.Reverse(list)
	return list, left, nil
}

// next returns the prompt for the next digest, "" after the last.
func (m *modelWriting) next(ctx context.Context) (string, error) {
	for ; len(m.List) > 0; m.List = m.List[1:] {
		if m.Row == modelFailures {
			m.Out.Left += len(m.List)
			return "", nil
		}
		d, err := distill.Read(ctx, m.Blocks, m.List[0])
		if err != nil {
			return "", err
		}
		if m.Told, err = m.told(ctx, d); err != nil {
			return "", err
		}
		if m.Texts = 1; d.Kind() == distill.Root {
			m.Texts = 2
		}
		m.Out.Calls++
		m.Out.Tokens += distill.Tokens(m.Told)
		m.Out.Most += distill.WrittenTokens(d.Scope, d.Label)
		if !m.s.DryRun {
			return m.Told, nil
		}
	}
	return "", nil
}

// take checks the text that the model wrote. Texts are committed in batches; the last ones stay ready.
func (m *modelWriting) take(ctx context.Context, said Said) error {
	d, err := distill.Read(ctx, m.Blocks, m.List[0])
	if err != nil {
		return err
	}
	m.List = m.List[1:]
	if err = checkSaid(said, m.Told, distill.WrittenTokens(d.Scope, d.Label)); err == nil {
		one := outline.DigestText{Scope: d.Scope, Label: d.Label, Source: d.Source, Text: said.Texts[0], Model: m.Model}
		if err = one.Check(m.s.Commit.Secrets); err == nil {
			m.Ready, m.Fresh, m.Row = append(m.Ready, one), append(m.Fresh, one), 0
			if len(m.Ready) < textsAtOnce {
				return nil
			}
			return m.commit(context.WithoutCancel(ctx))
		}
	}
	m.Row++
	m.Out.Failed = append(m.Out.Failed, DigestFailure{verb.Text(d.ID()), err.Error()})
	return nil
}

// checkSaid refuses an answer that is empty, too long, or that has few terms in common with the prompt, as an
// apology does.
func checkSaid(by Said, told string, limit int) error {
	said := by.Texts
	if by.Failed != "" {
		return errors.New(by.Failed)
	}
	if len(said) == 0 || strings.TrimSpace(said[0]) == "" {
		return errors.New("the model wrote nothing")
	}
	if n := distill.Tokens(said[0]); n > limit {
		return fmt.Errorf("the model wrote %d tokens, limit %d", n, limit)
	}
	if !distill.Overlap(said[0], told) {
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
		says := m.fresh(one.Source)
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

// fresh returns the text that the model wrote in this run for a digest of a source, "" for none.
func (m *modelWriting) fresh(of distill.Source) string {
	for i := range m.Fresh {
		if m.Fresh[i].Source == of {
			return m.Fresh[i].Text
		}
	}
	return ""
}

// commit keeps the texts that are ready, except those whose digest has changed since.
func (m *modelWriting) commit(ctx context.Context) error {
	ready := m.Ready
	if m.Ready = nil; len(ready) == 0 { // tried once
		return nil
	}
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
	m.Out.Written += len(ready) - len(res.Refused)
	m.Out.Dropped += res.Dropped
	m.Out.Commit = res.Commit
	m.s.Commit.Expect, m.Committed = nil, true // only the first commit has to find the expected one
	return nil
}

func (m *modelWriting) fail(one outline.DigestText, why string) {
	m.Out.Failed = append(m.Out.Failed, DigestFailure{verb.Text(distill.DigestID(one.Scope, one.Label)), why})
}
