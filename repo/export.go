package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/car"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// ExportOptions says what to export: one of the first four, the zero value the branch HEAD is on.
type ExportOptions struct {
	Rev     string // a revision, or a range A..B: what B has and A does not; B may be left out
	Session string // a session by name, with the commits and receipts of its records
	Receipt string // a receipt by CID, with its commit
	All     bool   // all branches, tags and sessions
	// Selector, with a revision or without, takes of its commit what an IPLD selector in DAG-JSON reaches.
	// The file has the commit for its root and says no refs: it is for other tools, and no Import reads it.
	Selector string
	// Progress, where given, is called now and then on the calling goroutine with the numbers of
	// blocks and bytes written so far.
	Progress func(blocks int, bytes int64)
}

// ExportResult tells what an export wrote.
type ExportResult struct {
	Root    ipld.CID // the manifest, or the commit that a selector begins at
	Scope   commit.Scope
	Refs    []Ref      // in name order
	Objects []ipld.CID // commits and receipts without a ref
	Since   []ipld.CID // what an importing repository must have
	Blocks  int
	Bytes   int64
	// Redacted is the number of blocks that are left out because they were erased. The file says
	// so, and why.
	Redacted int
}

// Export writes commits, sessions or receipts, with everything they reach, as a CARv1 file that
// Import and other IPLD tools read. The bytes are a function of what is exported: they depend
// neither on the machine nor on who exports when. It writes as it reads; memory grows with the
// number of blocks, by some 50 bytes each, not with their size. After an error what was written is
// no complete file. It returns a *NotFoundError for what does not exist, and an error wrapping
// ErrInvalid where there is nothing to export.
func (r *Repo) Export(
	ctx context.Context, w io.Writer, opt ExportOptions,
) (*ExportResult, error) {
	r.keep.still.RLock()
	defer r.keep.still.RUnlock()
	v, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	if opt.Selector != "" {
		return r.exportSelected(ctx, w, v, opt)
	}
	sel, err := r.selectExport(ctx, v, opt)
	if err != nil {
		return nil, err
	}
	x := &exporter{
		ctx: ctx, repo: r, from: store.NewStage(r.facts(), 0), seen: make(map[ipld.CID]struct{}),
		redacted: make(map[ipld.CID][]byte), progress: opt.Progress,
	}
	for _, base := range sel.manifest.Since {
		if err := x.leaveOut(base); err != nil {
			return nil, err
		}
	}
	if err := x.findRedacted(sel); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := x.write(w, sel); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return &ExportResult{
		Root: x.root, Scope: sel.manifest.Scope, Refs: sel.list(), Objects: sel.manifest.Objects,
		Since: sel.manifest.Since, Blocks: x.out.Blocks(), Bytes: x.out.Bytes(),
		Redacted: len(x.redacted),
	}, nil
}

// selection is what an export holds: its manifest, but for the root of the refs, and those.
type selection struct {
	manifest commit.Export
	refs     map[graph.RefName]ipld.CID
}

func (s *selection) list() []Ref {
	var out []Ref
	for _, name := range slices.Sorted(maps.Keys(s.refs)) {
		out = append(out, Ref{Name: name, Target: s.refs[name]})
	}
	return out
}

func (r *Repo) selectExport(
	ctx context.Context, v *view, opt ExportOptions,
) (*selection, error) {
	s := &selection{refs: make(map[graph.RefName]ipld.CID)}
	s.manifest.Format = commit.ExportFormat
	given := 0
	for _, g := range []bool{opt.All, opt.Rev != "", opt.Session != "", opt.Receipt != ""} {
		if g {
			given++
		}
	}
	var err error
	switch {
	case given > 1:
		err = invalidf("export: a revision, a session, a receipt and all exclude each other")
	case opt.All:
		err = s.all(ctx, v)
	case opt.Session != "":
		err = s.session(ctx, v, opt.Session)
	case opt.Receipt != "":
		err = s.receipt(ctx, r, opt.Receipt)
	default:
		err = s.revision(ctx, r, v, opt.Rev)
	}
	return s, err
}

// all selects every branch, tag and session.
func (s *selection) all(ctx context.Context, v *view) error {
	s.manifest.Scope = commit.ScopeAll
	for _, ns := range []string{graph.Heads, graph.Tags, graph.Sessions} {
		for ref, err := range v.list(ctx, ns) {
			if err != nil {
				return err
			}
			s.refs[ref.Name] = ref.Target
		}
	}
	if len(s.refs) == 0 {
		return invalidf("export: nothing to export: no branch has a commit, and there is no session")
	}
	head, ok, err := v.ownHead(ctx)
	if _, branch := head.Name.Branch(); ok && branch {
		s.manifest.Head = head.Name
	}
	return err
}

