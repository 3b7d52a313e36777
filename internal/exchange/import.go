package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// ImportOptions says where imported data goes.
type ImportOptions struct {
	state.Stamp
	// Name is the NAME in refs/imported/NAME/…, the namespace of imported refs. If it is empty and the repository has no
	// branch, tag, session or import yet, refs keep their names, and HEAD moves to the exported branch; in any
	// other repository Fallback is the name.
	Name     string
	Fallback string
	// As is a local branch to create or fast-forward to the imported branch; "" for none.
	As     string
	DryRun bool // check everything and write nothing
	// Verify, if set, is called once with the commits that no ref reaches yet, parents before children, before
	// anything is written. Its error refuses the import and is returned wrapped.
	Verify func(commits iter.Seq2[commit.LogEntry, error]) error
	// Progress, if set, is called now and then on the calling goroutine.
	Progress func(what string, done int)
	untold   bool // skip the search for credentials, as no one would see the report
}

// ImportResult is the result of an import, or of a dry run.
type ImportResult struct {
	Name      string           `json:"name" shape:"null"` // the name it went under, "" if refs kept their own
	Scope     commit.Scope     `json:"scope"`
	Refs      []core.RefChange `json:"refs"`              // that changed, in name order; none if all was there already
	Head      string           `json:"head" shape:"null"` // the branch that HEAD was moved to, "" if it did not move
	Blocks    int              `json:"blocks"`            // in the file
	Bytes     int64            `json:"bytes"`             // of the file
	NewBlocks int              `json:"new_blocks"`        // that were not in the store
	// Redacted is the number of blocks in the file that were erased here: they stay erased.
	Redacted int `json:"redacted"`
	// Redactions is the number of blocks that were erased at the file's origin but not here: they are now redacted
	// here.
	Redactions int `json:"redactions"`
	// Secrets reports apparent credentials in the new blocks, which are stored unchanged.
	Secrets state.SecretReport `json:"-"`
}

// PrerequisiteError is returned when a file builds on a commit that is not in the repository. errors.Is(err,
// store.ErrNotFound) holds.
type PrerequisiteError struct{ CID ipld.CID }

// Error names the missing commit.
func (e *PrerequisiteError) Error() string {
	return fmt.Sprintf("the file goes on from commit %s, which is not here: import what has it first", e.CID)
}

// Is reports whether target is store.ErrNotFound.
func (e *PrerequisiteError) Is(target error) bool { return target == store.ErrNotFound }

// ForwardError is returned when a branch cannot be fast-forwarded to the imported commit. errors.Is(err,
// state.ErrConflict) holds.
type ForwardError struct {
	Branch   string
	From, To ipld.CID
}

// Error names the branch, its commit and the imported one.
func (e *ForwardError) Error() string {
	return fmt.Sprintf("branch %q is at %s, which is not an ancestor of %s", e.Branch, e.From, e.To)
}

// Is reports whether target is state.ErrConflict.
func (e *ForwardError) Is(target error) bool { return target == state.ErrConflict }

// Import imports a file of size bytes that Export wrote, completely or not at all: it verifies every block, every
// record, and the invariants between them before it writes anything; then one operation sets the refs. It reads the
// file more than twice and keeps some 50 bytes a block in memory. After an error nothing has changed. Errors about
// the file, which wrap state.ErrInvalid, are a *car.FormatError; a *PrerequisiteError names a commit that must be
// imported first; a *ForwardError says that the branch of opt.As does not allow it.
func Import(ctx context.Context, r *core.Repo, in io.ReaderAt, size int64, opt ImportOptions) (*ImportResult, error) {
	if opt.Progress == nil {
		opt.Progress = func(string, int) {}
	}
	for _, name := range []string{opt.Name, opt.Fallback} {
		if err := graph.ValidateImport(name); name != "" && err != nil {
			return nil, state.Invalidf("import: %w", err)
		}
	}
	res, err := takeIn(ctx, r, in, size, opt, (*Importer).plan)
	if err != nil {
		return nil, refused(err)
	}
	return res, nil
}

// takeIn is Import with the ref changes that place determines.
func takeIn(
	ctx context.Context, r *core.Repo, in io.ReaderAt, size int64, opt ImportOptions,
	place func(*Importer, *core.View, *ImportResult) error,
) (*ImportResult, error) {
	r.Keep.Still.RLock() // blocks that the import relies on must not be collected
	defer r.Keep.Still.RUnlock()
	still, err := r.Since(ctx)
	if err != nil {
		return nil, err
	}
	file, err := scanFile(ctx, in, size, opt.Progress)
	if err != nil {
		return nil, err
	}
	im := newImporter(ctx, r, file, opt)
	im.place = place
	if err := im.check(); err != nil {
		return nil, err
	}
	res := &ImportResult{Scope: im.manifest.Scope, Blocks: len(file.blocks), Bytes: size}
	if opt.DryRun {
		return res, im.tryOut(res)
	}
	_, err = r.TransactOnce(ctx, opt.Stamp, func(t *core.Tx) error {
		if err := still(ctx); err != nil {
			return err
		}
		t.Foreign = true
		return im.apply(t, res)
	})
	return res, err
}

