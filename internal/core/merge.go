package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// MergesInProgress begins the refs of merges that wait for conflicts to be resolved, before the name of the branch.
	MergesInProgress = graph.Conflicts + "merge/"
	// ClientMerges does for those of one client of a shared store, before its name and the branch's.
	ClientMerges = graph.Conflicts + "client/"
	// keptCommits begins the refs of commits that did not merge with the branch they were made
	// for, before its name and a number.
	keptCommits = graph.Conflicts + "commit/"
)

// MergeOptions says how a merge, a revert or a cherry-pick is done.
type MergeOptions struct {
	CommitOptions // Message: "" for one that names what is merged
	// Prefer, if set, resolves all conflicts at once.
	Prefer graph.Take
	// Newest resolves each conflict of a merge by what was changed last; it excludes Prefer.
	Newest bool
	// NoFastForward makes a merge commit also if the branch could simply move.
	NoFastForward bool
	// Verify, if set, is called with the commits that a merge brings into the branch, newest
	// first, before anything changes: its error refuses the merge. RequireSigned is made for it.
	// A revert and a cherry-pick bring no commits of others.
	Verify func(commits iter.Seq2[commit.LogEntry, error]) error
}

// Check returns an error that wraps state.ErrInvalid if Prefer is unknown or set with Newest, or if Base or
// Amend is set.
func (o *MergeOptions) Check() error {
	switch o.Prefer {
	case "", graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
	default:
		return state.Invalidf("prefer %q: want ours, theirs or base", o.Prefer)
	}
	if o.Newest && o.Prefer != "" {
		return state.Invalidf("prefer %q and newest exclude each other", o.Prefer)
	}
	if o.Base != nil || o.Amend {
		return state.Invalidf("a merge has neither a base of its own nor amends")
	}
	return nil
}

// Job describes a merge into a branch.
type Job struct {
	Verb    commit.Verb
	Base    *state.State
	Theirs  *Snapshot      // of no commit for the empty state
	Name    string         // of theirs, for people
	Message string         // the default
	Kept    commit.Message // the default if there is no other
}

// mergeRef returns the ref of a merge in progress on a branch: in a shared store the client's own.
func (v *View) mergeRef(branch graph.RefName) graph.RefName {
	if v.client != "" {
		return graph.RefName(ClientMerges + v.client + "/" + BranchName(branch))
	}
	return graph.RefName(MergesInProgress + BranchName(branch))
}

// MergeOn returns the merge in progress on a branch, and whether there is one: the client's own, else one without
// a client, which versions before clients began and any client may end.
func (v *View) MergeOn(ctx context.Context, branch graph.RefName) (Ref, bool, error) {
	ref, ok, err := v.Get(ctx, v.mergeRef(branch))
	if err == nil && !ok && v.client != "" {
		ref, ok, err = v.Get(ctx, graph.RefName(MergesInProgress+BranchName(branch)))
	}
	return ref, ok, err
}

// merging returns the branch and the client, "" for none, of a ref that names a merge in progress. For other refs
// it returns false.
func (r Ref) merging() (branch, client string, ok bool) {
	if branch, ok = strings.CutPrefix(string(r.Name), MergesInProgress); ok {
		return branch, "", true
	}
	if branch, ok = strings.CutPrefix(string(r.Name), ClientMerges); ok {
		client, branch, ok = strings.Cut(branch, "/")
	}
	return branch, client, ok
}

// MergesOn yields the merges in progress, on one branch unless that is empty.
func (v *View) MergesOn(ctx context.Context, branch string) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for _, prefix := range []string{MergesInProgress, ClientMerges} {
			for ref, err := range v.List(ctx, prefix) {
				if on, _, ok := ref.merging(); err == nil && (!ok || branch != "" && on != branch) {
					continue
				}
				if !yield(ref, err) || err != nil {
					return
				}
			}
		}
	}
}

