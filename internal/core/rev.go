package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// cidPrefix begins every text CID of a dag-cbor block and may be left out.
	cidPrefix = "bafyrei"
	// MinPrefix is the least number of digits that name a commit or node by prefix.
	MinPrefix = 4
	// revRange part the two revisions of a range.
	revRange = ".."
	// headShort is another name of HEAD, and that of the newest operation.
	headShort = "@"
)

// Revisions finds commits and other records by what people type: names of refs, ids and their prefixes, steps
// back from them, and times.
type Revisions struct{ repo *Repo }

// Revisions returns what resolves the names of commits.
func (r *Repo) Revisions() Revisions { return Revisions{r} }

// Resolve returns the commit that a revision names:
//
//	HEAD, @         what HEAD is at
//	NAME            a branch, else a tag, or a full ref name (refs/…)
//	CID             a commit's CID or a unique prefix of it; bafyrei may be left out
//	NAME@{n}        where a branch, tag or HEAD was before its n newest moves
//	NAME@{TIME}     where it was at a time: RFC 3339, the seconds may be left out, or a date
//	NAME@{op:OP}    where it was after an operation; op:OP is HEAD@{op:OP}
//	REV~n           the n-th first parent of REV; ~ alone is ~1
//	REV^n           the n-th parent of REV; ^ alone is ^1; ^{} is REV
//
// Tags lead on to their commits, and no NAME before @{…} means the current branch. It returns a
// *NotFoundError or an *AmbiguousError.
func (r Revisions) Resolve(ctx context.Context, rev string) (ipld.CID, error) {
	v, err := r.repo.Current(ctx)
	if err != nil {
		return ipld.CID{}, err
	}
	return r.ResolveIn(ctx, v, rev)
}

