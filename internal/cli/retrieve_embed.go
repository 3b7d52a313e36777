package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/retrieve"
)

// modelConfigured is the value of a flag that names a model for the one of the configuration; --embed
// alone has it. No spec looks like it.
const modelConfigured = "configured"

// modelFlags adds the flags that let models complete a request.
func (o *retrieveOptions) modelFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.embed, "embed", "", "rank by the embedding of the query too, made by `SPEC` (alone: "+
		"MNEM_EMBED_MODEL; config: "+keyEmbedModel+")")
	f.Lookup("embed").NoOptDefVal = modelConfigured
	o.rewrite.add(cmd)
}

// checkModels refuses flags of modelFlags that contradict each other or would do nothing. many says
// that there are other queries than the arguments.
func (o *retrieveOptions) checkModels(cmd *cobra.Command, many bool, args []string) error {
	if cmd.Flags().Changed("embed") && o.embed == "" {
		return usagef("--embed=: want a model, or --embed alone for the configured one")
	}
	return o.rewrite.check(cmd, many, args)
}

// queryEmbedder opens what --embed names, nil without it.
func (c *cli) queryEmbedder(o *retrieveOptions, req retrieve.Request) (embed.Embedder, error) {
	if o.embed == "" {
		return nil, nil
	}
	e, err := c.embedder(embedSpec(o.embed), "--embed", embed.Options{Options: model.Options{Attempts: queryAttempts}})
	if err == nil && hasVector(req, e.Model()) {
		err = usagef("--embed and --vector both give the query as %q sees it", e.Model())
	}
	if err == nil && len(req.Vectors) == retrieve.MaxVectors {
		err = usagef("--embed: there are %d vectors already, the most that a query may have",
			retrieve.MaxVectors)
	}
	return e, err
}

// embedSpec returns what a value of --embed names, "" for what is configured.
func embedSpec(value string) string {
	if value == modelConfigured {
		return ""
	}
	return value
}

func hasVector(req retrieve.Request, model string) bool {
	return slices.ContainsFunc(req.Vectors, func(v retrieve.QueryVector) bool {
		return v.Model == model
	})
}

// embedQuery adds the vector of a query's text, unless it has one by that model: with hypothetical
// answers the mean of that and theirs. A model that fails, or finds nothing in the text, leaves the
// answer to the other lanes.
func (c *cli) embedQuery(
	ctx context.Context, e embed.Embedder, req retrieve.Request,
) (retrieve.Request, error) {
	if e == nil || strings.TrimSpace(req.Text) == "" || hasVector(req, e.Model()) {
		return req, nil
	}
	vectors, err := e.Embed(ctx, []string{req.Text}, embed.Query)
	if err == nil && req.Rewrite == retrieve.RewriteHyde && len(req.Rewrites) > 0 {
		var answers [][]int8
		answers, err = e.Embed(ctx, req.Rewrites, embed.Document)
		vectors = append(vectors, answers...)
	}
	vectors = slices.DeleteFunc(vectors, func(v []int8) bool { return v == nil })
	if err == nil && len(vectors) == 0 {
		c.modelWarning(failedEmbed, "the model %s finds nothing to embed in the query", e.Model())
		return req, nil
	}
	var v retrieve.QueryVector
	if err == nil {
		v, err = retrieve.MeanVector(e.Model(), vectors...)
	}
	switch {
	case ctx.Err() != nil:
		return req, err
	case err != nil:
		c.modelWarning(failedEmbed, "%v: the answer is without embeddings", err)
	default:
		req.Vectors = append(slices.Clone(req.Vectors), v)
	}
	return req, nil
}

// The models that may fail, as a report names them.
const (
	failedEmbed   = "embed"
	failedRewrite = "rewrite"
	failedRerank  = "rerank"
)

// modelWarning tells, beside the answer, that it is another than was asked for. With --json too:
// nothing in the answer says so. Where failures are counted only the first of each kind is told.
func (c *cli) modelWarning(kind, format string, args ...any) {
	first := true
	if c.failures != nil {
		c.failures[kind]++
		first = c.failures[kind] == 1
	}
	if first && !c.global.quiet {
		_, _ = fmt.Fprintf(c.app.Stderr, "warning: %s\n", line(fmt.Sprintf(format, args...)))
	}
}