// tryOut fills in the result that apply would have.
func (im *Importer) tryOut(res *ImportResult) error {
	v, err := im.Repo.Current(im.Ctx)
	if err != nil {
		return err
	}
	if err := im.place(im, v, res); err != nil || len(res.Refs) == 0 {
		return err
	}
	res.Redactions = len(im.gone)
	return im.take(res, nil)
}

// take counts the blocks to store, searches the new ones for credentials, and passes those to store to put, if not
// nil, in file order.
func (im *Importer) take(res *ImportResult, put func(store.Block) error) error {
	list, err := im.count(res)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b countedBlock) int { return cmp.Compare(a.start, b.start) })
	l := state.SecretLog{Opt: im.opt.Secrets, Report: res.Secrets}
	for n, b := range list {
		if n%core.ProgressEvery == 0 && put != nil {
			im.opt.Progress("blocks written", n)
		}
		if !b.fresh && put == nil {
			continue
		}
		data, err := im.file.read(b.carBlock)
		if err != nil {
			return err
		}
		if b.fresh && !im.opt.untold {
			l.NoteAt(b.cid.String(), state.BlockPlaces(b.as, data))
		}
		if put != nil {
			if err := put(store.Block{CID: b.cid, Data: data}); err != nil {
				return err
			}
		}
	}
	res.Secrets = l.Report
	return nil
}

// refused marks an error about the file as invalid input.
func refused(err error) error {
	if isFormat(err) {
		return fmt.Errorf("%w: import: %w", state.ErrInvalid, err)
	}
	return fmt.Errorf("import: %w", err)
}

func isFormat(err error) bool { return errors.Is(err, car.ErrFormat) }

// apply stores the blocks and sets the refs, unless they are set already.
func (im *Importer) apply(t *core.Tx, res *ImportResult) error {
	if err := im.place(im, t.View, res); err != nil || len(res.Refs) == 0 {
		return err
	}
	err := im.take(res, func(b store.Block) error { return t.Stage.Put(im.Ctx, b) })
	if err == nil {
		err = im.redact(res)
	}
	if err != nil {
		return err
	}
	change(t, res.Refs)
	if res.Head != "" {
		t.SetHead(graph.BranchRef(res.Head))
	}
	return nil
}

// countedBlock is a block to store, and whether it is new.
type countedBlock struct {
	*carBlock
	fresh bool
}

// count counts the blocks of the file by role, and returns those to store.
func (im *Importer) count(res *ImportResult) (list []countedBlock, err error) {
	e, erases := im.Repo.Store.(store.Eraser)
	for i := range im.file.blocks {
		b := &im.file.blocks[i]
		switch b.as {
		case state.RoleManifest, state.RoleRefs, state.RoleRedactions, state.RoleRedaction:
			continue
		}
		if erases {
			red, gone, err := e.Redacted(im.Ctx, b.cid)
			if err != nil {
				return nil, err
			}
			if gone && !red.Open {
				res.Redacted++
				continue
			}
		}
		list = append(list, countedBlock{carBlock: b})
	}
	cids := func(yield func(ipld.CID) bool) {
		for i := range list {
			if !yield(list[i].cid) {
				return
			}
		}
	}
	at := 0
	err = store.HasEach(im.Ctx, im.Repo.Store.Facts(), cids, func(_ ipld.CID, has bool) error {
		if list[at].fresh = !has; !has {
			res.NewBlocks++
		}
		at++
		return nil
	})
	return list, err
}

// maxGaps is the largest number of blocks that one file may lack because they were erased at its origin.
const maxGaps = 100_000

// redact records what was erased at the file's origin, unless this repository has it: a file must not erase.
func (im *Importer) redact(res *ImportResult) error {
	var list []store.Redaction
	for c := range im.gone {
		list = append(list, store.Redaction{CID: c, Stub: im.file.redacted[c], Open: im.open})
	}
	if len(list) > maxGaps {
		return state.Invalidf("%d blocks of it were erased where it is from, limit %d", len(list), maxGaps)
	}
	if res.Redactions = len(list); len(list) == 0 {
		return nil
	}
	e, ok := im.Repo.Store.(store.Eraser)
	if !ok {
		return fmt.Errorf("redactions: %w", care.ErrUnsupported)
	}
	slices.SortFunc(list, func(a, b store.Redaction) int { return a.CID.Compare(b.CID) })
	return e.Redact(im.Ctx, list...)
}

