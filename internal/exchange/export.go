// Package exchange moves commits between repositories: CAR files, and packs that a receiver accepts completely or
// not at all.
package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ExportOptions selects what to export: at most one of the first four, otherwise the branch HEAD is on.
type ExportOptions struct {
	Rev     string // a revision, or a range A..B: what B has and A does not; B may be omitted
	Session string // a session by name, with the commits and receipts of its records
	Receipt string // a receipt by CID, with its commit
	All     bool   // all branches, tags and sessions
	// Selector, with or without a revision, exports only what an IPLD selector in DAG-JSON reaches from its commit.
	// The file's root is the commit and it has no refs: it is for other tools, and Import does not read it.
	Selector string
	// Progress, if set, is called now and then on the calling goroutine with the numbers of
	// blocks and bytes written so far.
	Progress func(blocks int, bytes int64)
}

// ExportResult is the result of an export.
type ExportResult struct {
	Roots   []ipld.CID   `json:"roots"` // one: the manifest, or the commit that a selector begins at
	Scope   commit.Scope `json:"scope"`
	Refs    []core.Ref   `json:"refs"`    // in name order
	Objects []ipld.CID   `json:"objects"` // commits and receipts without a ref
	Since   []ipld.CID   `json:"since"`   // commits that an importing repository must have
	Blocks  int          `json:"blocks"`
	Bytes   int64        `json:"bytes"`
	// Redacted is the number of blocks omitted because they were erased. The file records this, and why.
	Redacted int `json:"redacted"`
}

