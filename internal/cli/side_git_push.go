package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// Take implements remote.Side: what the mirror would take goes to the git repository, and into the mirror when
// it is there. It returns an error of repo.ErrConflict where the ref moved since Look.
func (g *gitSide) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	if news.Tracking != "" {
		return nil, fmt.Errorf("%w: a git repository keeps no refs of remotes", repo.ErrInvalid)
	}
	unlock, err := g.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	for _, u := range news.Updates {
		if branch, ok := u.Ref.Branch(); ok && !u.To.Defined() && string(u.Ref) == g.head {
			return nil, &repo.InUseError{Branch: branch, Why: "HEAD is on it"}
		}
	}
	trial := *g.mirror
	trial.dryRun = true
	taken, err := trial.Take(ctx, news)
	if err != nil || len(taken.Refs) == 0 {
		return taken, err
	}
	packs := slices.Clone(g.packs)
	if news.Pack != nil {
		p, err := g.store(ctx, news.Pack, packedRefs(news.Updates))
		if err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
	refs := changedRefs(g.refs, taken.Refs)
	if len(packs) > gitPacks {
		if err := g.unsettle(); err != nil {
			return nil, err
		}
		if _, err := g.mirror.Take(ctx, news); err != nil {
			return nil, err
		}
		from := foldFrom(packs)
		have, err := g.packed(ctx, packs[:from])
		if err != nil {
			return nil, err
		}
		if packs, err = g.repack(ctx, packs[:from], remote.Want{Refs: refs, Have: have}); err != nil {
			return nil, err
		}
	}
	if err := g.publish(ctx, packs, refs, news.Updates); err != nil {
		return nil, err
	}
	g.packs, g.refs = packs, refs
	return taken, g.follow(ctx)
}

// packedRefs are what refs in a pack are at.
func packedRefs(list []repo.RefUpdate) (refs []repo.Ref) {
	for _, u := range list {
		if u.To.Defined() {
			refs = append(refs, repo.Ref{Name: u.Ref, Target: u.To})
		}
	}
	return refs
}

