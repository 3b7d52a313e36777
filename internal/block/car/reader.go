// Package car reads and writes CARv1 files: a stream of blocks with their root CIDs, as other IPLD tools read and
// write them. In a CARv2 file it reads the inner CARv1 file and ignores the index.
//
//	file      header section*                      to the end of the file, nothing after it
//	header    varint length | one dag-cbor map     {"roots": [link, …], "version": 1}
//	section   varint length | 36 bytes of a CID | the block's bytes
//
//	varint    unsigned LEB128, in the fewest bytes, of what follows in bytes
//	roots     1 to MaxRoots links
//	block     at most ipld.MaxBlock bytes
//
// A Reader accepts less than CARv1 allows: CIDs must have the one form used here, and blocks must match their CID and
// be canonical. It returns only verified blocks, keeps one block in memory, and checks lengths against a limit before
// it allocates. It reports invalid input as a *FormatError with the offset of the header or section at fault.
//
// A stream cannot show whether every root is present, whether a block repeats or whether it is reachable; callers
// that read the whole file check this.
package car

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mnem-project/mnem/ipld"
)

// maxVarint is the longest length in bytes: three hold 2^21 - 1, more than any limit here.
const maxVarint = 3

const readBuffer = 64 << 10

// A CARv2 file begins with a pragma, which is the header of a CARv1 file of version 2 without roots. Its own header
// follows: characteristics, then three little-endian 64-bit numbers: the offset and the length of the inner CARv1
// file, and the offset of the index.
const (
	pragma          = "\x0a\xa1gversion\x02"
	headerV2        = 40
	characteristics = 16
	maxFile         = 1 << 62
)

// Block is one section of a file.
type Block struct {
	CID    ipld.CID
	Data   []byte // verified and canonical; valid until the next call of Next
	Offset int64  // of the section, in bytes from the start of the file
	Start  int64  // of Data, in bytes from the start of the file
}

// Reader reads one file as a stream. Not for concurrent use.
type Reader struct {
	in    *bufio.Reader
	pos   int64 // of the next byte to read
	start int64 // of the header or section being read, for errors
	end   int64 // of the blocks in a CARv2 file, 0 for a CARv1 file
	roots []ipld.CID
	buf   []byte
	done  error // the final result of Next, once it failed or reached the end
}