// Land makes the commit of a merge, after making sure that no edge of it dangles.
func (t *Tx) Land(
	ctx context.Context, ref Ref, head *Snapshot, next *state.State, also *Snapshot, opt CommitOptions,
	res *CommitResult,
) error {
	if err := state.NoneDangling(ctx, head.State, next); err != nil {
		return err
	}
	if also != nil {
		opt.Also = append(opt.Also, also)
		if err := t.DropKept(ctx, also.Id); err != nil {
			return err
		}
	}
	var err error
	if res.Secrets, err = t.Incoming(ctx, head.State, next, opt.Secrets); err != nil {
		return err
	}
	return t.Commit(ctx, ref, head, next, opt, res)
}

// DropKept removes the refs of the commits that were kept because they did not merge and that c has.
func (t *Tx) DropKept(ctx context.Context, c ipld.CID) error {
	for ref, err := range t.View.List(ctx, keptCommits) {
		if err != nil {
			return err
		}
		has, err := commit.IsAncestor(ctx, t.Stage, ref.Target, c)
		if err != nil {
			return err
		}
		if has {
			t.RemoveRef(ref.Name)
		}
	}
	return nil
}

// keep makes a commit of what did not merge with the branch it was made for, upon the commit it
// began at, under a ref of its own.
func (t *Tx) keep(
	ctx context.Context, ref Ref, base, head *Snapshot, next *state.State, m *merge3.Merged, opt CommitOptions,
) (*MergeError, error) {
	var res CommitResult
	name := graph.RefName(fmt.Sprintf("%s%s/%d", keptCommits, BranchName(ref.Name), t.Head.Seq+1))
	if err := graph.ValidateRef(name); err != nil {
		return nil, fmt.Errorf("%w: branch name too long to keep a conflict: %w", state.ErrInvalid, err)
	}
	opt.Amend = false
	if err := t.Commit(ctx, Ref{Name: name}, base, next, opt, &res); err != nil {
		return nil, err
	}
	list, err := t.Conflicts(ctx, m.Conflicts, head.State, next)
	return &MergeError{
		Verb: "commit", Branch: BranchName(ref.Name), Conflicts: list,
		Base: base.Id, Head: ref.Target, Kept: res.Commit, Ref: name,
	}, err
}

// MergeError is returned when two sides changed the same things differently. errors.Is(err, ErrConflict) holds.
type MergeError struct {
	Verb      string // merge, revert, cherry-pick or commit
	Name      string // what was merged, "" for a commit
	Branch    string
	Conflicts []Conflict
	Base      ipld.CID // the commit that the change was made against
	Head      ipld.CID // where the branch is
	// Kept is the commit that was kept, and Ref its name, if changes made for an older commit did
	// not merge: 'merge' that ref to resolve them.
	Kept ipld.CID
	Ref  graph.RefName
}

// MaxNamed bounds how many conflicting items an error names.
const MaxNamed = 10

// Error names at most MaxNamed of the items in conflict, with the fields that conflict.
func (e *MergeError) Error() string {
	var b strings.Builder
	switch {
	case e.Name != "":
		fmt.Fprintf(&b, "%s of %s: ", e.Verb, e.Name)
	case e.Kept.Defined():
		fmt.Fprintf(&b, "branch %s moved from %s to %s; the changes are kept as %s, %s: ",
			e.Branch, state.OrNone(e.Base), state.OrNone(e.Head), e.Kept, e.Ref)
	}
	for i, c := range e.Conflicts {
		if i == MaxNamed {
			fmt.Fprintf(&b, " and %d more", len(e.Conflicts)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", c.Kind, c.Item)
		if len(c.Fields) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(c.fieldNames(), ", "))
		}
	}
	if b.Len() == 0 {
		return "conflict"
	}
	return "conflict: " + b.String()
}

// Is reports whether target is ErrConflict.
func (e *MergeError) Is(target error) bool { return target == state.ErrConflict }

