package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// MaxDigestTexts is the largest number of texts that are written at once.
const MaxDigestTexts = 1000

// DigestText is a text that a model wrote for a digest.
type DigestText struct {
	Scope  graph.ID // zero for the root
	Label  string   // of a cluster, "" for a scope's own digest
	Source distill.Source
	Text   string
	Model  string
}

// DigestTextsResult tells what a write of texts did.
type DigestTextsResult struct {
	CommitResult
	// Dropped are texts of digests that the commit does not have any more.
	Dropped int
	// Refused are those of WriteDigestsThatFit that were not kept, by their index.
	Refused map[int]error
}

// DigestSourceError is returned where a text is for a digest that is made of something else by now, or is not
// there any more. errors.Is(err, ErrConflict) holds.
type DigestSourceError struct {
	Name string
	Want distill.Source
	Have distill.Source // zeros for no digest
}

func (e *DigestSourceError) Error() string {
	if e.Have == (distill.Source{}) {
		return fmt.Sprintf("digest %s is not there any more: nothing was written", e.Name)
	}
	return fmt.Sprintf("digest %s is of the source %s by now, not of %s: nothing was written", e.Name, e.Have,
		e.Want)
}

// Is reports whether target is ErrConflict.
func (e *DigestSourceError) Is(target error) bool { return target == ErrConflict }

// WriteDigests keeps texts of digests in one commit, each in place of one of the same source, and drops those
// whose digests, by the same recipe, the branch does not have any more. It returns a *DigestSourceError where a
// digest is not that of its source, and refuses what looks like a credential with a *SecretError. All or nothing.
func (r *Repo) WriteDigests(
	ctx context.Context, recipe distill.Recipe, texts []DigestText, opt CommitOptions,
) (*DigestTextsResult, error) {
	return r.writeDigests(ctx, recipe, texts, opt, false)
}

// WriteDigestsThatFit is WriteDigests for texts that do not need each other: one whose digest is of something else by
// now, or that was erased, is left out and told of in Refused.
func (r *Repo) WriteDigestsThatFit(
	ctx context.Context, recipe distill.Recipe, texts []DigestText, opt CommitOptions,
) (*DigestTextsResult, error) {
	return r.writeDigests(ctx, recipe, texts, opt, true)
}

