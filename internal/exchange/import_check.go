package exchange

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// importTrees bounds the cache of a file's decoded chunks during the check, in bytes.
	importTrees = 32 << 20
	// maxShapeEdits is the largest number of changes for which a tree's shape is checked by applying them to the
	// previous tree, at the cost of a path each; for more, reading the whole tree takes less memory.
	maxShapeEdits = 4096
)

// Importer checks one file against one repository.
type Importer struct {
	Ctx      context.Context
	Repo     *core.Repo
	Over     *core.Repo // reads the file's blocks before the repository's; writes nothing
	file     *carFile
	opt      ImportOptions
	manifest *commit.Export
	refs     []core.Ref                 // of the file, in name order
	outside  map[ipld.CID]state.Role    // links of the file to blocks of the repository
	fresh    []ipld.CID                 // commits that no ref reaches yet, parents before children
	gone     map[ipld.CID]bool          // links of the file to blocks that were erased at its origin
	f        *care.FsckRun              // of Over; its seen commits are those known to be sound
	Placed   map[string]*session.Placed // by session
	open     bool                       // whether that leaves gaps, which other files may fill
	// place determines which refs change.
	place func(*Importer, *core.View, *ImportResult) error
}

// newImporter returns an importer with its own caches: chunks of a refused file must not stay in the repository's.
func newImporter(ctx context.Context, r *core.Repo, file *carFile, opt ImportOptions) *Importer {
	over := &core.Repo{Opened: &core.Opened{
		Store: importStore{r.Store, file}, Ro: true,
		Trees: prolly.NewCache(importTrees), Parts: segment.NewCache(0), Vectors: view.NewVectorCache(0),
		Rows: segment.NewCache(0), Buckets: segment.NewCache(0),
	}}
	return &Importer{
		Ctx: ctx, Repo: r, Over: over, file: file, opt: opt, outside: make(map[ipld.CID]state.Role),
		gone: make(map[ipld.CID]bool),
		f: &care.FsckRun{
			Ctx: ctx, Repo: over, Report: &care.FsckReport{},
			Seen: make(map[ipld.CID]bool), Trees: make(map[ipld.CID]bool),
			Known: view.NewKnownRecords(),
		},
	}
}

// check returns an error unless the file may be imported: a *car.FormatError if the file is at fault.
func (im *Importer) check() error {
	steps := []func() error{
		im.readManifest, im.readRedactions, im.reach, im.readRefs, im.trust, im.commits, im.records,
		im.verify,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return im.explain(err)
		}
		if err := im.verdict(); err != nil {
			return err
		}
	}
	return nil
}

// verdict returns the first fault that fsck found.
func (im *Importer) verdict() error {
	if err := im.Ctx.Err(); err != nil || len(im.f.Report.Errors) == 0 {
		return err
	}
	e := im.f.Report.Errors[0]
	switch b := im.file.find(e.CID); {
	case b != nil:
		return im.file.fault(b, "%s", e.Message)
	case e.Kind == care.FsckBlock:
		return fmt.Errorf("%w: %s", store.ErrCorrupt, e.Message)
	}
	return &car.FormatError{CID: e.CID, Reason: e.Message}
}

// explain adds the file's block that an error is about. An error about a block of the repository is returned unchanged.
func (im *Importer) explain(err error) error {
	var format *car.FormatError
	var shape *prolly.ShapeError
	var missing *state.MissingError
	switch {
	case errors.As(err, &format):
		return err
	case errors.As(err, &missing):
		return &car.FormatError{CID: missing.CID, Reason: "the block is missing: it is neither in the file nor here"}
	case errors.As(err, &shape):
		if b := im.file.find(shape.CID); b != nil {
			return im.file.fault(b, "%v", err)
		}
	}
	return err
}