// plan fills in which refs change, given the current refs.
func (im *Importer) plan(v *core.View, res *ImportResult) error {
	own, fresh, err := im.ownNames(v)
	if err != nil {
		return err
	}
	// A restored backup keeps out what was purged before it was made. A file imported into an existing memory is
	// foreign, and has no more power than another repository.
	im.open = !own || !fresh
	res.Name = im.opt.Name
	if res.Name == "" && (!own || len(im.manifest.Objects) > 0) {
		if res.Name = im.opt.Fallback; res.Name == "" {
			return state.Invalidf("a name for what is imported is needed")
		}
	}
	want := make(map[graph.RefName]ipld.CID)
	for _, ref := range im.refs {
		to := ref.Name
		if !own {
			to = graph.ImportedRef(res.Name, ref.Name)
		}
		want[to] = ref.Target
	}
	for _, c := range im.manifest.Objects {
		want[graph.ImportedObject(res.Name, c.String())] = c
	}
	if err := im.forward(v, want); err != nil {
		return err
	}
	if err := im.changes(v, want, res); err != nil || !own || !fresh {
		return err
	}
	res.Head, err = im.newHead(v)
	return err
}

// ownNames reports whether refs keep their names: if no name is given and the repository either is fresh, so that
// nothing can be confused with them, or has them all.
func (im *Importer) ownNames(v *core.View) (own, fresh bool, err error) {
	fresh, err = im.isFresh(v)
	if err != nil || im.opt.Name != "" {
		return false, fresh, err
	}
	own = fresh || len(im.refs) > 0
	for _, ref := range im.refs {
		if fresh {
			break
		}
		have, _, err := v.Stored(im.Ctx, ref.Name)
		if err != nil || have.Target != ref.Target {
			return false, false, err
		}
	}
	return own, fresh, nil
}

// isFresh reports whether the repository has no refs that could be confused with imported ones.
func (im *Importer) isFresh(v *core.View) (bool, error) {
	for _, ns := range []string{graph.Heads, graph.Tags, graph.Sessions, graph.Imported} {
		for _, err := range v.List(im.Ctx, ns) {
			return false, err
		}
	}
	return true, nil
}

// newHead returns the branch that HEAD must move to, "" if it is there or the file names none.
func (im *Importer) newHead(v *core.View) (string, error) {
	head, ok, err := v.Stored(im.Ctx, graph.Head)
	if err != nil || im.manifest.Head == "" || ok && head.Symbolic == im.manifest.Head {
		return "", err
	}
	return core.BranchName(im.manifest.Head), nil
}

// changes lists the refs that differ from their wanted value.
func (im *Importer) changes(v *core.View, want map[graph.RefName]ipld.CID, res *ImportResult) error {
	for name, to := range want {
		if err := graph.ValidateRef(name); err != nil {
			return state.Invalidf("import: %w", err)
		}
		ref, _, err := v.Stored(im.Ctx, name)
		if err != nil {
			return err
		}
		if ref.Target != to {
			res.Refs = append(res.Refs, core.RefChange{Ref: name, From: ref.Target, To: to})
		}
	}
	slices.SortFunc(res.Refs, func(a, b core.RefChange) int {
		return ipld.CompareKeys(string(a.Ref), string(b.Ref))
	})
	return nil
}

// forward adds the branch of As to the wanted refs.
func (im *Importer) forward(v *core.View, want map[graph.RefName]ipld.CID) error {
	if im.opt.As == "" {
		return nil
	}
	name := graph.BranchRef(im.opt.As)
	if err := graph.ValidateRef(name); err != nil {
		return state.Invalidf("import: branch %q: %w", im.opt.As, err)
	}
	to, err := im.mainCommit()
	if err != nil {
		return err
	}
	if c, ok := want[name]; ok && c != to {
		return &ForwardError{Branch: im.opt.As, From: c, To: to}
	}
	ref, ok, err := v.Stored(im.Ctx, name)
	if err != nil {
		return err
	}
	want[name] = to
	if !ok || ref.Target == to {
		return nil
	}
	ahead, err := commit.IsAncestor(im.Ctx, im.Over.Facts(), ref.Target, to)
	if err == nil && !ahead {
		err = &ForwardError{Branch: im.opt.As, From: ref.Target, To: to}
	}
	return err
}

// mainCommit returns the commit that the branch of As moves to.
func (im *Importer) mainCommit() (ipld.CID, error) {
	var heads, commits []ipld.CID
	for _, ref := range im.refs {
		if ref.Name == im.manifest.Head {
			return ref.Target, nil
		}
		if _, ok := ref.Name.Branch(); ok {
			heads = append(heads, ref.Target)
		}
	}
	for _, c := range im.manifest.Objects {
		if im.roleOf(c) == state.RoleCommit {
			commits = append(commits, c)
		}
	}
	switch {
	case len(heads) == 1:
		return heads[0], nil
	case len(heads) == 0 && len(commits) == 1:
		return commits[0], nil
	}
	return ipld.CID{}, state.Invalidf("import: the file has %d branches and %d other commits: which one "+
		"branch %q is to be is not clear", len(heads), len(commits), im.opt.As)
}