// InProgressError is returned if a merge is in progress on a branch: it must be continued or
// aborted first. errors.Is(err, ErrConflict) holds.
type InProgressError struct {
	Branch string
	Client string // of a shared store, that began it; "" for the caller, and where anybody can end it
}

// Error names the branch, and the client if one is given.
func (e *InProgressError) Error() string {
	if e.Client != "" {
		return fmt.Sprintf("a merge of client %s is in progress on branch %s", e.Client, e.Branch)
	}
	return fmt.Sprintf("a merge is in progress on branch %s", e.Branch)
}

// Is reports whether target is ErrConflict.
func (e *InProgressError) Is(target error) bool { return target == state.ErrConflict }

// Conflict is one item that two sides changed so that they do not merge.
type Conflict struct {
	Item   graph.Item         `json:"item" shape:"text"`
	Kind   graph.ConflictKind `json:"kind" shape:"edit_edit|add_add|delete_modify|end_removed|circle"`
	Label  string             `json:"label"`               // the item for people: a node's key, an edge's ends and type
	Base   ipld.CID           `json:"base" shape:"null"`   // its record before, undefined where it did not exist
	Ours   ipld.CID           `json:"ours" shape:"null"`   // on our side, likewise
	Theirs ipld.CID           `json:"theirs" shape:"null"` // on their side, likewise
	Fields []FieldConflict    `json:"fields"`              // that differ, in order; none where the item is absent on one side
	// Resolution is how it was resolved: ours, theirs, base, or lines; "" if it was not.
	Resolution string `json:"resolution" shape:"ours|theirs|base|lines|null"`
}

// FieldConflict is one field that both sides changed differently; nil if it is absent.
type FieldConflict struct {
	Field  string      `json:"field"`
	Base   *ipld.Value `json:"base" shape:"json"`
	Ours   *ipld.Value `json:"ours" shape:"json"`
	Theirs *ipld.Value `json:"theirs" shape:"json"`
}

func (c *Conflict) fieldNames() []string {
	names := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		names[i] = f.Field
	}
	return names
}

// PendingMerge is a merge in progress.
type PendingMerge struct {
	Branch         string     `json:"branch" shape:"null"`
	Verb           string     `json:"verb" shape:"merge|revert|cherry-pick|null"`
	Ours           ipld.CID   `json:"ours" shape:"null"`   // the branch's commit when it began
	Theirs         ipld.CID   `json:"theirs" shape:"null"` // what is merged; undefined for the empty state
	Message        string     `json:"-"`
	Conflicts      []Conflict `json:"conflicts"` // in item order
	VectorsDropped int        `json:"vectors_dropped"`
}

// Open returns how many of the conflicts are not resolved.
func (p *PendingMerge) Open() int {
	open := 0
	for _, c := range p.Conflicts {
		if c.Resolution == "" {
			open++
		}
	}
	return open
}

// KeptCommit is a commit that did not merge with the branch it was made for.
type KeptCommit struct {
	Ref    graph.RefName `json:"ref"`
	Commit ipld.CID      `json:"commit"`
	Branch string        `json:"branch"`
}

// IsMerge reports whether a ref names a merge in progress.
func (r Ref) IsMerge() bool {
	_, _, ok := r.merging()
	return ok
}

// shower makes records of conflicts what callers see.
type shower struct {
	ctx   context.Context
	get   store.Getter
	sides []*state.State          // that know the nodes that labels name
	how   func(graph.Item) string // how an item was resolved; nil for not at all
}

func (s shower) all(list []*commit.Conflict) ([]Conflict, error) {
	out := make([]Conflict, len(list))
	for i, c := range list {
		shown := Conflict{Item: c.Item, Kind: c.Cause, Base: c.Base, Ours: c.Ours, Theirs: c.Theirs}
		if s.how != nil {
			shown.Resolution = s.how(c.Item)
		}
		if err := s.fill(&shown, c.Fields); err != nil {
			return nil, err
		}
		out[i] = shown
	}
	return out, nil
}

