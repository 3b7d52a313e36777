package remembering

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	rememberpkg "github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// RewriteCues is the way in which a chat model writes cues; the other ways rewrite questions.
const RewriteCues = "cues"

type cuesRequest struct {
	After         string   `op:",remote" doc:"go on after this {CURSOR} or id"`
	Limit         int      `op:",remote" default:"100" doc:"at most {N} memories; 0 for all" note:" (with --model: all unless it is given)"`
	Missing       bool     `op:",remote" doc:"list the memories that have none"`
	Type          []string `op:",remote" doc:"only memories of this {TYPE}" note:" (repeatable)"`
	Model         string   `op:",writes,true=configured,alone" not:"after missing" doc:"let a chat model write cues for those that have none: {SPEC} is $REWRITERS" note:" (alone: MNEM_REWRITE_MODEL; config: rewrite.model)"`
	Message       string   `op:",short=m" doc:"what the commits are about (default: \"write cues of N memories\")"`
	Expect        string   `op:"" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor    `op:"local"`
	verb.OnBranch `op:"local"`
	verb.AtRevision
	verb.Signing
	verb.Params

	State   *rememberpkg.CuesState `op:"-"` // the state after the previous run, nil for the first
	Said    []string               `op:"-"` // by the model, of the memory that it asked about
	Stopped bool                   `op:"-"` // whether the model failed: finished cues are committed

	model complete.Rewriter
}

func (q *cuesRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

// CuedMemory is a memory with its cues.
type CuedMemory struct {
	reading.NodeName
	Cues []string `json:"cues"`
}

// CueList is one page of memories.
type CueList struct {
	Commit ipld.CID              `json:"commit" shape:"null"`
	Nodes  verb.Each[CuedMemory] `json:"nodes"`
	Next   verb.Text             `json:"next"` // the cursor of what follows, once the memories were given
}

// Cues lists memories with their cues, or those without.
var Cues = verb.Define(verb.Spec{
	Command: "embed cues", Right: verb.NoRight, Confined: true, Usage: "[flags]", Effect: verb.Reads, Pure: true, Long: true,
	Title: "List the phrases under which memories are found, or let a model write some",
	Doc: "List the memories that have cues: phrases that somebody may look for and that the memory does\n" +
		"not contain. With --missing list those that have none. Change lines write them, many in one\n" +
		"commit: {\"node\": {\"id\": ID, \"cues\": [\"…\", …]}}, 12 at most for each.\n\n" +
		"With --model a chat model writes up to " + fmt.Sprint(rememberpkg.WrittenCues) + " for each memory that has none. Its server is told\n" +
		"the texts. Each " + fmt.Sprint(rememberpkg.CuesBatch) + " memories become a commit: after an interrupt or a failure the same\n" +
		"command goes on from there. What looks like a credential is not written, nor what the memory\n" +
		"says itself. Servers' addresses and keys are those of 'mnem retrieve --set rewrite'.\n\n" +
		"A list that is cut at --limit ends with a cursor. --after CURSOR goes on behind it, at the\n" +
		"cursor's commit unless --at says another.",
	Example: "  mnem embed cues\n  mnem embed cues --missing --type fact --limit 20 --json",
	Answers: []any{CueList{}, rememberpkg.CuesWritten{}},
}, cues)

func (q *cuesRequest) Check() error {
	for _, name := range []string{"branch", "expect", "message"} {
		if q.Model == "" && q.Given(name) {
			return verb.Between("%s is for %s", name, "model")
		}
	}
	if q.Model != "" && q.Given("at") {
		return verb.Between("%s is for looking: what is written goes onto the branch", "at")
	}
	return verb.CheckLimit(q.Limit)
}

func cues(ctx context.Context, s *verb.Service, q *cuesRequest) (any, error) {
	if q.Model != "" {
		return verb.OneOf(q.write(ctx, s))
	}
	list := &reading.ListRequest{After: q.After, Limit: q.Limit, Type: q.Type, AtRevision: q.AtRevision}
	verb.SetGiven(list, verb.GivenOf(q))
	at, page, err := list.Nodes(ctx, s, func(n *graph.Node) bool {
		return rememberpkg.TakesCues(n, nil) && (len(n.Cues) == 0) == q.Missing
	})
	if err != nil {
		return nil, err
	}
	out := &CueList{Commit: at}
	out.Nodes = func(yield func(CuedMemory) error) (err error) {
		out.Next, err = page(func(n *graph.Node) error { return yield(CuedMemory{reading.NameOf(n), n.Cues}) })
		return err
	}
	return out, nil
}

// Prepare opens the model.
func (q *cuesRequest) Prepare(_ context.Context, s *verb.Service, _ any) error {
	if q.Model == "" {
		return nil
	}
	models, _, err := s.Caller.Models(&verb.QuestionModels{
		Rewrite: RewriteCues, RewriteModel: q.Model, Rewrites: rememberpkg.WrittenCues, Kept: true,
	})
	if err == nil {
		q.model = models.Rewriter
	}
	return err
}

func (q *cuesRequest) Drives() bool { return q.Model != "" }

// Drive has the model write cues for one memory after the other, each in its own run.
func (q *cuesRequest) Drive(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	set, done := s.Host.Progress()
	defer done()
	err := s.Until(ctx, req, emit, func(ctx context.Context, want *verb.Want) (err error) {
		q.State = new(rememberpkg.CuesState)
		if err = json.Unmarshal(want.State, q.State); err != nil {
			return err
		}
		if q.Said, err = q.model.Rewrite(ctx, RewriteCues, want.Texts[0], rememberpkg.WrittenCues); err != nil {
			q.Stopped = true
			return fmt.Errorf("cues of memory %s: %w", q.State.ID, err)
		}
		n, total := q.State.Done+1, q.State.Total
		set(fmt.Sprintf("cues written for %d/%d:", n, total), n, total)
		return nil
	})
	if !q.Stopped {
		return err
	}
	kept := s.Call(context.WithoutCancel(ctx), req, func(res any) error {
		q.State.Out = *res.(*rememberpkg.CuesWritten)
		return nil
	})
	if kept != nil {
		return kept
	}
	return cuesHint(err, &q.State.Out)
}

func cuesHint(err error, out *rememberpkg.CuesWritten) error {
	if out.Memories == 0 {
		return err
	}
	kept := plain.Plural(out.Commits, "commit") + " of cues made: the same "
	return verb.Hint(err, kept+"command goes on from there", kept+"call goes on from there")
}

func (q *cuesRequest) write(ctx context.Context, s *verb.Service) (*rememberpkg.CuesWritten, error) {
	info, err := verb.TargetBranch(ctx, s.Repo, s.Commit.Branch)
	if err != nil {
		return nil, err
	}
	if !info.Commit.Defined() {
		return nil, verb.CommitHint(&state.NotFoundError{What: verb.NoCommitYet, Name: info.Name})
	}
	run := &rememberpkg.CuesRun{Repo: s.Repo, Commit: s.Commit, Asked: rememberpkg.CuesRequest{Types: q.Type}}
	if q.Given("limit") {
		run.Asked.Limit = q.Limit
	}
	more := false
	switch {
	case q.State == nil:
		err = run.Begin(ctx)
	case q.Stopped:
		run.CuesState = *q.State
		err = run.Stop(ctx)
	default:
		run.CuesState = *q.State
		run.Take(q.Said)
	}
	if err == nil && !q.Stopped {
		more, err = run.Next(ctx)
	}
	if err != nil {
		return nil, cuesHint(err, &run.Out)
	}
	if more {
		want := &verb.Want{Texts: []string{run.Text}}
		if want.State, err = json.Marshal(run.CuesState); err == nil {
			err = want
		}
		return nil, err
	}
	if run.Out.Branch = info.Name; !run.Out.Commit.Defined() {
		run.Out.Commit = info.Commit
	}
	return &run.Out, nil
}
