package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// A git repository keeps a memory as one ref, which is at a commit without parents. Its tree has
//
//	format            formatOfGit
//	refs              the branches and tags, a line each: REF CID
//	head              the ref of the branch that HEAD was on where the first push came from
//	redactions        what was erased, a line each: CID=RECORD in base64; may be missing
//	packs/N           the N-th pack, from 000001 on
//	packs/N.refs      what the refs in that pack are at, as in refs
//	packs/N.K         what follows of a pack that is longer than gitPart, K from 01 on
//
// All packs in their order make the histories of refs. A push adds one pack and replaces the ref, if it is where
// it was seen; beyond gitPacks packs it replaces the newest ones by one, so that each that stays is at least twice as
// long as all after it together.
const (
	formatOfGit = "mnem in git 1\n"
	gitRef      = "refs/mnem/data"
	gitSeen     = "refs/mnem/seen"
	gitPart     = 40 << 20
	gitPacks    = 64
	// maxGitText bounds what is read of refs and of lists of packs, in bytes.
	maxGitText = 32 << 20
	// mirrorBranch is what HEAD of a mirror is on: there is never such a branch.
	mirrorBranch = "of-a-mirror"
	// mirrorState is the file that says which packs a mirror has.
	mirrorState = "packs"
)

// gitSide is a repository that a git repository keeps: it is asked of a mirror here, which has what that had
// when it was fetched last.
type gitSide struct {
	c      *cli
	url    string
	ref    string
	dir    string // of the git repository here, and of the mirror in it
	close  func() error
	seen   string     // the commit that the ref was at, "" for none
	head   string     // the content of the file
	packs  []gitPack  // of that commit
	refs   []repo.Ref // likewise
	erased []repo.ToldRedaction
	mirror *verbSide
	// keeper is what keeps the packs elsewhere: the git repository, or another store of the same layout.
	keeper packKeeper
}

// packKeeper keeps packs and the refs that they make, for many.
type packKeeper interface {
	// read reads what is kept into the fields of a side, which are empty.
	read(ctx context.Context) error
	// refsOf returns what the refs in a pack are at, in lines, and copyPack writes its bytes to a file.
	refsOf(ctx context.Context, p gitPack) (string, error)
	copyPack(ctx context.Context, f *os.File, p gitPack) error
}

// gitKeeper is a git repository.
type gitKeeper struct{ *gitSide }

// gitPack is a pack in a tree: the ids of its parts and of what is at its refs.
type gitPack struct {
	parts []string
	refs  string
	size  int64 // in bytes
}

func (p gitPack) key() string { return strings.Join(append(slices.Clone(p.parts), p.refs), " ") }

var _ remote.Side = (*gitSide)(nil)

// parseGit reads the URL of a git repository.
func parseGit(scheme string, u *url.URL) (*remoteURL, error) {
	ref := gitRef
	query, err := url.ParseQuery(u.RawQuery)
	if v := query["ref"]; len(v) == 1 {
		ref = v[0]
		delete(query, "ref")
	}
	plain := func(r rune) bool {
		return r == '/' || r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z'
	}
	bad := strings.ContainsFunc(ref, func(r rune) bool { return !plain(r) }) || strings.Contains(ref, "..") ||
		strings.Contains(ref, "//") || !strings.HasPrefix(ref, "refs/") || strings.HasSuffix(ref, "/")
	switch {
	case err != nil || len(query) > 0 || u.Fragment != "" || len(u.Path) < 2 || bad:
		return nil, fmt.Errorf("%w: URL: want %s://HOST/PATH, with ?ref=refs/… for another ref than %s", repo.ErrInvalid,
			scheme, gitRef)
	case scheme == "git+ssh":
		if _, err := parseSSH(&url.URL{Scheme: "ssh", Host: u.Host, User: u.User, Path: u.Path}); err != nil {
			return nil, err
		}
	case u.User != nil:
		return nil, errUserInURL
	case scheme == "git+file" && u.Host != "", scheme != "git+file" && u.Hostname() == "":
		return nil, fmt.Errorf("%w: URL: want git+file:///PATH, or a host", repo.ErrInvalid)
	}
	at := *u
	at.Scheme, at.RawQuery = strings.TrimPrefix(scheme, "git+"), ""
	return &remoteURL{scheme: scheme, path: u.Path, url: &at, ref: ref}, nil
}