func (im *Importer) readManifest() error {
	root := im.file.find(im.file.root)
	block, err := im.file.read(root)
	if err != nil {
		return err
	}
	if im.manifest, err = commit.DecodeExport(block); err != nil {
		return im.file.fault(root, "not a manifest: %v", err)
	}
	for _, c := range im.manifest.Since {
		has, err := im.Repo.Store.Facts().Has(im.Ctx, c)
		if err == nil && !has {
			err = &PrerequisiteError{c}
		}
		if err == nil && im.file.find(c) == nil {
			err = im.leadOut(root, state.Lead{Cid: c, As: state.RoleCommit})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tree returns a tree of the file after checking its shape.
func (im *Importer) tree(root ipld.CID) (*prolly.Map, error) {
	tree, err := im.Over.Nodes().Load(im.Ctx, root)
	if err != nil {
		return nil, err
	}
	return tree, tree.Check(im.Ctx)
}

// readRedactions reads the file's list of erased blocks.
func (im *Importer) readRedactions() error {
	if !im.manifest.Redacted.Defined() {
		return nil
	}
	root := im.file.find(im.file.root)
	tree, err := im.tree(im.manifest.Redacted)
	if err != nil {
		return err
	}
	redacted := make(map[ipld.CID][]byte)
	for e, err := range tree.Scan(im.Ctx, nil, nil) {
		var c, link ipld.CID
		if err == nil {
			link, err = state.LinkItem(e.Value)
		}
		if err == nil {
			c, err = ipld.CIDFromBytes(e.Key)
		}
		if err == nil && im.file.find(c) != nil {
			err = fmt.Errorf("block %s is in the file and redacted", c)
		}
		if err == nil {
			redacted[c], err = im.Over.Facts().Get(im.Ctx, link)
		}
		if err != nil {
			return im.file.fault(root, "redactions: %v", err)
		}
	}
	im.file.redacted = redacted
	return nil
}

// reach reads every block reachable from the manifest, by role, and fails if one is missing, or if the file has others.
func (im *Importer) reach() error {
	done := 0
	err := state.WalkLeads(state.Lead{Cid: im.file.root, As: state.RoleManifest}, func(l state.Lead) ([]state.Lead, error) {
		b := im.file.find(l.Cid)
		if b.as != 0 {
			return nil, im.again(b, l)
		}
		if done++; done%core.ProgressEvery == 0 {
			im.opt.Progress("blocks checked", done)
		}
		return im.leadIn(b, l)
	})
	if err != nil {
		return err
	}
	for i := range im.file.blocks {
		if b := &im.file.blocks[i]; b.as == 0 {
			return im.file.fault(b, "nothing in the file leads to the block")
		}
	}
	for c := range im.file.redacted {
		if _, needed := im.outside[c]; !needed {
			return im.file.fault(im.file.find(im.file.root), "nothing in the file leads to the redacted "+
				"block %s", c)
		}
	}
	return nil
}

// leadIn reads a block of the file by its role and returns its links into the file. Its other links must be in the
// repository.
func (im *Importer) leadIn(b *carBlock, l state.Lead) ([]state.Lead, error) {
	if err := im.Ctx.Err(); err != nil {
		return nil, err
	}
	block, err := im.file.read(b)
	if err != nil {
		return nil, err
	}
	next, as, err := im.f.Known.Leads(l, block)
	if err != nil {
		return nil, im.file.fault(b, "%v", err)
	}
	b.as = as
	inside := next[:0]
	for _, n := range next {
		if im.file.find(n.Cid) != nil {
			inside = append(inside, n)
		} else if err := im.leadOut(b, n); err != nil {
			return nil, err
		}
	}
	return inside, nil
}

// again checks a block of the file that was reached before. The tree of refs may share the empty chunk with other
// trees; it is then stored for them.
func (im *Importer) again(b *carBlock, l state.Lead) error {
	if err := im.sameRole(b, b.as, l); err != nil {
		return err
	}
	if b.as == state.RoleRefs {
		b.as = l.As
	}
	return nil
}

// leadOut checks a link to a block that is not in the file, and so must be in the repository.
func (im *Importer) leadOut(from *carBlock, l state.Lead) error {
	if as, ok := im.outside[l.Cid]; ok {
		return im.sameRole(from, as, l)
	}
	block, err := im.Repo.Store.Facts().Get(im.Ctx, l.Cid)
	stub, gone := im.file.redacted[l.Cid]
	var erased *store.RedactedError
	switch {
	case errors.As(err, &erased) && l.As.ErasedAs(erased.Stub):
		im.outside[l.Cid] = l.As
		return nil
	case errors.Is(err, store.ErrNotFound) && gone && l.As.ErasedAs(stub):
		im.outside[l.Cid], im.gone[l.Cid] = l.As, true
		return nil
	case errors.Is(err, store.ErrNotFound):
		return im.file.fault(from, "the block leads to the %s %s, which is missing: it is neither in "+
			"the file nor here", l.As, l.Cid)
	case err != nil:
		return err
	}
	_, as, err := state.Leads(l, block)
	if err != nil {
		return im.file.fault(from, "the %s %s is something else: %v", l.As, l.Cid, err)
	}
	im.outside[l.Cid] = as
	return nil
}

// sameRole checks that a block reached before in one role may be reached in another. Trees share chunks, for
// instance the empty one: their entries are checked when they are read.
func (im *Importer) sameRole(at *carBlock, before state.Role, l state.Lead) error {
	named := l.As == state.RoleNamed && before >= state.RoleCommit && before <= state.RoleReceipt
	if before == l.As || l.As.Tree() && before.Tree() || named {
		return nil
	}
	return im.file.fault(at, "block %s is led to as %s and as %s", l.Cid, before, l.As)
}

// roleOf returns the role of a block that the manifest reaches.
func (im *Importer) roleOf(c ipld.CID) state.Role {
	if b := im.file.find(c); b != nil {
		return b.as
	}
	return im.outside[c]
}

// readRefs reads the tree of refs and checks their targets.
func (im *Importer) readRefs() error {
	root := im.file.find(im.file.root)
	tree, err := im.tree(im.manifest.Refs)
	if err != nil {
		return err
	}
	head := im.manifest.Head == ""
	for ref, err := range (&core.View{Tree: tree}).List(im.Ctx, "") {
		if err == nil {
			err = im.checkRef(ref)
		}
		if err != nil {
			return im.file.fault(root, "%v", err)
		}
		head = head || ref.Name == im.manifest.Head
		im.refs = append(im.refs, ref)
	}
	for _, c := range im.manifest.Objects {
		if as := im.roleOf(c); as != state.RoleCommit && as != state.RoleReceipt {
			return im.file.fault(root, "object %s is a %s", c, as)
		}
	}
	switch {
	case !head:
		return im.file.fault(root, "head %s is not among the refs", im.manifest.Head)
	case len(im.refs)+len(im.manifest.Objects) == 0:
		return im.file.fault(root, "neither refs nor objects")
	}
	return nil
}

// checkRef checks the name and target of a ref of the file.
func (im *Importer) checkRef(ref core.Ref) error {
	if err := graph.ValidateRef(ref.Name); err != nil {
		return err
	}
	as := im.roleOf(ref.Target)
	ok := false
	switch ns, _ := ref.Name.Split(); ns {
	case graph.Heads:
		ok = as == state.RoleCommit
	case graph.Tags:
		ok = as == state.RoleCommit || as == state.RoleTag
	case graph.Sessions:
		ok = as == state.RoleSession
	}
	if !ok {
		return fmt.Errorf("ref %s does not belong in a file, or not to a %s", ref.Name, as)
	}
	if as != state.RoleTag {
		return nil
	}
	tag, err := commit.ReadTag(im.Ctx, im.Over.Facts(), ref.Target)
	if err == nil {
		_, err = commit.ReadMessage(im.Ctx, im.Over.Facts(), tag.Message)
	}
	if errors.Is(err, store.ErrRedacted) {
		err = nil
	}
	return err
}

// verify passes the new commits to the caller's Verify.
func (im *Importer) verify() error {
	if im.opt.Verify == nil {
		return nil
	}
	return im.opt.Verify(func(yield func(commit.LogEntry, error) bool) {
		for _, c := range im.fresh {
			rec, err := im.Over.ReadCommit(im.Ctx, c)
			if !yield(commit.LogEntry{CID: c, Commit: rec}, err) || err != nil {
				return
			}
		}
	})
}

// records checks sessions and receipts. Their commits are already checked.
func (im *Importer) records() error {
	for _, ref := range im.refs {
		if im.roleOf(ref.Target) == state.RoleSession {
			im.f.Session(ref.Target)
		}
	}
	for _, c := range im.manifest.Objects {
		if im.roleOf(c) == state.RoleReceipt {
			im.f.Receipt(c)
		}
	}
	return nil
}

// inRole returns the blocks of a role in the file, and those in the repository that it links to.
func (im *Importer) inRole(role state.Role) (all []ipld.CID) {
	for i := range im.file.blocks {
		if b := &im.file.blocks[i]; b.as == role {
			all = append(all, b.cid)
		}
	}
	for c, as := range im.outside {
		if as == role {
			all = append(all, c)
		}
	}
	return all
}

// trust marks the commits that refs of the repository reach: these are complete and sound. That a block is in the
// store does not prove this, as it may come from an unfinished write. It reads no commit below the lowest that the
// file involves.
func (im *Importer) trust() error {
	low, open := uint64(math.MaxUint64), make(map[ipld.CID]bool)
	for _, c := range im.inRole(state.RoleCommit) {
		rec, err := im.Over.ReadCommit(im.Ctx, c)
		if err != nil {
			return err
		}
		low = min(low, rec.Height)
		open[c] = true
	}
	todo, sessions, err := im.localRecords(len(im.inRole(state.RoleSession)) > 0)
	if err == nil {
		err = im.trustSessions(sessions)
	}
	if err != nil {
		return err
	}
	reached := make(map[ipld.CID]bool)
	for len(todo) > 0 && len(open) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[c] {
			continue
		}
		reached[c] = true
		rec, err := im.Repo.ReadCommit(im.Ctx, c)
		if err != nil {
			return err
		}
		if rec.Height < low {
			continue
		}
		im.f.Seen[c] = true
		delete(open, c)
		todo = append(todo, rec.Parents...)
	}
	return nil
}

// localRecords returns the commits that refs of the repository name. If the file has sessions it also returns the
// newest records of sessions and the commits that they name. Otherwise a commit that no other ref reaches is
// checked again.
func (im *Importer) localRecords(withSessions bool) (all, sessions []ipld.CID, err error) {
	v, err := im.Repo.Current(im.Ctx)
	if err != nil {
		return nil, nil, err
	}
	for ref, err := range v.List(im.Ctx, "") {
		if err != nil {
			return nil, nil, err
		}
		if ns, _ := ref.Name.Split(); ref.Symbolic != "" || ns == graph.Stages {
			continue
		}
		block, err := im.Repo.Facts().Get(im.Ctx, ref.Target)
		if err != nil {
			return nil, nil, err
		}
		switch ipld.RecordKind(block) {
		case commit.KindCommit:
			all = append(all, ref.Target)
		case commit.KindTag:
			tag, err := commit.ReadTag(im.Ctx, im.Repo.Facts(), ref.Target)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, tag.Target)
		case retrieve.KindSession:
			if !withSessions {
				continue
			}
			named, err := session.LastCommits(im.Ctx, im.Repo, ref.Target)
			if err != nil {
				return nil, nil, err
			}
			all, sessions = append(all, named...), append(sessions, ref.Target)
		}
	}
	return all, sessions, nil
}

// commits checks every commit that is not known to be sound, parents before children: each check builds on the
// first parent's.
func (im *Importer) commits() error {
	done := 0
	todo := im.inRole(state.RoleCommit)
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		if im.f.Seen[c] {
			todo = todo[:len(todo)-1]
			continue
		}
		rec, err := im.Over.ReadCommit(im.Ctx, c)
		if err != nil {
			return err
		}
		ready := true
		for _, p := range rec.Parents {
			if !im.f.Seen[p] {
				todo = append(todo, p)
				ready = false
			}
		}
		if !ready {
			continue
		}
		im.f.Seen[c] = true
		im.fresh = append(im.fresh, c)
		if err := im.commit(c); err != nil {
			return err
		}
		if err := im.verdict(); err != nil {
			return err
		}
		if done++; done%100 == 0 {
			im.opt.Progress("commits checked", done)
		}
	}
	return nil
}