// changedRefs returns refs after changes, by name.
func changedRefs(refs []repo.Ref, list []repo.RefChange) []repo.Ref {
	to := make(map[graph.RefName]ipld.CID)
	for _, ref := range refs {
		to[ref.Name] = ref.Target
	}
	for _, c := range list {
		to[c.Ref] = c.To
	}
	var out []repo.Ref
	for name, c := range to {
		if c.Defined() {
			out = append(out, repo.Ref{Name: name, Target: c})
		}
	}
	slices.SortFunc(out, func(a, b repo.Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out
}

// store writes a pack and what its refs are at as blobs.
func (g *gitSide) store(ctx context.Context, pack *io.SectionReader, refs []repo.Ref) (p gitPack, err error) {
	p.size = pack.Size()
	for off := int64(0); off < pack.Size() || off == 0; off += gitPart {
		id, err := g.write(ctx, io.NewSectionReader(pack, off, min(gitPart, pack.Size()-off)))
		if err != nil {
			return p, err
		}
		p.parts = append(p.parts, id)
	}
	if len(p.parts) > 100 {
		return p, remote.ErrTooLarge
	}
	p.refs, err = g.write(ctx, strings.NewReader(gitRefsText(refs)))
	return p, err
}

func (g *gitSide) write(ctx context.Context, in io.Reader) (id string, err error) {
	return g.git(ctx, in, "hash-object", "-w", "--stdin")
}

// Accept implements remote.Side: all packs are replaced by one without what is erased.
func (g *gitSide) Accept(
	ctx context.Context, list []repo.ToldRedaction, tracking string,
) (*repo.AcceptedRedactions, error) {
	if tracking != "" {
		return nil, fmt.Errorf("%w: a git repository keeps no refs of remotes", repo.ErrInvalid)
	}
	unlock, err := g.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	if err := g.refresh(ctx); err != nil || len(g.refs) == 0 {
		return &repo.AcceptedRedactions{Left: cidsOf(list)}, err
	}
	if err := g.unsettle(); err != nil {
		return nil, err
	}
	got, err := g.mirror.Accept(ctx, list, "")
	if err != nil || len(got.Erased)+len(got.Closed) == 0 {
		return got, err
	}
	gone := make(map[ipld.CID]bool)
	for _, c := range slices.Concat(got.Erased, got.Closed) {
		gone[c] = true
	}
	for _, t := range list {
		if gone[t.CID] {
			g.erased = append(g.erased, t)
		}
	}
	packs, err := g.repack(ctx, nil, remote.Want{Refs: g.refs})
	if err == nil {
		err = g.publish(ctx, packs, g.refs, nil)
	}
	if err != nil {
		return nil, err
	}
	g.packs = packs
	return got, g.follow(ctx)
}

func cidsOf(list []repo.ToldRedaction) (out []ipld.CID) {
	for _, t := range list {
		out = append(out, t.CID)
	}
	return out
}

// parseGitRedactions reads lines of redactions.
func parseGitRedactions(text string) (list []repo.ToldRedaction, err error) {
	for row := range strings.Lines(text) {
		t, err := ops.ParseRedaction(strings.TrimSuffix(row, "\n"))
		if err != nil {
			return nil, fmt.Errorf("%w: a redaction in the git repository: %w", repo.ErrInvalid, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// unsettle has the mirror made anew at the next look: it is to become what may not be published.
func (g *gitSide) unsettle() error { return os.Remove(filepath.Join(g.dir, mirrorState)) }

// foldFrom returns from which pack on packs become one: those before it are each at least twice as long as all after
// them together.
func foldFrom(packs []gitPack) int {
	from, sum := len(packs)-1, int64(0)
	for i := len(packs) - 1; i >= 0; i-- {
		if packs[i].size < 2*sum {
			from = i
		}
		sum += packs[i].size
	}
	return from
}

// packed returns commits that packs bring, the newest first.
func (g *gitSide) packed(ctx context.Context, packs []gitPack) ([]ipld.CID, error) {
	seen := make(map[ipld.CID]bool)
	var ask []ipld.CID
	for _, p := range slices.Backward(packs) {
		text, err := g.blob(ctx, p.refs)
		if err != nil {
			return nil, err
		}
		refs, err := parseGitRefs(text)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if _, branch := ref.Name.Branch(); branch && !seen[ref.Target] && len(ask) < remote.MaxAsked {
				seen[ref.Target], ask = true, append(ask, ref.Target)
			}
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	st, err := g.mirror.Look(ctx, remote.Question{Commits: ask})
	if err != nil {
		return nil, err
	}
	return st.Known, nil
}

// repack adds to packs one of what is wanted of the mirror.
func (g *gitSide) repack(ctx context.Context, packs []gitPack, want remote.Want) ([]gitPack, error) {
	f, err := os.CreateTemp(g.dir, "pack-*")
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }() // it was read
	if err := g.mirror.Send(ctx, f, want, 0); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := g.store(ctx, io.NewSectionReader(f, 0, info.Size()), want.Refs)
	return append(slices.Clone(packs), p), err
}

// publish makes a commit of packs and refs and has the git repository move its ref there, if it is where it was
// seen.
func (g *gitSide) publish(ctx context.Context, packs []gitPack, refs []repo.Ref, list []repo.RefUpdate) error {
	if g.head == "" {
		for _, u := range list {
			if _, branch := u.Ref.Branch(); branch && u.To.Defined() {
				g.head = string(u.Ref)
				break
			}
		}
	}
	var sub strings.Builder
	for i, p := range packs {
		name := fmt.Sprintf("%06d", i+1)
		for k, id := range p.parts {
			part := name
			if k > 0 {
				part = fmt.Sprintf("%s.%02d", name, k)
			}
			fmt.Fprintf(&sub, "100644 blob %s\t%s\n", id, part)
		}
		fmt.Fprintf(&sub, "100644 blob %s\t%s.refs\n", p.refs, name)
	}
	tree, err := g.git(ctx, strings.NewReader(sub.String()), "mktree")
	top := fmt.Sprintf("040000 tree %s\tpacks\n", tree)
	files := []struct{ name, text string }{
		{"format", formatOfGit}, {"head", g.head + "\n"}, {"refs", gitRefsText(refs)},
	}
	if len(g.erased) > 0 {
		text := strings.Join(ops.RedactionTexts(g.erased), "\n") + "\n"
		files = append(files, struct{ name, text string }{"redactions", text})
	}
	for _, file := range files {
		var id string
		if err == nil {
			id, err = g.write(ctx, strings.NewReader(file.text))
		}
		top += fmt.Sprintf("100644 blob %s\t%s\n", id, file.name)
	}
	if err == nil {
		tree, err = g.git(ctx, strings.NewReader(top), "mktree")
	}
	var made string
	if err == nil {
		made, err = g.git(ctx, strings.NewReader("memory\n"), "commit-tree", tree)
	}
	if err != nil {
		return err
	}
	lease := "--force-with-lease=" + g.ref + ":" + g.seen
	_, err = g.git(ctx, nil, "push", "--quiet", "--no-verify", lease, g.url, made+":"+g.ref)
	if err != nil {
		return gitConflict(err)
	}
	g.seen = made
	_, err = g.git(ctx, nil, "update-ref", gitSeen, made)
	return err
}

// gitConflict marks what git says of a ref that is elsewhere by now.
func gitConflict(err error) error {
	var told *gitError
	if !errors.As(err, &told) {
		return err
	}
	for _, says := range []string{
		"stale info", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref", "incorrect old value",
		"reference already exists", "failed to lock",
	} {
		if strings.Contains(told.says, says) {
			return fmt.Errorf("%w: it was pushed to meanwhile: %w", repo.ErrConflict, err)
		}
	}
	return err
}
