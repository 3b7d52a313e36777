package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/remote/s3"
	"github.com/mnem-project/mnem/repo"
)

// A bucket keeps a memory under a prefix as
//
//	memory       one JSON object, s3Memory, which each push replaces if it is the one that was seen
//	packs/NAME   the bytes of a pack, or a part of one, never replaced: NAME is their SHA-256 in hexadecimal
//	             digits, a hyphen and 32 random digits, so that no two writes are about one object
//	probe/NAME   for a moment, to try the store
//
// All packs in their order make the histories of refs. A push adds one. What follows the last pack that is at least
// twice as large as all after it becomes one then, so that of n bytes log n packs are there, and each byte is written
// log n times. Packs that no memory names any more go after s3Grace.
const (
	formatOfS3 = "mnem in s3 1"
	s3Object   = "memory"
	s3Packs    = "packs/"
	// s3Grace is how long a pack may be read that was replaced, and one written that is not named yet.
	s3Grace = 24 * time.Hour
	// s3Covered bounds how many packs one says that it replaces.
	s3Covered = 256
	// s3Probed is the file that says that the store was tried.
	s3Probed = "probed"
)

// s3Memory is what the one object that changes has.
type s3Memory struct {
	Format     string   `json:"format"`
	Attempt    string   `json:"attempt"` // random: whose write this is
	Head       string   `json:"head"`
	Refs       string   `json:"refs"` // lines of REF CID, as for git
	Packs      []s3Pack `json:"packs"`
	Redactions []string `json:"redactions,omitempty"`
}

// s3Pack is a pack there.
type s3Pack struct {
	Parts  []string `json:"parts"` // names
	Size   int64    `json:"size"`
	Refs   string   `json:"refs"`             // what the refs in it are at
	Covers []string `json:"covers,omitempty"` // first names of packs that it replaces
}

// s3Side is a repository that a bucket keeps: it is asked of a mirror here, as one in git is.
type s3Side struct {
	*gitSide
	at   *s3.Client
	tag  string    // of the object that was read
	now  time.Time // by the store's clock, when that was written last; zero where it did not say
	read s3Memory
}

var _ remote.Side = (*s3Side)(nil)

// parseS3 reads the URL of a bucket.
func parseS3(u *url.URL) (*remoteURL, error) {
	prefix := strings.Trim(u.Path, "/")
	plain := func(r rune) bool {
		return r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '_' || r >= 'A' && r <= 'Z'
	}
	bad := strings.ContainsFunc(u.Host, func(r rune) bool { return !plain(r) }) ||
		strings.ContainsFunc(prefix, func(r rune) bool { return !plain(r) && r != '/' }) ||
		strings.Contains("/"+prefix+"/", "/../") || strings.Contains("/"+prefix+"/", "/./") || strings.Contains(prefix, "//")
	if len(u.Host) < 3 || len(u.Host) > 63 || len(prefix) > 512 || u.User != nil || u.RawQuery != "" || u.Fragment != "" || bad {
		return nil, fmt.Errorf("%w: URL: want s3://BUCKET[/PREFIX], of letters, digits and - . _", repo.ErrInvalid)
	}
	return &remoteURL{scheme: "s3", path: firstOf(prefix, u.Host), url: u}, nil
}

