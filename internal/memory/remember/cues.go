package remember

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/extract"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// WrittenCues is how many cues a model is asked for, of each memory.
	WrittenCues = 8
	// CuesBatch is how many memories get theirs in one commit.
	CuesBatch = 32
	// longestCue is the longest text, in bytes, that is taken for a short phrase.
	longestCue = 100
	// cuesText is the part of a memory, in bytes, that a model gets.
	cuesText = 8192
)

// CuesRequest asks for cues to be written for the memories that have none.
type CuesRequest struct {
	Types []string // of memories; nil for all
	Limit int      // at most so many memories; 0 for all
}

// CuesWritten describes the result of a run.
type CuesWritten struct {
	Branch    string   `json:"branch"`    // for callers to set
	Commit    ipld.CID `json:"commit"`    // the last one, undefined for none
	Commits   int      `json:"commits"`   // made
	Memories  int      `json:"memories"`  // that have cues now
	Cues      int      `json:"cues"`      // that they have
	Skipped   int      `json:"skipped"`   // memories without a usable cue
	Remaining int      `json:"remaining"` // memories left by the limit
}

// TakesCues reports whether a node is a memory that may have cues: one that says something, and that no mark hides.
func TakesCues(n *graph.Node, m *graph.Mark) bool {
	return n.Summary != "" && n.Type != state.RedactedType && !source.IsName(n) &&
		(m == nil || !m.State.Hides())
}

// CuesRun writes cues for the memories of a branch that have none. It commits after every few memories, so that an
// interrupted run keeps its results and another one continues there. It writes no cue that resembles a credential or
// repeats the memory. Call Begin first, then Next and Take alternately; Stop ends the run early.
type CuesRun struct {
	Repo   *core.Repo
	Commit core.CommitOptions
	Asked  CuesRequest
	CuesState
}

// CuesState is the state of a run between two requests to a model.
type CuesState struct {
	ID     graph.ID // the memory that is asked about
	Text   string   // the text for the model
	Done   int      // memories
	Total  int
	After  graph.ID     // the last of Batch
	Batch  []graph.ID   // memories of one commit that are not done
	Ready  []MemoryCues // to be committed
	Expect *ipld.CID    // the branch's required commit, nil for any
	Out    CuesWritten
}

// MemoryCues are cues for a memory.
type MemoryCues struct {
	ID   graph.ID
	Cues []string
}

// Begin counts the memories that there are to do.
func (c *CuesRun) Begin(ctx context.Context) error {
	todo, err := without(ctx, c.Repo, c.Commit.Branch, c.Asked.Types, graph.ID{}, 0)
	c.Total, c.Expect = len(todo), c.Commit.Expect
	if c.Asked.Limit > 0 {
		c.Total = min(c.Total, c.Asked.Limit)
	}
	c.Out.Remaining = len(todo) - c.Total
	return err
}

// Next sets ID and Text to the next memory and reports whether there is one. It reads the memory's current version, so
// that a memory hidden since is sent to no model.
func (c *CuesRun) Next(ctx context.Context) (more bool, err error) {
	for {
		for ; len(c.Batch) > 0; c.pass() {
			c.ID = c.Batch[0]
			if c.Text, err = c.text(ctx); err != nil {
				return false, cmp.Or(c.Stop(ctx), err)
			}
			if c.Text != "" {
				return true, nil
			}
		}
		if err := c.Stop(ctx); err != nil || c.Done >= c.Total {
			return false, err
		}
		most := min(CuesBatch, c.Total-c.Done)
		c.Batch, err = without(ctx, c.Repo, c.Commit.Branch, c.Asked.Types, c.After, most)
		if err != nil || len(c.Batch) == 0 {
			return false, err
		}
		c.After = c.Batch[len(c.Batch)-1]
	}
}

func (c *CuesRun) pass() { c.Batch, c.Done = c.Batch[1:], c.Done+1 }

// Take accepts the model's answer for the memory: any number of phrases.
func (c *CuesRun) Take(said []string) {
	if cues := usable(said, c.Text); len(cues) > 0 {
		c.Ready = append(c.Ready, MemoryCues{c.ID, cues})
	} else {
		c.Out.Skipped++
	}
	c.pass()
}

// text returns the text for a model, "" if the memory no longer needs cues.
func (c *CuesRun) text(ctx context.Context) (string, error) {
	s, err := memory.Head(ctx, c.Repo, c.Commit.Branch)
	if err != nil {
		return "", err
	}
	if n, err := uncued(ctx, s, c.ID); err != nil || n == nil {
		return "", err
	}
	shown, _, err := s.EmbedText(ctx, c.ID) // "" if it was erased
	return text.FirstBytes(shown, cuesText), err
}

// without returns the memories behind an id that have no cues, at most so many; all for 0.
func without(
	ctx context.Context, r *core.Repo, branch string, types []string, after graph.ID, most int,
) (ids []graph.ID, err error) {
	s, err := memory.Head(ctx, r, branch)
	if err != nil {
		return nil, err
	}
	for e, err := range s.Nodes(ctx, after) {
		if err != nil {
			return nil, err
		}
		n := e.Node
		if len(n.Cues) > 0 || len(types) > 0 && !slices.Contains(types, n.Type) {
			continue
		}
		mark, err := s.Mark(ctx, graph.OnNode, n.ID)
		if err != nil {
			return nil, err
		}
		if !TakesCues(n, mark) {
			continue
		}
		if ids = append(ids, n.ID); len(ids) == most {
			break
		}
	}
	return ids, nil
}

// uncued returns a memory that takes cues and has none, nil for any other node and for none.
func uncued(ctx context.Context, s *core.Snapshot, id graph.ID) (*graph.Node, error) {
	n, _, err := s.Node(ctx, id)
	if memory.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	mark, err := s.Mark(ctx, graph.OnNode, id)
	if err != nil || len(n.Cues) > 0 || !TakesCues(n, mark) {
		return nil, err
	}
	return n, nil
}

// usable returns the phrases that can be cues of a text: short lines that it does not contain, each once. It drops any
// that resembles a credential.
func usable(said []string, text string) []string {
	text = extract.Fold(text)
	seen := map[string]bool{}
	var out []string
	for _, s := range said {
		s = strings.Trim(s, memory.Blanks)
		key := extract.Fold(s)
		if len(out) < WrittenCues && !seen[key] && !strings.Contains(text, key) && len(guard.Find(s)) == 0 &&
			graph.CheckLine("cues", s, 1, longestCue) == nil {
			seen[key] = true
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// Stop commits the cues for memories that still have none. It does so even if ctx has ended, so that answers of the
// model are not lost.
func (c *CuesRun) Stop(ctx context.Context) error {
	ready := c.Ready
	if c.Ready = nil; len(ready) == 0 {
		return nil
	}
	memories, cues := 0, 0
	c.Commit.Expect = c.Expect
	res, err := memory.Decide(context.WithoutCancel(ctx), c.Repo, c.Commit, false,
		func(s *core.Snapshot) (*core.Decision, error) {
			memories, cues = 0, 0
			d := &core.Decision{}
			for _, m := range ready {
				n, err := uncued(context.WithoutCancel(ctx), s, m.ID)
				if err != nil {
					return nil, err
				}
				if n == nil {
					continue
				}
				d.Changes = append(d.Changes, graph.Change{Node: &graph.NodeChange{ID: m.ID, Cues: m.Cues}})
				memories, cues = memories+1, cues+len(m.Cues)
			}
			d.Message = fmt.Sprintf("write cues of %d memories", memories)
			return d, nil
		})
	if err != nil {
		return err
	}
	if c.Expect != nil {
		c.Expect = &res.Commit
	}
	c.Out.Commit = res.Commit
	c.Out.Memories, c.Out.Cues = c.Out.Memories+memories, c.Out.Cues+cues
	if !res.NoChange {
		c.Out.Commits++
	}
	return nil
}
