package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// MeaningVerb begins the command of an operation that commits vectors without being asked: see Embeddings.Rest.
	MeaningVerb = "embed-rest"
	// meaningBatch is how many nodes Embeddings.Rest embeds in one commit.
	meaningBatch = 256
	// meaningMessage begins the messages of its commits, before the name of the model.
	meaningMessage = "vectors by "
	// LeftNodes is the largest number of nodes that a command embeds once its answer is out: at most some minutes of work,
	// in which it has the repository open. More are left to a process that keeps the repository open, or to 'mnem embed'.
	LeftNodes = 8192
	// maxMeaningCommits bounds the commits of vectors that are passed over to find the one that a caller expects.
	maxMeaningCommits = 4096
)

// Embeddings makes the vectors that commits lack, and distinguishes commits of vectors alone from others.
type Embeddings struct{ repo *Repo }

// Embeddings returns what embeds the nodes of commits.
func (r *Repo) Embeddings() Embeddings { return Embeddings{r} }

// Left is told when a commit left nodes without vectors that its Meaning would have made: see state.MeaningNodes.
func (em Embeddings) Left() <-chan struct{} { return em.repo.left }

func (em Embeddings) leave() {
	select {
	case em.repo.left <- struct{}{}:
	default: // it is told already
	}
}

// Background says what this process embeds by itself, whatever process writes.
type Background struct {
	Model   string // "" for nothing
	Running bool   // whether Rest runs now
}

// background is the state behind a Background.
type background struct {
	model   atomic.Pointer[string]
	running atomic.Int32 // calls of Rest
}

// RunBy notes that this process calls Rest with a model after each commit that leaves nodes without vectors.
func (em Embeddings) RunBy(model string) { em.repo.background.model.Store(&model) }

// Background returns what this process embeds by itself.
func (em Embeddings) Background() Background {
	state := &em.repo.background
	b := Background{Running: state.running.Load() > 0}
	if model := state.model.Load(); model != nil {
		b.Model = *model
	}
	return b
}

// Missing returns how many fewer vectors than nodes a branch's newest commit has. It reads no node.
func (em Embeddings) Missing(ctx context.Context) (int, error) {
	_, at, err := em.repo.Branch(ctx)
	if err != nil || !at.Defined() {
		return 0, err
	}
	s, err := em.repo.At(ctx, at)
	if err != nil {
		return 0, err
	}
	return lacking(s.State), nil
}

// lacking returns how many fewer vectors than nodes a state has.
func lacking(s *state.State) int {
	nodes, vectors := s.Nodes.Len(), s.Vectors.Len()
	return int(nodes - min(nodes, vectors)) // far fewer than 2^63
}

// OnlyVectors reports whether a commit has one parent and all that its parent has but for vectors.
func (em Embeddings) OnlyVectors(ctx context.Context, c *commit.Commit) (bool, error) {
	if len(c.Parents) != 1 {
		return false, nil
	}
	p, err := em.repo.ReadCommit(ctx, c.Parents[0])
	if err != nil {
		return false, err
	}
	return c.Graph == p.Graph && c.Digests == p.Digests && c.Profile == p.Profile && c.Vectors != p.Vectors, nil
}

// Unasked reports whether Rest made a commit: one of vectors alone, at the time and by the author of its parent.
func (em Embeddings) Unasked(ctx context.Context, c *commit.Commit) (bool, error) {
	if only, err := em.OnlyVectors(ctx, c); !only || err != nil {
		return false, err
	}
	p, err := em.repo.ReadCommit(ctx, c.Parents[0])
	if err != nil || c.Time != p.Time || c.Author != p.Author {
		return false, err
	}
	text, err := em.repo.Message(ctx, c.Message)
	return strings.HasPrefix(text, meaningMessage), err
}

// Asked returns the commit that a chain of commits of vectors was made upon without being asked for: the one that log
// shows. It returns any other commit itself, and one whose parent is not stored.
func (em Embeddings) Asked(ctx context.Context, at ipld.CID) (ipld.CID, error) {
	for range maxMeaningCommits {
		c, err := em.repo.ReadCommit(ctx, at)
		if err != nil {
			return at, err
		}
		unasked, err := em.Unasked(ctx, c)
		if _, ok := errors.AsType[*state.MissingError](err); ok {
			return at, nil
		}
		if err != nil || !unasked {
			return at, err
		}
		at = c.Parents[0]
	}
	return at, nil
}

// same reports whether a commit is another one with nothing upon it but vectors.
func (em Embeddings) same(ctx context.Context, at, want ipld.CID) (bool, error) {
	for range maxMeaningCommits {
		if at == want {
			return true, nil
		}
		if !at.Defined() {
			return false, nil
		}
		c, err := em.repo.ReadCommit(ctx, at)
		if err != nil {
			return false, err
		}
		if only, err := em.OnlyVectors(ctx, c); !only || err != nil {
			return false, err
		}
		at = c.Parents[0]
	}
	return false, nil
}