// Conflicts returns what conflicts between two states.
func (t *Tx) Conflicts(ctx context.Context, list []*commit.Conflict, sides ...*state.State) ([]Conflict, error) {
	return shower{ctx: ctx, get: t.Stage, sides: sides}.all(list)
}

func (s shower) fill(c *Conflict, names []string) error {
	var versions [3]map[string]ipld.Value
	for i, id := range []ipld.CID{c.Base, c.Ours, c.Theirs} {
		if !id.Defined() {
			continue
		}
		block, err := s.get.Get(s.ctx, id)
		if errors.Is(err, store.ErrRedacted) {
			continue // its text is gone
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", c.Item, err)
		}
		if versions[i], err = itemFields(c.Item, block); err != nil {
			return err
		}
	}
	for _, name := range names {
		f := FieldConflict{Field: name}
		for i, to := range []**ipld.Value{&f.Base, &f.Ours, &f.Theirs} {
			if v, ok := versions[i][name]; ok {
				*to = &v
			}
		}
		c.Fields = append(c.Fields, f)
	}
	var err error
	c.Label, err = s.label(c.Item)
	return err
}

// label names an item as people do: a node by its key, an edge by its ends and type, a mark by what it is on.
func (s shower) label(item graph.Item) (string, error) {
	if item.Kind == graph.ProfileItem {
		return item.String(), nil
	}
	on, mark := item.Mark()
	if item.Kind == graph.NodeItem || mark && on == graph.OnNode {
		return s.nodeLabel(item.ID)
	}
	for _, side := range s.sides {
		e, _, err := side.Edge(s.ctx, item.ID)
		if err != nil {
			return "", err
		}
		if e == nil {
			continue
		}
		src, err := s.nodeLabel(e.Src)
		if err != nil {
			return "", err
		}
		dst, err := s.nodeLabel(e.Dst)
		return fmt.Sprintf("%s -%s-> %s", src, e.Type, dst), err
	}
	return item.ID.String(), nil
}

func (s shower) nodeLabel(id graph.ID) (string, error) {
	for _, side := range s.sides {
		n, _, err := side.Shown(s.ctx, id)
		if err != nil {
			return "", err
		}
		if n != nil && n.Key != "" {
			return n.Key, nil
		}
	}
	return id.String(), nil
}

// Suspend keeps a merge in progress.
func (t *Tx) Suspend(ctx context.Context, ref Ref, head *Snapshot, j *Job, m *merge3.Merged, opt MergeOptions) error {
	name := t.View.mergeRef(ref.Name)
	if err := graph.ValidateRef(name); err != nil {
		return fmt.Errorf("%w: branch name too long to keep a conflict: %w", state.ErrInvalid, err)
	}
	if err := t.WriteGraph(ctx, m.State); err != nil {
		return err
	}
	empty, err := state.EmptyTree(ctx, t.Nodes)
	if err != nil {
		return err
	}
	var edits []prolly.Edit
	for _, c := range m.Conflicts {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("%w: conflict: %w", state.ErrInvalid, err)
		}
		id, err := t.putMerged(ctx, c.Encode())
		if err != nil {
			return err
		}
		edits = append(edits, prolly.Edit{Key: []byte(c.Item.String()), Value: ipld.AppendLink(nil, id)})
	}
	conflicts, err := empty.Edit(ctx, edits)
	if err != nil {
		return err
	}
	message, err := t.message(ctx, opt.CommitOptions)
	if err == nil {
		err = t.found(ctx, ref.Name)
	}
	if err != nil {
		return err
	}
	return t.WriteMerge(ctx, name, &commit.Merge{
		Verb: j.Verb, Ours: head.Id, Theirs: j.Theirs.Id, Message: message,
		Graph: m.State.Root, Vectors: m.State.VectorsRoot(), Digests: m.State.DigestsRoot(),
		Profile: m.State.Profile, Dropped: uint64(m.Dropped),
		Conflicts: conflicts.Root(), Resolutions: empty.Root(),
	})
}

