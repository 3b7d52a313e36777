package reach

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Models complete requests as flags say: embeddings, rewrites and rerankers.
type Models struct {
	Today graph.OptTime // the day that dates count from; the first question that wants it sets it
	Dated bool          // whether a question's dates counted from it

	c      *line.Line
	cmd    *cobra.Command
	asked  *complete.Models
	nodes  embed.Embedder // the model of queries for nodes, which are many; nil for none
	rerank string         // the name of the model that judges, "" for none
	count  int            // nodes that were embedded
}

// openModels opens what the flags name, and fills in what they say of a request.
func (r *Retrieval) openModels(base *retrieve.Request) error {
	err := base.Validate()
	if err != nil {
		return err
	}
	m := &Models{c: r.c, cmd: r.cmd}
	if m.asked, err = r.q.Open(VerbHost{r.c}, base); err != nil {
		return err
	}
	m.rerank = base.Rerank
	if m.Embeds() {
		m.nodes, err = Embedder(r.c, embedSpec(r.q.Embed), "--embed", embed.OpenOptions{})
	}
	if m.Embeds() || m.asked.Rewriter != nil || base.Reranker != nil {
		r.c.Failures = make(map[string]int)
	}
	r.Models = m
	return err
}

// Embeds tells whether nodes and questions are embedded.
func (m *Models) Embeds() bool { return m.asked.Embedder != nil }

// Ask completes the request of a question.
func (m *Models) Ask(ctx context.Context, req retrieve.Request) (retrieve.Request, error) {
	req, err := m.fromToday(req)
	if err != nil {
		return req, err
	}
	return m.asked.Complete(ctx, req)
}

// fromToday lets the dates of a question count from today, as those of 'mnem retrieve' do, if neither
// it nor a flag says otherwise: one day for all questions, which the report repeats.
func (m *Models) fromToday(req retrieve.Request) (retrieve.Request, error) {
	if req.Now.Given || !stage.CountsFromNow(req) {
		return req, nil
	}
	if !m.Today.Given {
		now, err := m.c.Now()
		if err != nil {
			return req, err
		}
		m.Today = graph.At(now)
	}
	req.Now, m.Dated = m.Today, true
	return req, nil
}

// EmbedNodes commits embeddings of all nodes that have none by the model, and returns the newest commit.
func (m *Models) EmbedNodes(ctx context.Context, in *core.Repo, _ ipld.CID) (ipld.CID, error) {
	p := m.c.Progress()
	defer p.Done()
	n, err := in.Embeddings().Rest(ctx, documents{m.nodes}, func(done, total int) { p.Set("embedded:", done, total) })
	m.count += n
	if err != nil {
		return ipld.CID{}, err
	}
	_, at, err := in.Branch(ctx)
	return at, err
}

// settings returns the flags whose values are not what was given, or say nothing.
func (m *Models) settings(set map[string]string) {
	if m.Embeds() {
		set["embed"] = m.asked.Embedder.Model()
	}
	if m.rerank != "" {
		set["rerank"] = m.rerank
	}
	if r, ok := m.asked.Rewriter.(queryRewriter); ok {
		set["rewrite-model"] = r.Model()
	}
	if m.Dated {
		set["now"] = answers.DayOf(m.Today.String())
	}
	if set["rewrite"] != retrieve.RewriteMulti {
		delete(set, "rewrites")
	}
}

// Summary says what the models did, as parts of a line.
func (m *Models) Summary(questions int) []string {
	var parts []string
	if m.Embeds() {
		parts = append(parts, fmt.Sprintf("%s embedded with %s", line.Plural(m.count, "node"),
			line.OneLine(m.asked.Embedder.Model())))
	}
	var failed []string
	for _, kind := range []string{complete.FailedRewrite, complete.FailedEmbed, complete.FailedRerank} {
		if n := m.c.Failures[kind]; n > 0 {
			failed = append(failed, fmt.Sprintf("%s %d", kind, n))
		}
	}
	if len(failed) > 0 {
		parts = append(parts, fmt.Sprintf("failures of models in %s: %s", line.Plural(questions, "question"),
			strings.Join(failed, ", ")))
	}
	return parts
}

// Failures returns how often each kind of model failed, nil if none is asked.
func (m *Models) Failures() map[string]int {
	if m.c.Failures == nil {
		return nil
	}
	out := make(map[string]int)
	for _, kind := range []string{complete.FailedRewrite, complete.FailedEmbed, complete.FailedRerank} {
		out[kind] = m.c.Failures[kind]
	}
	return out
}
