package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/repo"
)

const (
	// embedChunk is the largest number of nodes that are embedded before what they have is kept: what an
	// interrupt may cost, and what is held in memory.
	embedChunk = 1000
	// embedStages begins the names of stages that keep what runs of embed did until it is committed.
	embedStages = "embed/"
	// embedBytes bounds the texts of one chunk, unless one text alone is longer.
	embedBytes = 16 << 20
	// embedNumbers bounds the dimensions of the vectors kept at once, 8 bytes each.
	embedNumbers = 8 << 20
)

// embedRun is one run of embed.
type embedRun struct {
	c      *cli
	cmd    *cobra.Command
	flags  embedFlags
	by     repo.Stamp
	e      embed.Embedder
	strict bool // whether the branch may not move meanwhile
	line   *progress
	out    embedJSON

	in    *repo.Repo // that is open already, nil for the one that the command is about
	at    ipld.CID   // the commit whose texts are embedded and that the next commit builds on
	stage string     // the name of the stage of the branch and model
	kept  bool       // whether that stage holds anything, of this run or one before
	moved bool       // whether the branch is elsewhere than where that stage began
	dims  int        // of the embeddings that the model has in that commit, 0 for none
	todo  []graph.ID // ascending
	done  int        // of the nodes that were to be embedded
	total int
}

// embedItem is a node, its text, and in the end its vector.
type embedItem struct {
	id     graph.ID
	vector []int8
}

// with calls fn with the repository, for writing or only for reading.
func (r *embedRun) with(write bool, fn func(context.Context, *repo.Repo) error) error {
	if r.in != nil {
		return fn(r.cmd.Context(), r.in)
	}
	return r.c.withRepo(r.cmd, write, fn)
}

// dim returns the number of dimensions that vectors have, 0 while nobody knows.
func (r *embedRun) dim() int {
	if n := r.e.Dim(); n > 0 {
		return n
	}
	return r.dims
}

// all embeds what is to be embedded, chunk by chunk, and makes one commit of it. Where one chunk is
// not all, each is kept in a stage, which a run after an interrupt goes on with.
func (r *embedRun) all() error {
	r.total = len(r.todo)
	for len(r.todo) > 0 {
		room := embedChunk
		if n := r.flags.limit; n > 0 {
			room = min(room, n-r.out.Embedded)
		}
		if room == 0 {
			break
		}
		items, texts, err := r.read(room)
		if err != nil {
			return err
		}
		if items, err = r.embed(items, texts); err != nil {
			return err
		}
		if err := r.keepAll(items); err != nil {
			return err
		}
	}
	r.out.Remaining = len(r.todo)
	if !r.kept {
		return nil
	}
	return r.commitKept()
}

// read takes the next nodes from those to do, with their texts.
func (r *embedRun) read(room int) (items []embedItem, texts []string, err error) {
	size := 0
	err = r.with(false, func(ctx context.Context, from *repo.Repo) error {
		s, err := from.At(ctx, r.at)
		if err != nil {
			return err
		}
		for len(r.todo) > 0 && len(items) < room && size < embedBytes {
			text, ok, err := s.EmbedText(ctx, r.todo[0])
			if err != nil {
				return err
			}
			if r.wants(text, ok) {
				items, texts = append(items, embedItem{id: r.todo[0]}), append(texts, text)
				size += len(text)
			} else {
				r.done++
			}
			r.todo = r.todo[1:]
		}
		return nil
	})
	return items, texts, err
}

// wants reports whether a model is asked about a text, and counts it where it is not. A node that
// is gone, for which ok is not set, is nobody's.
func (r *embedRun) wants(text string, ok bool) bool {
	switch {
	case !ok:
		return false
	case strings.TrimSpace(text) == "":
		r.out.Skipped++
		return false
	case len(text) > embed.MaxText:
		r.out.TooLong++
		return false
	}
	return true
}

