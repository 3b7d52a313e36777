package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Cache caches decoded parts and segments. Any number of indexes, which share segments, may use one cache. The zero
// Cache keeps nothing. Safe for concurrent use.
type Cache struct{ cache.Cache[partKey, any] }

// partKey identifies a part by its segment, section and number.
type partKey struct {
	segment ipld.CID
	section int16 // keySegment for the segment itself, keyDirs - section for directories
	number  int32
}

const (
	keySegment = -1
	keyDirs    = -2
)

// NewCache returns a cache of about limit bytes.
func NewCache(limit int64) *Cache {
	c := &Cache{}
	c.Init(limit)
	return c
}

// Reader reads segments of a format and their parts through a cache. Safe for concurrent use.
type Reader struct {
	format *Format
	get    store.Getter
	cache  *Cache
}

// NewReader returns a reader. A nil cache caches nothing.
func (f *Format) NewReader(get store.Getter, cache *Cache) *Reader {
	if cache == nil {
		cache = new(Cache)
	}
	return &Reader{format: f, get: get, cache: cache}
}

// Segment reads the block of a segment.
func (r *Reader) Segment(ctx context.Context, c ipld.CID) (*Segment, error) {
	key := partKey{segment: c, section: keySegment}
	v, ok, epoch := r.cache.Get(key)
	if ok {
		return v.(*Segment), nil
	}
	block, err := r.get.Get(ctx, c)
	var s *Segment
	if err == nil {
		s, err = r.format.Decode(c, block)
	}
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", c, err)
	}
	r.cache.AddSince(epoch, key, s, int64(2*len(block)))
	return s, nil
}

// Segments reads the segments of a list.
func (r *Reader) Segments(ctx context.Context, list []Ref) ([]*Segment, error) {
	segs := make([]*Segment, len(list))
	for i, ref := range list {
		s, err := r.Segment(ctx, ref.CID)
		if err == nil && s.Ref() != ref {
			err = Corrupt("segment %s of %d documents and %d kills, its list says %d and %d", ref.CID,
				s.Docs, s.Kills, ref.Docs, ref.Kills)
		}
		if err != nil {
			return nil, err
		}
		segs[i] = s
	}
	return segs, nil
}

// Wrap adds what was being read to an error.
func (r *Reader) Wrap(s *Segment, sec int, err error) error {
	return fmt.Errorf("read %s of segment %s: %w", r.format.Sections[sec].Name, s.CID, err)
}

// ref returns the reference to part n of a section, which must exist.
func (r *Reader) ref(ctx context.Context, s *Segment, sec, n int) (part, error) {
	if !s.sections[sec].deep() {
		return s.sections[sec].refs[n], nil
	}
	dir, err := r.dir(ctx, s, sec, n/fan)
	if err != nil {
		return part{}, err
	}
	return dir.refs[n%fan], nil
}

type directory struct {
	refs  []part
	heads []uint64 // of their keys
}

func (r *Reader) dir(ctx context.Context, s *Segment, sec, n int) (*directory, error) {
	key := partKey{segment: s.CID, section: int16(keyDirs - sec), number: int32(n)}
	v, ok, epoch := r.cache.Get(key)
	if ok {
		return v.(*directory), nil
	}
	at := &s.sections[sec]
	block, err := r.get.Get(ctx, at.refs[n].cid)
	var refs []part
	if err == nil {
		refs, err = r.format.decodeDir(block)
	}
	if want := min(fan, at.parts-n*fan); err == nil &&
		(len(refs) != want || !bytes.Equal(refs[0].key, at.refs[n].key)) {
		err = Corrupt("directory %d does not fit", n)
	}
	if err != nil {
		return nil, r.Wrap(s, sec, err)
	}
	dir := &directory{refs, headsOf(refs)}
	r.cache.AddSince(epoch, key, dir, int64(2*len(block)))
	return dir, nil
}

// Key returns the key of part n of a section, which must not be changed.
func (r *Reader) Key(ctx context.Context, s *Segment, sec, n int) ([]byte, error) {
	ref, err := r.ref(ctx, s, sec, n)
	return ref.key, err
}

// Find returns the last part of a section whose key is at most key, or -1.
func (r *Reader) Find(ctx context.Context, s *Segment, sec int, key []byte) (int, error) {
	n, _, err := r.find(ctx, s, sec, key)
	return n, err
}

func (r *Reader) find(ctx context.Context, s *Segment, sec int, key []byte) (n int, ref *part, err error) {
	at := &s.sections[sec]
	n = lastAtMost(at.refs, at.heads, key)
	if n < 0 {
		return n, nil, nil
	}
	if !at.deep() {
		return n, &at.refs[n], nil
	}
	dir, err := r.dir(ctx, s, sec, n)
	if err != nil {
		return 0, nil, err
	}
	i := lastAtMost(dir.refs, dir.heads, key)
	return n*fan + i, &dir.refs[i], nil
}

// decoder decodes a part, given its key and bytes, and returns how many bytes the value retains. It may retain both.
type decoder[T any] = func(key, data []byte) (value T, size int, err error)