// s3Side connects to a bucket, by a repository in a directory. Nothing is asked of it yet.
func (c *cli) s3Side(at *remoteURL, dir string) (*s3Side, error) {
	endpoint := c.env("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	style := c.env("MNEM_BUCKET_PATH_STYLE")
	if style != "" && style != "0" && style != "1" {
		return nil, fmt.Errorf("%w: MNEM_BUCKET_PATH_STYLE is %q, want 0 or 1", repo.ErrInvalid, style)
	}
	opt := s3.Options{
		Endpoint: endpoint, Region: c.env("AWS_REGION", "AWS_DEFAULT_REGION"), Bucket: at.url.Host,
		Prefix: strings.Trim(at.url.Path, "/"), PathStyle: style == "1" || endpoint != "" && style == "",
		AccessKey: c.env("AWS_ACCESS_KEY_ID"), SecretKey: c.env("AWS_SECRET_ACCESS_KEY"),
		Token: c.env("AWS_SESSION_TOKEN"), Encryption: c.env("MNEM_BUCKET_ENCRYPTION"), Now: c.app.Now, Sleep: c.app.Sleep,
	}
	client, err := s3.New(opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", repo.ErrInvalid, err)
	}
	g := &gitSide{c: c, dir: dir, close: func() error { return nil }}
	if dir == "" {
		if g.dir, err = os.MkdirTemp("", "mnem-s3-*"); err != nil {
			return nil, err
		}
		g.close = func() error { return os.RemoveAll(g.dir) }
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	g.mirror = &verbSide{c: c, dir: filepath.Join(g.dir, "mirror")}
	s := &s3Side{gitSide: g, at: client}
	g.keeper = s3Keeper{s}
	return s, nil
}

// probeRemote tries whether the store of a bucket keeps writers apart.
func (c *cli) probeRemote(ctx context.Context, r remoteJSON) error {
	u, err := parseURL(r.URL)
	if err != nil || u.scheme != "s3" {
		return err
	}
	here, err := c.repoFile("")
	if err != nil {
		return err
	}
	s, err := c.s3Side(u, filepath.Join(here, remotesDir, r.Name+gitSuffix))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it is kept
	err = s.probe(ctx)
	if errors.Is(err, s3.ErrDenied) {
		c.remark("%s cannot be written with these keys: it was not tried whether it keeps writers apart", line(r.URL))
		return nil
	}
	return s3Error(err)
}

// probe tries the store, once for each directory and URL.
func (s *s3Side) probe(ctx context.Context) error {
	file := filepath.Join(s.dir, s3Probed)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	name, err := s.random()
	if err == nil {
		err = s.at.Probe(ctx, "probe/"+name)
	}
	if err != nil {
		return err
	}
	return filestate.Replace(file, privateMode, func(io.Writer) error { return nil })
}

func (s *s3Side) random() (string, error) {
	b := make([]byte, 16)
	_, err := io.ReadFull(s.c.app.Rand, b)
	return hex.EncodeToString(b), err
}

// s3Error makes errors of the store those of this program.
func s3Error(err error) error {
	switch {
	case errors.Is(err, s3.ErrMoved):
		return fmt.Errorf("%w: it was pushed to meanwhile: %w", repo.ErrConflict, err)
	case errors.Is(err, s3.ErrUnsafe):
		return hint(fmt.Errorf("%w: %w", repo.ErrInvalid, err), "use a store with conditional writes, or another kind of remote")
	case errors.Is(err, s3.ErrTooLarge):
		return fmt.Errorf("%w: %w", remote.ErrTooLarge, err)
	case errors.Is(err, s3.ErrDenied):
		return hint(err, "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do")
	}
	return err
}

// s3Keeper is a bucket, as the mirror sees it.
type s3Keeper struct{ *s3Side }

func (k s3Keeper) read(ctx context.Context) error {
	s := k.s3Side
	data, o, err := s.at.Bytes(ctx, s3Object, s.tag, maxGitText)
	switch {
	case errors.Is(err, s3.ErrNotFound):
		s.tag, s.read = "", s3Memory{}
	case errors.Is(err, s3.ErrSame):
	case err != nil:
		return s3Error(err)
	default:
		m, err := parseS3Memory(data)
		if err != nil {
			return err
		}
		s.tag, s.read = o.ETag, *m
	}
	return s.spread()
}

// spread brings what was read into the fields of the mirror.
func (s *s3Side) spread() (err error) {
	s.head, s.packs = s.read.Head, nil
	if s.refs, err = parseGitRefs(s.read.Refs); err != nil {
		return err
	}
	s.erased, err = parseGitRedactions(strings.Join(s.read.Redactions, "\n"))
	for _, p := range s.read.Packs {
		s.packs = append(s.packs, p.mirrored())
	}
	return err
}

// mirrored is a pack as the state of a mirror names it.
func (p s3Pack) mirrored() gitPack { return gitPack{parts: p.Parts, refs: p.Refs} }

// parseS3Memory reads the object that changes.
func parseS3Memory(data []byte) (*s3Memory, error) {
	bad := func(what string) (*s3Memory, error) {
		return nil, fmt.Errorf("%w: the object %s in the bucket is no memory: %s", repo.ErrInvalid, s3Object, what)
	}
	m := &s3Memory{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil || m.Format != formatOfS3 {
		return bad("its format is another one")
	}
	for _, p := range m.Packs {
		if len(p.Parts) == 0 || p.Size < 0 {
			return bad("a pack without parts")
		}
		for _, name := range slices.Concat(p.Parts, p.Covers) {
			if !isS3Pack(name) {
				return bad("the name of a pack is none")
			}
		}
	}
	return m, nil
}

// isS3Pack reports whether a name is that of a pack.
func isS3Pack(name string) bool {
	hash, random, _ := strings.Cut(name, "-")
	return len(hash) == 2*sha256.Size && len(random) == 32 &&
		!strings.ContainsFunc(hash+random, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

func (k s3Keeper) refsOf(_ context.Context, p gitPack) (string, error) { return p.refs, nil }

func (k s3Keeper) copyPack(ctx context.Context, f *os.File, p gitPack) error {
	for _, name := range p.parts {
		at, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = k.at.Get(ctx, s3Packs+name, "", gitPart, io.MultiWriter(f, sum), func() error {
			sum.Reset()
			_, err := f.Seek(at, io.SeekStart)
			return errors.Join(err, f.Truncate(at))
		})
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != name[:2*sha256.Size] {
			err = fmt.Errorf("%w: a pack in the bucket is not what its name says", repo.ErrInvalid)
		}
		if err != nil {
			return s3Error(err)
		}
	}
	return nil
}

// Look implements remote.Side.
func (s *s3Side) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	st, err := s.mirror.Look(ctx, q)
	if err == nil {
		st.Head = graph.RefName(s.head)
	}
	return st, err
}

// refresh reads the object and brings the mirror to it.
func (s *s3Side) refresh(ctx context.Context) error {
	s.head, s.packs, s.refs, s.erased = "", nil, nil, nil
	if err := s.keeper.read(ctx); err != nil {
		return err
	}
	return s.follow(ctx)
}

// follow takes the packs into the mirror that it has not, and of which it has not all that they cover.
func (s *s3Side) follow(ctx context.Context) error {
	state, err := filestate.Read(filepath.Join(s.dir, mirrorState), maxGitText)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.mirror.dir, repo.DirName)); err != nil || state == nil {
		if err := s.anew(ctx); err != nil {
			return err
		}
		state = nil
	}
	has := make(map[string]bool)
	for row := range strings.Lines(string(state)) {
		has[strings.TrimSuffix(row, "\n")] = true
	}
	for _, p := range s.read.Packs {
		covered := len(p.Covers) > 0
		for _, hash := range p.Covers {
			covered = covered && has[hash]
		}
		if !has[p.Parts[0]] && !covered {
			if err := s.apply(ctx, p.mirrored()); err != nil {
				return errors.Join(err, s.keepPacks(has))
			}
		}
		has[p.Parts[0]] = true
	}
	if err := s.keepPacks(has); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.erase(ctx)
}

// keepPacks notes which packs of the memory the mirror has, and what these cover: others were named by an
// earlier one.
func (s *s3Side) keepPacks(has map[string]bool) error {
	var rows strings.Builder
	for _, p := range s.read.Packs {
		if !has[p.Parts[0]] {
			for _, name := range p.Covers { // some of what it covers, perhaps
				if has[name] {
					rows.WriteString(name + "\n")
				}
			}
			continue
		}
		for _, hash := range append(slices.Clone(p.Covers), p.Parts[0]) {
			rows.WriteString(hash + "\n")
		}
	}
	return s.keep(rows.String())
}

// Take implements remote.Side: what the mirror would take goes into the bucket, and into the mirror when it is
// there. It returns an error of repo.ErrConflict where others pushed since Look.
func (s *s3Side) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	if news.Tracking != "" {
		return nil, fmt.Errorf("%w: a bucket keeps no refs of remotes", repo.ErrInvalid)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	trial := *s.mirror
	trial.dryRun = true
	taken, err := trial.Take(ctx, news)
	if err != nil || len(taken.Refs) == 0 {
		return taken, err
	}
	if err := s.probe(ctx); err != nil {
		return nil, s3Error(err)
	}
	next := s.read
	next.Packs, err = s.geometric(ctx)
	if err == nil && news.Pack != nil {
		var p s3Pack
		p, err = s.store(ctx, news.Pack, packedRefs(news.Updates))
		next.Packs = append(next.Packs, p)
	}
	if err != nil {
		return nil, err
	}
	next.Refs = gitRefsText(changedRefs(s.refs, taken.Refs))
	if next.Head == "" {
		next.Head = headOf(news.Updates)
	}
	replaced := len(next.Packs) <= len(s.read.Packs)
	if err := s.publish(ctx, next); err != nil {
		return nil, err
	}
	if err := s.takeOwn(ctx, news); err != nil {
		return nil, err
	}
	if replaced {
		s.sweep(ctx)
	}
	return taken, nil
}

// headOf is the first branch among updates.
func headOf(list []repo.RefUpdate) string {
	for _, u := range list {
		if _, branch := u.Ref.Branch(); branch && u.To.Defined() {
			return string(u.Ref)
		}
	}
	return ""
}

// takeOwn brings the mirror to what was just written, without reading it back.
func (s *s3Side) takeOwn(ctx context.Context, news remote.News) error {
	if err := s.spread(); err != nil {
		return err
	}
	if _, err := s.mirror.Take(ctx, news); err != nil {
		return err
	}
	return s.keepAll()
}

// keepAll notes that the mirror has all packs of the memory.
func (s *s3Side) keepAll() error {
	has := make(map[string]bool)
	for _, p := range s.read.Packs {
		has[p.Parts[0]] = true
	}
	return s.keepPacks(has)
}

// store writes a pack.
func (s *s3Side) store(ctx context.Context, pack *io.SectionReader, refs []repo.Ref) (p s3Pack, err error) {
	p.Size, p.Refs = pack.Size(), gitRefsText(refs)
	for off := int64(0); off < pack.Size() || off == 0; off += gitPart {
		part := io.NewSectionReader(pack, off, min(gitPart, pack.Size()-off))
		sum := sha256.New()
		if _, err := io.Copy(sum, part); err != nil {
			return p, err
		}
		random, err := s.random()
		if err != nil {
			return p, err
		}
		name := hex.EncodeToString(sum.Sum(nil)) + "-" + random
		if err := s.at.Make(ctx, s3Packs+name, part, part.Size()); err != nil {
			return p, s3Error(err)
		}
		p.Parts = append(p.Parts, name)
	}
	return p, nil
}

// publish replaces the object. Where another one is there it may be that of this very write, whose answer was lost.
func (s *s3Side) publish(ctx context.Context, next s3Memory) (err error) {
	next.Format = formatOfS3
	if next.Attempt, err = s.random(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(next, "", " ")
	if err != nil {
		return err
	}
	if len(data) > maxGitText {
		return remote.ErrTooLarge
	}
	o, err := s.at.Put(ctx, s3Object, s.tag, bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, s3.ErrMoved) {
		there, got, readErr := s.at.Bytes(ctx, s3Object, "", maxGitText)
		if readErr == nil && bytes.Equal(there, data) {
			o, err = got, nil
		}
	}
	if err != nil {
		return s3Error(err)
	}
	s.tag, s.read, s.now = o.ETag, next, o.At
	return nil
}

// Accept implements remote.Side: all packs are replaced by one without what is erased, and removed at once.
func (s *s3Side) Accept(
	ctx context.Context, list []repo.ToldRedaction, tracking string,
) (*repo.AcceptedRedactions, error) {
	if tracking != "" {
		return nil, fmt.Errorf("%w: a bucket keeps no refs of remotes", repo.ErrInvalid)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	if err := s.refresh(ctx); err != nil || len(s.refs) == 0 {
		return &repo.AcceptedRedactions{Left: cidsOf(list)}, err
	}
	if err := s.unsettle(); err != nil {
		return nil, err
	}
	got, err := s.mirror.Accept(ctx, list, "")
	if err != nil || len(got.Erased)+len(got.Closed) == 0 {
		return got, err
	}
	gone := make(map[ipld.CID]bool)
	for _, c := range slices.Concat(got.Erased, got.Closed) {
		gone[c] = true
	}
	erased := s.erased
	for _, t := range list {
		if gone[t.CID] {
			erased = append(erased, t)
		}
	}
	p, err := s.repack(ctx, nil)
	if err != nil {
		return nil, err
	}
	next, old := s.read, s.read.Packs
	next.Packs, next.Redactions = []s3Pack{p}, ops.RedactionTexts(erased)
	if err := s.publish(ctx, next); err != nil {
		return nil, err
	}
	for _, pack := range old { // what was erased must not be there for a grace
		for _, name := range pack.Parts {
			if err := s.at.Delete(ctx, s3Packs+name); err != nil {
				return nil, fmt.Errorf("what was erased is still in the bucket, in %s: %w", s3Packs+name, s3Error(err))
			}
		}
	}
	if err := s.spread(); err != nil {
		return nil, err
	}
	return got, s.keepAll() // the mirror is as the memory is
}
