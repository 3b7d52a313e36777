package outline

import (
	"context"
	"crypto/sha256"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// RemadeDigests tells what the digests of past graphs are made from. What is not kept is made, each from the one
// before of its recipe, and nothing of it is written.
type RemadeDigests struct {
	repo  *core.Repo
	stage *store.Stage
	of    map[ipld.CID]*Digests // by DigestsKey
	last  map[[sha256.Size]byte]remadeFrom
}

type remadeFrom struct {
	digests *Digests
	at      *state.State
}

// NewRemadeDigests returns a RemadeDigests without any digests. Those it makes stay in memory as long as it does.
func NewRemadeDigests(r *core.Repo) *RemadeDigests {
	return &RemadeDigests{
		repo: r, stage: store.NewStage(r.Derived(), 0), of: make(map[ipld.CID]*Digests),
		last: make(map[[sha256.Size]byte]remadeFrom),
	}
}

// Matches reports whether the digest that a text says it is of has its source, in the state of its graph.
func (m *RemadeDigests) Matches(ctx context.Context, at *state.State, w *distill.Written) (bool, error) {
	kept, err := KeptDigests(ctx, m.repo, at, w.Recipe)
	if err == nil && kept != nil {
		if have, err := kept.source(ctx, w.Scope, w.Label); err == nil && have == w.Source {
			return true, nil // else what is kept may be damaged, which no text is erased for
		}
	}
	d, err := m.make(ctx, at, w.Recipe)
	if err != nil {
		return false, err
	}
	have, err := d.source(ctx, w.Scope, w.Label)
	return have == w.Source, err
}

func (m *RemadeDigests) make(ctx context.Context, at *state.State, recipe distill.Recipe) (d *Digests, err error) {
	key := DigestsKey(at.Root, recipe)
	if d = m.of[key]; d != nil {
		return d, nil
	}
	from := m.last[recipe.Hash()]
	if from.at == nil {
		if from.at, err = m.repo.LoadState(ctx, state.Roots{}); err != nil {
			return nil, err
		}
	}
	if d, _, err = UpdateDigests(ctx, m.repo, m.stage, recipe, from.digests, from.at, at); err != nil {
		return nil, err
	}
	m.of[key], m.last[recipe.Hash()] = d, remadeFrom{d, at}
	return d, nil
}
