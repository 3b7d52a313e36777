package care

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// PurgeOptions configure a purge.
type PurgeOptions struct {
	state.Stamp
	Reason string // kept in the redactions, which everybody can read; at most commit.MaxReason bytes
	// KeepQueries keeps the texts of recorded requests that contain a text of the node.
	KeepQueries bool
	// DryRun determines what would be done and does nothing.
	DryRun bool
	// Progress, if set, is called now and then on the calling goroutine.
	Progress func(what string, done int)
	// Files, if not nil, erases from files outside of the store. holds reports whether a text contains an erased
	// one; if dry is set nothing must be changed. It returns whether any file contains one. Purges call it before
	// they change anything, and again when all blocks are erased, for what was written in between, while writers
	// wait. If it fails, either nothing was erased, or the same purge must call it again.
	Files func(ctx context.Context, holds func(text string) bool, dry bool) (held bool, err error)
}

// PurgeResult is the result of a purge, or of a dry run.
type PurgeResult struct {
	Node graph.ID `json:"node" shape:"null"` // zero if a text was purged
	// Derived lists nodes that were erased because only the node ever led to them: entities, tags and subjects that
	// are just a name. Ascending.
	Derived   []graph.ID `json:"derived"`
	Operation ipld.CID   `json:"operation" shape:"null"` // undefined for a dry run
	// Branches lists those that the node was removed from with the commits that did it; for a dry run, their
	// current commits.
	Branches []PurgedRef   `json:"branches"`
	Stages   []string      `json:"stages"`   // it was removed from
	Erased   []PurgedBlock `json:"redacted"` // blocks that were erased
	Shared   []SharedBlock `json:"shared"`   // blocks of the node that stay, as another node has the same
	// Hits lists at most maxPurgeHits blocks that contain a text of the node and stay: its key, its summary,
	// context, content, or a string property, of 4 scalars or more, in any version; a word of these with letters
	// and digits, of 8 bytes or more; or the name of a derived node. If a text was purged, these are the blocks
	// that contain it and cannot be erased.
	Hits []PurgeHit `json:"hits"`
	More int        `json:"more_hits"` // further hits
	// Pending reports that erased bytes are still in the repository's files, since the disk has no space to rewrite
	// them. ErasurePending reports this later.
	Pending bool `json:"erasure_pending"`
	// MustFree is how many bytes of disk space must be freed before they can go; 0 if none or unknown.
	MustFree uint64 `json:"must_free,omitempty"`
	// Denied is the reason if they are left to another role of the database; otherwise "".
	Denied string `json:"erasure_denied,omitempty" shape:"null"`
}

// PurgedRef is a branch and its commit.
type PurgedRef struct {
	Ref    graph.RefName `json:"ref"`
	Target ipld.CID      `json:"target"`
}

// PurgedBlock is a block that was erased.
type PurgedBlock struct {
	CID  ipld.CID      `json:"cid"`
	What commit.Erased `json:"what" shape:"node|content|embedding|digest|query|message|edge|mark"`
	Name string        `json:"name" shape:"null"` // id of a node or edge, "" for others
}

// SharedBlock is a block that stays, as another node has the same.
type SharedBlock struct {
	CID  ipld.CID      `json:"cid"`
	What commit.Erased `json:"what" shape:"content|embedding"`
	Name string        `json:"name" shape:"null"` // always ""
}

// PurgeHit is another block, or ref, that contains erased words.
type PurgeHit struct {
	What string   `json:"what"`             // node, content, embedding, query, message, or the kind of the record; ref
	CID  ipld.CID `json:"cid" shape:"null"` // undefined for a ref
	// Name is the id of a node or edge, or of a mark's target; the name of a ref; the CID of the record that a
	// message or query belongs to; "" for others.
	Name string `json:"name" shape:"null"`
}

const maxPurgeHits = 1000

