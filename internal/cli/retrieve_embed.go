package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/embed"
	"github.com/mnem-project/mnem/retrieve"
)

// embedConfigured is the value of --embed where it is given alone: no spec looks like it.
const embedConfigured = "configured"

// queryEmbedder opens what --embed names, nil without it.
func (c *cli) queryEmbedder(o *retrieveOptions, req retrieve.Request) (embed.Embedder, error) {
	if o.embed == "" {
		return nil, nil
	}
	spec := o.embed
	if spec == embedConfigured {
		spec = ""
	}
	e, err := c.embedder(spec, "--embed", embed.Options{Attempts: queryAttempts})
	if err == nil && hasVector(req, e.Model()) {
		err = usagef("--embed and --vector both give the query as %q sees it", e.Model())
	}
	if err == nil && len(req.Vectors) == retrieve.MaxVectors {
		err = usagef("--embed: there are %d vectors already, the most that a query may have",
			retrieve.MaxVectors)
	}
	return e, err
}

func hasVector(req retrieve.Request, model string) bool {
	return slices.ContainsFunc(req.Vectors, func(v retrieve.QueryVector) bool {
		return v.Model == model
	})
}

// embedQuery adds the vector of a query's text, unless it has one by that model. A model that
// fails, or finds nothing in the text, leaves the answer to the other lanes.
func (c *cli) embedQuery(
	ctx context.Context, e embed.Embedder, req retrieve.Request,
) (retrieve.Request, error) {
	if e == nil || strings.TrimSpace(req.Text) == "" || hasVector(req, e.Model()) {
		return req, nil
	}
	vectors, err := e.Embed(ctx, []string{req.Text}, embed.Query)
	switch {
	case ctx.Err() != nil:
		return req, err
	case err != nil:
		c.embedWarning("%v: the answer is without embeddings", err)
	case vectors[0] == nil:
		c.embedWarning("the model %s finds nothing to embed in the query", e.Model())
	default:
		v := retrieve.QueryVector{Model: e.Model(), Values: vectors[0]}
		req.Vectors = append(slices.Clone(req.Vectors), v)
	}
	return req, nil
}

// embedWarning tells, beside the answer, that it is another than was asked for. With --json too:
// nothing in the answer says so.
func (c *cli) embedWarning(format string, args ...any) {
	if !c.global.quiet {
		_, _ = fmt.Fprintf(c.app.Stderr, "warning: %s\n", line(fmt.Sprintf(format, args...)))
	}
}
