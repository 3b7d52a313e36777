package editing

import (
	"context"

	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/verb"
)

// PinRequest asks for nodes to be pinned, or unpinned.
type PinRequest struct {
	Nodes   []string `op:",arg,required,remote" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	Remove  bool     `op:",remote" doc:"unpin them"`
	Message string   `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string   `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params
	verb.Secrets
	verb.Trial
}

func (q *PinRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

// PinChanged says which nodes were pinned or unpinned.
type PinChanged struct {
	Pinned bool `json:"pinned"` // whether Changed are pinned now
	memory.PinResult
	NodesCommit
}

// Pin says what every session begins with.
var Pin = verb.Define(verb.Spec{
	Command: "pin", Right: verb.OwnRight, Confined: true, Usage: "NODE…", Group: "change", Effect: verb.Writes, Idempotent: true,
	Title: "Pin memories, so that every session starts with them",
	Doc: "Pin nodes, in one commit: hooks give them to agents at the start of every session. A pinned node has\n" +
		"the property pinned = true; --where 'pinned = true' finds it. --remove removes the property and changes\n" +
		"nothing else.",
	Example: "  mnem pin alice svc/billing\n  mnem pin bruno --dry-run\n  mnem pin alice --remove",
}, func(ctx context.Context, s *verb.Service, q *PinRequest) (*PinChanged, error) {
	res, err := memory.Pin(ctx, s.Repo, s.Commit, memory.PinRequest{Nodes: q.Nodes, Unpin: q.Remove})
	if err != nil {
		return nil, MarkHint(err)
	}
	out := &PinChanged{Pinned: !q.Remove, PinResult: *res}
	out.NodesCommit, err = nodesCommit(ctx, s, res.CommitResult, res.Changed, res.Already)
	return out, err
})