// Purge erases every version of a node from every commit, kept or not: their records, chunks of content and
// embeddings, except chunks and embeddings that another node has too; the properties, keys and sources of its edges
// and the reasons of their marks and its own; likewise the nodes that nothing else ever led to and that are just a
// name; the texts of requests that contain a text of it; and all indexes. Each leaves a redaction. First one
// operation, which cannot be undone, removes the nodes from all branches and stages that have them; older commits
// keep their CIDs and stay readable, with a stand-in for the node. When it returns without an error, and the result
// is not Pending, no erased byte is left in the repository's files. An interrupted purge is finished when the
// repository is next opened for writing, without signatures; until then readers see the node, or what is left
// without it. It reads every block twice, three times if the node has edges. Readers continue; writers wait.
//
// A node is named by its key, its id or a prefix of that, or its exact summary, if no mark hides it. Purge returns
// a *state.NotFoundError if no version of the node exists or was purged, and an error wrapping a
// *core.InProgressError if a merge in progress has the node.
func Purge(ctx context.Context, r *core.Repo, node string, opt PurgeOptions) (*PurgeResult, error) {
	if r.Ro && !opt.DryRun {
		return nil, store.ErrReadOnly
	}
	ctx = store.Erasing(ctx)
	id, err := purgeTarget(ctx, r, node)
	if err != nil {
		return nil, err
	}
	return runPurge(r, &Erasing{Ctx: ctx, Repo: r, id: id, opt: opt}, node)
}

// runPurge implements Purge and PurgeText. name is the node as the caller gave it.
func runPurge(r *core.Repo, p *Erasing, name string) (*PurgeResult, error) {
	if r.Ro && !p.opt.DryRun {
		return nil, store.ErrReadOnly
	}
	if p.opt.Progress == nil {
		p.opt.Progress = func(string, int) {}
	}
	stub := commit.Redaction{
		What: commit.ErasedNode, Node: p.id, Actor: p.opt.Author, Time: p.opt.Time,
		Reason: p.opt.Reason,
	}
	if err := stub.Validate(); err != nil {
		return nil, fmt.Errorf("%w: purge: %w", state.ErrInvalid, err)
	}
	if err := p.opt.Secrets.Refuse(guard.Record(stub.Encode())); err != nil {
		return nil, err
	}
	p.res, p.Held = &PurgeResult{Node: p.id}, make(map[ipld.CID]bool)
	if !p.opt.DryRun && !p.able() {
		return nil, fmt.Errorf("purge: %w", ErrUnsupported)
	}
	if err := r.Collecting.Take(p.Ctx); err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	defer r.Collecting.Give()
	if !p.opt.DryRun {
		if err := finishHalf(p.Ctx, r); err != nil {
			return nil, fmt.Errorf("purge: %w", err)
		}
	}
	if err := p.run(name); err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	return p.res, nil
}

// Erasing is one running purge.
type Erasing struct {
	Ctx    context.Context
	Repo   *core.Repo
	id     graph.ID          // of the node; zero if a text is purged
	secret *secret           // the text; nil if a node is purged
	Held   map[ipld.CID]bool // blocks that hold the text
	opt    PurgeOptions
	res    *PurgeResult
	erase  store.Eraser
	notes  store.Notebook
}

func (p *Erasing) able() (ok bool) {
	var notes bool
	p.erase, ok = p.Repo.Store.(store.Eraser)
	p.notes, notes = p.Repo.Store.(store.Notebook)
	return ok && notes
}

func (p *Erasing) run(name string) error {
	if p.opt.DryRun {
		return p.look(name)
	}
	w := &p.Repo.Writer
	if err := w.Lock(p.Ctx); err != nil {
		return err
	}
	err := p.erasing(name)
	w.Unlock()
	if err != nil {
		return err
	}
	return p.finish()
}

func (p *Erasing) look(name string) error {
	s, err := p.scan()
	if err != nil {
		return err
	}
	if err := p.known(s, name); err != nil {
		return err
	}
	if _, err := p.files(s, true); err != nil {
		return err
	}
	v, err := p.Repo.Current(p.Ctx)
	if err != nil {
		return err
	}
	if err := p.free(v, s); err != nil {
		return err
	}
	return p.eachHolder(v, s, func(ref core.Ref, _ []graph.ID) error {
		if _, branch := ref.Name.Branch(); branch {
			p.res.Branches = append(p.res.Branches, PurgedRef{ref.Name, ref.Target})
		} else {
			p.res.Stages = append(p.res.Stages, string(ref.Name[len(graph.Stages):]))
		}
		return nil
	})
}

