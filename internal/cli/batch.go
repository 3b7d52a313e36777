package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// batch answers the queries of a file, one JSON object a line in and out, in order. Each answer is
// written before the next line is read, so that a program may talk through a pipe. A line that
// cannot be read or answered ends it, with the file and line in the error.
func (a *answerer) batch(ctx context.Context, path string, base retrieve.Request) error {
	in, file, err := a.c.open(ctx, path)
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
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			err = a.batchLine(ctx, text, base)
		}
		if isClosedPipe(err) {
			return err
		}
		if err != nil {
			return &graph.LineError{File: file, Line: n, Err: err}
		}
	}
}

// batchLine answers one line.
func (a *answerer) batchLine(ctx context.Context, text []byte, base retrieve.Request) error {
	v, err := ipld.ParseJSON(text)
	if err != nil {
		return err
	}
	q, err := retrieve.ParseRequestJSON(v, base)
	if err != nil {
		return err
	}
	if err := checkReranker(q.Request); err != nil {
		return err
	}
	if q.Request, err = a.c.rewriteQuery(ctx, a.rewriter, q.Request); err != nil {
		return err
	}
	if q.Request, err = a.c.embedQuery(ctx, a.embedder, q.Request); err != nil {
		return err
	}
	answer, receipt, err := a.answer(ctx, q.Request)
	if err != nil {
		return err
	}
	a.c.used(answer)
	if err := a.printJSON(answer, receipt, q); err != nil {
		return err
	}
	return a.c.out.Flush()
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