func (r *Repo) writeDigests(
	ctx context.Context, recipe distill.Recipe, texts []DigestText, opt CommitOptions, each bool,
) (*DigestTextsResult, error) {
	if opt.Base != nil || opt.Amend {
		return nil, invalidf("a text of a digest has neither a base of its own nor amends")
	}
	if len(texts) > MaxDigestTexts {
		return nil, invalidf("%d texts of digests, limit %d", len(texts), MaxDigestTexts)
	}
	l := secretLog{opt: opt.Secrets}
	l.texts(opt.Stamp, opt.Message)
	for _, one := range texts {
		if err := one.check(&l); err != nil {
			return nil, err
		}
	}
	if err := l.refusal(); err != nil {
		return nil, err
	}
	res := &DigestTextsResult{}
	_, err := r.transact(ctx, opt.Stamp, func(t *tx) error {
		*res = DigestTextsResult{CommitResult: CommitResult{Secrets: l.report}, Refused: map[int]error{}}
		ref, head, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		d, err := head.Digests(ctx, recipe, DigestOptions{})
		if err != nil {
			return err
		}
		next := *head.state
		var refused map[int]error
		if each {
			refused = res.Refused
		}
		if next.digests, res.Dropped, err = t.writeTexts(ctx, d, head.state, texts, refused); err != nil {
			return err
		}
		return t.commit(ctx, ref, head, &next, opt, &res.CommitResult)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// Check returns the error with which a write of the text alone would be refused, whatever the repository has.
func (d DigestText) Check(opt SecretOptions) error {
	l := secretLog{opt: opt}
	if err := d.check(&l); err != nil {
		return err
	}
	return l.refusal()
}

func (d DigestText) check(l *secretLog) error {
	name := distill.DigestID(d.Scope, d.Label)
	if err := distill.CheckWritten(d.Text, d.Model); err != nil {
		return fmt.Errorf("%w: digest %s: %w", ErrInvalid, name, err)
	}
	if n, most := distill.Tokens(d.Text), distill.WrittenTokens(d.Scope, d.Label); n > most {
		return invalidf("digest %s: a text of %d tokens, limit %d", name, n, most)
	}
	l.note(nil, guard.Text("digest.text", d.Text))
	l.note(nil, guard.Text("digest.model", d.Model))
	return nil
}

// writeText stages a text, and returns a *DigestSourceError or a *store.RedactedError where it must not be kept.
func (t *tx) writeText(ctx context.Context, d *Digests, at *state, one DigestText) (prolly.Edit, error) {
	have, err := d.source(ctx, one.Scope, one.Label)
	if err != nil {
		return prolly.Edit{}, err
	}
	if have != one.Source {
		return prolly.Edit{}, &DigestSourceError{distill.DigestID(one.Scope, one.Label), one.Source, have}
	}
	w := &distill.Written{
		Text: one.Text, Graph: at.root, Label: one.Label, Model: one.Model, Recipe: d.Recipe,
		Scope: one.Scope, Source: one.Source,
	}
	data := w.Encode()
	if err := t.repo.refuseErased(ctx, []store.Block{store.NewBlock(ipld.DagCBOR, data)}); err != nil {
		return prolly.Edit{}, err
	}
	c, err := t.put(ctx, data)
	return prolly.Edit{Key: one.Source[:], Value: ipld.AppendLink(nil, c)}, err
}

// writeTexts returns the tree of texts with new ones, and without those of digests that are not there. What must not
// be kept is left out and noted in refused, where that is not nil.
func (t *tx) writeTexts(
	ctx context.Context, d *Digests, at *state, texts []DigestText, refused map[int]error,
) (*prolly.Map, int, error) {
	var edits []prolly.Edit
	for i, one := range texts {
		edit, err := t.writeText(ctx, d, at, one)
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
	for kv, err := range at.digests.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, 0, err
		}
		w, err := readText(ctx, at.get, kv.Value)
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
	tree, err := at.digests.Edit(ctx, edits)
	return tree, dropped, err
}

// source returns that of a digest, zeros for none.
func (d *Digests) source(ctx context.Context, scope graph.ID, label string) (distill.Source, error) {
	one, _, err := d.Find(ctx, d.Blocks, scope, label)
	if err != nil || one == nil {
		return distill.Source{}, err
	}
	return one.Source, nil
}

func readText(ctx context.Context, get store.Getter, item []byte) (*distill.Written, error) {
	c, err := linkItem(item)
	if err != nil {
		return nil, err
	}
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", distill.KindWritten, c, err)
	}
	w, err := distill.DecodeWritten(block)
	if err != nil {
		err = fmt.Errorf("read %s %s: %w: %w", distill.KindWritten, c, store.ErrCorrupt, err)
	}
	return w, err
}

// DigestText returns the text that a model wrote of what a source is the hash of, nil for none and for one that
// was erased: so it is never of anything else. One that may hold a credential by the rules of this program is
// refused, and not returned.
func (s *Snapshot) DigestText(
	ctx context.Context, source distill.Source,
) (w *distill.Written, refused bool, err error) {
	item, ok, err := s.state.digests.Get(ctx, source[:])
	if err != nil || !ok {
		return nil, false, err
	}
	w, err = readText(ctx, s.state.get, item)
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

// DigestTexts returns how many texts of digests the snapshot has.
func (s *Snapshot) DigestTexts() uint64 { return s.state.digests.Len() }

// digests merges the texts of digests: of two new ones of a source the one with the smaller CID stays.
func (m *stateMerge) digests() (err error) {
	m.out.digests, err = prolly.Merge(m.ctx, m.base.digests, m.ours.digests, m.theirs.digests,
		func(c prolly.Conflict) ([]byte, error) {
			if c.Right == nil || c.Left != nil && bytes.Compare(c.Left, c.Right) <= 0 {
				return c.Left, nil
			}
			return c.Right, nil
		})
	return err
}

// changedTexts checks the texts of digests that differ from those before.
func (f *fsck) changedTexts(s *Snapshot, before *state) {
	for c, err := range prolly.Diff(f.ctx, before.digests, s.state.digests) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		if c.New == nil {
			continue
		}
		at, err := linkItem(c.New)
		var w *distill.Written
		if err == nil {
			w, err = readText(f.ctx, f.repo.facts(), c.New)
		}
		if errors.Is(err, store.ErrRedacted) {
			continue
		}
		if err == nil && !bytes.Equal(w.Source[:], c.Key) {
			err = fmt.Errorf("text of the source %s is kept under %x", w.Source, c.Key)
		}
		if err != nil {
			f.fail(at, FsckRecord, err)
		}
	}
}

// textsOf decides which texts of digests are erased: those made of a node that goes, and those of which nobody can
// tell what they were made of, since their graph cannot be read or has lost the blocks that say so.
func (s *purgeScan) textsOf() error {
	remade := newRemadeDigests(s.p.repo)
	graphs := make(map[ipld.CID]*goneFrom)
	for c, w := range s.texts {
		goes := s.p.held[c]
		if !goes && len(s.nodes) > 0 {
			g := graphs[w.Graph]
			if g == nil {
				g = s.goneFrom(w.Graph)
				graphs[w.Graph] = g
			}
			var err error
			if goes, err = s.madeOf(w, g, remade); err != nil && !untold(err) {
				return err
			}
			goes = goes || err != nil
		}
		if goes {
			s.erase[c] = erasure{what: commit.ErasedDigest, name: distill.DigestID(w.Scope, w.Label)}
		}
	}
	return nil
}

// goneFrom is a graph that texts were written of, with the nodes whose version there is erased. The purged nodes are
// looked up once per graph, however many texts were written of it.
type goneFrom struct {
	at  *state
	ids []graph.ID
	err error // why nobody can tell
}

func (s *purgeScan) goneFrom(root ipld.CID) *goneFrom {
	g := new(goneFrom)
	if g.at, g.err = s.p.repo.loadState(s.p.ctx, roots{graph: root}); g.err != nil {
		return g
	}
	for id := range s.nodes {
		c, err := lookup(s.p.ctx, g.at.nodes, id[:])
		if err == nil && c.Defined() {
			if _, goes := s.erase[c]; goes {
				g.ids = append(g.ids, id)
			} else { // another version of it, that stays
				_, err = s.p.repo.facts().Get(s.p.ctx, c)
			}
		}
		if err != nil {
			g.err = err
			return g
		}
	}
	return g
}

// untold reports whether an error is of a block that was erased, is not here, or is not what leads to it says: what
// a text was made of cannot be told then.
func untold(err error) bool {
	return errors.Is(err, store.ErrRedacted) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

// madeOf reports whether a text was made of a node that goes, or is no text of the graph that it names. An error for
// which untold holds means that nobody can tell.
func (s *purgeScan) madeOf(w *distill.Written, g *goneFrom, remade *remadeDigests) (bool, error) {
	if g.err != nil {
		return false, g.err
	}
	for _, id := range g.ids {
		holds, err := distill.Holds(s.p.ctx, newDigestReader(s.p.repo, g.at, w.Recipe), id, w.Scope, w.Label)
		if holds || err != nil {
			return holds, err
		}
	}
	is, err := remade.matches(s.p.ctx, g.at, w)
	return !is, err
}