// known returns an error unless the node was found or has been purged before.
func (p *Erasing) known(s *PurgeScan, name string) error {
	if s.versions > 0 || p.secret != nil && len(s.Erase)+len(p.res.Hits) > 0 {
		return nil
	}
	if p.secret != nil {
		held, err := p.files(s, true)
		if err != nil || held {
			return err
		}
		return fmt.Errorf("nothing holds the text: %w", store.ErrNotFound)
	}
	purged, err := wasPurged(p.Ctx, p.Repo, p.id)
	if err == nil && !purged {
		err = &state.NotFoundError{What: "node", Name: name}
	}
	return err
}

func wasPurged(ctx context.Context, r *core.Repo, id graph.ID) (bool, error) {
	for e, err := range r.Redactions().All(ctx) {
		if err != nil || e.Record.Node == id {
			return err == nil, err
		}
	}
	return false, nil
}

// erasing does everything that must not interleave with other writes.
func (p *Erasing) erasing(name string) error {
	head, err := p.Repo.Store.Head(p.Ctx)
	if err != nil {
		return fmt.Errorf("read operation head: %w", err)
	}
	s, err := p.scan()
	if err == nil {
		err = p.known(s, name)
	}
	if err != nil {
		return err
	}
	note := purgeNote{
		node: p.id, actor: p.opt.Author, time: p.opt.Time, reason: p.opt.Reason,
		receipts: !p.opt.KeepQueries, seq: head.Seq, blocks: p.noted(),
	}
	v, err := core.LoadView(p.Ctx, p.Repo.Nodes(), p.Repo.Facts(), head)
	if err == nil {
		err = p.free(v, s)
	}
	if err != nil {
		return err
	}
	redactions, err := s.redactions(p.opt) // first, as it may fail
	if err == nil {
		if _, err = p.files(s, false); err != nil { // while the texts are known: a purge's note does not have them
			err = fmt.Errorf("nothing was erased: %w", err)
		}
	}
	if err != nil {
		return err
	}
	before, err := p.notes.Note(p.Ctx)
	if err == nil {
		err = p.notes.SetNote(p.Ctx, note.encode())
	}
	if err != nil {
		return err
	}
	if err := p.record(true, s); err != nil {
		if errors.Is(err, store.ErrUnknown) {
			return err // the next opening finds out whether it was recorded, and continues
		}
		// Nothing has changed. If this fails too, the next opening completes the purge.
		return errors.Join(err, p.notes.SetNote(p.Ctx, before))
	}
	if err := p.eraseAll(redactions); err != nil {
		return err
	}
	if _, err = p.files(s, false); err != nil {
		return fmt.Errorf("the store is purged, other files are not: %w", err)
	}
	return nil
}

// free returns an error if a merge in progress has a node that goes.
func (p *Erasing) free(v *core.View, s *PurgeScan) error {
	for ref, err := range v.MergesOn(p.Ctx, "") {
		if err != nil {
			return err
		}
		rec, err := commit.ReadMerge(p.Ctx, p.Repo.Facts(), ref.Target)
		if err != nil {
			return err
		}
		g, err := commit.ReadGraph(p.Ctx, p.Repo.Facts(), rec.Graph)
		if err != nil {
			return err
		}
		if ids, err := p.going(g.Nodes, s); err != nil || len(ids) > 0 {
			return cmp.Or(err, fmt.Errorf("%w: it has the node", p.Repo.InProgress(ref)))
		}
	}
	return nil
}