// commit checks one commit whose parents are sound.
func (im *Importer) commit(c ipld.CID) error {
	s, err := im.Over.At(im.Ctx, c)
	if err != nil {
		return im.atCommit(c, err)
	}
	before, err := im.Over.At(im.Ctx, core.FirstCID(s.Record.Parents))
	if err != nil {
		return im.atCommit(c, err)
	}
	if err := im.shapes(before.State, s.State); err != nil {
		return im.atCommit(c, err)
	}
	if s.Record.Vectors.Defined() && s.State.Vectors.Len() == 0 {
		return im.atCommit(c, fmt.Errorf("%w: a tree of embeddings without any", errShape))
	}
	if s.Record.Digests.Defined() && s.State.Digests.Len() == 0 {
		return im.atCommit(c, fmt.Errorf("%w: a tree of texts of digests without any", errShape))
	}
	im.f.Commit(s)
	return nil
}

// errShape marks a tree or commit that is not in canonical form.
var errShape = errors.New("not canonical")

// atCommit adds the commit of the file that an error is about, unless the error names a block itself, or is about
// the repository or reading.
func (im *Importer) atCommit(c ipld.CID, err error) error {
	err = im.explain(err)
	b := im.file.find(c)
	if b == nil || isFormat(err) {
		return err
	}
	if bad, ok := errors.AsType[*store.CorruptError](err); ok && im.file.find(bad.Want) == nil {
		return err
	}
	for _, content := range []error{errShape, store.ErrCorrupt, ipld.ErrInvalid, ipld.ErrCID} {
		if errors.Is(err, content) {
			return im.file.fault(b, "%v", err)
		}
	}
	return err
}