// gitSide connects to a git repository, by a repository in a directory.
func (c *cli) gitSide(ctx context.Context, at *remoteURL, dir string) (*gitSide, error) {
	g := &gitSide{c: c, url: at.url.String(), ref: at.ref, dir: dir, close: func() error { return nil }}
	g.keeper = gitKeeper{g}
	if dir == "" {
		var err error
		if g.dir, err = os.MkdirTemp("", "mnem-git-*"); err != nil {
			return nil, err
		}
		g.close = func() error { return os.RemoveAll(g.dir) }
	}
	g.mirror = &verbSide{c: c, dir: filepath.Join(g.dir, "mirror")}
	if _, err := os.Stat(filepath.Join(g.dir, "HEAD")); err == nil {
		return g, nil
	}
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := g.git(ctx, nil, "init", "--quiet", "--bare"); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// git runs git in the repository here and returns what it prints, of which there is little.
func (g *gitSide) git(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out := &boundedBuffer{limit: maxGitText}
	cmd := g.program(ctx, in, args...)
	err := runGit(cmd, args[0], out)
	return strings.TrimSuffix(out.String(), "\n"), interrupted(ctx, err)
}

// gitTo has git print to a file.
func (g *gitSide) gitTo(ctx context.Context, out *os.File, args ...string) error {
	cmd := g.program(ctx, nil, args...)
	cmd.Stdout = out
	return interrupted(ctx, runGit(cmd, args[0], nil))
}

func (g *gitSide) program(ctx context.Context, in io.Reader, args ...string) *exec.Cmd {
	cmd := gitProgram(ctx, append([]string{"--git-dir=" + g.dir, "-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0"},
		args...)...)
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME=mnem", "GIT_AUTHOR_EMAIL=mnem@localhost", "GIT_COMMITTER_NAME=mnem",
		"GIT_COMMITTER_EMAIL=mnem@localhost")
	cmd.Stdin = in
	return cmd
}

// interrupted is the context's error where it has ended.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// lock keeps other processes from the repository here.
func (g *gitSide) lock(ctx context.Context) (unlock func() error, err error) {
	return filestate.Lock(ctx, filepath.Join(g.dir, "mnem"))
}

// Look implements remote.Side.
func (g *gitSide) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	unlock, err := g.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	if err := g.refresh(ctx); err != nil {
		return nil, err
	}
	st, err := g.mirror.Look(ctx, q)
	if err == nil {
		st.Head = graph.RefName(g.head)
	}
	return st, err
}

// refresh fetches what the ref is at and brings the mirror there.
func (g *gitSide) refresh(ctx context.Context) error {
	g.seen, g.head, g.packs, g.refs, g.erased = "", "", nil, nil, nil
	if err := g.keeper.read(ctx); err != nil {
		return err
	}
	return g.follow(ctx)
}