func (s *selection) session(ctx context.Context, v *view, name string) error {
	s.manifest.Scope = commit.ScopeSession
	refName, err := sessionRef(name)
	if err != nil {
		return err
	}
	ref, ok, err := v.get(ctx, refName)
	if err == nil && !ok {
		err = &NotFoundError{What: "session", Name: name}
	}
	s.refs[ref.Name] = ref.Target
	return err
}

func (s *selection) receipt(ctx context.Context, r *Repo, name string) error {
	s.manifest.Scope = commit.ScopeReceipt
	c, err := ipld.ParseCID(name)
	if err != nil {
		return invalidf("receipt %q: %w", name, err)
	}
	if err := r.ofKind(ctx, c, name, retrieve.KindReceipt); err != nil {
		return err
	}
	s.manifest.Objects = []ipld.CID{c}
	return nil
}

// revision selects a revision or a range.
func (s *selection) revision(ctx context.Context, r *Repo, v *view, rev string) error {
	s.manifest.Scope = commit.ScopeRevision
	since, tip, isRange := strings.Cut(rev, "..")
	if !isRange {
		tip = rev
	}
	if tip == "" {
		tip = string(graph.Head)
	}
	c, err := r.resolve(ctx, v, tip)
	if err != nil {
		return err
	}
	if err := s.named(ctx, v, tip, c); err != nil || !isRange {
		return err
	}
	s.manifest.Scope = commit.ScopeRange
	base, err := r.resolve(ctx, v, since)
	if err != nil {
		return err
	}
	s.manifest.Since = []ipld.CID{base}
	empty, err := commit.IsAncestor(ctx, r.facts(), c, base)
	if err == nil && empty {
		err = invalidf("export: nothing to export: %s has all of %s", since, tip)
	}
	return err
}

