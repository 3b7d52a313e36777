package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/rewrite"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// keyRewriteModel is the key of the configuration that says what rewrites queries.
	keyRewriteModel = "rewrite.model"
	defaultRewrites = 3
)

var rewriteUse = &modelUse{
	name: "rewrite", providers: rewrite.Providers(), does: " that rewrites queries",
	limit: 30 * time.Second, limitHelp: "a model that rewrites", // chat models are slow
	check: func(spec string, opt model.Options) error { _, err := rewrite.Open(spec, opt); return err },
}

func rewriteKeys() []configKey {
	return append(append([]configKey{
		{keyRewriteModel, "MNEM_REWRITE_MODEL", "", "what rewrites queries: " +
			model.List(model.Specs(rewriteUse.providers), "or"),
			func(v string) error { return graph.CheckLine(keyRewriteModel, v, 1, maxEmbedSpec) }},
	}, rewriteUse.urlKeys()...), rewriteUse.timeoutKey())
}

// rewriteOptions are the flags of retrieve that put the query into other words.
type rewriteOptions struct {
	also       []string
	way, model string
	count      int
}

func (opt *rewriteOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&opt.also, "also", nil,
		"search for this `TEXT` too: the query in other words (repeatable, at most 8)")
	f.StringVar(&opt.way, "rewrite", "", "let a model make such texts: `WAY` is multi or hyde")
	f.StringVar(&opt.model, "rewrite-model", "", "let `SPEC` do it: "+
		model.List(model.Specs(rewriteUse.providers), "or")+" (config: "+keyRewriteModel+")")
	f.IntVar(&opt.count, "rewrites", defaultRewrites, "with --rewrite multi: `N` texts, 1 to 8")
}

// check refuses flags that contradict each other or would do nothing.
func (opt *rewriteOptions) check(cmd *cobra.Command, batch bool, args []string) error {
	f := cmd.Flags()
	given := func(name string) bool { return f.Changed(name) }
	switch {
	case given("rewrite") && opt.way != retrieve.RewriteMulti && opt.way != retrieve.RewriteHyde:
		return usagef("--rewrite: %q is not multi or hyde", opt.way)
	case opt.way != "" && len(opt.also) > 0:
		return usagef("--also and --rewrite exclude each other")
	case given("rewrite-model") && opt.way == "":
		return usagef("--rewrite-model is for --rewrite")
	case given("rewrites") && opt.way != retrieve.RewriteMulti:
		return usagef("--rewrites is for --rewrite multi")
	case opt.count < 1 || opt.count > retrieve.MaxRewrites:
		return usagef("--rewrites: %d is outside 1 to %d", opt.count, retrieve.MaxRewrites)
	case (opt.way != "" || len(opt.also) > 0) && !batch && len(args) == 0:
		return usagef("--also and --rewrite need a query")
	}
	return nil
}

// rewriter makes rewrites of queries.
type rewriter struct {
	model *rewrite.Rewriter
	count int
}

// queryRewriter opens what --rewrite asks for, nil without it.
func (c *cli) queryRewriter(o *rewriteOptions) (*rewriter, error) {
	if o.way == "" {
		return nil, nil
	}
	spec := o.model
	err := c.mayChooseModel(spec)
	if err != nil {
		return nil, err
	}
	if spec == "" {
		if spec, err = c.configured(keyRewriteModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, c.noModel("no model to rewrite with: there are "+
			model.List(model.Specs(rewriteUse.providers), "and"), "--rewrite-model SPEC", keyRewriteModel)
	}
	opt, err := c.modelOptions(rewriteUse, spec, queryAttempts)
	if err != nil {
		return nil, err
	}
	m, err := rewrite.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: --rewrite-model: %w", repo.ErrInvalid, err)
	}
	return &rewriter{m, o.count}, nil
}

// rewriteQuery adds the rewrites that a request asks for and does not have. A model that fails
// leaves the answer to the query's own words.
func (c *cli) rewriteQuery(
	ctx context.Context, rw *rewriter, req retrieve.Request,
) (retrieve.Request, error) {
	if rw == nil || req.Rewrite == "" || len(req.Rewrites) > 0 || strings.TrimSpace(req.Text) == "" {
		return req, nil
	}
	texts, err := rw.model.Rewrite(ctx, rewrite.Way(req.Rewrite), req.Text, rw.count)
	if ctx.Err() != nil {
		return req, err
	}
	if err != nil {
		c.modelWarning(failedRewrite, "%v", err)
		return req, nil
	}
	req.Rewrites = texts
	return req, nil
}