// Range resolves A..B: the commits to walk from, and those to stop at. Either side may be left out
// and is HEAD then, not both. A revision alone is a range without an end.
func (r Revisions) Range(ctx context.Context, text string) (from, until []ipld.CID, err error) {
	v, err := r.repo.Current(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, b, ok := strings.Cut(text, revRange)
	if !ok {
		c, err := r.ResolveIn(ctx, v, text)
		return []ipld.CID{c}, nil, err
	}
	if text == revRange {
		return nil, nil, state.Invalidf("range %q names no revision", text)
	}
	var ends [2]ipld.CID
	for i, rev := range []string{a, b} {
		if ends[i], err = r.ResolveIn(ctx, v, cmp.Or(rev, string(graph.Head))); err != nil {
			return nil, nil, err
		}
	}
	return ends[1:], ends[:1], nil
}

// IsRange reports whether a text has the form of a range, not of a revision alone.
func IsRange(text string) bool { return strings.Contains(text, revRange) }

// ResolveIn is Resolve for the refs of a view.
func (r Revisions) ResolveIn(ctx context.Context, v *View, rev string) (ipld.CID, error) {
	base, steps, err := splitRev(rev)
	if err != nil {
		return ipld.CID{}, err
	}
	c, err := r.base(ctx, v, base)
	for err == nil && steps != "" {
		var s revStep
		if s, steps, err = nextStep(rev, steps); err == nil {
			c, err = r.step(ctx, rev, c, s)
		}
	}
	return c, err
}

// ResolveAsked is ResolveIn for the commit that people mean: without the vectors that were committed upon it unasked,
// unless rev is the CID of that commit or the beginning of it.
func (r Revisions) ResolveAsked(ctx context.Context, v *View, rev string) (ipld.CID, error) {
	c, err := r.ResolveIn(ctx, v, rev)
	if prefix, long := cidBeginning(rev); err != nil || long && strings.HasPrefix(c.String(), prefix) {
		return c, err
	}
	return r.repo.Embeddings().Asked(ctx, c)
}

// splitRev parts a revision into what it begins with and the steps from there.
func splitRev(rev string) (base, steps string, err error) {
	from := 0
	if i := strings.Index(rev, "@{"); i >= 0 {
		end := strings.IndexByte(rev[i:], '}')
		if end < 0 {
			return "", "", state.Invalidf("revision %q: no } after @{", rev)
		}
		from = i + end + 1
	}
	i := strings.IndexAny(rev[from:], "~^")
	if from > 0 && i != 0 && from < len(rev) {
		return "", "", state.Invalidf("revision %q: unexpected %q", rev, rev[from:])
	}
	if i < 0 {
		return rev, "", nil
	}
	return rev[:from+i], rev[from+i:], nil
}

// revStep is one step from a commit: ~n along first parents, ^n to one parent, ^{} none.
type revStep struct {
	kind byte
	n    int
}

// nextStep reads the first of steps, which begin with ~ or ^.
func nextStep(rev, steps string) (s revStep, rest string, err error) {
	s = revStep{kind: steps[0], n: 1}
	rest = steps[1:]
	if after, ok := strings.CutPrefix(rest, "{}"); ok && s.kind == '^' {
		s.n, rest = 0, after
	} else if end := len(rest) - len(strings.TrimLeft(rest, digits)); end > 0 {
		if s.n, err = strconv.Atoi(rest[:end]); err != nil { // more than any history has
			return s, "", &state.NotFoundError{What: "revision", Name: rev}
		}
		rest = rest[end:]
	}
	if rest != "" && rest[0] != '~' && rest[0] != '^' {
		return s, "", state.Invalidf("revision %q: unexpected %q", rev, rest)
	}
	return s, rest, nil
}

const digits = "0123456789"

// IsNumber reports whether s is one or more ASCII digits and nothing else.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, digits) == "" }

// step walks from a commit. ^0 and ~0 stay. A commit of vectors that was made unasked is no step, as people do not see
// it: a step leads from the commit below it.
func (r Revisions) step(ctx context.Context, rev string, c ipld.CID, s revStep) (ipld.CID, error) {
	if s.n == 0 {
		return c, nil
	}
	index, times := 0, s.n
	if s.kind == '^' {
		index, times = s.n-1, 1
	}
	for range times {
		var rec *commit.Commit
		asked, err := r.repo.Embeddings().Asked(ctx, c)
		if err == nil {
			rec, err = r.repo.ReadCommit(ctx, asked)
		}
		if err != nil {
			return ipld.CID{}, fmt.Errorf("revision %q: %w", rev, err)
		}
		if index >= len(rec.Parents) {
			return ipld.CID{}, &state.NotFoundError{What: "revision", Name: rev}
		}
		c = rec.Parents[index]
	}
	return c, nil
}

// ReadCommit reads a commit that something links to. A *MissingError says that it is not stored.
func (r *Repo) ReadCommit(ctx context.Context, c ipld.CID) (*commit.Commit, error) {
	return commit.ReadCommit(ctx, r.Facts(), c)
}

func (r Revisions) base(ctx context.Context, v *View, name string) (ipld.CID, error) {
	if name == "" {
		return ipld.CID{}, state.Invalidf("empty revision")
	}
	if i := strings.Index(name, "@{"); i >= 0 {
		return r.past(ctx, v, name, name[:i], name[i+2:len(name)-1])
	}
	if strings.HasPrefix(name, OpPrefix) {
		return r.past(ctx, v, name, string(graph.Head), name)
	}
	for _, ref := range RefCandidates(name) {
		got, ok, err := v.Resolve(ctx, ref)
		if err != nil {
			return ipld.CID{}, err
		}
		if ok {
			return r.Peel(ctx, got.Target, name)
		}
		if ref == graph.Head {
			return ipld.CID{}, &state.NotFoundError{What: "commit yet on branch", Name: BranchName(got.Name)}
		}
	}
	if c, err := ipld.ParseCID(name); err == nil {
		if r.repo.Confined() {
			if has, err := r.reaches(ctx, v, c); !has {
				return ipld.CID{}, cmp.Or[error](err, &state.NotFoundError{What: "revision", Name: name})
			}
		}
		return r.Peel(ctx, c, name)
	}
	return r.byPrefix(ctx, name, commit.KindCommit, "revision")
}

// RefCandidates returns the refs that a name without @{…} may mean; the first that exists wins.
func RefCandidates(name string) []graph.RefName {
	switch {
	case name == headShort:
		return []graph.RefName{graph.Head}
	case name == string(graph.Head) || strings.HasPrefix(name, "refs/"):
		return []graph.RefName{graph.RefName(name)}
	}
	names := []graph.RefName{graph.BranchRef(name), graph.TagRef(name)}
	if full, ok := ImportedName(name); ok {
		names = append(names, full)
	}
	return names
}

// ImportedName returns the ref of an import that a name without refs/ means, if it may be one.
func ImportedName(name string) (graph.RefName, bool) {
	full := graph.RefName("refs/" + name)
	imported, _, _ := full.SplitImported()
	return full, imported != "" && graph.ValidateRef(full) == nil
}

// Peel returns the commit that a block is, or that it leads to as a tag.
func (r Revisions) Peel(ctx context.Context, c ipld.CID, name string) (ipld.CID, error) {
	data, err := r.repo.Store.Facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return ipld.CID{}, &state.NotFoundError{What: "revision", Name: name}
	}
	if err != nil {
		return ipld.CID{}, fmt.Errorf("revision %q: %w", name, err)
	}
	switch kind := ipld.RecordKind(data); kind {
	case commit.KindCommit:
		return c, nil
	case commit.KindTag:
		tag, err := commit.ReadTag(ctx, r.repo.Facts(), c)
		if err != nil {
			return ipld.CID{}, fmt.Errorf("revision %q: %w", name, err)
		}
		return tag.Target, nil
	default:
		return ipld.CID{}, &state.KindError{Name: name, Kind: kind, Want: commit.KindCommit}
	}
}

