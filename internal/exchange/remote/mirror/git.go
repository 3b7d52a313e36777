package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/gitrun"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

// A git repository stores a memory as one ref to a commit without parents. Its tree has
//
//	format            formatOfGit
//	refs              the branches and tags, a line each: REF CID
//	head              the ref of the branch that HEAD was on at the first push's origin
//	redactions        what was erased, a line each: CID=RECORD in base64; may be missing
//	packs/N           the N-th pack, from 000001 on
//	packs/N.refs      the targets of the refs in that pack, as in refs
//	packs/N.K         further parts of a pack that is longer than maxPart, K from 01 on
//
// If the memory is encrypted the format is formatOfSealedGit, all files but the first two are encrypted, and there are
//
//	format            formatOfSealedGit
//	keys              the header of package seal
//	encrypted         the record of package seal, as JSON
//
// All packs in order make up the histories of refs. A push adds one pack and replaces the ref, provided it has not
// moved; beyond gitPacks packs it combines the newest ones, so that each remaining one is at least twice as long as
// all after it together.
const (
	formatOfGit       = "mnem in git 1\n"
	formatOfSealedGit = "mnem in git 1, encrypted\n"
	gitSeen           = "refs/mnem/seen"
	gitPacks          = 64
	// gitMaxPacks and gitMaxParts bound the packs that are read, and the parts of one that are written and read.
	gitMaxPacks, gitMaxParts = 2 * gitPacks, 100
)

// Git is a repository stored in a git repository.
type Git struct {
	mirror
	url  string
	ref  string
	seen string // the commit that the ref was at, "" for none
}

var _ remote.Side = (*Git)(nil)

// InGit connects to a git repository. The local mirror is in dir, or in a temporary directory if dir is empty.
func InGit(ctx context.Context, h *place.Host, at *place.URL, r place.Remote, dir string) (*Git, error) {
	g := &Git{url: at.At.String(), ref: at.Ref}
	g.mirror = mirror{
		host: h, dir: dir, backend: g, what: "git repository", name: at.Ref + " of the git repository", remote: r,
	}
	if err := g.open("mnem-git-*"); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(g.dir, "HEAD")); err == nil {
		return g, nil
	}
	if _, err := g.git(ctx, nil, "init", "--quiet", "--bare"); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// git runs git in the local repository and returns its output, which is short.
func (g *Git) git(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out := &gitrun.Buffer{Limit: maxText}
	cmd := g.program(ctx, in, args...)
	err := gitrun.Run(cmd, args[0], out)
	return strings.TrimSuffix(out.String(), "\n"), gitrun.Interrupted(ctx, err)
}

// gitTo has git print to a file.
func (g *Git) gitTo(ctx context.Context, out *os.File, args ...string) error {
	cmd := g.program(ctx, nil, args...)
	cmd.Stdout = out
	return gitrun.Interrupted(ctx, gitrun.Run(cmd, args[0], nil))
}

func (g *Git) program(ctx context.Context, in io.Reader, args ...string) *exec.Cmd {
	cmd := gitrun.Program(ctx, append([]string{"--git-dir=" + g.dir, "-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0",
		"-c", "maintenance.auto=false"}, args...)...)
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME=mnem", "GIT_AUTHOR_EMAIL=mnem@localhost", "GIT_COMMITTER_NAME=mnem",
		"GIT_COMMITTER_EMAIL=mnem@localhost")
	cmd.Stdin = in
	return cmd
}

func (g *Git) read(ctx context.Context) error {
	g.seen = ""
	listed, err := g.git(ctx, nil, "ls-remote", "--quiet", g.url, g.ref)
	if err != nil {
		return err
	}
	if strings.TrimSpace(listed) == "" {
		return g.forget()
	}
	seen := func() error {
		g.seen, err = g.git(ctx, nil, "rev-parse", "--verify", gitSeen+"^{commit}")
		return err
	}
	if seen() != nil || listed != g.seen+"\t"+g.ref { // otherwise it is here already
		g.seen = ""
		_, err = g.git(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", g.url, "+"+g.ref+":"+gitSeen)
		if err == nil {
			err = seen()
		}
		if err != nil {
			return err
		}
	}
	return g.readTree(ctx)
}

func (g *Git) refsOf(ctx context.Context, p pack) (string, error) {
	text, err := g.blobs(ctx, p.refs)
	if err != nil {
		return "", err
	}
	return text[0], g.openTexts(text)
}

func (g *Git) copyPack(ctx context.Context, f *os.File, p pack) error {
	for _, id := range p.parts {
		if err := g.gitTo(ctx, f, "cat-file", "blob", id); err != nil {
			return err
		}
	}
	return nil
}

func (g *Git) readTree(ctx context.Context) error {
	list, err := g.git(ctx, nil, "ls-tree", "-r", "-l", g.seen)
	if err != nil {
		return err
	}
	blobs, sizes := make(map[string]string), make(map[string]int64)
	for row := range strings.Lines(list) {
		meta, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if words := strings.Fields(meta); len(words) == 4 && words[1] == "blob" {
			blobs[name] = words[2]
			sizes[words[2]], _ = strconv.ParseInt(words[3], 10, 64) // which git writes
		}
	}
	text, err := g.blobs(ctx, blobs["format"], blobs["keys"], blobs["encrypted"], blobs["head"], blobs["refs"],
		blobs["redactions"])
	if err != nil || text[0] != formatOfGit && text[0] != formatOfSealedGit {
		return errors.Join(err, g.errNone("its format is another one"))
	}
	if blobs["head"] == "" || blobs["refs"] == "" || text[0] == formatOfSealedGit && blobs["encrypted"] == "" {
		return g.errNone("a file is missing")
	}
	if err := g.unlockTree(text); err != nil {
		return err
	}
	g.head = strings.TrimSuffix(text[3], "\n")
	if g.refs, err = g.parseRefs(text[4]); err == nil && blobs["redactions"] != "" {
		g.erased, err = g.parseRedactions(text[5])
	}
	if err != nil {
		return err
	}
	return g.readPacks(blobs, sizes)
}

// unlockTree decrypts the texts of a tree: its format, keys, record, head, refs and redactions.
func (g *Git) unlockTree(text []string) error {
	header := []byte(text[1])
	if text[0] == formatOfGit {
		header = nil
	}
	box, _, err := g.unlock(header)
	if err != nil {
		return err
	}
	if box == nil {
		return g.admit(nil)
	}
	record, err := box.OpenText([]byte(text[2]), maxText)
	if err == nil {
		err = box.Read(record)
	}
	if err != nil {
		return g.errNone("%v", err)
	}
	if err := g.admit(box); err != nil {
		return err
	}
	return g.openTexts(text[3:])
}

// readPacks reads the list of packs. All parts but the last have maximal length, and a part of a longer pack occurs
// once: so it reads no more than the repository holds.
func (g *Git) readPacks(blobs map[string]string, sizes map[string]int64) error {
	seen := make(map[string]bool)
	for n := 1; ; n++ {
		name := fmt.Sprintf("packs/%06d", n)
		p := pack{refs: blobs[name+".refs"]}
		switch {
		case blobs[name] == "":
			return nil
		case p.refs == "":
			return g.errNone("%s has no refs", name)
		case n > gitMaxPacks:
			return g.errNone("more than %d packs", gitMaxPacks)
		}
		for k, id := 1, blobs[name]; id != ""; k++ {
			next := blobs[fmt.Sprintf("%s.%02d", name, k)]
			switch long := k > 1 || next != ""; {
			case k > gitMaxParts:
				return g.errNone("%s has more than %d parts", name, gitMaxParts)
			case long && seen[id]:
				return g.errNone("a part of %s is there twice", name)
			case next != "" && sizes[id] != maxPart || sizes[id] > maxPart:
				return g.errNone("a part of %s has %d bytes", name, sizes[id])
			}
			seen[id] = true
			p.parts, p.size = append(p.parts, id), p.size+sizes[id]
			id = next
		}
		g.packs = append(g.packs, p)
	}
}

// blobs returns short blobs, "" for an id "".
func (g *Git) blobs(ctx context.Context, ids ...string) ([]string, error) {
	wanted := strings.Join(slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" }), "\n")
	out := &gitrun.Buffer{Limit: len(ids) * maxText}
	err := gitrun.Run(g.program(ctx, strings.NewReader(wanted), "cat-file", "--batch=%(objectsize)"), "cat-file", out)
	if out.Over {
		return nil, remote.ErrTooLarge
	}
	if err != nil {
		return nil, gitrun.Interrupted(ctx, err)
	}
	texts, rest := make([]string, len(ids)), out.String()
	for i, id := range ids {
		if id == "" {
			continue
		}
		size, data, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(size)
		if err != nil || n >= len(data) {
			return nil, g.errNone("%s is missing", id)
		}
		if n > maxText {
			return nil, remote.ErrTooLarge
		}
		texts[i], rest = data[:n], data[n+1:]
	}
	return texts, nil
}

// follow imports the packs that are not here, from the first on if those here are not a prefix of the list.
func (g *Git) follow(ctx context.Context) error {
	state, has, err := g.state()
	if err != nil {
		return err
	}
	key := func(p pack) string { return strings.Join(append(slices.Clone(p.parts), p.refs), " ") + "\n" }
	var want strings.Builder
	for _, p := range g.packs {
		want.WriteString(key(p))
	}
	if !has || !strings.HasPrefix(want.String(), string(state)) {
		err := g.prune(ctx) // first: if it fails it is repeated, as the state is unchanged
		if err == nil {
			err = g.recreate(ctx)
		}
		if err != nil {
			return err
		}
		state = nil
	}
	for _, p := range g.packs[strings.Count(string(state), "\n"):] {
		if err := g.apply(ctx, p); err != nil {
			return err
		}
		state = append(state, key(p)...)
		if err := g.keep(string(state)); err != nil {
			return err
		}
	}
	return g.settle(ctx)
}

// prune removes objects that the git repository no longer has: they may contain what was erased there.
func (g *Git) prune(ctx context.Context) error {
	_, err := g.git(ctx, nil, "repack", "-a", "-d", "-n", "--quiet", "--window=0")
	if err == nil {
		_, err = g.git(ctx, nil, "prune", "--expire=now")
	}
	return err
}

func (g *Git) add(ctx context.Context, news remote.News, refs []core.Ref) error {
	if err := g.begin(); err != nil {
		return err
	}
	packs := slices.Clone(g.packs)
	if news.Pack != nil {
		p, err := g.store(ctx, news.Pack, packedRefs(news.Updates))
		if err != nil {
			return err
		}
		packs = append(packs, p)
	}
	if len(packs) > gitPacks {
		if err := g.invalidate(); err != nil {
			return err
		}
		if _, err := g.here.Take(ctx, news); err != nil {
			return err
		}
		from := foldFrom(packs)
		have, err := g.known(ctx, packs[:from])
		if err != nil {
			return err
		}
		if packs, err = g.repack(ctx, packs[:from], remote.Want{Refs: refs, Have: have}); err != nil {
			return err
		}
	}
	if err := g.publish(ctx, packs, refs, news.Updates); err != nil {
		return err
	}
	g.packs, g.refs = packs, refs
	return g.follow(ctx)
}

func (g *Git) store(ctx context.Context, from *io.SectionReader, refs []core.Ref) (p pack, err error) {
	err = g.sealing(from, func(from *io.SectionReader) error {
		p.size = from.Size()
		return parts(from, func(part *io.SectionReader) error {
			id, err := g.write(ctx, part)
			p.parts = append(p.parts, id)
			return err
		})
	})
	if err == nil && len(p.parts) > gitMaxParts {
		err = remote.ErrTooLarge
	}
	if err == nil {
		p.refs, err = g.writeText(ctx, g.box, refsText(refs))
	}
	return p, err
}

// repack appends to packs one with the wanted part of the local repository.
func (g *Git) repack(ctx context.Context, packs []pack, want remote.Want) ([]pack, error) {
	packs = slices.Clone(packs)
	err := g.packed(ctx, want, func(r *io.SectionReader) error {
		p, err := g.store(ctx, r, want.Refs)
		packs = append(packs, p)
		return err
	})
	return packs, err
}

func (g *Git) replace(ctx context.Context, erased []care.ToldRedaction, samePacks bool) (err error) {
	g.erased = erased
	packs := g.packs
	if !samePacks {
		packs, err = g.repack(ctx, nil, remote.Want{Refs: g.refs})
	}
	if err == nil {
		err = g.publish(ctx, packs, g.refs, nil)
	}
	if err != nil {
		return err
	}
	g.packs = packs
	return g.follow(ctx)
}

// finish implements backend: one push replaces all.
func (g *Git) finish(context.Context) (bool, error) { return false, nil }

func (g *Git) write(ctx context.Context, in io.Reader) (id string, err error) {
	return g.git(ctx, in, "hash-object", "-w", "--stdin")
}

// writeText stores a text, encrypted if there is a box.
func (g *Git) writeText(ctx context.Context, box *seal.Box, text string) (id string, err error) {
	if box != nil {
		data, err := box.SealText([]byte(text))
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	return g.write(ctx, strings.NewReader(text))
}

// publish commits packs and refs and has the git repository move its ref there, provided it has not moved.
func (g *Git) publish(ctx context.Context, packs []pack, refs []core.Ref, list []exchange.RefUpdate) error {
	if g.head == "" {
		g.head = headOf(list)
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
	box, files := g.files(refs)
	for _, file := range files {
		var id string
		if err == nil {
			id, err = g.writeText(ctx, file.box, file.text)
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
	return errors.Join(err, g.pin(box))
}

// gitFile is a text in the tree, to be encrypted if there is a box.
type gitFile struct {
	name, text string
	box        *seal.Box
}

// files returns the texts of the tree, and the box that the next client finds, nil if nothing is encrypted.
func (g *Git) files(refs []core.Ref) (box *seal.Box, files []gitFile) {
	if g.box == nil {
		files = []gitFile{{"format", formatOfGit, nil}}
	} else {
		box = g.box.Next()
		record, _ := json.Marshal(box.Record) // texts and a number have a JSON form
		files = []gitFile{
			{"format", formatOfSealedGit, nil}, {"keys", string(box.Header()), nil}, {"encrypted", string(record), box},
		}
	}
	files = append(files, gitFile{"head", g.head + "\n", box}, gitFile{"refs", refsText(refs), box})
	if len(g.erased) > 0 {
		text := strings.Join(transfer.RedactionTexts(g.erased), "\n") + "\n"
		files = append(files, gitFile{"redactions", text, box})
	}
	return box, files
}

// gitConflict marks git's error about a ref that has moved.
func gitConflict(err error) error {
	var told *gitrun.Error
	if !errors.As(err, &told) {
		return err
	}
	for _, says := range []string{
		"stale info", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref", "incorrect old value",
		"reference already exists", "failed to lock",
	} {
		if strings.Contains(told.Says, says) {
			return fmt.Errorf("%w: another push came first: %w", state.ErrConflict, err)
		}
	}
	return err
}
