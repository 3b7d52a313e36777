package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/car"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/segment"
	"github.com/mnem-project/mnem/store"
)

const (
	// importTrees bounds the decoded chunks of a file that are kept while it is checked, in bytes.
	importTrees = 32 << 20
	// maxShapeEdits is up to how many changes the shape of a tree is checked by making them on the
	// tree before, which costs a path each; above, reading the whole tree costs less memory.
	maxShapeEdits = 4096
)

// importer checks one file against one repository.
type importer struct {
	ctx      context.Context
	repo     *Repo
	over     *Repo // reads the file's blocks before the repository's; writes nothing
	file     *carFile
	opt      ImportOptions
	manifest *commit.Export
	refs     []Ref              // of the file, in name order
	outside  map[ipld.CID]role  // what the file leads to in the repository
	fresh    []ipld.CID         // commits that no ref reaches yet, parents before children
	gone     map[ipld.CID]bool  // what the file leads to that was erased where it is from
	f        *fsck              // of over; its seen commits are those known to be sound
	placed   map[string]*placed // by session
	open     bool               // whether that leaves gaps, which other files may fill
	// place fills in which refs change, given the refs there are.
	place func(*importer, *view, *ImportResult) error
}

// newImporter returns an importer with caches of its own: chunks of a file that is refused must
// not stay in those of the repository.
func newImporter(ctx context.Context, r *Repo, file *carFile, opt ImportOptions) *importer {
	over := &Repo{
		store: importStore{r.store, file}, ro: true,
		trees: prolly.NewCache(importTrees), parts: segment.NewCache(0), vectors: newVectorCache(0),
		rows: segment.NewCache(0), buckets: segment.NewCache(0),
	}
	return &importer{
		ctx: ctx, repo: r, over: over, file: file, opt: opt, outside: make(map[ipld.CID]role),
		gone: make(map[ipld.CID]bool),
		f: &fsck{
			ctx: ctx, repo: over, report: &FsckReport{},
			seen: make(map[ipld.CID]bool), trees: make(map[ipld.CID]bool),
			known: newKnownRecords(),
		},
	}
}

