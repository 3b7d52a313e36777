package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/s3"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

// A bucket stores a memory under a prefix as
//
//	memory       one JSON object, s3Memory; each push replaces it, provided it has not changed
//	packs/NAME   the bytes of a pack, or a part of one, never replaced: NAME is their SHA-256 in hexadecimal
//	             digits, a hyphen and 32 random digits, so that no two writes use the same object
//	probe/NAME   temporary, to test the store
//
// All packs in order make up the histories of refs. A push adds one. The packs after the last one that is at least
// twice as large as all after it are then combined, so that n bytes lie in log n packs, and each byte is written
// log n times. Packs that the memory object no longer names are removed after s3Grace; those that must go at once are
// listed in it until they are gone, so that any client finishes that.
const (
	formatOfS3 = "mnem in s3 1"
	s3Object   = "memory"
	s3Packs    = "packs/"
	// s3Grace is how long a replaced pack stays readable, and a new one may stay unnamed.
	s3Grace = 24 * time.Hour
	// s3Covered bounds how many replaced packs a pack lists: the newest ones.
	s3Covered = 256
	// s3MaxPacks bounds the packs of a memory: each but the last is at least twice as large as all after it, and
	// sizes have 63 bits. s3MaxParts bounds the parts of one pack, to 2.5 TiB, and s3MaxRedactions the redactions.
	s3MaxPacks, s3MaxParts, s3MaxRedactions = 128, 1 << 16, 1 << 18
	// followTries is how often the memory object is read if packs that it names are not there.
	followTries = 20
	// s3Probed is the file that records a successful test of the store.
	s3Probed = "probed"
)

// s3Memory is the content of the one mutable object.
type s3Memory struct {
	Format     string   `json:"format"`
	Attempt    string   `json:"attempt"` // random: identifies the write
	Head       string   `json:"head"`
	Refs       string   `json:"refs"` // lines of REF CID, as for git
	Packs      s3List   `json:"packs"`
	Redactions s3Erased `json:"redactions,omitempty"`
	// Gone names parts that must be deleted: they have what was erased, or the key of a removed reader opens them.
	Gone s3Names `json:"gone,omitempty"`
	// Encrypted is there if all that the bucket has is encrypted, this object too.
	Encrypted *seal.Record `json:"encrypted,omitempty"`
}

type s3Pack struct {
	Parts  s3Names `json:"parts"`
	Size   int64   `json:"size"`
	Refs   string  `json:"refs"`             // the targets of its refs
	Covers s3Names `json:"covers,omitempty"` // first names of packs that it replaces
}

// s3List, s3Names and s3Erased are lists whose length is checked before they are decoded.
type (
	s3List   []s3Pack
	s3Names  []string
	s3Erased []string
)

// errS3Long is returned for a list longer than any writer makes.
var errS3Long = errors.New("a list is too long")

// UnmarshalJSON implements json.Unmarshaler.
func (l *s3List) UnmarshalJSON(data []byte) error {
	*l = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if start, err := dec.Token(); err != nil || start != json.Delim('[') {
		if start == nil {
			return err // null
		}
		return errors.New("packs are no list")
	}
	for dec.More() {
		if len(*l) == s3MaxPacks {
			return errS3Long
		}
		var p s3Pack
		if err := dec.Decode(&p); err != nil {
			return err
		}
		*l = append(*l, p)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *s3Names) UnmarshalJSON(data []byte) error {
	return decodeTexts(data, s3MaxParts, (*[]string)(l))
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *s3Erased) UnmarshalJSON(data []byte) error {
	return decodeTexts(data, s3MaxRedactions, (*[]string)(l))
}

// decodeTexts decodes a list of at most most texts without commas.
func decodeTexts(data []byte, most int, to *[]string) error {
	if bytes.Count(data, []byte(",")) >= most {
		return errS3Long
	}
	return json.Unmarshal(data, to)
}

// Bucket is a repository stored in a bucket.
type Bucket struct {
	mirror
	at   objects
	tag  string    // of the object that was read
	now  time.Time // time of its last write, by the store's clock; zero if unknown
	last s3Memory
}

var _ remote.Side = (*Bucket)(nil)

// InBucket connects to a bucket. The local mirror is in dir, or in a temporary directory if dir is empty. It makes
// no request yet.
func InBucket(h *place.Host, at *place.URL, r place.Remote, dir string) (*Bucket, error) {
	endpoint := h.Env("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	style := h.Env("MNEM_BUCKET_PATH_STYLE")
	if style != "" && style != "0" && style != "1" {
		return nil, fmt.Errorf("%w: MNEM_BUCKET_PATH_STYLE is %q, want 0 or 1", state.ErrInvalid, style)
	}
	opt := s3.ClientOptions{
		Endpoint: endpoint, Region: h.Env("AWS_REGION", "AWS_DEFAULT_REGION"), Bucket: at.At.Host,
		Prefix: strings.Trim(at.At.Path, "/"), PathStyle: style == "1" || endpoint != "" && style == "",
		AccessKey: h.Env("AWS_ACCESS_KEY_ID"), SecretKey: h.Env("AWS_SECRET_ACCESS_KEY"),
		Token: h.Env("AWS_SESSION_TOKEN"), Encryption: h.Env("MNEM_BUCKET_ENCRYPTION"), Now: h.Now, Sleep: h.Pause,
	}
	client, err := s3.New(opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	b := &Bucket{at: client}
	b.mirror = mirror{host: h, dir: dir, backend: b, what: "bucket", name: "what is in the bucket", remote: r}
	return b, b.open("mnem-s3-*")
}

// Try tests whether the bucket's store serializes conditional writes, unless access is denied.
func (b *Bucket) Try(ctx context.Context) (tried bool, err error) {
	err = b.probe(ctx)
	if errors.Is(err, s3.ErrDenied) {
		return false, nil
	}
	return true, s3Error(err)
}

// probe tests the store, once for each directory and URL.
func (b *Bucket) probe(ctx context.Context) error {
	file := filepath.Join(b.dir, s3Probed)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	name, err := b.random()
	if err == nil {
		err = b.at.Probe(ctx, "probe/"+name)
	}
	if err != nil {
		return err
	}
	return filestate.Replace(file, fileMode, func(io.Writer) error { return nil })
}

func (b *Bucket) random() (string, error) {
	buf := make([]byte, 16)
	_, err := io.ReadFull(b.host.Rand, buf)
	return hex.EncodeToString(buf), err
}

// s3Error converts errors of the store.
func s3Error(err error) error {
	switch {
	case errors.Is(err, s3.ErrMoved):
		return fmt.Errorf("%w: another push came first: %w", state.ErrConflict, err)
	case errors.Is(err, s3.ErrUnsafe):
		return verb.Hintf(fmt.Errorf("%w: %w", state.ErrInvalid, err), "use a store with conditional writes, or another kind of remote")
	case errors.Is(err, s3.ErrTooLarge):
		return fmt.Errorf("%w: %w", remote.ErrTooLarge, err)
	case errors.Is(err, s3.ErrDenied):
		return verb.Hintf(err, "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do")
	}
	return err
}

func (b *Bucket) read(ctx context.Context) error {
	data, o, err := b.at.Bytes(ctx, s3Object, b.tag, maxText)
	switch {
	case errors.Is(err, s3.ErrNotFound):
		b.tag, b.last = "", s3Memory{}
		if err := b.forget(); err != nil {
			return err
		}
	case errors.Is(err, s3.ErrSame):
	case err != nil:
		return s3Error(err)
	default:
		if err := b.parse(data); err != nil {
			return err
		}
		b.tag = o.ETag
	}
	return b.spread()
}

// spread copies the object's content into the fields of the mirror.
func (b *Bucket) spread() (err error) {
	b.head, b.packs = b.last.Head, nil
	if b.refs, err = b.parseRefs(b.last.Refs); err != nil {
		return err
	}
	b.erased, err = b.parseRedactions(strings.Join(b.last.Redactions, "\n"))
	for _, p := range b.last.Packs {
		b.packs = append(b.packs, p.plain())
	}
	return err
}

// plain converts to the mirror's pack.
func (p s3Pack) plain() pack { return pack{p.Parts, p.Refs, p.Size} }

func parseS3Memory(data []byte) (*s3Memory, error) {
	bad := func(what string) (*s3Memory, error) {
		return nil, fmt.Errorf("%w: the object %s in the bucket is no memory: %s", state.ErrInvalid, s3Object, what)
	}
	m := &s3Memory{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(m)
	if errors.Is(err, errS3Long) {
		return bad(err.Error())
	}
	if err != nil || m.Format != formatOfS3 {
		return bad("its format is another one")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bad("something follows it")
	}
	if what := m.wrong(); what != "" {
		return bad(what)
	}
	return m, nil
}

// wrong describes the first thing that no writer writes, or "": invalid or duplicate names, or a number of parts
// that does not match a pack's size.
func (m *s3Memory) wrong() string {
	seen := make(map[string]bool)
	for _, name := range m.Gone {
		if !isS3Pack(name) {
			return "the name of a pack is none"
		}
		seen[name] = true
	}
	for _, p := range m.Packs {
		switch {
		case len(p.Parts) == 0 || p.Size < 0:
			return "a pack without parts"
		case p.Size > s3MaxParts*maxPart:
			return "a pack is too long"
		case int64(len(p.Parts)) != max(1, (p.Size+maxPart-1)/maxPart):
			return "a pack has another size than its parts"
		case len(p.Covers) > s3Covered:
			return errS3Long.Error()
		}
		for _, name := range slices.Concat(p.Parts, p.Covers) { // none of these must be deleted
			if !isS3Pack(name) {
				return "the name of a pack is none"
			}
			if seen[name] {
				return "the name of a pack is there twice"
			}
			seen[name] = true
		}
	}
	return ""
}

func isS3Pack(name string) bool {
	hash, random, _ := strings.Cut(name, "-")
	return len(hash) == 2*sha256.Size && len(random) == 32 &&
		!strings.ContainsFunc(hash+random, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

func (b *Bucket) refsOf(_ context.Context, p pack) (string, error) { return p.refs, nil }

func (b *Bucket) copyPack(ctx context.Context, f *os.File, p pack) error {
	left := p.size
	for _, name := range p.parts {
		want := min(maxPart, left)
		left -= want
		at, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = b.at.Get(ctx, s3Packs+name, "", want, io.MultiWriter(f, sum), func() error {
			sum.Reset()
			_, err := f.Seek(at, io.SeekStart)
			return errors.Join(err, f.Truncate(at))
		})
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != name[:2*sha256.Size] {
			err = fmt.Errorf("%w: a pack in the bucket is not what its name says", state.ErrInvalid)
		}
		if err != nil {
			return s3Error(err)
		}
		if end, err := f.Seek(0, io.SeekEnd); err != nil || end-at != want {
			return errors.Join(err, fmt.Errorf("%w: a part of a pack in the bucket has %d bytes, want %d", state.ErrInvalid,
				end-at, want))
		}
	}
	return nil
}

// follow makes the mirror what the memory object says. If a pack is not there, others may have replaced it since the
// object was read: then it is read again, followTries times at most.
func (b *Bucket) follow(ctx context.Context) error {
	for n := 1; ; n++ {
		err := b.catchUp(ctx)
		if !errors.Is(err, s3.ErrNotFound) || n == followTries {
			return err
		}
		was := b.tag
		if failed := b.read(ctx); failed != nil || b.tag == was {
			return errors.Join(failed, err)
		}
	}
}

// catchUp imports the packs that the mirror lacks, unless it has everything they cover. If the mirror has a pack
// that the memory object neither names nor covers, the bucket was restored to an older state, or was pushed to very
// often since: the mirror is rebuilt, since it must not have more than the bucket when packs are made from it.
func (b *Bucket) catchUp(ctx context.Context) error {
	state, there, err := b.state()
	if err != nil {
		return err
	}
	if !there || !b.explains(string(state)) {
		if err := b.recreate(ctx); err != nil {
			return err
		}
		state = nil
	}
	has := make(map[string]bool)
	for row := range strings.Lines(string(state)) {
		has[strings.TrimSpace(row)] = true
	}
	for _, p := range b.last.Packs {
		covered := len(p.Covers) > 0
		for _, hash := range p.Covers {
			covered = covered && has[hash]
		}
		if !has[p.Parts[0]] && !covered {
			if err := b.apply(ctx, p.plain()); err != nil {
				return errors.Join(err, b.keepPacks(has))
			}
		}
		has[p.Parts[0]] = true
	}
	if err := b.keepPacks(has); err != nil {
		return err
	}
	return b.settle(ctx)
}

// explains reports whether the memory object names or covers each pack in the mirror.
func (b *Bucket) explains(state string) bool {
	known := partsAndCovered(b.last.Packs)
	for row := range strings.Lines(state) {
		if !strings.HasPrefix(row, s3Under) && !known[strings.TrimSuffix(row, "\n")] {
			return false
		}
	}
	return true
}

// s3Under begins a row of the state about a pack that another one of the mirror covers.
const s3Under = " "

// keepPacks records which packs the mirror has, and what these cover: others were named by an earlier memory object.
func (b *Bucket) keepPacks(has map[string]bool) error {
	var rows strings.Builder
	for _, p := range b.last.Packs {
		if !has[p.Parts[0]] {
			for _, name := range p.Covers { // perhaps only some of what it covers
				if has[name] {
					rows.WriteString(name + "\n")
				}
			}
			continue
		}
		for _, name := range p.Covers {
			rows.WriteString(s3Under + name + "\n")
		}
		rows.WriteString(p.Parts[0] + "\n")
	}
	return b.keep(rows.String())
}

func (b *Bucket) add(ctx context.Context, news remote.News, refs []core.Ref) error {
	if err := b.probe(ctx); err != nil {
		return s3Error(err)
	}
	if err := b.begin(); err != nil {
		return err
	}
	if err := b.deleteGone(ctx); err != nil {
		return err
	}
	packs, err := b.geometric(ctx)
	if err == nil && news.Pack != nil {
		var p s3Pack
		p, err = b.store(ctx, news.Pack, packedRefs(news.Updates))
		packs = append(packs, p)
	}
	if err != nil {
		return err
	}
	next := b.last
	next.Packs, next.Refs, next.Gone = packs, refsText(refs), nil
	if next.Head == "" {
		next.Head = headOf(news.Updates)
	}
	replaced := len(next.Packs) <= len(b.last.Packs)
	if err := b.publish(ctx, next); err != nil {
		if errors.Is(err, state.ErrConflict) {
			b.withdraw(ctx, packs)
		}
		return err
	}
	// The mirror takes what was just written, without reading it back.
	if err := b.spread(); err != nil {
		return err
	}
	if _, err := b.here.Take(ctx, news); err != nil {
		return err
	}
	if err := b.keepPacks(partsAndCovered(b.last.Packs)); err != nil {
		return err
	}
	if replaced {
		b.sweep(ctx)
	}
	return nil
}

func partsAndCovered(packs []s3Pack) map[string]bool {
	names := make(map[string]bool)
	for _, p := range packs {
		for _, name := range slices.Concat(p.Parts, p.Covers) {
			names[name] = true
		}
	}
	return names
}

func (b *Bucket) store(ctx context.Context, from *io.SectionReader, refs []core.Ref) (p s3Pack, err error) {
	err = b.sealing(from, func(from *io.SectionReader) error {
		p.Size, p.Refs = from.Size(), refsText(refs)
		return parts(from, func(part *io.SectionReader) error {
			sum := sha256.New()
			if _, err := io.Copy(sum, io.NewSectionReader(part, 0, part.Size())); err != nil {
				return err
			}
			random, err := b.random()
			if err != nil {
				return err
			}
			name := hex.EncodeToString(sum.Sum(nil)) + "-" + random
			p.Parts = append(p.Parts, name)
			return s3Error(b.at.Make(ctx, s3Packs+name, part, part.Size()))
		})
	})
	return p, err
}

// publish replaces the object. If the object has changed, it may be the result of this very write, whose answer was
// lost.
func (b *Bucket) publish(ctx context.Context, next s3Memory) (err error) {
	next.Format = formatOfS3
	if next.Attempt, err = b.random(); err != nil {
		return err
	}
	data, box, err := b.form(next)
	if err != nil {
		return err
	}
	if len(data) > maxText {
		return remote.ErrTooLarge
	}
	o, err := b.at.Put(ctx, s3Object, b.tag, bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, s3.ErrMoved) {
		there, got, readErr := b.at.Bytes(ctx, s3Object, "", maxText)
		if readErr == nil && bytes.Equal(there, data) {
			o, err = got, nil
		}
	}
	if err != nil {
		return s3Error(err)
	}
	b.tag, b.last, b.now = o.ETag, next, o.At
	return b.pin(box)
}

// geometric combines the last packs if not each pack is at least twice as large as all after it.
func (b *Bucket) geometric(ctx context.Context) ([]s3Pack, error) {
	packs := slices.Clone(b.last.Packs)
	from := foldFrom(b.packs)
	if from >= len(packs)-1 {
		return packs, nil
	}
	have, err := b.known(ctx, b.packs[:from])
	if err != nil {
		return nil, err
	}
	p, err := b.repack(ctx, have)
	for _, old := range packs[from:] {
		p.Covers = append(append(p.Covers, old.Covers...), old.Parts[0])
	}
	if len(p.Covers) > s3Covered {
		p.Covers = p.Covers[len(p.Covers)-s3Covered:] // mirrors that are further behind are made again
	}
	return append(packs[:from], p), err
}

// repack writes one pack of what refs reach and some commits do not.
func (b *Bucket) repack(ctx context.Context, have []ipld.CID) (p s3Pack, err error) {
	err = b.packed(ctx, remote.Want{Refs: b.refs, Have: have}, func(r *io.SectionReader) error {
		p, err = b.store(ctx, r, b.refs)
		return err
	})
	return p, err
}

// replace replaces all packs and removes the old ones at once: erased data must not stay for a grace period.
func (b *Bucket) replace(ctx context.Context, erased []care.ToldRedaction, samePacks bool) error {
	if samePacks {
		return b.publish(ctx, b.last)
	}
	p, err := b.repack(ctx, nil)
	if err != nil {
		return err
	}
	next := b.last
	next.Packs, next.Redactions = []s3Pack{p}, transfer.RedactionTexts(erased)
	if next.Gone, err = b.others(ctx, p); err != nil {
		return err
	}
	if err := b.publish(ctx, next); err != nil {
		if errors.Is(err, state.ErrConflict) {
			b.withdraw(ctx, next.Packs)
		}
		return err
	}
	if err := b.spread(); err != nil {
		return err
	}
	if err := b.keepPacks(partsAndCovered(b.last.Packs)); err != nil { // the mirror is as the memory is
		return err
	}
	_, err = b.finish(ctx)
	return err
}

// others returns all parts in the bucket but those of a pack: those that are named, that were replaced, and those of writes
// under way, which fail because the memory object changes.
func (b *Bucket) others(ctx context.Context, p s3Pack) (names []string, err error) {
	err = b.at.List(ctx, s3Packs, func(o s3.Listed) error {
		if name := strings.TrimPrefix(o.Key, s3Packs); isS3Pack(name) && !slices.Contains(p.Parts, name) {
			names = append(names, name)
		}
		if len(names) > s3MaxParts {
			return remote.ErrTooLarge
		}
		return nil
	})
	return names, s3Error(err)
}

// deleteGone deletes the parts that must be deleted.
func (b *Bucket) deleteGone(ctx context.Context) error {
	for _, name := range b.last.Gone {
		if err := b.at.Delete(ctx, s3Packs+name); err != nil {
			return fmt.Errorf("what had to be deleted is still in the %s, in %s: %w", b.what, s3Packs+name, s3Error(err))
		}
	}
	return nil
}

// finish deletes the parts that must be deleted, and forgets them. If another write comes first, that one does it too.
func (b *Bucket) finish(ctx context.Context) (did bool, err error) {
	if len(b.last.Gone) == 0 {
		return false, nil
	}
	if err := b.deleteGone(ctx); err != nil {
		return true, err
	}
	next := b.last
	next.Gone = nil
	if err = b.publish(ctx, next); errors.Is(err, state.ErrConflict) {
		err = nil
	}
	return true, err
}

// withdraw deletes the parts of a write that another one forestalled: a key that was replaced in between may open them.
// What is left is swept later.
func (b *Bucket) withdraw(ctx context.Context, packs []s3Pack) {
	tag, before := b.tag, b.last.Packs
	if b.read(ctx) != nil || b.tag == tag {
		return // it is unknown whether the write failed
	}
	named := partsAndCovered(slices.Concat(before, b.last.Packs))
	for _, p := range packs {
		for _, part := range p.Parts {
			if !named[part] {
				_ = b.at.Delete(ctx, s3Packs+part)
			}
		}
	}
}

// sweep removes unnamed packs that are older than a grace period. The next sweep retries failed removals.
func (b *Bucket) sweep(ctx context.Context) {
	if b.now.IsZero() {
		return // the local clock says nothing about the store's
	}
	named := make(map[string]bool)
	for _, p := range b.last.Packs {
		for _, name := range p.Parts {
			named[s3Packs+name] = true
		}
	}
	before := b.now.Add(-s3Grace)
	_ = b.at.List(ctx, s3Packs, func(o s3.Listed) error { // the write itself succeeded
		if named[o.Key] || o.At.IsZero() || o.At.After(before) {
			return nil
		}
		return b.at.Delete(ctx, o.Key)
	})
}
