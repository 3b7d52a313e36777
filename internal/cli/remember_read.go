package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// vectorFile is a value of --vector or --sparse.
type vectorFile struct{ model, path string }

// parseVectorFlags reads values of the form MODEL=@FILE.
func parseVectorFlags(flag string, values []string) ([]vectorFile, error) {
	var out []vectorFile
	for _, v := range values {
		model, path, ok := strings.Cut(v, "=@")
		if !ok || model == "" || path == "" {
			return nil, usagef("%s %q: want MODEL=@FILE, with - for standard input", flag, v)
		}
		if slices.ContainsFunc(out, func(f vectorFile) bool { return f.model == model }) {
			return nil, usagef("%s: two vectors of the model %q", flag, model)
		}
		out = append(out, vectorFile{model, path})
	}
	return out, nil
}

// queryJSON reads what is in a file, and returns how to name the file.
func (c *cli) queryJSON(
	ctx context.Context, f vectorFile,
) (v ipld.Value, name string, err error) {
	in, name, err := c.open(ctx, f.path)
	if err != nil {
		return v, name, err
	}
	defer func() { _ = in.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(in, graph.MaxLine+1))
	if err == nil && len(data) > graph.MaxLine {
		err = graph.Fieldf("", "more than %d bytes", graph.MaxLine)
	}
	if err == nil {
		v, err = ipld.ParseJSON(data)
	}
	if err != nil {
		return v, name, fmt.Errorf("%s: %w", name, err)
	}
	return v, name, nil
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
