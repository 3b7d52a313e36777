package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
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

// checkStdin refuses to read standard input for two things.
func (o *retrieveOptions) checkStdin(args []string) error {
	files, err := parseVectorFlags("--vector", o.vectors)
	if err != nil {
		return err
	}
	sparse, err := parseVectorFlags("--sparse", o.sparse)
	if err != nil {
		return err
	}
	var uses []string
	if len(args) == 1 && args[0] == stdinName {
		uses = append(uses, "the query")
	}
	if o.batch == stdinName {
		uses = append(uses, "--batch")
	}
	for _, f := range files {
		if f.path == stdinName {
			uses = append(uses, "--vector "+f.model)
		}
	}
	for _, f := range sparse {
		if f.path == stdinName {
			uses = append(uses, "--sparse "+f.model)
		}
	}
	if len(uses) > 1 {
		return usagef("standard input is named twice: for %s", strings.Join(uses, " and "))
	}
	return nil
}

// queryVectors reads the vectors that --vector names.
func (c *cli) queryVectors(ctx context.Context, o *retrieveOptions) ([]retrieve.QueryVector, error) {
	files, err := parseVectorFlags("--vector", o.vectors)
	if err != nil {
		return nil, err
	}
	var out []retrieve.QueryVector
	for _, f := range files {
		v, err := c.queryVector(ctx, f)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (c *cli) queryVector(ctx context.Context, f vectorFile) (v retrieve.QueryVector, err error) {
	list, name, err := c.queryJSON(ctx, f)
	if err != nil {
		return v, err
	}
	if v, err = retrieve.ParseQueryVector(f.model, list); err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
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
