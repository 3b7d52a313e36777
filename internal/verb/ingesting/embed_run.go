package ingesting

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// EmbedChunk is the largest number of nodes that are embedded before their vectors are stored. It bounds the loss
	// by an interrupt, and the memory.
	EmbedChunk = 256
	// embedAhead is how many of the nodes to embed are passed to a run.
	embedAhead = 4 * EmbedChunk
	// embedStages begins the names of stages that keep what runs of embed did until it is committed.
	embedStages = "embed/"
	// embedBytes bounds the texts of one chunk, unless one text alone is longer.
	embedBytes = 16 << 20
	// embedNumbers bounds the dimensions of the vectors kept at once, 8 bytes each.
	embedNumbers = 8 << 20
)

// embedRun is one run that embeds the nodes of a commit and commits the vectors.
type embedRun struct {
	repo   *core.Repo
	asked  EmbedRequest
	stamp  state.Stamp
	by     EmbedModel
	strict bool // whether the branch must not move during the run
	EmbedState
}

// EmbedState is the state of a run between two requests to the model.
type EmbedState struct {
	Out   Embedded
	At    ipld.CID   // the commit whose texts are embedded and that the next commit builds on
	Stage string     // the name of the stage of the branch and model
	Kept  bool       // whether that stage holds anything, of this run or one before
	Moved bool       // whether the branch has moved since that stage began
	Dims  int        // of the embeddings that the model has in that commit, 0 for none
	Todo  []graph.ID // ascending
	Later int        // how many more there are to do after Todo
	Asked []graph.ID // whose texts the model is asked about
	Done  int        // of the nodes to embed
	Total int
}

// embedItem is a node, its text, and in the end its vector.
type embedItem struct {
	id     graph.ID
	vector []int8
}

// dim returns the number of dimensions of vectors, 0 while it is unknown.
func (r *embedRun) dim() int { return cmp.Or(r.by.Dim, r.Dims) }

