package reach

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/retrieve"
)

// ModelConfigured is the value of a model flag that stands for the configured model; --embed without a value has it. No
// spec looks like it.
const ModelConfigured = verb.Configured

// someFlags adds the flags of a question that are wanted, and returns the request that they fill.
func someFlags(c *line.Line, cmd *cobra.Command, wanted func(*verb.Field) bool) *asking.RetrieveRequest {
	q := new(asking.RetrieveRequest)
	for _, f := range asking.Retrieve.Fields() {
		if !wanted(&f) {
			continue
		}
		if err := f.SetDefault(q); err != nil {
			panic(err) // seen by the first test that builds the commands
		}
		fieldFlag(c, cmd, &f, q)
	}
	return q
}

// question returns the request of a retrieval that the flags of someFlags make.
func question(c *line.Line, cmd *cobra.Command, q *asking.RetrieveRequest) (retrieve.Request, error) {
	verb.SetGiven(q, givenFlags(cmd))
	if err := q.ConfigureSummary(VerbHost{c}.Setting); err != nil {
		return retrieve.Request{}, err
	}
	return q.Request(&asking.Retrieve.Spec, q)
}

// Models implements verb.Caller.
func (h VerbHost) Models(m *verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
	c := h.C
	if m.Kept {
		if err := there(c); err != nil {
			return nil, nil, err
		}
	}
	out := &complete.Models{Rewrites: m.Rewrites, Failed: func(use string, err error) {
		modelWarning(c, use, "%v", err)
	}}
	var reranker retrieve.Reranker
	judge, err := openReranker(c, m.Rerank)
	if judge != nil {
		reranker = tellingReranker{judge, c}
	}
	if err == nil && m.Embed != "" {
		var opt embed.OpenOptions
		if !m.Kept {
			opt.Attempts = QueryAttempts
		}
		var e embed.Embedder
		e, err = Embedder(c, embedSpec(m.Embed), "--embed", opt)
		out.Embedder = queryEmbedder{e}
	}
	if err == nil && m.Embed == "" {
		var e embed.Exact
		if e, err = c.Meaning(); e != nil {
			out.Embedder = queryEmbedder{embed.OpenExact(e, nil)}
		}
	}
	switch {
	case err != nil:
	case m.Rewrite == remembering.RewriteCues, m.Rewrite == outlining.RewriteDigest:
		out.Rewriter, err = openQueryRewriter(c, embedSpec(m.RewriteModel), "--model=SPEC", 0)
	case m.Rewrite != "":
		out.Rewriter, err = openQueryRewriter(c, m.RewriteModel, "--set rewrite-model=SPEC", QueryAttempts)
	}
	return out, reranker, err
}

// embedSpec returns the spec for a value of --embed, "" for the configured one.
func embedSpec(value string) string {
	if value == ModelConfigured {
		return ""
	}
	return value
}

// queryEmbedder embeds queries.
type queryEmbedder struct{ embed.Embedder }

// Embed implements retrieve.Embedder.
func (e queryEmbedder) Embed(
	ctx context.Context, query string, answers []string,
) (vectors [][]int8, err error) {
	if query != "" {
		vectors, err = e.Embedder.Embed(ctx, []string{query}, embed.Query)
	}
	if err == nil && len(answers) > 0 {
		var more [][]int8
		more, err = e.Embedder.Embed(ctx, answers, embed.Document)
		vectors = append(vectors, more...)
	}
	return vectors, err
}

// Whole implements complete.Knower.
func (e queryEmbedder) Whole(texts ...string) (permille int, ok bool) {
	if k, is := e.Embedder.(complete.Knower); is {
		return k.Whole(texts...)
	}
	return 0, false
}

// queryRewriter puts queries into other words.
type queryRewriter struct{ *rewrite.Rewriter }

// Rewrite implements retrieve.Rewriter.
func (r queryRewriter) Rewrite(ctx context.Context, way, query string, n int) ([]string, error) {
	return r.Rewriter.Rewrite(ctx, rewrite.Way(way), query, n)
}

// modelWarning prints a warning that the answer lacks a model's part, also with --json, since the answer does not say
// so. If failures are counted it prints only the first of each kind.
func modelWarning(c *line.Line, kind, format string, args ...any) {
	first := true
	if c.Failures != nil {
		c.Failures[kind]++
		first = c.Failures[kind] == 1
	}
	if first && !c.Quiet {
		_, _ = fmt.Fprintf(c.App.Stderr, "warning: %s\n", line.OneLine(fmt.Sprintf(format, args...)))
	}
}

// File implements verb.Caller. Pending answers are written before each read, so that a program may hold a dialogue
// through a pipe.
func (h VerbHost) File(ctx context.Context, name string) (io.ReadCloser, string, error) {
	in, shown, err := h.C.Open(ctx, name)
	if err != nil {
		return nil, shown, err
	}
	return &conversation{in, h.C.Out}, shown, nil
}

// conversation is input that is read only after the answer to earlier input was written.
type conversation struct {
	io.ReadCloser
	out *bufio.Writer
}

func (r *conversation) Read(p []byte) (int, error) {
	if err := r.out.Flush(); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p)
}

// Clock implements verb.Caller.
func (h VerbHost) Clock() func() time.Duration {
	begin := h.C.App.Now()
	return func() time.Duration { return h.C.App.Now().Sub(begin) }
}
