package outline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// DigestText is a text that a model wrote for a digest.
type DigestText struct {
	Scope  graph.ID // zero for the root
	Label  string   // of a cluster, "" for a scope's own digest
	Source distill.Source
	Text   string
	Model  string
}

// DigestTextsResult describes a write of texts.
type DigestTextsResult struct {
	core.CommitResult
	// Dropped are texts of digests that the commit does not have any more.
	Dropped int
	// Refused are the errors of texts that WriteDigestsThatFit left out, by index.
	Refused map[int]error
}

// DigestSourceError is returned when a text is for a digest whose source changed, or that no longer exists.
// errors.Is(err, state.ErrConflict) holds.
type DigestSourceError struct {
	Name string
	Want distill.Source
	Have distill.Source // zeros for no digest
}

// Error names the digest, and both sources if it still exists.
func (e *DigestSourceError) Error() string {
	if e.Have == (distill.Source{}) {
		return fmt.Sprintf("digest %s is not there any more: nothing was written", e.Name)
	}
	return fmt.Sprintf("digest %s is of the source %s by now, not of %s: nothing was written", e.Name, e.Have,
		e.Want)
}

// Is reports whether target is state.ErrConflict.
func (e *DigestSourceError) Is(target error) bool { return target == state.ErrConflict }

// WriteDigests stores texts of digests in one commit, each in place of one of the same source, and drops those whose
// digests, by the same recipe, the branch no longer has. It returns a *DigestSourceError if a digest does not have the
// source that its text names, and refuses texts that resemble a credential with a *state.SecretError. It writes all
// texts or none.
func WriteDigests(
	ctx context.Context, r *core.Repo, recipe distill.Recipe, texts []DigestText, opt core.CommitOptions,
) (*DigestTextsResult, error) {
	return writeDigests(ctx, r, recipe, texts, opt, false)
}

// WriteDigestsThatFit is WriteDigests for texts that do not depend on each other: a text whose digest's source changed
// or was erased is left out and reported in Refused.
func WriteDigestsThatFit(
	ctx context.Context, r *core.Repo, recipe distill.Recipe, texts []DigestText, opt core.CommitOptions,
) (*DigestTextsResult, error) {
	return writeDigests(ctx, r, recipe, texts, opt, true)
}

func writeDigests(
	ctx context.Context, r *core.Repo, recipe distill.Recipe, texts []DigestText, opt core.CommitOptions, each bool,
) (*DigestTextsResult, error) {
	if opt.Base != nil || opt.Amend {
		return nil, state.Invalidf("a text of a digest has neither a base of its own nor amends")
	}
	l := state.SecretLog{Opt: opt.Secrets}
	l.Texts(opt.Stamp, opt.Message)
	for _, one := range texts {
		if err := one.check(&l); err != nil {
			return nil, err
		}
	}
	if err := l.Refusal(); err != nil {
		return nil, err
	}
	res := &DigestTextsResult{}
	_, err := r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		*res = DigestTextsResult{CommitResult: core.CommitResult{Secrets: l.Report}, Refused: map[int]error{}}
		ref, head, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		d, err := Open(ctx, head, recipe, DigestOptions{})
		if err != nil {
			return err
		}
		next := *head.State
		var refused map[int]error
		if each {
			refused = res.Refused
		}
		if next.Digests, res.Dropped, err = writeTexts(ctx, t, d, head.State, texts, refused); err != nil {
			return err
		}
		return t.Commit(ctx, ref, head, &next, opt, &res.CommitResult)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// Check returns the error with which a write of the text alone would be refused in any repository.
func (d DigestText) Check(opt state.SecretOptions) error {
	l := state.SecretLog{Opt: opt}
	if err := d.check(&l); err != nil {
		return err
	}
	return l.Refusal()
}

func (d DigestText) check(l *state.SecretLog) error {
	name := distill.DigestID(d.Scope, d.Label)
	if err := distill.CheckWritten(d.Text, d.Model); err != nil {
		return fmt.Errorf("%w: digest %s: %w", state.ErrInvalid, name, err)
	}
	if n, most := distill.Tokens(d.Text), distill.WrittenTokens(d.Scope, d.Label); n > most {
		return state.Invalidf("digest %s: a text of %d tokens, limit %d", name, n, most)
	}
	l.Note(nil, guard.Text("digest.text", d.Text))
	l.Note(nil, guard.Text("digest.model", d.Model))
	return nil
}

// writeText stages a text, and returns a *DigestSourceError or a *store.RedactedError if it must not be kept.
func writeText(ctx context.Context, t *core.Tx, d *Digests, at *state.State, one DigestText) (prolly.Edit, error) {
	have, err := d.source(ctx, one.Scope, one.Label)
	if err != nil {
		return prolly.Edit{}, err
	}
	if have != one.Source {
		return prolly.Edit{}, &DigestSourceError{distill.DigestID(one.Scope, one.Label), one.Source, have}
	}
	w := &distill.Written{
		Text: one.Text, Graph: at.Root, Label: one.Label, Model: one.Model, Recipe: d.Recipe,
		Scope: one.Scope, Source: one.Source,
	}
	data := w.Encode()
	if err := t.Repo.Redactions().Refuse(ctx, []store.Block{store.NewBlock(ipld.DagCBOR, data)}); err != nil {
		return prolly.Edit{}, err
	}
	c, err := t.Put(ctx, data)
	return prolly.Edit{Key: one.Source[:], Value: ipld.AppendLink(nil, c)}, err
}

// writeTexts returns the tree of texts with new ones added, and without texts whose digests do not exist. Texts that
// must not be stored are left out and recorded in refused, if that is not nil.
func writeTexts(
	ctx context.Context, t *core.Tx, d *Digests, at *state.State, texts []DigestText, refused map[int]error,
) (*prolly.Map, int, error) {
	var edits []prolly.Edit
	for i, one := range texts {
		edit, err := writeText(ctx, t, d, at, one)
		var stale *DigestSourceError
		if refused != nil && (errors.As(err, &stale) || errors.Is(err, store.ErrRedacted)) {
			refused[i] = err
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		edits = append(edits, edit)
	}
	dropped := 0
	for kv, err := range at.Digests.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, 0, err
		}
		w, err := state.ReadText(ctx, at.Get, kv.Value)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, 0, err
		}
		if err == nil {
			if w.Recipe.Hash() != d.Recipe.Hash() {
				continue
			}
			have, err := d.source(ctx, w.Scope, w.Label)
			if err != nil {
				return nil, 0, err
			}
			if have == w.Source {
				continue
			}
			dropped++
		}
		edits = append(edits, prolly.Edit{Key: kv.Key})
	}
	slices.SortStableFunc(edits, func(a, b prolly.Edit) int { return bytes.Compare(a.Key, b.Key) })
	edits = slices.CompactFunc(edits, func(a, b prolly.Edit) bool { return bytes.Equal(a.Key, b.Key) })
	tree, err := at.Digests.Edit(ctx, edits)
	return tree, dropped, err
}

// source returns the source of a digest, zeros for none.
func (d *Digests) source(ctx context.Context, scope graph.ID, label string) (distill.Source, error) {
	one, _, err := d.Find(ctx, d.Blocks, scope, label)
	if err != nil || one == nil {
		return distill.Source{}, err
	}
	return one.Source, nil
}

// ReadDigestText returns the text that a model wrote for a source, nil if there is none or it was erased. The source is
// a hash of the text's input, so the text always belongs to it. A text that may hold a credential by the current rules
// is refused, and not returned.
func ReadDigestText(
	ctx context.Context, s *core.Snapshot, source distill.Source,
) (w *distill.Written, refused bool, err error) {
	item, ok, err := s.State.Digests.Get(ctx, source[:])
	if err != nil || !ok {
		return nil, false, err
	}
	w, err = state.ReadText(ctx, s.State.Get, item)
	switch {
	case errors.Is(err, store.ErrRedacted):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case MayHoldCredential(w.Text) || MayHoldCredential(w.Model):
		return nil, true, nil
	}
	return w, false, nil
}

// GoneFrom lists the nodes of a graph whose version there is erased, for the texts written about that graph. They are
// looked up once per graph.
type GoneFrom struct {
	At  *state.State
	Ids []graph.ID
	Err error // why that cannot be told
}

// Untold reports whether an error says that a block was erased, is missing or is damaged: then the input of a text is
// unknown.
func Untold(err error) bool {
	return errors.Is(err, store.ErrRedacted) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

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
