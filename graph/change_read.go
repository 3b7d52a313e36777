package graph

import (
	"bytes"
	"io"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// firstBuffer is a reader's initial buffer size: many lines of usual length.
	firstBuffer = 64 << 10
	// lastBuffer holds exactly the longest line and its CR LF: a longer line is refused when the buffer is full,
	// without reading on.
	lastBuffer = MaxLine + 2
)

// byteOrderMark is written by some editors at the start of UTF-8 files.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Reader reads changes from lines of JSON. It buffers one line at a time. Not for concurrent use.
type Reader struct {
	in   io.Reader
	file string
	line int
	buf  []byte // bytes read and not used yet begin at from
	from int
	seen int // bytes after from known to hold no LF
	eof  bool
	err  error
}

// NewReader returns a reader of the lines of r. file names them in errors and may be empty.
func NewReader(r io.Reader, file string) *Reader { return &Reader{in: r, file: file} }

// Line is one unparsed line.
type Line struct {
	File   string
	Number int    // from 1
	Text   []byte // without its end
}

// Change parses a line. An error is a *LineError. The change keeps no reference to the line. Lines of one reader
// may be parsed concurrently.
func (l Line) Change() (Change, error) {
	c, err := parseChange(l.Text)
	c.File, c.Line = l.File, l.Number
	return c, c.At(err)
}

// Next returns the next change, which Validate accepts. It returns io.EOF after the last one and otherwise a
// *LineError, after which it returns the same error again. The change keeps no reference to the reader.
func (r *Reader) Next() (Change, error) {
	line, err := r.NextLine()
	if err != nil {
		return Change{}, err
	}
	c, err := line.Change()
	if r.err = err; err != nil {
		return Change{}, err
	}
	return c, nil
}

// NextLine returns the next line that is not blank, for callers that parse several at a time, and read errors as
// Next does. Its text is valid until the next call.
func (r *Reader) NextLine() (Line, error) {
	for r.err == nil {
		text, err := r.next()
		switch {
		case err == io.EOF:
			r.err = err
		case err != nil:
			r.err = &LineError{r.file, r.line, err}
		case len(bytes.Trim(text, " \t")) > 0:
			return Line{r.file, r.line, text}, nil
		}
	}
	return Line{}, r.err
}

// next returns the next line without its end, valid until the following call.
func (r *Reader) next() ([]byte, error) {
	r.line++
	for {
		if i := bytes.IndexByte(r.buf[r.from+r.seen:], '\n'); i >= 0 {
			line := r.buf[r.from : r.from+r.seen+i]
			r.from += r.seen + i + 1
			r.seen = 0
			return r.trim(line)
		}
		r.seen = len(r.buf) - r.from
		if r.eof || r.seen == lastBuffer {
			return r.last()
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// last returns the rest without an LF: a last line, nothing, or the beginning of a line that is too long.
func (r *Reader) last() ([]byte, error) {
	line := r.buf[r.from:]
	if len(line) == 0 {
		return nil, io.EOF
	}
	r.from, r.seen = len(r.buf), 0
	return r.trim(line)
}

func (r *Reader) trim(line []byte) ([]byte, error) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > MaxLine {
		return nil, Fieldf("", "line of more than %d bytes", MaxLine)
	}
	if r.line == 1 && bytes.HasPrefix(line, byteOrderMark) {
		return nil, Fieldf("", "begins with a byte order mark")
	}
	return line, nil
}

// fill reads more into the buffer, after moving unread bytes to the front.
func (r *Reader) fill() error {
	if r.from > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[r.from:])]
		r.from = 0
	}
	if len(r.buf) == cap(r.buf) {
		bigger := make([]byte, len(r.buf), min(max(firstBuffer, 2*cap(r.buf)), lastBuffer))
		copy(bigger, r.buf)
		r.buf = bigger
	}
	// A reader may return nothing for a while, but not forever.
	for range 100 {
		n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if err == io.EOF {
			r.eof = true
			return nil
		}
		if err != nil || n > 0 {
			return err
		}
	}
	return io.ErrNoProgress
}

// ParseChange reads one line, without its end. It returns a *LineError, without a position, for
// everything that a Reader refuses.
func ParseChange(line []byte) (Change, error) {
	if len(line) > MaxLine {
		return Change{}, &LineError{Err: Fieldf("", "line of more than %d bytes", MaxLine)}
	}
	c, err := parseChange(line)
	if err != nil {
		return Change{}, &LineError{Err: err}
	}
	return c, nil
}

func parseChange(line []byte) (Change, error) {
	v, err := ipld.ParseJSON(line)
	if err != nil {
		return Change{}, err
	}
	c, err := changeOf(v)
	if err != nil {
		return Change{}, err
	}
	return c, c.Validate()
}