// WriteMerge stages a merge in progress and points the ref name at it. The error wraps state.ErrInvalid if
// rec is not valid.
func (t *Tx) WriteMerge(ctx context.Context, name graph.RefName, rec *commit.Merge) error {
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("%w: merge: %w", state.ErrInvalid, err)
	}
	c, err := t.Put(ctx, rec.Encode())
	if err == nil {
		t.SetRef(name, c)
	}
	return err
}

// Pending is a merge in progress with its trees.
type Pending struct {
	Name        graph.RefName
	Branch      string
	Rec         *commit.Merge
	Conflicts   *prolly.Map
	Resolutions *prolly.Map
}

// Roots returns the roots of the merged state.
func (p *Pending) Roots() state.Roots {
	return state.Roots{Graph: p.Rec.Graph, Vectors: p.Rec.Vectors, Digests: p.Rec.Digests, Profile: p.Rec.Profile}
}

// ReadPending reads a merge in progress. It returns a *NotFoundError if there is none.
func ReadPending(
	ctx context.Context, v *View, n *prolly.Nodes, get store.Getter, branch graph.RefName,
) (*Pending, error) {
	ref, ok, err := v.MergeOn(ctx, branch)
	if err == nil && !ok {
		err = &state.NotFoundError{What: "merge in progress on branch", Name: BranchName(branch)}
	}
	if err != nil {
		return nil, err
	}
	return LoadPending(ctx, n, get, ref)
}

// LoadPending reads the merge in progress that ref names, with its trees of conflicts and resolutions.
func LoadPending(ctx context.Context, n *prolly.Nodes, get store.Getter, ref Ref) (p *Pending, err error) {
	p = &Pending{Name: ref.Name}
	p.Branch, _, _ = ref.merging()
	if p.Rec, err = commit.ReadMerge(ctx, get, ref.Target); err != nil {
		return nil, err
	}
	if p.Conflicts, err = n.Load(ctx, p.Rec.Conflicts); err != nil {
		return nil, err
	}
	p.Resolutions, err = n.Load(ctx, p.Rec.Resolutions)
	return p, err
}