// expected returns an *ExpectError unless a ref is where a caller expects it, or there but for vectors.
func (em Embeddings) expected(ctx context.Context, at ipld.CID, want *ipld.CID) error {
	if want == nil || *want == at {
		return nil
	}
	if same, err := em.same(ctx, at, *want); same || err != nil {
		return err
	}
	return &state.ExpectError{Want: *want, Have: at}
}

// amends sets the record of a snapshot to the newest commit that is not of vectors alone, which an amend replaces. The
// vectors committed upon it stay.
func (em Embeddings) amends(ctx context.Context, s *Snapshot) error {
	for s.Record != nil {
		unasked, err := em.Unasked(ctx, s.Record)
		if !unasked || err != nil {
			return err
		}
		if s.Record, err = em.repo.ReadCommit(ctx, s.Record.Parents[0]); err != nil {
			return err
		}
	}
	return nil
}

// Rest embeds all nodes of the newest commit of the current branch that have no embedding of their text by a
// model, and returns how many these were. It makes a commit for each 256 in the order of their ids: its time, author
// and message follow from the commit before it, so that two machines that embed the same memory make the same commits.
// progress may be nil. If a merge is in progress, HEAD is on no branch or there is nothing, it does nothing. Concurrent
// writes are kept: the vectors are committed onto them. An interrupt loses one commit at most.
func (em Embeddings) Rest(ctx context.Context, m state.Meaning, progress func(done, total int)) (int, error) {
	done, _, err := em.rest(ctx, m, math.MaxInt, progress)
	return done, err
}

// Few is Rest if there are at most LeftNodes nodes to embed. If there are more, it embeds none and returns how many
// there are.
func (em Embeddings) Few(ctx context.Context, m state.Meaning, progress func(done, total int)) (left int, err error) {
	_, left, err = em.rest(ctx, m, LeftNodes, progress)
	return left, err
}

// rest embeds all nodes, or none if there are more than most.
func (em Embeddings) rest(
	ctx context.Context, m state.Meaning, most int, progress func(done, total int),
) (done, left int, err error) {
	em.repo.background.running.Add(1)
	defer em.repo.background.running.Add(-1)
	branch, at, err := em.repo.Branch(ctx)
	if err != nil || branch == "" || !at.Defined() || m == nil {
		return 0, 0, err
	}
	var none *state.NotFoundError
	if _, err := em.repo.PendingMerge(ctx, branch); !errors.As(err, &none) {
		return 0, 0, err
	}
	todo, err := em.unembedded(ctx, at, m)
	if err != nil {
		return 0, 0, err
	}
	if len(todo) > most {
		return 0, len(todo), nil
	}
	for part := range slices.Chunk(todo, meaningBatch) {
		n, next, err := em.part(ctx, branch, at, m, part)
		if err != nil {
			return done, 0, fmt.Errorf("embed %s with %s: %w", branch, m.Model(), err)
		}
		done += n
		if at = next; progress != nil {
			progress(done, len(todo))
		}
	}
	return done, 0, nil
}

// unembedded returns the nodes of a commit that have no embedding of their text, ascending.
func (em Embeddings) unembedded(ctx context.Context, at ipld.CID, m state.Meaning) (todo []graph.ID, err error) {
	s, err := em.repo.At(ctx, at)
	if err != nil {
		return nil, err
	}
	for e, err := range s.Embeddings(ctx, m.Model()) {
		if err != nil {
			return nil, err
		}
		if e.State == EmbeddingCurrent {
			continue
		}
		text, ok, err := s.EmbedText(ctx, e.ID)
		if err != nil {
			return nil, err
		}
		if ok && strings.TrimSpace(text) != "" {
			todo = append(todo, e.ID)
		}
	}
	return todo, nil
}

// part embeds nodes of a commit of a branch, and returns the commit that has their vectors.
func (em Embeddings) part(
	ctx context.Context, branch string, at ipld.CID, m state.Meaning, part []graph.ID,
) (int, ipld.CID, error) {
	s, err := em.repo.At(ctx, at)
	if err != nil {
		return 0, at, err
	}
	var ids []graph.ID
	var texts []string
	for _, id := range part {
		text, ok, err := s.EmbedText(ctx, id)
		if err != nil {
			return 0, at, err
		}
		if ok {
			ids, texts = append(ids, id), append(texts, text)
		}
	}
	vectors, err := m.Vectors(ctx, texts)
	if err != nil {
		return 0, at, err
	}
	var changes []graph.Change
	for i, v := range vectors {
		if v != nil {
			changes = append(changes, graph.Change{Embedding: state.EmbeddingOf(ids[i], m.Model(), v)})
		}
	}
	if len(changes) == 0 {
		return 0, at, nil
	}
	res, err := em.repo.Commit(ctx, Each(changes), CommitOptions{
		Stamp: state.Stamp{
			Author: s.Record.Author, Time: s.Record.Time, Command: []string{MeaningVerb},
			Secrets: state.SecretOptions{All: true},
		},
		Branch: branch, Base: &at, Message: meaningMessage + m.Model(),
	})
	if err != nil {
		return 0, at, err
	}
	return len(changes), res.Commit, nil
}