// OfKind fails unless a CID that a caller gave names a stored record of a kind: with a *NotFoundError if nothing is
// stored under it, else a *KindError. A record of another kind is no damage: the caller was mistaken.
func (r Revisions) OfKind(ctx context.Context, c ipld.CID, name, kind string) error {
	if r.repo.Confined() {
		own, err := r.ownByPrefix(ctx, c.String(), kind, kind)
		if err == nil && own != c || errors.Is(err, store.ErrNotFound) {
			err = &state.NotFoundError{What: kind, Name: name}
		}
		return err
	}
	block, err := r.repo.Store.Facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return &state.NotFoundError{What: kind, Name: name}
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", kind, c, err)
	}
	if have := ipld.RecordKind(block); have != kind {
		return &state.KindError{Name: name, Kind: have, Want: kind}
	}
	return nil
}

// cidBeginning returns the beginning of a CID that a name may stand for, and whether it is long enough for one.
func cidBeginning(name string) (prefix string, long bool) {
	if !strings.HasPrefix(name, cidPrefix) {
		name = cidPrefix + name
	}
	return name, len(name) >= len(cidPrefix)+MinPrefix
}

// byPrefix finds the one record of a kind whose CID, as text, begins with a prefix. what names such a record in errors.
func (r Revisions) byPrefix(ctx context.Context, name, kind, what string) (ipld.CID, error) {
	if r.repo.Confined() {
		return r.ownByPrefix(ctx, name, kind, what)
	}
	missing := &state.NotFoundError{What: what, Name: name}
	prefix, long := cidBeginning(name)
	first, ok := smallestCID(prefix)
	if !ok || !long {
		return ipld.CID{}, missing
	}
	var found []ipld.CID
	err := r.repo.Facts().Iterate(ctx, first, func(b store.Block) error {
		if len(found) > 1 || !strings.HasPrefix(b.CID.String(), prefix) {
			return ErrStop
		}
		if ipld.RecordKind(b.Data) == kind {
			found = append(found, b.CID)
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, ErrStop):
		return ipld.CID{}, err
	case len(found) == 0:
		return ipld.CID{}, missing
	case len(found) > 1:
		return ipld.CID{}, &state.AmbiguousError{What: kind, Name: name}
	}
	return found[0], nil
}

func smallestCID(prefix string) (ipld.CID, bool) {
	const textLen = 59
	if len(prefix) > textLen {
		return ipld.CID{}, false
	}
	text := prefix + strings.Repeat("a", textLen-len(prefix))
	c, err := ipld.ParseCID(text)
	return c, err == nil
}

// past resolves NAME@{when} by the operation log. rev is the whole, for errors.
func (r Revisions) past(ctx context.Context, v *View, rev, name, when string) (ipld.CID, error) {
	ref, err := pastRef(ctx, v, name)
	if err != nil {
		return ipld.CID{}, err
	}
	if IsNumber(when) {
		n, err := strconv.ParseUint(when, 10, 64)
		if err != nil {
			return ipld.CID{}, &state.NotFoundError{What: "revision", Name: rev} // more than any log has
		}
		return r.movesAgo(ctx, v, ref, rev, n)
	}
	op, err := r.operation(ctx, v.head, rev, when)
	if err != nil {
		return ipld.CID{}, err
	}
	then, err := r.repo.OpLog().View(ctx, op)
	if err != nil {
		return ipld.CID{}, err
	}
	then.following = v.following
	got, ok, err := then.Resolve(ctx, ref)
	if err == nil && !ok {
		err = &state.NotFoundError{What: "revision", Name: rev}
	}
	if err != nil {
		return ipld.CID{}, err
	}
	return r.Peel(ctx, got.Target, rev)
}

// pastRef returns the ref whose past the name before @{ asks for. It need not exist now.
func pastRef(ctx context.Context, v *View, name string) (graph.RefName, error) {
	if name == "" {
		head, _, err := v.Get(ctx, graph.Head)
		if err == nil && head.Symbolic != "" {
			return head.Symbolic, nil
		}
		return graph.Head, err
	}
	candidates := RefCandidates(name)
	for _, ref := range candidates {
		if err := graph.ValidateRef(ref); err != nil {
			return "", state.Invalidf("revision %q: %w", name, err)
		}
		if _, ok, err := v.Get(ctx, ref); ok || err != nil {
			return ref, err
		}
	}
	return candidates[0], nil
}

// operation returns the operation that the text between @{ and } stands for.
func (r Revisions) operation(ctx context.Context, head store.Head, rev, when string) (commit.OpEntry, error) {
	if strings.HasPrefix(when, OpPrefix) {
		return r.repo.OpLog().Read(ctx, head, when)
	}
	t, err := parseMoment(when)
	if err != nil {
		return commit.OpEntry{}, state.Invalidf("revision %q: %w", rev, err)
	}
	op, err := commit.OperationBefore(ctx, r.repo.Facts(), head.Operation, t)
	if errors.Is(err, store.ErrNotFound) {
		err = &state.NotFoundError{What: "revision", Name: rev}
	}
	return op, err
}

// parseMoment parses a time. The seconds may be missing.
func parseMoment(s string) (graph.Time, error) {
	const toMinutes = len("2026-11-01T10:00")
	if len(s) > toMinutes && s[toMinutes-3] == ':' && s[toMinutes] != ':' {
		s = s[:toMinutes] + ":00" + s[toMinutes:]
	}
	return graph.ParseTime(s)
}

// movesAgo returns where a ref was before the n newest operations that moved it.
func (r Revisions) movesAgo(ctx context.Context, v *View, ref graph.RefName, rev string, n uint64) (ipld.CID, error) {
	now, _, err := v.Resolve(ctx, ref)
	if err != nil {
		return ipld.CID{}, err
	}
	at, root := now.Target, v.root()
	for e, err := range r.repo.OpLog().Entries(ctx, v.head) {
		if err != nil {
			return ipld.CID{}, err
		}
		if n == 0 {
			break
		}
		if e.Operation.View == root {
			continue
		}
		then, err := r.repo.OpLog().View(ctx, e)
		if err != nil {
			return ipld.CID{}, err
		}
		then.following = v.following
		got, _, err := then.Resolve(ctx, ref)
		if err != nil {
			return ipld.CID{}, err
		}
		if root = e.Operation.View; got.Target != at {
			at = got.Target
			n--
		}
	}
	if n > 0 || !at.Defined() {
		return ipld.CID{}, &state.NotFoundError{What: "revision", Name: rev}
	}
	return r.Peel(ctx, at, rev)
}
