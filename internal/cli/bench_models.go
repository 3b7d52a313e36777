package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// benchModels are the models that complete the questions of bench eval.
type benchModels struct {
	c        *cli
	cmd      *cobra.Command
	queries  embed.Embedder // of queries, nil for none
	nodes    embed.Embedder // the same model for nodes, of which there are many
	rewriter *rewriter      // nil for none
	rerank   string         // the name of the model that judges, "" for none
	embedded *embedRun      // the last run
	count    int            // nodes that were embedded

	today graph.OptTime // the day that dates count from, once it was asked for
	dated bool          // whether a question's dates counted from it
}

// openModels opens what the flags name, and fills in what they say of a request.
func (c *cli) openModels(
	cmd *cobra.Command, opt *benchOptions, base *retrieve.Request,
) (*benchModels, error) {
	m := &benchModels{c: c, cmd: cmd, rerank: base.Rerank}
	base.Rewrite, base.Rewrites = opt.rewrite.way, opt.rewrite.also
	err := base.Validate()
	if err == nil {
		m.queries, err = c.queryEmbedder(&opt.retrieveOptions, *base)
	}
	if err == nil && m.queries != nil {
		m.nodes, err = c.embedder(embedSpec(opt.embed), "--embed", embed.Options{Progress: m.progress})
	}
	if err == nil {
		m.rewriter, err = c.queryRewriter(&opt.rewrite)
	}
	if m.queries != nil || m.rewriter != nil || base.Reranker != nil {
		c.failures = make(map[string]int)
	}
	return m, err
}

// set tells what the models do.
func (m *benchModels) set(opt *evaluate.Options) {
	opt.Ask = m.ask
	if m.nodes != nil {
		opt.Prepare = m.embedNodes
	}
}

// ask completes the request of a question.
func (m *benchModels) ask(ctx context.Context, req retrieve.Request) (retrieve.Request, error) {
	err := checkReranker(req)
	if err == nil {
		req, err = m.fromToday(req)
	}
	if err == nil {
		req, err = m.c.rewriteQuery(ctx, m.rewriter, req)
	}
	if err == nil {
		req, err = m.c.embedQuery(ctx, m.queries, req)
	}
	return req, err
}

// fromToday lets the dates of a question count from today, as those of 'mnem retrieve' do, where neither
// it nor a flag says otherwise: one day for all questions, which the report repeats.
func (m *benchModels) fromToday(req retrieve.Request) (retrieve.Request, error) {
	if req.Now.Given || !req.CountsFromNow() {
		return req, nil
	}
	if !m.today.Given {
		now, err := m.c.now()
		if err != nil {
			return req, err
		}
		m.today = graph.At(now)
	}
	req.Now, m.dated = m.today, true
	return req, nil
}

// embedNodes commits embeddings of all nodes that have none by the model.
func (m *benchModels) embedNodes(
	ctx context.Context, in *repo.Repo, head ipld.CID,
) (ipld.CID, error) {
	run := &embedRun{
		c: m.c, cmd: m.cmd, e: m.nodes, in: in, at: head, by: evaluate.Stamp(), line: m.c.progress(),
	}
	defer run.line.done()
	m.embedded = run
	err := run.look(ctx, in)
	if err == nil {
		err = run.all()
	}
	m.count += run.out.Embedded
	return run.at, err
}

// progress is told by the model how far it is.
func (m *benchModels) progress(done, total int) { m.embedded.progress(done, total) }

// settings returns the flags whose values are not what was given, or say nothing.
func (m *benchModels) settings(set map[string]string) {
	if m.queries != nil {
		set["embed"] = m.queries.Model()
	}
	if m.rerank != "" {
		set["rerank"] = m.rerank
	}
	if m.rewriter != nil {
		set["rewrite-model"] = m.rewriter.model.Model()
	}
	if m.dated {
		set["now"] = day(m.today)
	}
	if set["rewrite"] != retrieve.RewriteMulti {
		delete(set, "rewrites")
	}
}

// summary says what the models did, as parts of a line.
func (m *benchModels) summary(questions int) []string {
	var parts []string
	if m.queries != nil {
		parts = append(parts, fmt.Sprintf("%s embedded with %s", plural(m.count, "node"),
			line(m.queries.Model())))
	}
	var failed []string
	for _, kind := range []string{failedRewrite, failedEmbed, failedRerank} {
		if n := m.c.failures[kind]; n > 0 {
			failed = append(failed, fmt.Sprintf("%s %d", kind, n))
		}
	}
	if len(failed) > 0 {
		parts = append(parts, fmt.Sprintf("failures of models in %s: %s", plural(questions, "question"),
			strings.Join(failed, ", ")))
	}
	return parts
}

// json returns the failures of each kind of model, also where there are none.
func (m *benchModels) json() map[string]int {
	out := make(map[string]int)
	for _, kind := range []string{failedRewrite, failedEmbed, failedRerank} {
		out[kind] = m.c.failures[kind]
	}
	return out
}
