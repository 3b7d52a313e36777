package verb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// LinesSpec says what the lines are that a verb reads.
type LinesSpec struct {
	Doc      string
	Flag     string // that names their file on the command line, "" for positional arguments
	Required bool
}

func (l *LinesSpec) param() operation.Param {
	return operation.Param{
		Name: "lines", Flag: l.Flag, Kind: operation.Lines, Doc: l.Doc, Required: l.Required,
	}
}

// Reader is embedded in requests of verbs that read change lines.
type Reader struct {
	read func(ctx context.Context) (state.Changes, error)
}

// SetChanges tells where change lines are read. It is called when the repository is open, once.
func (q *Reader) SetChanges(read func(ctx context.Context) (state.Changes, error)) { q.read = read }

// HasChanges reports whether there are change lines.
func (q *Reader) HasChanges() bool { return q.read != nil }

// Changes returns what reads the change lines.
func (q *Reader) Changes(ctx context.Context) (state.Changes, error) { return q.read(ctx) }

// EachLine gives the lines of a file that are not blank to read, and calls what that returns, unless nil,
// before the next line is read. The error of a line, but not of that call, names file and line.
func EachLine(
	ctx context.Context, host Host, name string, read func(line []byte) (done func() error, err error),
) error {
	in, shown, err := host.File(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	lines := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		text, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var done func() error
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			done, err = read(text)
		}
		if err != nil {
			return &graph.LineError{File: shown, Line: n, Err: err}
		}
		if done != nil {
			if err := done(); err != nil {
				return err
			}
		}
	}
}

// readLine returns the next line without its end, or io.EOF. One longer than graph.MaxLine is
// refused without reading on.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > graph.MaxLine+1:
			return nil, graph.Fieldf("", "line of more than %d bytes", graph.MaxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(text) > 0, err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), nil
		default:
			return nil, err
		}
	}
}