// named selects the branch or tag that a revision names, the commit itself where it names neither.
func (s *selection) named(ctx context.Context, v *view, rev string, c ipld.CID) error {
	for _, name := range refCandidates(rev) {
		ref, ok, err := v.resolve(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		switch ns, _ := ref.Name.Split(); ns {
		case graph.Heads:
			s.manifest.Head = ref.Name
			s.refs[ref.Name] = ref.Target
			return nil
		case graph.Tags:
			s.refs[ref.Name] = ref.Target
			return nil
		}
		break
	}
	s.manifest.Objects = []ipld.CID{c}
	return nil
}

// exporter writes one file.
type exporter struct {
	ctx      context.Context
	repo     *Repo
	from     *store.Stage // the facts, and before them the tree of refs
	out      *car.Writer
	root     ipld.CID
	seen     map[ipld.CID]struct{} // written, or left out
	redacted map[ipld.CID][]byte   // what was erased, and what is left of it
	progress func(int, int64)
}

// tree builds a tree of links in the exporter's own blocks.
func (x *exporter) tree(entries map[string]ipld.CID) (ipld.CID, error) {
	m, err := prolly.NewNodes(x.from, nil).Build(x.ctx,
		func(yield func(prolly.Entry, error) bool) {
			for _, key := range slices.Sorted(maps.Keys(entries)) {
				e := prolly.Entry{Key: []byte(key), Value: ipld.AppendLink(nil, entries[key])}
				if !yield(e, nil) {
					return
				}
			}
		})
	if err != nil {
		return ipld.CID{}, err
	}
	return m.Root(), nil
}

// errErasedNow is returned where a block is erased while the file is written that has it: what is missing stands at
// its beginning.
var errErasedNow = fmt.Errorf("%w: something was erased meanwhile: ask again", store.ErrBusy)

// errFound ends a walk that found what it looked for.
var errFound = errors.New("found")

// anyRedacted reports whether anything was ever erased.
func (r *Repo) anyRedacted(ctx context.Context) (bool, error) {
	e, ok := r.store.(store.Eraser)
	if !ok {
		return false, nil
	}
	err := e.Redactions(ctx, func(store.Redaction) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// findRedacted walks what is to be written, where anything was ever erased, and makes the tree of
// what it misses: the manifest, which names it, comes first in the file.
func (x *exporter) findRedacted(s *selection) error {
	if any, err := x.repo.anyRedacted(x.ctx); err != nil || !any {
		return err
	}
	leftOut := maps.Clone(x.seen)
	roots := slices.Clone(s.manifest.Objects)
	for _, ref := range s.list() {
		roots = append(roots, ref.Target)
	}
	for _, c := range roots {
		if err := walkLeads(lead{c, roleNamed}, x.look); err != nil {
			return err
		}
	}
	x.seen = leftOut
	return x.keepRedacted(s)
}

// keepRedacted makes the tree of what was erased.
func (x *exporter) keepRedacted(s *selection) (err error) {
	if len(x.redacted) == 0 {
		return nil
	}
	entries := make(map[string]ipld.CID)
	for c, stub := range x.redacted {
		if _, err := commit.DecodeRedaction(stub); err != nil {
			return fmt.Errorf("redaction of %s: %w: %w", c, store.ErrCorrupt, err)
		}
		b := store.NewBlock(ipld.DagCBOR, stub)
		if err := x.from.Put(x.ctx, b); err != nil {
			return err
		}
		entries[string(c.Bytes())] = b.CID
	}
	s.manifest.Redacted, err = x.tree(entries)
	return err
}

// look finds what was erased.
func (x *exporter) look(l lead) ([]lead, error) {
	if _, ok := x.seen[l.cid]; ok {
		return nil, nil
	}
	x.seen[l.cid] = struct{}{}
	block, err := x.from.Get(x.ctx, l.cid)
	var gone *store.RedactedError
	if errors.As(err, &gone) && l.as.erasable() {
		x.redacted[l.cid] = gone.Stub
		return nil, nil
	}
	return x.follow(l, block, err)
}

// follow returns what a block leads to that was read with err.
func (x *exporter) follow(l lead, block []byte, err error) ([]lead, error) {
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.as, err)
	}
	next, _, err := leads(l, block)
	if err != nil {
		err = fmt.Errorf("read %s %s: %w: %w", l.as, l.cid, store.ErrCorrupt, err)
	}
	return next, err
}

func (x *exporter) write(w io.Writer, s *selection) error {
	if err := x.begin(w, s); err != nil {
		return err
	}
	if err := walkLeads(lead{x.root, roleManifest}, x.visit); err != nil {
		return err
	}
	return x.out.Flush()
}

// begin makes the manifest and begins the file.
func (x *exporter) begin(w io.Writer, s *selection) error {
	refs := make(map[string]ipld.CID)
	for name, c := range s.refs {
		refs[string(name)] = c
	}
	var err error
	if s.manifest.Refs, err = x.tree(refs); err != nil {
		return err
	}
	if err := s.manifest.Validate(); err != nil {
		return err
	}
	block := store.NewBlock(ipld.DagCBOR, s.manifest.Encode())
	x.root = block.CID
	if err := x.from.Put(x.ctx, block); err != nil {
		return err
	}
	x.out, err = car.NewWriter(w, x.root)
	return err
}

// progressEvery is how many blocks lie between two calls of a progress function.
const progressEvery = 1000

// visit writes a block that is not in the file yet.
func (x *exporter) visit(l lead) ([]lead, error) {
	if _, ok := x.seen[l.cid]; ok {
		return nil, nil
	}
	x.seen[l.cid] = struct{}{}
	if _, gone := x.redacted[l.cid]; gone {
		return nil, nil
	}
	block, err := x.from.Get(x.ctx, l.cid)
	if errors.Is(err, store.ErrRedacted) && l.as.erasable() {
		err = errErasedNow
	}
	next, err := x.follow(l, block, err)
	if err != nil {
		return nil, err
	}
	if err := x.out.Put(l.cid, block); err != nil {
		return nil, err
	}
	if x.progress != nil && x.out.Blocks()%progressEvery == 0 {
		x.progress(x.out.Blocks(), x.out.Bytes())
	}
	return next, nil
}

// leaveOut marks what an importing repository with a commit has for sure: its ancestors, and the
// state of the memory there: the chunks of its trees and what these link to.
func (x *exporter) leaveOut(base ipld.CID) error {
	for e, err := range commit.History(x.ctx, x.repo.facts(), base) {
		if err != nil {
			return err
		}
		x.seen[e.CID] = struct{}{}
	}
	rec, err := x.repo.commit(x.ctx, base)
	if err != nil {
		return err
	}
	state := opt([]lead{{rec.Graph, roleGraph}}, rec.Profile, roleProfile)
	for _, l := range opt(opt(state, rec.Vectors, roleVectors), rec.Digests, roleDigests) {
		if err := walkLeads(l, x.skip); err != nil {
			return err
		}
	}
	return nil
}

// skip marks a block as left out. It goes on where there are trees and does not read what their
// entries link to.
func (x *exporter) skip(l lead) ([]lead, error) {
	if _, ok := x.seen[l.cid]; ok {
		return nil, nil
	}
	x.seen[l.cid] = struct{}{}
	if _, tree := leaves[l.as]; !tree && l.as != roleGraph {
		return nil, nil
	}
	block, err := x.from.Get(x.ctx, l.cid)
	return x.follow(l, block, err)
}