func (g gitKeeper) read(ctx context.Context) error {
	listed, err := g.git(ctx, nil, "ls-remote", "--quiet", g.url, g.ref)
	if err != nil {
		return err
	}
	if strings.TrimSpace(listed) != "" {
		_, err = g.git(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", g.url, "+"+g.ref+":"+gitSeen)
		if err == nil {
			g.seen, err = g.git(ctx, nil, "rev-parse", "--verify", gitSeen+"^{commit}")
		}
		if err == nil {
			err = g.readTree(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g gitKeeper) refsOf(ctx context.Context, p gitPack) (string, error) { return g.blob(ctx, p.refs) }

func (g gitKeeper) copyPack(ctx context.Context, f *os.File, p gitPack) error {
	for _, id := range p.parts {
		if err := g.gitTo(ctx, f, "cat-file", "blob", id); err != nil {
			return err
		}
	}
	return nil
}

// readTree reads what the commit has.
func (g *gitSide) readTree(ctx context.Context) error {
	bad := func(what string) error {
		return fmt.Errorf("%w: %s of the git repository is no memory: %s", repo.ErrInvalid, g.ref, what)
	}
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
	format, err := g.blob(ctx, blobs["format"])
	if err != nil || format != formatOfGit {
		return errors.Join(err, bad("its format is another one"))
	}
	if g.head, err = g.blob(ctx, blobs["head"]); err != nil {
		return err
	}
	g.head = strings.TrimSuffix(g.head, "\n")
	text, err := g.blob(ctx, blobs["refs"])
	if err == nil {
		g.refs, err = parseGitRefs(text)
	}
	if err == nil && blobs["redactions"] != "" {
		if text, err = g.blob(ctx, blobs["redactions"]); err == nil {
			g.erased, err = parseGitRedactions(text)
		}
	}
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("packs/%06d", n)
		p := gitPack{refs: blobs[name+".refs"]}
		if blobs[name] == "" {
			break
		}
		if p.refs == "" {
			return bad(name + " has no refs")
		}
		for k, id := 1, blobs[name]; id != ""; k++ {
			p.parts, p.size = append(p.parts, id), p.size+sizes[id]
			id = blobs[fmt.Sprintf("%s.%02d", name, k)]
		}
		g.packs = append(g.packs, p)
	}
	return nil
}

// blob returns a short blob.
func (g *gitSide) blob(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", fmt.Errorf("%w: %s of the git repository is no memory: a file is missing", repo.ErrInvalid, g.ref)
	}
	out := &boundedBuffer{limit: maxGitText}
	err := runGit(g.program(ctx, nil, "cat-file", "blob", id), "cat-file", out)
	if out.over {
		return "", remote.ErrTooLarge
	}
	return out.String(), interrupted(ctx, err)
}

// parseGitRefs reads lines of refs and CIDs.
func parseGitRefs(text string) (refs []repo.Ref, err error) {
	for row := range strings.Lines(text) {
		name, at, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		c, err := ipld.ParseCID(at)
		if err == nil {
			err = graph.ValidateRef(graph.RefName(name))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: a ref in the git repository: %w", repo.ErrInvalid, err)
		}
		if refs = append(refs, repo.Ref{Name: graph.RefName(name), Target: c}); len(refs) > remote.MaxRefs {
			return nil, remote.ErrTooLarge
		}
	}
	return refs, nil
}

func gitRefsText(refs []repo.Ref) string {
	var b strings.Builder
	for _, ref := range refs {
		fmt.Fprintf(&b, "%s %s\n", ref.Name, ref.Target)
	}
	return b.String()
}

// follow brings the mirror to what was fetched: it takes in the packs that it has not, from the first on where
// those that it has are not the first ones.
func (g *gitSide) follow(ctx context.Context) error {
	state, err := filestate.Read(filepath.Join(g.dir, mirrorState), maxGitText)
	if err != nil {
		return err
	}
	var want strings.Builder
	for _, p := range g.packs {
		want.WriteString(p.key() + "\n")
	}
	if _, err := os.Stat(filepath.Join(g.mirror.dir, repo.DirName)); err != nil || state == nil ||
		!strings.HasPrefix(want.String(), string(state)) {
		if err := g.anew(ctx); err != nil {
			return err
		}
		state = nil
	}
	for _, p := range g.packs[strings.Count(string(state), "\n"):] {
		if err := g.apply(ctx, p); err != nil {
			return err
		}
		state = append(state, p.key()+"\n"...)
		if err := g.keep(string(state)); err != nil {
			return err
		}
	}
	if err := g.settle(ctx); err != nil {
		return err
	}
	return g.erase(ctx)
}

// anew makes an empty mirror.
func (g *gitSide) anew(ctx context.Context) error {
	if err := os.RemoveAll(g.mirror.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(g.mirror.dir, 0o700); err != nil {
		return err
	}
	by, err := g.c.stampOf(nil)
	if err != nil {
		return err
	}
	opt, err := g.c.options()
	if err != nil {
		return err
	}
	opt.Branch = mirrorBranch
	by.Guard, by.Signed, by.Head = nil, nil, nil
	r, err := repo.Init(ctx, g.mirror.dir, by, opt)
	if err == nil {
		err = r.Close()
	}
	if err == nil {
		err = g.keep("")
	}
	return err
}

func (g *gitSide) keep(state string) error {
	return filestate.Replace(filepath.Join(g.dir, mirrorState), privateMode, func(w io.Writer) error {
		_, err := io.WriteString(w, state)
		return err
	})
}

// apply takes a pack into the mirror.
func (g *gitSide) apply(ctx context.Context, p gitPack) error {
	text, err := g.keeper.refsOf(ctx, p)
	if err != nil {
		return err
	}
	refs, err := parseGitRefs(text)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(g.dir, "pack-*")
	if err != nil {
		return err
	}
	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }() // it was read
	if err := g.keeper.copyPack(ctx, f, p); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var list []repo.RefUpdate
	for _, ref := range refs {
		list = append(list, repo.RefUpdate{Ref: ref.Name, To: ref.Target})
	}
	_, err = g.mirror.Take(ctx, remote.News{Pack: io.NewSectionReader(f, 0, info.Size()), Updates: list})
	return err
}

// settle removes refs of the mirror that are gone, and refuses what the packs do not make.
func (g *gitSide) settle(ctx context.Context) error {
	st, err := g.mirror.Look(ctx, remote.Question{})
	if err != nil {
		return err
	}
	want := make(map[graph.RefName]ipld.CID)
	for _, ref := range g.refs {
		want[ref.Name] = ref.Target
	}
	var gone []repo.RefUpdate
	for _, ref := range st.Refs {
		if !want[ref.Name].Defined() {
			gone = append(gone, repo.RefUpdate{Ref: ref.Name})
		} else if want[ref.Name] == ref.Target {
			delete(want, ref.Name)
		}
	}
	if len(want) > 0 {
		return fmt.Errorf("%w: %s of the git repository is no memory: %s is not in its packs", repo.ErrInvalid, g.ref,
			slices.Min(slices.Collect(maps.Keys(want))))
	}
	if len(gone) > 0 {
		_, err = g.mirror.Take(ctx, remote.News{Updates: gone})
	}
	return err
}

// erase erases in the mirror what the tree says was erased.
func (g *gitSide) erase(ctx context.Context) error {
	if len(g.erased) == 0 {
		return nil
	}
	has, err := remote.Known(ctx, g.mirror)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(g.erased), func(t repo.ToldRedaction) bool { return has[t.CID] })
	_, err = remote.AcceptAll(ctx, g.mirror, list, "")
	return err
}

// Redactions implements remote.Side.
func (g *gitSide) Redactions(ctx context.Context, after ipld.CID) ([]repo.ToldRedaction, bool, error) {
	return g.mirror.Redactions(ctx, after)
}

// Send implements remote.Side.
func (g *gitSide) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return g.mirror.Send(ctx, w, want, from)
}

// Close implements remote.Side.
func (g *gitSide) Close() error { return g.close() }