// Covering returns the part that Find finds, as decode decodes it, and its number; -1 if there is none.
func Covering[T any](
	ctx context.Context, r *Reader, s *Segment, sec int, key []byte, decode decoder[T],
) (v T, n int, err error) {
	n, ref, err := r.find(ctx, s, sec, key)
	if n < 0 || err != nil {
		return v, n, err
	}
	kept, ok, epoch := r.Cached(s, sec, n)
	if ok {
		return kept.(T), n, nil
	}
	v, err = load(ctx, r, s, sec, n, *ref, epoch, decode)
	return v, n, err
}

// Part returns part n of a section, as decode decodes it.
func Part[T any](ctx context.Context, r *Reader, s *Segment, sec, n int, decode decoder[T]) (v T, err error) {
	kept, ok, epoch := r.Cached(s, sec, n)
	if ok {
		return kept.(T), nil
	}
	if n < 0 || n >= s.Parts(sec) {
		return v, r.Wrap(s, sec, Corrupt("no part %d", n))
	}
	ref, err := r.ref(ctx, s, sec, n)
	if err != nil {
		return v, err
	}
	return load(ctx, r, s, sec, n, ref, epoch, decode)
}

// load reads a part and caches it.
func load[T any](
	ctx context.Context, r *Reader, s *Segment, sec, n int, ref part, epoch int, decode decoder[T],
) (v T, err error) {
	data := ref.data
	if data == nil {
		data, err = r.get.Get(ctx, ref.cid)
	}
	if most := r.format.Sections[sec].MaxPart; err == nil && len(data) > most {
		err = Corrupt("%d bytes, limit %d", len(data), most)
	}
	size := 0
	if err == nil {
		v, size, err = decode(ref.key, data)
	}
	if err != nil {
		var none T
		return none, r.Wrap(s, sec, fmt.Errorf("part %d: %w", n, err))
	}
	r.Retain(epoch, s, sec, n, v, size)
	return v, nil
}

// Cached returns a value that Retain kept under the number of a part that a section does not have, and the epoch for
// Retain.
func (r *Reader) Cached(s *Segment, sec, n int) (v any, ok bool, epoch int) {
	return r.cache.Get(partKey{s.CID, int16(sec), int32(n)})
}

// Retain caches a value that a segment does not store, made since an epoch, with the bytes that it retains.
func (r *Reader) Retain(epoch int, s *Segment, sec, n int, v any, size int) {
	r.cache.AddSince(epoch, partKey{s.CID, int16(sec), int32(n)}, v, int64(size))
}

func keep(_, data []byte) ([]byte, int, error) { return data, len(data), nil }

// Bytes returns the raw bytes of part n of a section. They must not be changed.
func (r *Reader) Bytes(ctx context.Context, s *Segment, sec, n int) ([]byte, error) {
	return Part(ctx, r, s, sec, n, keep)
}

// ErrSkipLinked is returned by Walk's callback to skip the blocks that a block links to.
var ErrSkipLinked = errors.New("skip what this links to")

// Visit calls fn with a block and reports whether to skip the blocks that it links to.
func Visit(c ipld.CID, fn func(ipld.CID) error) (skip bool, err error) {
	if err = fn(c); errors.Is(err, ErrSkipLinked) {
		return true, nil
	}
	return false, err
}

// Walk calls fn with the CID of every block of an index, the manifest first, parts after the blocks that link to
// them. It reads the manifest, the segments' own blocks and directories, but no parts. An error of fn ends the walk
// and is returned, except ErrSkipLinked: a manifest or segment for which fn returns that is not read. fn may be
// called twice with one CID.
func (f *Format) Walk(ctx context.Context, blocks Blocks, c ipld.CID, fn func(ipld.CID) error) error {
	if skip, err := Visit(c, fn); skip || err != nil {
		return err
	}
	m, err := f.ReadManifest(ctx, blocks, c)
	if err != nil {
		return err
	}
	return f.WalkList(ctx, blocks, &m.List, fn)
}

// WalkList is Walk for the segments of a list.
func (f *Format) WalkList(ctx context.Context, get store.Getter, l *List, fn func(ipld.CID) error) error {
	r := f.NewReader(get, nil)
	for _, ref := range l.Segments {
		skip, err := Visit(ref.CID, fn)
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		s, err := r.Segment(ctx, ref.CID)
		if err != nil {
			return err
		}
		for sec := range s.sections {
			if err := r.walk(ctx, s, sec, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) walk(ctx context.Context, s *Segment, sec int, fn func(ipld.CID) error) error {
	for n, ref := range s.sections[sec].refs {
		if ref.data != nil {
			continue
		}
		if _, err := Visit(ref.cid, fn); err != nil {
			return err
		}
		if !s.sections[sec].deep() {
			continue
		}
		dir, err := r.dir(ctx, s, sec, n)
		if err != nil {
			return err
		}
		for _, p := range dir.refs {
			if _, err := Visit(p.cid, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