// next returns the texts of the next chunk for the model, none when all are done. Each chunk is stored before the next:
// in a stage, unless it is the only one. A run after an interrupt continues from the stage.
func (r *embedRun) next(ctx context.Context) (texts []string, err error) {
	r.Total = max(r.Total, len(r.Todo)+r.Later)
	for len(r.Todo) > 0 && len(texts) == 0 {
		room := EmbedChunk
		if n := r.asked.Limit; n > 0 {
			room = min(room, n-r.Out.Embedded)
		}
		if room == 0 {
			break
		}
		if texts, err = r.read(ctx, room); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func (r *embedRun) finish(ctx context.Context) error {
	r.Out.Remaining = len(r.Todo) + r.Later
	if !r.Kept {
		return nil
	}
	return r.commitKept(ctx)
}

// read takes the next nodes from those to do, with their texts.
func (r *embedRun) read(ctx context.Context, room int) (texts []string, err error) {
	s, err := r.repo.At(ctx, r.At)
	if err != nil {
		return nil, err
	}
	r.Asked = nil
	size := 0
	for len(r.Todo) > 0 && len(texts) < room && size < embedBytes {
		text, ok, err := s.EmbedText(ctx, r.Todo[0])
		if err != nil {
			return nil, err
		}
		if r.wants(text, ok) {
			r.Asked, texts = append(r.Asked, r.Todo[0]), append(texts, text)
			size += len(text)
		} else {
			r.Done++
		}
		r.Todo = r.Todo[1:]
	}
	return texts, nil
}

// wants reports whether to embed a text, and counts a node that is skipped. ok is not set for a node that no longer
// exists, which counts nowhere.
func (r *embedRun) wants(text string, ok bool) bool {
	switch {
	case !ok:
		return false
	case strings.TrimSpace(text) == "":
		r.Out.Skipped++
		return false
	case len(text) > r.by.MaxText:
		r.Out.TooLong++
		return false
	}
	return true
}

// take stores the model's vectors of the texts, nil for a text without one.
func (r *embedRun) take(ctx context.Context, vectors [][]int8) error {
	if len(vectors) != len(r.Asked) {
		return fmt.Errorf("%w: %d vectors for %d texts", state.ErrInvalid, len(vectors), len(r.Asked))
	}
	r.Done += len(vectors)
	var found []embedItem
	for i, v := range vectors {
		if v == nil {
			r.Out.Skipped++
			continue
		}
		if err := r.checkDims(len(v)); err != nil {
			return err
		}
		found = append(found, embedItem{r.Asked[i], v})
	}
	return r.keepAll(ctx, found)
}

// checkDims refuses vectors that could not be compared with those that are there already, unless
// these are all to be replaced.
func (r *embedRun) checkDims(n int) error {
	anew := r.asked.All && len(r.asked.Type) == 0 && r.asked.Limit == 0
	if r.Dims == 0 || r.Dims == n || anew {
		return nil
	}
	return verb.Hint(fmt.Errorf("%w: the model %s gives vectors of %s, but those that are committed have %d",
		state.ErrInvalid, r.by.Name, plain.Plural(n, "dimension"), r.Dims),
		"is this the model that made them? if so, 'mnem embed --all' makes all again",
		"is this the model that made them? if so, embed with all makes all again")
}

func (st *EmbedState) progress(set func(what string, done, total int), done int) {
	set(fmt.Sprintf("embedded %d/%d:", st.Done+done, st.Total), st.Done+done, st.Total)
}

// keepAll commits vectors at once if they are the only ones, else stores them in the stage.
func (r *embedRun) keepAll(ctx context.Context, items []embedItem) error {
	if len(items) == 0 {
		return nil
	}
	most := max(1, embedNumbers/len(items[0].vector))
	last := len(r.Todo)+r.Later == 0 || r.asked.Limit > 0 && r.Out.Embedded+len(items) >= r.asked.Limit
	if last && !r.Kept && len(items) <= most {
		return r.commit(items, func(opt core.CommitOptions) (*core.CommitResult, error) {
			if at := r.At; opt.Expect == nil {
				opt.Base = &at
			}
			return r.repo.Commit(ctx, r.changes(items), opt)
		})
	}
	for part := range slices.Chunk(items, most) {
		if err := r.keep(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (r *embedRun) keep(ctx context.Context, items []embedItem) error {
	at := r.At
	opt := core.StageOptions{Stamp: r.stamp, Stage: r.Stage, Branch: r.Out.Branch, Base: &at}
	if _, err := r.repo.Stages().Add(ctx, r.changes(items), opt); err != nil {
		return err
	}
	r.Out.Embedded += len(items)
	r.Kept = true
	return nil
}

func (r *embedRun) commitKept(ctx context.Context) error {
	err := r.commit(nil, func(opt core.CommitOptions) (*core.CommitResult, error) {
		return r.repo.Stages().Commit(ctx, r.Stage, opt)
	})
	if err == nil {
		r.Kept = false
	}
	return err
}

func (r *embedRun) commit(items []embedItem, do func(core.CommitOptions) (*core.CommitResult, error)) error {
	opt := core.CommitOptions{
		Stamp: r.stamp, Branch: r.Out.Branch,
		Message: cmp.Or(r.asked.Message, "embed with "+r.by.Name),
	}
	if at := r.At; r.strict {
		opt.Expect = &at
	}
	res, err := do(opt)
	if err != nil {
		return err
	}
	r.At = res.Commit
	r.Out.Embedded += len(items)
	if !res.NoChange {
		r.Out.Commits++
	}
	return nil
}

func (r *embedRun) changes(items []embedItem) state.Changes {
	var list []graph.Change
	for _, it := range items {
		list = append(list, graph.Change{Embedding: state.EmbeddingOf(it.id, r.by.Name, it.vector)})
	}
	return core.Each(list)
}

func (st *EmbedState) failed(err error) error {
	if !st.Kept {
		return err
	}
	made := plain.Plural(st.Out.Embedded, "embedding") + " made and kept: the same "
	return verb.Hint(err, fmt.Sprintf("%scommand goes on from there and commits all; "+
		"'mnem commit --stage %s -m MESSAGE' commits what is there", made, st.Stage),
		fmt.Sprintf("%scall goes on from there and commits all; commit with stage %s commits what is there",
			made, st.Stage))
}
