package repo

import (
	"context"
	"crypto/sha256"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// remadeDigests tells what the digests of past graphs are made from. What is not kept is made, each from the one
// before of its recipe, and nothing of it is written.
type remadeDigests struct {
	repo  *Repo
	stage *store.Stage
	of    map[ipld.CID]*Digests // by digestsKey
	last  map[[sha256.Size]byte]remadeFrom
}

type remadeFrom struct {
	digests *Digests
	at      *state
}

func newRemadeDigests(r *Repo) *remadeDigests {
	return &remadeDigests{
		repo: r, stage: store.NewStage(r.derived(), 0), of: make(map[ipld.CID]*Digests),
		last: make(map[[sha256.Size]byte]remadeFrom),
	}
}

// matches reports whether the digest that a text says it is of has its source, in the state of its graph.
func (m *remadeDigests) matches(ctx context.Context, at *state, w *distill.Written) (bool, error) {
	kept, err := m.repo.keptDigests(ctx, at, w.Recipe)
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

func (m *remadeDigests) make(ctx context.Context, at *state, recipe distill.Recipe) (d *Digests, err error) {
	key := digestsKey(at.root, recipe)
	if d = m.of[key]; d != nil {
		return d, nil
	}
	from := m.last[recipe.Hash()]
	if from.at == nil {
		if from.at, err = m.repo.loadState(ctx, roots{}); err != nil {
			return nil, err
		}
	}
	if d, _, err = m.repo.updateDigests(ctx, m.stage, recipe, from.digests, from.at, at); err != nil {
		return nil, err
	}
	m.of[key], m.last[recipe.Hash()] = d, remadeFrom{d, at}
	return d, nil
}