// Each yields the conflicts in item order.
func (p *Pending) Each(ctx context.Context, get store.Getter) iter.Seq2[*commit.Conflict, error] {
	return func(yield func(*commit.Conflict, error) bool) {
		for kv, err := range p.Conflicts.Scan(ctx, nil, nil) {
			var rec *commit.Conflict
			var c ipld.CID
			if err == nil {
				c, err = state.LinkItem(kv.Value)
			}
			if err == nil {
				rec, err = commit.ReadConflict(ctx, get, c)
			}
			if err == nil && rec.Item.String() != string(kv.Key) {
				err = fmt.Errorf("%w conflict %s: kept under %q", store.ErrCorrupt, rec.Item, kv.Key)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Resolution returns how an item was resolved, and whether it was.
func (p *Pending) Resolution(ctx context.Context, item graph.Item) (res commit.Resolution, ok bool, err error) {
	value, ok, err := p.Resolutions.Get(ctx, []byte(item.String()))
	if err != nil || !ok {
		return res, false, err
	}
	if res, err = commit.DecodeResolution(value); err != nil {
		err = fmt.Errorf("%w resolution of %s: %w", store.ErrCorrupt, item, err)
	}
	return res, true, err
}

// Show returns a merge in progress as callers see it.
func (p *Pending) Show(ctx context.Context, n *prolly.Nodes, get store.Getter) (*PendingMerge, error) {
	out := &PendingMerge{
		Branch: p.Branch, Verb: string(p.Rec.Verb),
		Ours: p.Rec.Ours, Theirs: p.Rec.Theirs,
		VectorsDropped: int(p.Rec.Dropped),
	}
	var err error
	if out.Message, err = shownMessage(ctx, get, p.Rec.Message); err != nil {
		return nil, err
	}
	var list []*commit.Conflict
	how := make(map[graph.Item]string)
	for c, err := range p.Each(ctx, get) {
		if err != nil {
			return nil, err
		}
		list = append(list, c)
		res, ok, err := p.Resolution(ctx, c.Item)
		if err != nil {
			return nil, err
		}
		if ok {
			how[c.Item] = cmp.Or(string(res.Take), "lines")
		}
	}
	sides, err := p.sides(ctx, n, get)
	if err != nil {
		return nil, err
	}
	sh := shower{ctx: ctx, get: get, sides: sides, how: func(i graph.Item) string { return how[i] }}
	out.Conflicts, err = sh.all(list)
	return out, err
}

// sides returns the states that a merge in progress is between.
func (p *Pending) sides(ctx context.Context, n *prolly.Nodes, get store.Getter) ([]*state.State, error) {
	var out []*state.State
	for _, c := range []ipld.CID{p.Rec.Ours, p.Rec.Theirs} {
		if !c.Defined() {
			continue
		}
		rec, err := commit.ReadCommit(ctx, get, c)
		if err != nil {
			return nil, err
		}
		s, err := state.LoadState(ctx, n, get, state.RootsOf(rec))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// PendingMerge returns the merge in progress on a branch, "" being the one HEAD is on. It returns
// a *NotFoundError if there is none.
func (r *Repo) PendingMerge(ctx context.Context, branch string) (*PendingMerge, error) {
	v, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	name := graph.BranchRef(branch)
	if branch == "" {
		head, _, err := v.Resolve(ctx, graph.Head)
		if err != nil {
			return nil, err
		}
		name = head.Name
	}
	p, err := ReadPending(ctx, v, r.Nodes(), r.Facts(), name)
	if err != nil {
		return nil, err
	}
	buffer := store.NewStage(r.Facts(), 0) // for the empty trees of commits without embeddings
	return p.Show(ctx, prolly.NewNodes(buffer, r.Trees), buffer)
}

// KeptCommits are commits that a writer made on a branch that had moved, kept until somebody merges or drops them.
type KeptCommits struct{ repo *Repo }

// KeptCommits returns the kept commits.
func (r *Repo) KeptCommits() KeptCommits { return KeptCommits{r} }

// List returns the commits that were kept because they did not merge, in ref order. Merge
// one by its ref to resolve what conflicts: then the ref goes away.
func (k KeptCommits) List(ctx context.Context) ([]KeptCommit, error) {
	v, err := k.repo.Current(ctx)
	if err != nil {
		return nil, err
	}
	var out []KeptCommit
	for ref, err := range v.List(ctx, keptCommits) {
		if err != nil {
			return nil, err
		}
		branch := strings.TrimPrefix(string(ref.Name), keptCommits)
		if i := strings.LastIndexByte(branch, '/'); i >= 0 {
			branch = branch[:i]
		}
		out = append(out, KeptCommit{ref.Name, ref.Target, branch})
	}
	return out, nil
}

// Drop forgets a commit that was kept. It returns a *NotFoundError if the ref is none.
func (k KeptCommits) Drop(ctx context.Context, ref graph.RefName, by state.Stamp) error {
	_, err := k.repo.Transact(ctx, by, func(t *Tx) error {
		_, ok, err := t.View.Get(ctx, ref)
		if err == nil && (!ok || !strings.HasPrefix(string(ref), keptCommits)) {
			err = &state.NotFoundError{What: "kept commit", Name: string(ref)}
		}
		t.RemoveRef(ref)
		return err
	})
	return err
}

// CompareItems orders items by their text, as the tree of conflicts does.
func CompareItems(a, b graph.Item) int { return strings.Compare(a.String(), b.String()) }

func itemFields(item graph.Item, record []byte) (map[string]ipld.Value, error) {
	if item.Kind != graph.ProfileItem {
		return state.FieldsOf(record)
	}
	p, err := retrieve.DecodeProfiles(record)
	return p.Fields(), err
}
