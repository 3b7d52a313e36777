package graph

import (
	"bufio"
	"bytes"
	"io"

	"github.com/mnem-project/mnem/ipld"
)

// byteOrderMark is written by some editors at the start of UTF-8 files.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Reader reads changes from lines of JSON. It buffers one line at a time. Not for concurrent use.
type Reader struct {
	in   *bufio.Scanner
	file string
	line int
	err  error
}

// NewReader returns a reader of the lines of r. file names them in errors and may be empty.
func NewReader(r io.Reader, file string) *Reader {
	in := bufio.NewScanner(r)
	// The longest line fits exactly with its CR LF: a longer one is refused without reading on.
	in.Buffer(make([]byte, 64<<10), MaxLine+2)
	return &Reader{in: in, file: file}
}

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
		r.line++
		more := r.in.Scan()
		text, err := r.in.Bytes(), r.in.Err()
		switch {
		case err == bufio.ErrTooLong || len(text) > MaxLine:
			err = Fieldf("", "line of more than %d bytes", MaxLine)
		case err == nil && r.line == 1 && bytes.HasPrefix(text, byteOrderMark):
			err = Fieldf("", "begins with a byte order mark")
		}
		switch {
		case err != nil:
			r.err = &LineError{r.file, r.line, err}
		case !more:
			r.err = io.EOF
		case len(bytes.Trim(text, " \t")) > 0:
			return Line{r.file, r.line, text}, nil
		}
	}
	return Line{}, r.err
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