// going returns the nodes to remove from a tree of nodes, ascending.
func (p *Erasing) going(root ipld.CID, s *PurgeScan) (ids []graph.ID, err error) {
	tree, err := p.Repo.Nodes().Load(p.Ctx, root)
	if err != nil {
		return nil, fmt.Errorf("read nodes tree: %w", err)
	}
	for id := range s.Nodes {
		c, err := state.Lookup(p.Ctx, tree, id[:])
		if err != nil {
			return nil, err
		}
		if _, goes := s.Erase[c]; c.Defined() && (goes || s.whole(id)) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return ids, nil
}

// eachHolder calls fn with the branches and stages that have nodes to remove, and with these nodes.
func (p *Erasing) eachHolder(v *core.View, s *PurgeScan, fn func(core.Ref, []graph.ID) error) error {
	for _, ns := range []string{graph.Heads, graph.Stages} {
		for ref, err := range v.List(p.Ctx, ns) {
			if err != nil {
				return err
			}
			root, err := p.graphOf(ref)
			if err != nil {
				return err
			}
			ids, err := p.going(root, s)
			if err == nil && len(ids) > 0 {
				err = fn(ref, ids)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// graphOf returns the root of the tree of nodes of a branch or stage.
func (p *Erasing) graphOf(ref core.Ref) (ipld.CID, error) {
	facts := p.Repo.Facts()
	var root ipld.CID
	if _, branch := ref.Name.Branch(); branch {
		rec, err := p.Repo.ReadCommit(p.Ctx, ref.Target)
		if err != nil {
			return root, err
		}
		root = rec.Graph
	} else {
		rec, err := commit.ReadStage(p.Ctx, facts, ref.Target)
		if err != nil {
			return root, err
		}
		root = rec.Graph
	}
	g, err := commit.ReadGraph(p.Ctx, facts, root)
	if err != nil {
		return root, err
	}
	return g.Nodes, nil
}

// record removes the nodes from branches and stages in one operation. With always it records the operation even if
// none has any.
func (p *Erasing) record(always bool, s *PurgeScan) (err error) {
	by := p.opt.Stamp
	if len(by.Command) == 0 || by.Command[0] != core.PurgeVerb {
		by.Command = append([]string{core.PurgeVerb}, by.Command...)
	}
	if id := p.id.String(); p.secret == nil && !slices.Contains(by.Command, id) {
		by.Command = append(slices.Clone(by.Command), id)
	}
	p.res.Operation, err = p.Repo.Operate(p.Ctx, by, func(t *core.Tx) error {
		t.Always = always
		var unsigned state.UnsignedError // collects them, so that the caller signs all at once
		err := p.eachHolder(t.View, s, func(ref core.Ref, ids []graph.ID) error {
			err := p.remove(t, ref, ids)
			if lacks, ok := errors.AsType[*state.UnsignedError](err); ok {
				unsigned.Records = append(unsigned.Records, lacks.Records...)
				return nil
			}
			return err
		})
		if err == nil && len(unsigned.Records) > 0 {
			return &unsigned
		}
		return err
	})
	return err
}

// eraseAll replaces blocks by redactions, and erases all indexes.
func (p *Erasing) eraseAll(redactions []store.Redaction) error {
	return p.Repo.Indexes().ChangeAll(p.Ctx, func() error {
		return p.erase.Redact(p.Ctx, redactions...)
	})
}

func (p *Erasing) remove(t *core.Tx, ref core.Ref, ids []graph.ID) error {
	var removals []graph.Change
	for _, id := range ids {
		removals = append(removals, graph.Change{Remove: &graph.Removal{Node: graph.Ref{ID: id}}})
	}
	if _, branch := ref.Name.Branch(); !branch {
		rec, base, staged, err := t.LoadStage(p.Ctx, ref.Name, "", nil)
		if err != nil {
			return err
		}
		next, err := state.NewBatch(p.Ctx, t.Stage, t.Scratch, staged, p.opt.Stamp).Apply(core.Each(removals), false)
		if err == nil {
			err = t.WriteGraph(p.Ctx, next)
		}
		if err != nil {
			return err
		}
		p.res.Stages = append(p.res.Stages, string(ref.Name[len(graph.Stages):]))
		return t.WriteStage(p.Ctx, ref.Name, rec, base, next)
	}
	base, err := t.At(p.Ctx, ref.Target)
	if err != nil {
		return err
	}
	next, err := state.NewBatch(p.Ctx, t.Stage, t.Scratch, base.State, p.opt.Stamp).Apply(core.Each(removals), true)
	if err != nil {
		return err
	}
	var res core.CommitResult
	opt := core.CommitOptions{Stamp: p.opt.Stamp, Message: "purge " + p.purged()}
	if err := t.Commit(p.Ctx, ref, base, next, opt, &res); err != nil {
		return err
	}
	p.res.Branches = append(p.res.Branches, PurgedRef{ref.Name, res.Commit})
	return nil
}

// finish removes the bytes from the disk, which completes the purge, or finds that there is no space for that.
func (p *Erasing) finish() error {
	lacks, err := expel(p.Ctx, p.Repo)
	p.res.Pending, p.res.MustFree = lacks.pending, lacks.bytes
	p.res.Denied, err = notEntitled(err)
	return err
}

// resume finishes an interrupted purge. On a full disk it leaves that to the next purge or collection, or to an
// opening with more space.
func resume(ctx context.Context, r *core.Repo) error {
	err := resumeNow(ctx, r)
	if errors.Is(err, store.ErrNoRoom) {
		return nil
	}
	return err
}

func resumeNow(ctx context.Context, r *core.Repo) error {
	notes, ok := r.Store.(store.Notebook)
	if !ok || r.Ro {
		return nil
	}
	b, err := notes.Note(ctx)
	if err == nil && b != nil && r.SharedStore != nil { // it may be under way elsewhere
		b, err = r.Abandoned(ctx, notes)
	}
	if err != nil || b == nil {
		return err
	}
	ctx = store.Erasing(ctx)
	if isErasureNote(b) {
		if r.SharedStore != nil { // a collection does, which need not wait for others at each opening
			return nil
		}
		_, err := expel(ctx, r)
		return err
	}
	if err := r.Collecting.Take(ctx); err != nil {
		return fmt.Errorf("finish a purge: %w", err)
	}
	defer r.Collecting.Give()
	return finishPurge(ctx, r, b)
}

// finishHalf finishes a purge for which there was no space when the repository was opened. The caller holds collecting.
func finishHalf(ctx context.Context, r *core.Repo) error {
	notes, ok := r.Store.(store.Notebook)
	if !ok || r.SharedStore != nil {
		return nil
	}
	b, err := notes.Note(ctx)
	if err != nil || b == nil || isErasureNote(b) {
		return err
	}
	return finishPurge(ctx, r, b)
}

// finishPurge finishes the purge that a note describes.
func finishPurge(ctx context.Context, r *core.Repo, b []byte) error {
	note, err := decodePurgeNote(b)
	if err != nil {
		return err
	}
	p := &Erasing{
		Ctx: ctx, Repo: r, id: note.node, res: &PurgeResult{Node: note.node},
		Held: make(map[ipld.CID]bool),
	}
	if note.blocks != nil {
		p.secret = &secret{blocks: note.blocks}
	}
	p.opt = PurgeOptions{
		Stamp: state.Stamp{
			Author: note.actor, Time: note.time, Command: []string{core.PurgeVerb}, Secrets: state.SecretOptions{All: true},
		},
		Reason: note.reason, KeepQueries: !note.receipts, Progress: func(string, int) {},
	}
	if !p.able() {
		return fmt.Errorf("finish a purge: %w", ErrUnsupported)
	}
	if err := p.again(note.seq); err != nil {
		return fmt.Errorf("finish a purge: %w", err)
	}
	return nil
}

// again does what was not done. seq is the newest operation before the purge: if it is still the newest, the
// purge's own was not recorded.
func (p *Erasing) again(seq uint64) error {
	if err := p.Repo.Writer.Lock(p.Ctx); err != nil {
		return err
	}
	defer p.Repo.Writer.Unlock()
	head, err := p.Repo.Store.Head(p.Ctx)
	if err != nil {
		return fmt.Errorf("read operation head: %w", err)
	}
	s, err := p.scan()
	var redactions []store.Redaction
	if err == nil {
		redactions, err = s.redactions(p.opt) // not signed: who asked for it is not there
	}
	if err == nil {
		err = p.record(head.Seq == seq, s)
	}
	if err == nil {
		err = p.eraseAll(redactions)
	}
	if err == nil {
		err = p.finish()
	}
	return err
}

// purgeTarget returns the id of a node, which the current commit need not have. A text selects the visible node
// whose summary equals it.
func purgeTarget(ctx context.Context, r *core.Repo, node string) (graph.ID, error) {
	_, head, err := r.Branch(ctx)
	if err != nil {
		return graph.ID{}, err
	}
	s, err := r.At(ctx, head)
	if err != nil {
		return graph.ID{}, err
	}
	id, err := s.Name(ctx, node)
	if !session.IsMissing(err) {
		return id, err
	}
	ref, refErr := graph.ParseRef(node)
	if refErr == nil {
		was, err := everWas(ctx, r, ref.Target())
		if err != nil || was {
			return ref.Target(), err
		}
	}
	id, err = rank.FindTitle(ctx, s, node, func(m *graph.Mark) bool { return m == nil || !m.State.Hides() })
	if session.IsMissing(err) && refErr != nil {
		if missing, ok := errors.AsType[*state.NotFoundError](err); !ok || missing.Hidden == "" {
			err = state.Invalidf("node %q: %w", node, refErr)
		}
	}
	return id, err
}

// everWas reports whether any version of a node is or was in the repository, including erased ones.
func everWas(ctx context.Context, r *core.Repo, id graph.ID) (was bool, err error) {
	if was, err = wasPurged(ctx, r, id); was || err != nil {
		return was, err
	}
	err = r.Store.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		if b.CID.Codec() != ipld.DagCBOR || ipld.PeekKind(b.Data) != graph.KindNode {
			return nil
		}
		if n, err := graph.DecodeNode(b.Data); err == nil && n.ID == id {
			was = true
			return core.ErrStop
		}
		return nil
	})
	if errors.Is(err, core.ErrStop) {
		err = nil
	}
	return was, err
}

// purgeNote is stored from before a purge changes anything until it is done. It is a record:
//
//	v         int     1
//	kind      string  "purge"
//	seq       int     the newest operation before it
//	node      bytes   16 bytes: the node's id
//	time      int     time
//	actor     string
//	reason?   string
//	receipts  bool    whether texts of requests are erased too
//
// A purge of a text has no node. Its note begins with the byte 0 and the length of the record, 4 bytes big-endian;
// after the record follow the CIDs of the blocks that contain the text, 36 bytes each: the note must not contain
// the text.
type purgeNote struct {
	node     graph.ID
	actor    string
	time     graph.Time
	reason   string
	receipts bool
	seq      uint64
	blocks   map[ipld.CID]bool // that hold the text; nil if a node is purged
}

const kindPurge = "purge"

// fields names the fields of the record. A later version may add others.
func (n *purgeNote) fields(r *ipld.Record) {
	var unknown []ipld.Entry
	r.Begin(kindPurge, 1, &unknown)
	ipld.Number(r, "seq", &n.seq, 0, graph.MaxCount)
	if r.Has("node", n.blocks == nil) {
		r.Fixed("node", n.node[:])
	}
	r.Int("time", (*int64)(&n.time))
	r.String("actor", &n.actor)
	r.OptString("reason", &n.reason)
	r.Bool("receipts", &n.receipts)
}

func (n purgeNote) encode() []byte {
	record := ipld.WriteRecord(192, n.fields)
	if n.blocks == nil {
		return record
	}
	b := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(record))), record...)
	for _, c := range slices.SortedFunc(maps.Keys(n.blocks), ipld.CID.Compare) {
		b = c.Append(b)
	}
	return b
}

