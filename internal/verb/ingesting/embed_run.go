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
	// EmbedChunk is the largest number of nodes that are embedded before what they have is kept: what an
	// interrupt may cost, and what is held in memory.
	EmbedChunk = 1000
	// embedStages begins the names of stages that keep what runs of embed did until it is committed.
	embedStages = "embed/"
	// embedBytes bounds the texts of one chunk, unless one text alone is longer.
	embedBytes = 16 << 20
	// embedNumbers bounds the dimensions of the vectors kept at once, 8 bytes each.
	embedNumbers = 8 << 20
)

// EmbedRun is one run that embeds the nodes of a commit and commits what comes of it.
type EmbedRun struct {
	repo   *core.Repo
	asked  EmbedRequest
	by     state.Stamp
	e      verb.Embedder
	strict bool // whether the branch may not move meanwhile
	set    func(what string, done, total int)
	out    Embedded

	at    ipld.CID   // the commit whose texts are embedded and that the next commit builds on
	stage string     // the name of the stage of the branch and model
	kept  bool       // whether that stage holds anything, of this run or one before
	moved bool       // whether the branch is elsewhere than where that stage began
	dims  int        // of the embeddings that the model has in that commit, 0 for none
	todo  []graph.ID // ascending
	done  int        // of the nodes that were to be embedded
	total int
}

// NewEmbedRun returns a run whose commits are stamped with by. set shows how far it is.
func NewEmbedRun(r *core.Repo, by state.Stamp, set func(what string, done, total int)) *EmbedRun {
	return &EmbedRun{repo: r, by: by, set: set}
}

// Missing embeds all nodes of the newest commit of the current branch that have no embedding by a model,
// and returns the commit that has them and how many there were.
func (r *EmbedRun) Missing(ctx context.Context, at ipld.CID, e verb.Embedder) (ipld.CID, int, error) {
	r.at, r.e = at, e
	err := r.look(ctx)
	if err == nil {
		err = r.all(ctx)
	}
	return r.at, r.out.Embedded, err
}

// embedItem is a node, its text, and in the end its vector.
type embedItem struct {
	id     graph.ID
	vector []int8
}

// dim returns the number of dimensions that vectors have, 0 while nobody knows.
func (r *EmbedRun) dim() int {
	if n := r.e.Dim(); n > 0 {
		return n
	}
	return r.dims
}

// all embeds what is to be embedded, chunk by chunk, and makes one commit of it. Where one chunk is
// not all, each is kept in a stage, which a run after an interrupt goes on with.
func (r *EmbedRun) all(ctx context.Context) error {
	r.total = len(r.todo)
	for len(r.todo) > 0 {
		room := EmbedChunk
		if n := r.asked.Limit; n > 0 {
			room = min(room, n-r.out.Embedded)
		}
		if room == 0 {
			break
		}
		items, texts, err := r.read(ctx, room)
		if err != nil {
			return err
		}
		if items, err = r.embed(ctx, items, texts); err != nil {
			return err
		}
		if err := r.keepAll(ctx, items); err != nil {
			return err
		}
	}
	r.out.Remaining = len(r.todo)
	if !r.kept {
		return nil
	}
	return r.commitKept(ctx)
}

// read takes the next nodes from those to do, with their texts.
func (r *EmbedRun) read(ctx context.Context, room int) (items []embedItem, texts []string, err error) {
	s, err := r.repo.At(ctx, r.at)
	if err != nil {
		return nil, nil, err
	}
	size := 0
	for len(r.todo) > 0 && len(items) < room && size < embedBytes {
		text, ok, err := s.EmbedText(ctx, r.todo[0])
		if err != nil {
			return nil, nil, err
		}
		if r.wants(text, ok) {
			items, texts = append(items, embedItem{id: r.todo[0]}), append(texts, text)
			size += len(text)
		} else {
			r.done++
		}
		r.todo = r.todo[1:]
	}
	return items, texts, nil
}

// wants reports whether a model is asked about a text, and counts it where it is not. A node that
// is gone, for which ok is not set, is nobody's.
func (r *EmbedRun) wants(text string, ok bool) bool {
	switch {
	case !ok:
		return false
	case strings.TrimSpace(text) == "":
		r.out.Skipped++
		return false
	case len(text) > r.e.MaxText():
		r.out.TooLong++
		return false
	}
	return true
}