// embed asks the model, and returns the items that it has a vector for.
func (r *embedRun) embed(items []embedItem, texts []string) ([]embedItem, error) {
	if len(items) == 0 {
		return nil, nil
	}
	vectors, err := r.e.Embed(r.cmd.Context(), texts, embed.Document)
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
func (r *embedRun) checkDims(n int) error {
	anew := r.flags.all && len(r.flags.types) == 0 && r.flags.limit == 0
	if r.dims == 0 || r.dims == n || anew {
		return nil
	}
	return hint(fmt.Errorf("%w: the model %s gives vectors of %s, but those that are committed have %d",
		repo.ErrInvalid, r.e.Model(), plural(n, "dimension"), r.dims),
		"is this the model that made them? if so, 'mnem embed --all' makes all anew")
}

// progress is told by the model how far it is with one chunk.
func (r *embedRun) progress(done, _ int) {
	r.line.set(fmt.Sprintf("embedded %d/%d:", r.done+done, r.total), r.done+done, r.total)
}

// keepAll commits vectors at once where they are all there are, else keeps them in the stage.
func (r *embedRun) keepAll(items []embedItem) error {
	if len(items) == 0 {
		return nil
	}
	most := max(1, embedNumbers/len(items[0].vector))
	last := len(r.todo) == 0 || r.flags.limit > 0 && r.out.Embedded+len(items) >= r.flags.limit
	if last && !r.kept && len(items) <= most {
		return r.commit(items, func(ctx context.Context, to *repo.Repo, opt repo.CommitOptions) (
			*repo.CommitResult, error,
		) {
			if at := r.at; opt.Expect == nil {
				opt.Base = &at
			}
			return to.Commit(ctx, r.changes(items), opt)
		})
	}
	for part := range slices.Chunk(items, most) {
		if err := r.keep(part); err != nil {
			return err
		}
	}
	return nil
}

// keep puts vectors into the stage.
func (r *embedRun) keep(items []embedItem) error {
	at := r.at
	opt := repo.StageOptions{Stamp: r.by, Stage: r.stage, Branch: r.out.Branch, Base: &at}
	return r.with(true, func(ctx context.Context, to *repo.Repo) error {
		if _, err := to.StageChanges(ctx, r.changes(items), opt); err != nil {
			return err
		}
		r.out.Embedded += len(items)
		r.kept = true
		return nil
	})
}

// commitKept commits what the stage has, and empties it.
func (r *embedRun) commitKept() error {
	err := r.commit(nil, func(ctx context.Context, to *repo.Repo, opt repo.CommitOptions) (
		*repo.CommitResult, error,
	) {
		return to.CommitStaged(ctx, r.stage, opt)
	})
	if err == nil {
		r.kept = false
	}
	return err
}

func (r *embedRun) commit(
	items []embedItem,
	do func(context.Context, *repo.Repo, repo.CommitOptions) (*repo.CommitResult, error),
) error {
	opt := repo.CommitOptions{
		Stamp: r.by, Branch: r.out.Branch,
		Message: firstOf(r.flags.message, "embed with "+r.e.Model()),
	}
	if at := r.at; r.strict {
		opt.Expect = &at
	}
	return r.with(true, func(ctx context.Context, to *repo.Repo) error {
		res, err := do(ctx, to, opt)
		if err != nil {
			return err
		}
		r.at = res.Commit
		r.out.Embedded += len(items)
		if !res.NoChange {
			r.out.Commits++
		}
		return nil
	})
}

// changes makes a change of each vector: the numbers are integers up to 127, of which quantising
// makes the same again.
func (r *embedRun) changes(items []embedItem) repo.Changes {
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
func (r *embedRun) failed(err error) error {
	r.line.done()
	if !r.kept {
		return err
	}
	return hint(err, "%s made and kept: the same command goes on from there and commits all; "+
		"'mnem commit --stage %s -m MESSAGE' commits what is there", plural(r.out.Embedded, "embedding"),
		r.stage)
}