// noted returns the blocks that contain the text of a purge, nil for the purge of a node.
func (p *Erasing) noted() map[ipld.CID]bool {
	if p.secret == nil {
		return nil
	}
	return p.Held
}

func decodePurgeNote(b []byte) (n purgeNote, err error) {
	if len(b) > 5 && b[0] == 0 {
		rest := b[5:]
		length := int(binary.BigEndian.Uint32(b[1:]))
		if length > len(rest) || (len(rest)-length)%ipld.CIDLen != 0 {
			return n, fmt.Errorf("read note of a purge: %w: cut off", store.ErrCorrupt)
		}
		n.blocks = make(map[ipld.CID]bool)
		for list := rest[length:]; len(list) > 0; list = list[ipld.CIDLen:] {
			c, err := ipld.CIDFromBytes(list[:ipld.CIDLen])
			if err != nil {
				return n, fmt.Errorf("read note of a purge: %w: %w", store.ErrCorrupt, err)
			}
			n.blocks[c] = true
		}
		b = rest[:length]
	}
	_, err = ipld.ReadRecord(b, &n, n.fields, nil)
	if err == nil && (n.node.IsZero() != (n.blocks != nil) || n.actor == "") {
		err = fmt.Errorf("%w: no node or actor", ipld.ErrInvalid)
	}
	if err != nil {
		err = fmt.Errorf("read note of a purge: %w: %w", store.ErrCorrupt, err)
	}
	return n, err
}

