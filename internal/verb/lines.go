package verb

import (
	"bufio"
	"bytes"
	"cmp"
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

// ChangeReader is embedded in requests of verbs that read change lines.
type ChangeReader struct {
	read func(ctx context.Context) (state.Changes, error)
}

// SetChanges tells where change lines are read. It is called when the repository is open, once.
func (q *ChangeReader) SetChanges(read func(ctx context.Context) (state.Changes, error)) {
	q.read = read
}

// HasChanges reports whether there are change lines.
func (q *ChangeReader) HasChanges() bool { return q.read != nil }

// Changes returns what reads the change lines.
func (q *ChangeReader) Changes(ctx context.Context) (state.Changes, error) { return q.read(ctx) }

// EachLine gives the lines of a file that are not blank to read, with their numbers. The error of a line names file and
// line. After each line, and before such an error and the end of the file, rest is called, unless nil: waits is
// whether going on may wait for who writes the file.
func EachLine(
	ctx context.Context, by Caller, name string, read func(n int, line []byte) error,
	rest func(shown string, waits bool) error,
) error {
	in, shown, err := by.File(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	if rest == nil {
		rest = func(string, bool) error { return nil }
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		text, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return rest(shown, true)
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			err = read(n, text)
		}
		if err != nil {
			return cmp.Or(rest(shown, true), error(&graph.LineError{File: shown, Line: n, Err: err}))
		}
		ahead, _ := lines.Peek(lines.Buffered()) // they are there
		if err := rest(shown, bytes.IndexByte(ahead, '\n') < 0); err != nil {
			return err
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