// NewReader reads the header; for a CARv2 file, that of the inner CARv1 file. It returns a *FormatError unless the
// header has 1 to MaxRoots roots, and wraps errors of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, readBuffer)}
	if head, _ := r.in.Peek(len(pragma)); string(head) == pragma {
		if err := r.enter(); err != nil {
			return nil, err
		}
	}
	n, err := r.length(MaxHeader, "header")
	if errors.Is(err, io.EOF) {
		err = r.failf("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	block, err := r.take(n, "header")
	if err != nil {
		return nil, err
	}
	if err := r.header(block); err != nil {
		return nil, err
	}
	return r, nil
}

// enter reads the header of a CARv2 file up to the inner CARv1 file. The index after that is not read.
func (r *Reader) enter() error {
	head, err := r.take(len(pragma)+headerV2, "header")
	if err != nil {
		return err
	}
	head = head[len(pragma)+characteristics:]
	first, size := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
	if first < uint64(r.pos) || size == 0 || first > maxFile || size > maxFile {
		return r.failf("the CARv2 header has its blocks in %d bytes from byte %d on", size, first)
	}
	skipped, err := io.CopyN(io.Discard, r.in, int64(first)-r.pos)
	r.pos += skipped
	if err != nil {
		return r.broken(err, "header")
	}
	r.start, r.end = r.pos, r.pos+int64(size)
	r.in = bufio.NewReaderSize(io.LimitReader(r.in, int64(size)), readBuffer)
	return nil
}

func (r *Reader) failf(format string, args ...any) error {
	return &FormatError{Offset: r.start, Reason: fmt.Sprintf(format, args...)}
}

// Roots returns the roots in the order of the header.
func (r *Reader) Roots() []ipld.CID { return r.roots }

func (r *Reader) header(block []byte) error {
	version, sawVersion := int64(0), false
	d, err := ipld.NewDecoder(block)
	if err == nil {
		err = d.Map(func(key string) (err error) {
			switch key {
			case keyRoots:
				r.roots, err = d.Links(MaxRoots)
			case keyVersion:
				sawVersion = true
				version, err = d.Int()
			default:
				err = d.Errorf("unknown field %.40q", key)
			}
			return err
		})
	}
	if err == nil {
		err = d.End()
	}
	switch {
	case err != nil:
		return r.failf("the header: %v", err)
	case !sawVersion:
		return r.failf("the header has no version")
	case version == 2:
		return r.failf("a CARv2 header where that of a CARv1 file belongs")
	case version != Version:
		return r.failf("version %d; only CARv1 is read", version)
	case len(r.roots) == 0:
		return r.failf("the header has no roots")
	}
	return nil
}

// Next returns the next block, or io.EOF after the last: only io.EOF distinguishes a complete file from one
// truncated between two sections. It returns a *FormatError for an invalid section and wraps errors of the
// underlying reader. After an error it keeps returning that error.
func (r *Reader) Next() (Block, error) {
	if r.done != nil {
		return Block{}, r.done
	}
	b, err := r.next()
	r.done = err
	return b, err
}

func (r *Reader) next() (Block, error) {
	r.start = r.pos
	n, err := r.length(MaxSection, "section")
	if errors.Is(err, io.EOF) && r.pos < r.end {
		return Block{}, r.failf("the file ends %d bytes before its CARv2 header says", r.end-r.pos)
	}
	if err != nil {
		return Block{}, err
	}
	if n < ipld.CIDLen {
		return Block{}, r.failf("a section of %d bytes has no room for a CID", n)
	}
	b := Block{Offset: r.start, Start: r.pos + ipld.CIDLen}
	section, err := r.take(n, "section")
	if err != nil {
		return Block{}, err
	}
	if b.CID, err = ipld.CIDFromBytes(section[:ipld.CIDLen]); err != nil {
		return Block{}, r.failf("%v", err)
	}
	b.Data = section[ipld.CIDLen:]
	return b, r.verify(b)
}

func (r *Reader) verify(b Block) error {
	fail := func(reason string) error { return &FormatError{b.Offset, b.CID, reason} }
	if got := ipld.Sum(b.CID.Codec(), b.Data); got != b.CID {
		return fail("the bytes are those of " + got.String())
	}
	if b.CID.Codec() != ipld.DagCBOR {
		return nil
	}
	if err := ipld.Check(b.Data); err != nil {
		return fail(err.Error())
	}
	return nil
}

// length reads a varint of at most limit. It returns io.EOF if the file ends before it.
func (r *Reader) length(limit int, what string) (int, error) {
	n := 0
	for i := range maxVarint {
		b, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) && i == 0 {
			return 0, io.EOF
		}
		if err != nil {
			return 0, r.broken(err, what)
		}
		r.pos++
		n |= int(b&0x7f) << (7 * i)
		if b >= 0x80 {
			continue
		}
		switch {
		case b == 0 && i > 0:
			return 0, r.failf("the length of the %s is not in the fewest bytes", what)
		case n > limit:
			return 0, r.failf("a %s of %d bytes, limit %d", what, n, limit)
		}
		return n, nil
	}
	return 0, r.failf("a %s of more than %d bytes", what, limit)
}

func (r *Reader) take(n int, what string) ([]byte, error) {
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	got, err := io.ReadFull(r.in, r.buf)
	r.pos += int64(got)
	if err != nil {
		return nil, r.broken(err, what)
	}
	return r.buf, nil
}

// broken distinguishes a truncated file from a failed read.
func (r *Reader) broken(err error, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.failf("the file ends inside a %s", what)
	}
	return fmt.Errorf("read CAR file: %w", err)
}

// ErrFormat marks every error about an invalid file.
var ErrFormat = errors.New("invalid CAR file")

// FormatError says where a file is wrong and why. errors.Is(err, ErrFormat) holds.
type FormatError struct {
	Offset int64    // in bytes from the start, of the header or section at fault
	CID    ipld.CID // of the block at fault; undefined if the error concerns no block
	Reason string
}

func (e *FormatError) Error() string {
	if e.CID.Defined() {
		return fmt.Sprintf("%v: at byte %d, block %s: %s", ErrFormat, e.Offset, e.CID, e.Reason)
	}
	return fmt.Sprintf("%v: at byte %d: %s", ErrFormat, e.Offset, e.Reason)
}

// Is reports whether target is ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }
