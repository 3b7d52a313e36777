package remember

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
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
	// cuesText is how much of a memory, in bytes, a model is told.
	cuesText = 8192
)

// CuesRequest asks for cues to be written for the memories that have none.
type CuesRequest struct {
	Types []string // of memories; nil for all
	Limit int      // at most so many memories; 0 for all
	// Write returns up to n phrases for a text, none where it finds none. It is called once for each memory.
	Write func(ctx context.Context, text string, n int) ([]string, error)
	// Progress is told how many memories were done, of how many; nil for nobody.
	Progress func(done, total int)
}

// CuesWritten tells what was done.
type CuesWritten struct {
	Branch    string   `json:"branch"`    // for callers to set
	Commit    ipld.CID `json:"commit"`    // the last one, undefined for none
	Commits   int      `json:"commits"`   // made
	Memories  int      `json:"memories"`  // that have cues now
	Cues      int      `json:"cues"`      // that they have
	Skipped   int      `json:"skipped"`   // memories for which there were none
	Remaining int      `json:"remaining"` // memories left by the limit
}

// TakesCues reports whether a node is a memory that may have cues: one that says something, and that no mark
// hides.
func TakesCues(n *graph.Node, m *graph.Mark) bool {
	return n.Summary != "" && n.Type != state.RedactedType && !source.IsName(n) &&
		(m == nil || !m.State.Hides())
}

// WriteCues writes cues for the memories of a branch that have none, a commit for some at a time, so that what
// was done stays where it breaks off, and the same call goes on from there. An error about one names it. What
// looks like a credential is not written, nor what the memory says itself.
func WriteCues(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, req CuesRequest,
) (*CuesWritten, error) {
	out, after := new(CuesWritten), graph.ID{}
	todo, err := without(ctx, r, opt.Branch, req.Types, after, 0)
	if err != nil {
		return nil, err
	}
	total := len(todo)
	if req.Limit > 0 {
		total = min(total, req.Limit)
	}
	out.Remaining = len(todo) - total
	for done := 0; done < total; {
		batch, err := without(ctx, r, opt.Branch, req.Types, after, min(CuesBatch, total-done))
		if err != nil || len(batch) == 0 {
			return out, err
		}
		after = batch[len(batch)-1]
		changes, failed := askCues(ctx, r, opt.Branch, batch, &req, out, func(n int) {
			if req.Progress != nil {
				req.Progress(done+n, total)
			}
		})
		if err := commitCues(ctx, r, &opt, changes, out); err != nil {
			return out, err
		}
		if failed != nil {
			return out, failed
		}
		done += len(batch)
	}
	return out, nil
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

// askCues asks for the cues of memories, and returns the changes that write them, up to the first failure.
func askCues(
	ctx context.Context, r *core.Repo, branch string, batch []graph.ID, req *CuesRequest, out *CuesWritten, done func(int),
) (changes []graph.Change, err error) {
	for i, id := range batch {
		s, err := memory.Head(ctx, r, branch) // again each time: what has been hidden since is sent to no model
		if err != nil {
			return changes, err
		}
		if n, err := uncued(ctx, s, id); err != nil || n == nil {
			if err != nil {
				return changes, err
			}
			continue
		}
		text, ok, err := s.EmbedText(ctx, id)
		if err != nil {
			return changes, err
		}
		if !ok {
			continue // erased
		}
		if len(text) > cuesText {
			text = strings.ToValidUTF8(text[:cuesText], "")
		}
		said, err := req.Write(ctx, text, WrittenCues)
		if err != nil {
			return changes, fmt.Errorf("cues of memory %s: %w", id, err)
		}
		done(i + 1)
		cues := usable(said, text)
		if len(cues) == 0 {
			out.Skipped++
			continue
		}
		changes = append(changes, graph.Change{Node: &graph.NodeChange{ID: id, Cues: cues}})
	}
	return changes, nil
}

// usable returns the phrases that can be cues of a text: short lines that it does not have, each once, none of
// which looks like a credential.
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

// commitCues makes a commit of the cues of those memories that still have none. What a model was asked for is
// kept though the call may be over.
func commitCues(
	ctx context.Context, r *core.Repo, opt *core.CommitOptions, changes []graph.Change, out *CuesWritten,
) error {
	if len(changes) == 0 {
		return nil
	}
	memories, cues := 0, 0
	ctx = context.WithoutCancel(ctx)
	res, err := memory.Decide(ctx, r, *opt, false,
		func(s *core.Snapshot) (*core.Decision, error) {
			memories, cues = 0, 0
			d := &core.Decision{}
			for _, c := range changes {
				n, err := uncued(ctx, s, c.Node.ID)
				if err != nil {
					return nil, err
				}
				if n == nil {
					continue
				}
				d.Changes = append(d.Changes, c)
				memories, cues = memories+1, cues+len(c.Node.Cues)
			}
			d.Message = fmt.Sprintf("write cues of %d memories", memories)
			return d, nil
		})
	if err != nil {
		return err
	}
	if opt.Expect != nil {
		opt.Expect = &res.Commit
	}
	out.Commit = res.Commit
	out.Memories, out.Cues = out.Memories+memories, out.Cues+cues
	if !res.NoChange {
		out.Commits++
	}
	return nil
}