// check returns an error unless the file may be taken in: a *car.FormatError where it is at fault.
func (im *importer) check() error {
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

// verdict returns the first thing that fsck found wrong.
func (im *importer) verdict() error {
	if err := im.ctx.Err(); err != nil || len(im.f.report.Errors) == 0 {
		return err
	}
	e := im.f.report.Errors[0]
	switch b := im.file.find(e.CID); {
	case b != nil:
		return im.file.fault(b, "%s", e.Message)
	case e.Kind == FsckBlock:
		return fmt.Errorf("%w: %s", store.ErrCorrupt, e.Message)
	}
	return &car.FormatError{CID: e.CID, Reason: e.Message}
}

// explain names the block of the file that an error is about. What is wrong with a block of the
// repository stays what it is.
func (im *importer) explain(err error) error {
	var format *car.FormatError
	var shape *prolly.ShapeError
	var missing *MissingError
	switch {
	case errors.As(err, &format):
		return err
	case errors.As(err, &missing):
		return &car.FormatError{CID: missing.CID, Reason: "the block is missing: it is neither in " +
			"the file nor here"}
	case errors.As(err, &shape):
		if b := im.file.find(shape.CID); b != nil {
			return im.file.fault(b, "%v", err)
		}
	}
	return err
}

func (im *importer) readManifest() error {
	root := im.file.find(im.file.root)
	block, err := im.file.read(root)
	if err != nil {
		return err
	}
	if im.manifest, err = commit.DecodeExport(block); err != nil {
		return im.file.fault(root, "not a manifest: %v", err)
	}
	for _, c := range im.manifest.Since {
		has, err := im.repo.store.Facts().Has(im.ctx, c)
		if err == nil && !has {
			err = &PrerequisiteError{c}
		}
		if err == nil && im.file.find(c) == nil {
			err = im.leadOut(root, lead{c, roleCommit})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRedactions reads what the file says was erased.
func (im *importer) readRedactions() error {
	if !im.manifest.Redacted.Defined() {
		return nil
	}
	root := im.file.find(im.file.root)
	tree, err := im.over.nodes().Load(im.ctx, im.manifest.Redacted)
	if err == nil {
		err = tree.Check(im.ctx)
	}
	if err != nil {
		return err
	}
	redacted := make(map[ipld.CID][]byte)
	for e, err := range tree.Scan(im.ctx, nil, nil) {
		var c, link ipld.CID
		if err == nil {
			link, err = linkItem(e.Value)
		}
		if err == nil {
			c, err = ipld.CIDFromBytes(e.Key)
		}
		if err == nil && im.file.find(c) != nil {
			err = fmt.Errorf("block %s is in the file and redacted", c)
		}
		if err == nil {
			redacted[c], err = im.over.facts().Get(im.ctx, link)
		}
		if err != nil {
			return im.file.fault(root, "redactions: %v", err)
		}
	}
	im.file.redacted = redacted
	return nil
}

// reach reads every block that the manifest leads to, in its role, and fails where one is missing,
// or in the file for no reason.
func (im *importer) reach() error {
	done := 0
	err := walkLeads(lead{im.file.root, roleManifest}, func(l lead) ([]lead, error) {
		b := im.file.find(l.cid)
		if b.as != 0 {
			return nil, im.again(b, l)
		}
		if done++; done%progressEvery == 0 {
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

// leadIn reads a block of the file in its role and returns what it leads to in the file. What else
// it leads to must be in the repository.
func (im *importer) leadIn(b *carBlock, l lead) ([]lead, error) {
	if err := im.ctx.Err(); err != nil {
		return nil, err
	}
	block, err := im.file.read(b)
	if err != nil {
		return nil, err
	}
	next, as, err := im.f.known.leads(l, block)
	if err != nil {
		return nil, im.file.fault(b, "%v", err)
	}
	b.as = as
	inside := next[:0]
	for _, n := range next {
		if im.file.find(n.cid) != nil {
			inside = append(inside, n)
		} else if err := im.leadOut(b, n); err != nil {
			return nil, err
		}
	}
	return inside, nil
}

// again checks a block of the file that something else led to before. The tree of refs shares the
// empty chunk with others, for whose sake it is stored then.
func (im *importer) again(b *carBlock, l lead) error {
	if err := im.sameRole(b, b.as, l); err != nil {
		return err
	}
	if b.as == roleRefs {
		b.as = l.as
	}
	return nil
}

// leadOut checks a block that is not in the file, and so must be in the repository.
func (im *importer) leadOut(from *carBlock, l lead) error {
	if as, ok := im.outside[l.cid]; ok {
		return im.sameRole(from, as, l)
	}
	block, err := im.repo.store.Facts().Get(im.ctx, l.cid)
	stub, gone := im.file.redacted[l.cid]
	switch {
	case errors.Is(err, store.ErrRedacted) && l.as.erasedAs(stubOf(err)):
		im.outside[l.cid] = l.as
		return nil
	case errors.Is(err, store.ErrNotFound) && gone && l.as.erasedAs(stub):
		im.outside[l.cid], im.gone[l.cid] = l.as, true
		return nil
	case errors.Is(err, store.ErrNotFound):
		return im.file.fault(from, "the block leads to the %s %s, which is missing: it is neither in "+
			"the file nor here", l.as, l.cid)
	case err != nil:
		return err
	}
	_, as, err := leads(l, block)
	if err != nil {
		return im.file.fault(from, "the %s %s is something else: %v", l.as, l.cid, err)
	}
	im.outside[l.cid] = as
	return nil
}

// stubOf returns what is left of the erased block that an error is about.
func stubOf(err error) []byte {
	var gone *store.RedactedError
	if !errors.As(err, &gone) {
		return nil
	}
	return gone.Stub
}

// sameRole checks that a block that was met before in a role may be met in another. Trees share
// chunks, the empty one for instance: what their entries are, is seen when they are read.
func (im *importer) sameRole(at *carBlock, before role, l lead) error {
	_, tree := leaves[l.as]
	_, wasTree := leaves[before]
	named := l.as == roleNamed && before >= roleCommit && before <= roleReceipt
	if before == l.as || tree && wasTree || named {
		return nil
	}
	return im.file.fault(at, "block %s is led to as %s and as %s", l.cid, before, l.as)
}

// roleOf returns the role of a block that the manifest reaches.
func (im *importer) roleOf(c ipld.CID) role {
	if b := im.file.find(c); b != nil {
		return b.as
	}
	return im.outside[c]
}

// readRefs reads the tree of refs and checks what each names.
func (im *importer) readRefs() error {
	root := im.file.find(im.file.root)
	tree, err := im.over.nodes().Load(im.ctx, im.manifest.Refs)
	if err == nil {
		err = tree.Check(im.ctx)
	}
	if err != nil {
		return err
	}
	head := im.manifest.Head == ""
	for ref, err := range (&view{tree: tree}).list(im.ctx, "") {
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
		if as := im.roleOf(c); as != roleCommit && as != roleReceipt {
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

// checkRef checks the name of a ref of the file and what it names.
func (im *importer) checkRef(ref Ref) error {
	if err := graph.ValidateRef(ref.Name); err != nil {
		return err
	}
	as := im.roleOf(ref.Target)
	ok := false
	switch ns, _ := ref.Name.Split(); ns {
	case graph.Heads:
		ok = as == roleCommit
	case graph.Tags:
		ok = as == roleCommit || as == roleTag
	case graph.Sessions:
		ok = as == roleSession
	}
	if !ok {
		return fmt.Errorf("ref %s does not belong in a file, or not to a %s", ref.Name, as)
	}
	if as != roleTag {
		return nil
	}
	tag, err := commit.ReadTag(im.ctx, im.over.facts(), ref.Target)
	if err == nil {
		_, err = commit.ReadMessage(im.ctx, im.over.facts(), tag.Message)
	}
	if errors.Is(err, store.ErrRedacted) {
		err = nil
	}
	return err
}

// verify shows the new commits to whoever asked to see them.
func (im *importer) verify() error {
	if im.opt.Verify == nil {
		return nil
	}
	return im.opt.Verify(func(yield func(commit.LogEntry, error) bool) {
		for _, c := range im.fresh {
			rec, err := im.over.commit(im.ctx, c)
			if !yield(commit.LogEntry{CID: c, Commit: rec}, err) || err != nil {
				return
			}
		}
	})
}

// records checks sessions and receipts. Their commits were checked before.
func (im *importer) records() error {
	for _, ref := range im.refs {
		if im.roleOf(ref.Target) == roleSession {
			im.f.session(ref.Target)
		}
	}
	for _, c := range im.manifest.Objects {
		if im.roleOf(c) == roleReceipt {
			im.f.receipt(c)
		}
	}
	return nil
}