// kindErasure is the kind of the record that replaces the note of a purge that erased everything but left erased
// bytes in the files because the disk was too full to rewrite them:
//
//	v     int     1
//	kind  string  "erasure"
const kindErasure = "erasure"

// erasureNote returns that record.
func erasureNote() []byte {
	return ipld.WriteRecord(16, func(r *ipld.Record) { r.Begin(kindErasure, 1, nil) })
}

func isErasureNote(b []byte) bool { return string(b) == string(erasureNote()) }

// ErasurePending reports whether purged bytes are still in the repository's files, since the disk had no space to
// rewrite these. Opening it for writing, a purge and a collection retry that.
func ErasurePending(ctx context.Context, r *core.Repo) (bool, error) {
	notes, ok := r.Store.(store.Notebook)
	if !ok {
		return false, nil
	}
	b, err := notes.Note(ctx)
	return isErasureNote(b), err
}

// shortage is the disk space that an erasure lacks.
type shortage struct {
	pending bool   // whether erased bytes are still in the files
	bytes   uint64 // how many bytes must be freed for these to go; 0 if the store does not know
}

// shortageOf returns the shortage that a store's error reports.
func shortageOf(err error) shortage {
	if room, ok := errors.AsType[*store.NoRoomError](err); ok {
		return shortage{true, room.MustFree()}
	}
	return shortage{pending: errors.Is(err, store.ErrNoRoom)}
}