// shapes checks that the trees of a state have their canonical shape, given that those of the state before do.
func (im *Importer) shapes(before, after *state.State) error {
	trees := []struct {
		name          string
		before, after *prolly.Map
	}{
		{"nodes", before.Nodes, after.Nodes}, {"edges", before.Edges, after.Edges},
		{"out", before.Out, after.Out}, {"in", before.In, after.In},
		{"marks", before.Marks, after.Marks}, {"vectors", before.Vectors, after.Vectors},
		{"digests", before.Digests, after.Digests},
	}
	for _, t := range trees {
		if err := im.shape(t.before, t.after); err != nil {
			return fmt.Errorf("%s tree: %w", t.name, err)
		}
	}
	return nil
}

// shape checks one tree: by applying its changes to the previous tree, which must yield it, or by reading all of it
// if that is less work.
func (im *Importer) shape(before, after *prolly.Map) error {
	if before.Root() == after.Root() {
		return nil
	}
	edits := make([]prolly.Edit, 0, 16)
	for c, err := range prolly.Diff(im.Ctx, before, after) {
		if err != nil {
			return err
		}
		if edits = append(edits, prolly.Edit{Key: c.Key, Value: c.New}); len(edits) > maxShapeEdits {
			break
		}
	}
	if len(edits) > maxShapeEdits || uint64(len(edits)) > after.Len()/16 {
		return after.Check(im.Ctx)
	}
	made, err := before.Edit(im.Ctx, edits)
	if err == nil && made.Root() != after.Root() {
		err = fmt.Errorf("%w: the tree of these entries is %s", errShape, made.Root())
	}
	return err
}
