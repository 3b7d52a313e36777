package remembering

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	rememberpkg "github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// RewriteCues is the way by which a chat model writes cues, beside those of questions.
const RewriteCues = "cues"

// CuesRequest asks which memories have cues, or for cues to be written.
type CuesRequest struct {
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
}

func (q *CuesRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

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
	Command: "cues", Right: verb.NoRight, Usage: "[flags]", Group: "read", Effect: verb.Reads, Pure: true, Long: true,
	Title: "List memories with or without cues, or let a model write them",
	Doc: "List the memories that have cues, phrases under which somebody may look for them and which\n" +
		"they do not contain; with --missing those that have none. Change lines write them, many in one\n" +
		"commit: {\"node\": {\"id\": ID, \"cues\": [\"…\", …]}}, 12 at most for each.\n\n" +
		"With --model a chat model writes up to " + fmt.Sprint(rememberpkg.WrittenCues) + " for each memory that has none. Its server is told\n" +
		"the texts. Each " + fmt.Sprint(rememberpkg.CuesBatch) + " memories become a commit: after an interrupt or a failure the same\n" +
		"command goes on from there. What looks like a credential is not written, nor what the memory\n" +
		"says itself. Servers' addresses and keys are those of 'mnem retrieve --rewrite'.\n\n" +
		"A list that is cut at --limit ends with a cursor. --after CURSOR goes on behind it, at the\n" +
		"cursor's commit unless --at says another.",
	Example: "  mnem cues\n  mnem cues --missing --type fact --limit 20 --json",
	Answers: []any{CueList{}, rememberpkg.CuesWritten{}},
}, cues)

// Check refuses fields that would do nothing.
func (q *CuesRequest) Check() error {
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

func cues(ctx context.Context, s *verb.Service, q *CuesRequest) (any, error) {
	if q.Model != "" {
		return verb.OneOf(q.writeAll(ctx, s))
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

// writeAll lets a model write cues for the memories that have none.
func (q *CuesRequest) writeAll(ctx context.Context, s *verb.Service) (*rememberpkg.CuesWritten, error) {
	info, err := verb.TargetBranch(ctx, s.Repo, s.Commit.Branch)
	if err != nil {
		return nil, err
	}
	if !info.Commit.Defined() {
		return nil, verb.CommitHint(&state.NotFoundError{What: verb.NoCommitYet, Name: info.Name})
	}
	models, _, err := s.Host.Models(&verb.QuestionModels{
		Rewrite: RewriteCues, RewriteModel: q.Model, Rewrites: rememberpkg.WrittenCues, Kept: true,
	})
	if err != nil {
		return nil, err
	}
	set, done := s.Host.Progress()
	defer done()
	req := rememberpkg.CuesRequest{Types: q.Type, Progress: func(n, total int) {
		set(fmt.Sprintf("cues written for %d/%d:", n, total), n, total)
	}}
	if q.Given("limit") {
		req.Limit = q.Limit
	}
	req.Write = func(ctx context.Context, text string, n int) ([]string, error) {
		return models.Rewriter.Rewrite(ctx, RewriteCues, text, n)
	}
	res, err := rememberpkg.WriteCues(ctx, s.Repo, s.Commit, req)
	if err != nil && res != nil && res.Memories > 0 {
		kept := plain.Plural(res.Commits, "commit") + " of cues made: the same "
		err = verb.Hint(err, kept+"command goes on from there", kept+"call goes on from there")
	}
	if err != nil {
		return nil, err
	}
	if res.Branch = info.Name; !res.Commit.Defined() {
		res.Commit = info.Commit
	}
	return res, nil
}