// expel removes erased bytes from the disk, and the note of that work. If the disk lacks space, it replaces the
// note by one that says that only this is left; if there is not even space for that note, the existing one makes
// the next opening repeat more. The same happens if the database role lacks the privilege, which the error reports.
func expel(ctx context.Context, r *core.Repo) (shortage, error) {
	erase, ok := r.Store.(store.Eraser)
	notes, okNotes := r.Store.(store.Notebook)
	if !ok || !okNotes {
		return shortage{}, fmt.Errorf("erase: %w", ErrUnsupported)
	}
	err := erase.Compact(ctx)
	lacks := shortageOf(err)
	switch {
	case lacks.pending:
		note, err := notes.Note(ctx)
		if err == nil && !isErasureNote(note) {
			err = notes.SetNote(ctx, erasureNote())
		}
		if errors.Is(err, store.ErrNoRoom) {
			err = nil
		}
		return lacks, err
	case errors.Is(err, store.ErrDenied):
		if noteErr := notes.SetNote(ctx, erasureNote()); noteErr != nil {
			return shortage{pending: true}, noteErr
		}
		return shortage{pending: true}, err
	case err != nil:
		return shortage{pending: true}, fmt.Errorf("erasure pending, all else is done: %w", err)
	}
	return shortage{}, notes.SetNote(ctx, nil)
}

// expelPending retries an erasure for which there was no space, unless other work must be finished first.
func expelPending(ctx context.Context, r *core.Repo) error {
	pending, err := ErasurePending(ctx, r)
	if err == nil && pending {
		_, err = expel(store.Erasing(ctx), r)
		_, err = notEntitled(err)
	}
	return err
}

// notEntitled returns the reason if an erasure is left to another role, or "" and any other error.
func notEntitled(err error) (why string, other error) {
	if denied, ok := errors.AsType[*store.DeniedError](err); ok {
		return denied.Error(), nil
	}
	return "", err
}