// Export writes commits, sessions or receipts, with everything they reach, as a CARv1 file that Import and other
// IPLD tools read. The bytes are a function of what is exported: they depend neither on the machine nor on who
// exports when. It streams: memory grows by some 50 bytes a block, independent of block size. After an error the
// output is not a complete file. It returns a *state.NotFoundError for what does not exist, and an error wrapping
// state.ErrInvalid if there is nothing to export.
func Export(ctx context.Context, r *core.Repo, w io.Writer, opt ExportOptions) (*ExportResult, error) {
	r.Keep.Still.RLock()
	defer r.Keep.Still.RUnlock()
	v, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	if opt.Selector != "" {
		return exportSelected(ctx, r, w, v, opt)
	}
	sel, err := selectExport(ctx, r, v, opt)
	if err != nil {
		return nil, err
	}
	x := newExporter(ctx, r, opt.Progress)
	for _, base := range sel.manifest.Since {
		if err := x.leaveOut(base); err != nil {
			return nil, err
		}
	}
	roots := slices.Clone(sel.manifest.Objects)
	for _, ref := range sel.list() {
		roots = append(roots, ref.Target)
	}
	err = x.write(w, sel, x.lead, func() error {
		for _, c := range roots { // written by then, but for the first of two passes
			if err := state.WalkLeads(state.Lead{Cid: c, As: state.RoleNamed}, x.lead); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return &ExportResult{
		Roots: []ipld.CID{x.root}, Scope: sel.manifest.Scope, Refs: sel.list(), Objects: sel.manifest.Objects,
		Since: sel.manifest.Since, Blocks: x.out.Blocks(), Bytes: x.out.Bytes(),
		Redacted: len(x.redacted),
	}, nil
}

// selection is the content of an export: its refs, and its manifest except the root of the refs.
type selection struct {
	manifest commit.Export
	refs     map[graph.RefName]ipld.CID
}

func (s *selection) list() []core.Ref {
	var out []core.Ref
	for _, name := range slices.Sorted(maps.Keys(s.refs)) {
		out = append(out, core.Ref{Name: name, Target: s.refs[name]})
	}
	return out
}

func selectExport(ctx context.Context, r *core.Repo, v *core.View, opt ExportOptions) (*selection, error) {
	s := &selection{refs: make(map[graph.RefName]ipld.CID)}
	s.manifest.Format = commit.ExportFormat
	var err error
	switch {
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
func (s *selection) all(ctx context.Context, v *core.View) error {
	s.manifest.Scope = commit.ScopeAll
	for _, ns := range []string{graph.Heads, graph.Tags, graph.Sessions} {
		for ref, err := range v.List(ctx, ns) {
			if err != nil {
				return err
			}
			s.refs[ref.Name] = ref.Target
		}
	}
	if len(s.refs) == 0 {
		return state.Invalidf("export: nothing to export: no branch has a commit, and there is no session")
	}
	head, ok, err := v.OwnHead(ctx)
	if _, branch := head.Name.Branch(); ok && branch {
		s.manifest.Head = head.Name
	}
	return err
}

func (s *selection) session(ctx context.Context, v *core.View, name string) error {
	s.manifest.Scope = commit.ScopeSession
	refName, err := session.SessionRef(v.Own(name))
	if err != nil {
		return err
	}
	ref, ok, err := v.Get(ctx, refName)
	if err == nil && !ok {
		err = &state.NotFoundError{What: "session", Name: name}
	}
	s.refs[ref.Name] = ref.Target
	return err
}

func (s *selection) receipt(ctx context.Context, r *core.Repo, name string) error {
	s.manifest.Scope = commit.ScopeReceipt
	c, err := ipld.ParseCID(name)
	if err != nil {
		return state.Invalidf("receipt %q: %w", name, err)
	}
	if err := r.Revisions().OfKind(ctx, c, name, retrieve.KindReceipt); err != nil {
		return err
	}
	s.manifest.Objects = []ipld.CID{c}
	return nil
}

// revision selects a revision or a range.
func (s *selection) revision(ctx context.Context, r *core.Repo, v *core.View, rev string) error {
	s.manifest.Scope = commit.ScopeRevision
	since, tip, isRange := strings.Cut(rev, "..")
	if !isRange {
		tip = rev
	}
	tip = cmp.Or(tip, string(graph.Head))
	c, err := r.Revisions().ResolveIn(ctx, v, tip)
	if err != nil {
		return err
	}
	if err := s.named(ctx, v, tip, c); err != nil || !isRange {
		return err
	}
	s.manifest.Scope = commit.ScopeRange
	base, err := r.Revisions().ResolveIn(ctx, v, since)
	if err != nil {
		return err
	}
	s.manifest.Since = []ipld.CID{base}
	empty, err := commit.IsAncestor(ctx, r.Facts(), c, base)
	if err == nil && empty {
		err = state.Invalidf("export: nothing to export: %s has all of %s", since, tip)
	}
	return err
}

// named selects the branch or tag that a revision names, or the commit itself if it names neither.
func (s *selection) named(ctx context.Context, v *core.View, rev string, c ipld.CID) error {
	for _, name := range core.RefCandidates(rev) {
		ref, ok, err := v.Resolve(ctx, name)
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

type exporter struct {
	ctx      context.Context
	repo     *core.Repo
	from     *store.Stage // the facts, and before them the tree of refs
	out      *car.Writer
	root     ipld.CID
	seen     map[ipld.CID]struct{} // written, or left out
	redacted map[ipld.CID][]byte   // erased blocks, with their stubs
	progress func(int, int64)
}

func newExporter(ctx context.Context, r *core.Repo, progress func(int, int64)) exporter {
	return exporter{
		ctx: ctx, repo: r, from: store.NewStage(r.Facts(), 0), seen: make(map[ipld.CID]struct{}),
		redacted: make(map[ipld.CID][]byte), progress: progress,
	}
}

// tree builds a tree of links in the exporter's own stage.
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

// errErasedNow is returned when a block is erased while its file is being written: the file's beginning, already
// written, lists the missing blocks.
var errErasedNow = fmt.Errorf("%w: something was erased during the export: try again", store.ErrBusy)

// anyRedacted reports whether anything was ever erased, or may have been.
func anyRedacted(ctx context.Context, r *core.Repo) bool {
	for range r.Redactions().All(ctx) {
		return true
	}
	return false
}

// keepRedacted makes the tree of erased blocks.
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

// write writes a file: the manifest and what visit returns for its links, then the rest. If anything was ever
// erased, it first scans the rest for missing blocks: the manifest, which lists them, is written first.
func (x *exporter) write(
	w io.Writer, s *selection, visit func(state.Lead) ([]state.Lead, error), rest func() error,
) error {
	var err error
	if anyRedacted(x.ctx, x.repo) {
		leftOut := maps.Clone(x.seen)
		if err = rest(); err == nil {
			err = x.keepRedacted(s)
		}
		x.seen = leftOut
	}
	if err == nil {
		err = x.begin(w, s)
	}
	if err == nil {
		err = state.WalkLeads(state.Lead{Cid: x.root, As: state.RoleManifest}, visit)
	}
	if err == nil {
		err = rest()
	}
	if err != nil {
		return err
	}
	return x.out.Flush()
}

// begin makes the manifest and starts the file.
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

// put writes a block unless it was written, and returns its bytes. It returns nil for a block written before or erased.
func (x *exporter) put(l state.Lead) ([]byte, error) {
	if _, ok := x.seen[l.Cid]; ok {
		return nil, nil
	}
	x.seen[l.Cid] = struct{}{}
	block, err := x.from.Get(x.ctx, l.Cid)
	var gone *store.RedactedError
	switch {
	case errors.As(err, &gone) && l.As.Erasable():
		if _, told := x.redacted[l.Cid]; !told && x.out != nil {
			return nil, fmt.Errorf("read %s: %w", l.As, errErasedNow)
		}
		x.redacted[l.Cid] = gone.Stub
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", l.As, err)
	case x.out == nil: // the first of two passes
		return block, nil
	}
	if err := x.out.Put(l.Cid, block); err != nil {
		return nil, err
	}
	if x.progress != nil && x.out.Blocks()%core.ProgressEvery == 0 {
		x.progress(x.out.Blocks(), x.out.Bytes())
	}
	return block, nil
}

func (x *exporter) lead(l state.Lead) ([]state.Lead, error) {
	block, err := x.put(l)
	if block == nil || err != nil {
		return nil, err
	}
	return leads(l, block)
}

func leads(l state.Lead, block []byte) ([]state.Lead, error) {
	next, _, err := state.Leads(l, block)
	if err != nil {
		err = fmt.Errorf("read %s %s: %w: %w", l.As, l.Cid, store.ErrCorrupt, err)
	}
	return next, err
}

// leaveOut marks what a repository that has the commit base is sure to have: its ancestors, and its state: the
// chunks of its trees and their targets.
func (x *exporter) leaveOut(base ipld.CID) error {
	for e, err := range commit.History(x.ctx, x.repo.Facts(), base) {
		if err != nil {
			return err
		}
		x.seen[e.CID] = struct{}{}
	}
	rec, err := x.repo.ReadCommit(x.ctx, base)
	if err != nil {
		return err
	}
	list := state.Opt([]state.Lead{{Cid: rec.Graph, As: state.RoleGraph}}, rec.Profile, state.RoleProfile)
	for _, l := range state.Opt(state.Opt(list, rec.Vectors, state.RoleVectors), rec.Digests, state.RoleDigests) {
		if err := state.WalkLeads(l, x.skip); err != nil {
			return err
		}
	}
	return nil
}

// skip marks a block as omitted. It follows trees, but does not read the targets of their entries.
func (x *exporter) skip(l state.Lead) ([]state.Lead, error) {
	if _, ok := x.seen[l.Cid]; ok {
		return nil, nil
	}
	x.seen[l.Cid] = struct{}{}
	if !l.As.Tree() && l.As != state.RoleGraph {
		return nil, nil
	}
	block, err := x.from.Get(x.ctx, l.Cid)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.As, err)
	}
	return leads(l, block)
}

// exportSelected writes the blocks that a selector reaches from a commit, in the order of its walk. Erased blocks
// are omitted and counted.
func exportSelected(ctx context.Context, r *core.Repo, w io.Writer, v *core.View, opt ExportOptions) (*ExportResult, error) {
	selector, err := ipld.ParseSelector([]byte(opt.Selector))
	if err != nil {
		return nil, state.Invalidf("export: selector: %w", err)
	}
	root, err := r.Revisions().ResolveIn(ctx, v, cmp.Or(opt.Rev, string(graph.Head)))
	if err != nil {
		return nil, err
	}
	res := &ExportResult{Roots: []ipld.CID{root}, Scope: commit.ScopeSelector}
	var out *car.Writer
	err = selector.Walk(ctx, root, func(ctx context.Context, c ipld.CID) ([]byte, error) {
		block, err := r.Facts().Get(ctx, c)
		if errors.Is(err, store.ErrRedacted) {
			res.Redacted++
			return nil, ipld.ErrSkip
		}
		if err == nil && out == nil {
			out, err = car.NewWriter(w, root)
		}
		if err != nil {
			return nil, err
		}
		if err := out.Put(c, block); err != nil {
			return nil, err
		}
		if opt.Progress != nil && out.Blocks()%core.ProgressEvery == 0 {
			opt.Progress(out.Blocks(), out.Bytes())
		}
		return block, nil
	})
	if errors.Is(err, ipld.ErrSelector) {
		return nil, state.Invalidf("export: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	res.Blocks, res.Bytes = out.Blocks(), out.Bytes()
	return res, nil
}