// embed asks the model, and returns the items that it has a vector for.
func (r *EmbedRun) embed(
	ctx context.Context, items []embedItem, texts []string,
) ([]embedItem, error) {
	if len(items) == 0 {
		return nil, nil
	}
	vectors, err := r.e.Documents(ctx, texts)
	if err != nil {
		return nil, err
	}
	r.done += len(items)
	found := items[:0]
	for i, v := range vectors {
		if v == nil {
			r.out.Skipped++
			continue
		}
		if err := r.checkDims(len(v)); err != nil {
			return nil, err
		}
		found = append(found, embedItem{items[i].id, v})
	}
	return found, nil
}

// checkDims refuses vectors that could not be compared with those that are there already, unless
// these are all to be replaced.
func (r *EmbedRun) checkDims(n int) error {
	anew := r.asked.All && len(r.asked.Type) == 0 && r.asked.Limit == 0
	if r.dims == 0 || r.dims == n || anew {
		return nil
	}
	return verb.Hint(fmt.Errorf("%w: the model %s gives vectors of %s, but those that are committed have %d",
		state.ErrInvalid, r.e.Model(), plain.Plural(n, "dimension"), r.dims),
		"is this the model that made them? if so, 'mnem embed --all' makes all anew",
		"is this the model that made them? if so, embed with all makes all anew")
}

// Progress is told by the model how far it is with one chunk.
func (r *EmbedRun) Progress(done, _ int) {
	r.set(fmt.Sprintf("embedded %d/%d:", r.done+done, r.total), r.done+done, r.total)
}

// keepAll commits vectors at once where they are all there are, else keeps them in the stage.
func (r *EmbedRun) keepAll(ctx context.Context, items []embedItem) error {
	if len(items) == 0 {
		return nil
	}
	most := max(1, embedNumbers/len(items[0].vector))
	last := len(r.todo) == 0 || r.asked.Limit > 0 && r.out.Embedded+len(items) >= r.asked.Limit
	if last && !r.kept && len(items) <= most {
		return r.commit(items, func(opt core.CommitOptions) (*core.CommitResult, error) {
			if at := r.at; opt.Expect == nil {
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

// keep puts vectors into the stage.
func (r *EmbedRun) keep(ctx context.Context, items []embedItem) error {
	at := r.at
	opt := core.StageOptions{Stamp: r.by, Stage: r.stage, Branch: r.out.Branch, Base: &at}
	if _, err := r.repo.StageChanges(ctx, r.changes(items), opt); err != nil {
		return err
	}
	r.out.Embedded += len(items)
	r.kept = true
	return nil
}

// commitKept commits what the stage has, and empties it.
func (r *EmbedRun) commitKept(ctx context.Context) error {
	err := r.commit(nil, func(opt core.CommitOptions) (*core.CommitResult, error) {
		return r.repo.CommitStaged(ctx, r.stage, opt)
	})
	if err == nil {
		r.kept = false
	}
	return err
}

func (r *EmbedRun) commit(
	items []embedItem, do func(core.CommitOptions) (*core.CommitResult, error),
) error {
	opt := core.CommitOptions{
		Stamp: r.by, Branch: r.out.Branch,
		Message: cmp.Or(r.asked.Message, "embed with "+r.e.Model()),
	}
	if at := r.at; r.strict {
		opt.Expect = &at
	}
	res, err := do(opt)
	if err != nil {
		return err
	}
	r.at = res.Commit
	r.out.Embedded += len(items)
	if !res.NoChange {
		r.out.Commits++
	}
	return nil
}

// changes makes a change of each vector: the numbers are integers up to 127, of which quantising
// makes the same again.
func (r *EmbedRun) changes(items []embedItem) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, it := range items {
			vector := make([]float64, len(it.vector))
			for i, x := range it.vector {
				vector[i] = float64(x)
			}
			change := graph.Change{Embedding: &graph.EmbeddingChange{
				Node: graph.Ref{ID: it.id}, Model: r.e.Model(), Vector: vector,
			}}
			if !yield(change, nil) {
				return
			}
		}
	}
}

// failed says what a run that broke off leaves behind.
func (r *EmbedRun) failed(err error) error {
	if !r.kept {
		return err
	}
	made := plain.Plural(r.out.Embedded, "embedding") + " made and kept: the same "
	return verb.Hint(err, fmt.Sprintf("%scommand goes on from there and commits all; "+
		"'mnem commit --stage %s -m MESSAGE' commits what is there", made, r.stage),
		fmt.Sprintf("%scall goes on from there and commits all; commit with stage %s commits what is there",
			made, r.stage))
}
