package reach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/model/rerank"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/retrieve"
)

// QueryAttempts is how often a provider is asked about one query: a user waits for the answer,
// and there is one without.
const QueryAttempts = 2

// ModelVariables returns what can be set of models, and the keys of providers, which no
// configuration holds: each once.
func ModelVariables() []line.Variable {
	var list []line.Variable
	for _, key := range settings.ModelKeys() {
		list = append(list, line.Variable{Name: key.Env, Means: key.Help})
	}
	for _, p := range slices.Concat(settings.Embed.Providers, settings.Rerank.Providers, settings.Rewrite.Providers) {
		if !slices.ContainsFunc(list, func(v line.Variable) bool { return v.Name == p.Secret }) {
			list = append(list, line.Variable{Name: p.Secret, Means: "the key of " + p.Shown + "; in no configuration"})
		}
	}
	return list
}

// modelSpec returns the spec of the model to use: the one given, or the configured one for "" and ModelConfigured. kept
// is whether it is that.
func modelSpec(c *line.Line, u *settings.ModelUse, given string) (spec string, kept bool, err error) {
	if err := MayChooseModel(c, given); err != nil || given != "" && given != ModelConfigured {
		return given, false, err
	}
	spec, err = c.Configured(u.Key)
	return spec, true, err
}

// modelOptions returns how to reach the model that a spec names. kept is whether the spec is the configured one.
func modelOptions(c *line.Line, u *settings.ModelUse, spec string, kept bool, attempts int) (model.ProviderOptions, error) {
	timeout, err := u.Timeout(c.Configured)
	opt := model.ProviderOptions{Attempts: attempts, Timeout: timeout}
	if c.App.Sleep != nil {
		opt.Clock = modelClock{c.App}
	}
	name, _, _ := strings.Cut(spec, ":")
	for _, p := range u.Providers {
		if p.Name == name && err == nil {
			opt.Key, err = modelSecret(c, u, p.Secret, spec, kept)
		}
	}
	return opt, err
}

// modelClock is the time by which requests are tried again.
type modelClock struct{ app *line.App }

func (k modelClock) Now() time.Time { return k.app.Now() }

func (k modelClock) Sleep(ctx context.Context, d time.Duration) error { return k.app.Sleep(ctx, d) }

// noModel is the error of a command without a model. flag names one on the command line.
func noModel(c *line.Line, reason, flag, key string) error {
	err := fmt.Errorf("%w: %s", state.ErrInvalid, reason)
	if c.By.Remote {
		return line.Hint(err, "on the machine that serves, run 'mnem config set %s SPEC'", key)
	}
	return line.Hint(err, "name one with %s, or run 'mnem config set %s SPEC'", flag, key)
}

// modelSecret returns a provider's key. It is not sent to an address that only the repository's configuration names: a
// directory that somebody else made would get the key of any user who looks into it.
func modelSecret(c *line.Line, u *settings.ModelUse, env, spec string, kept bool) (model.Secret, error) {
	secret := c.Env(env)
	if _, address := model.SplitAddress(spec); secret == "" || address == "" || !kept {
		return model.Secret(secret), nil
	}
	key, err := settings.KeyOf(u.Key)
	if err != nil {
		return "", err
	}
	got, err := c.LookUp(u.Key, false)
	if err == nil && got.From == settings.FromRepository {
		return "", line.Hint(fmt.Errorf("%w: %s is not sent to the address in the repository's configuration",
			state.ErrInvalid, env), "name the model with %s or a flag, or clear %s", key.Env, env)
	}
	return model.Secret(secret), err
}

// Embedder opens what a spec names, or what is configured if it is empty. flag names one on the command line.
func Embedder(c *line.Line, spec, flag string, opt embed.OpenOptions) (embed.Embedder, error) {
	spec, kept, err := modelSpec(c, settings.Embed, spec)
	if err != nil {
		return nil, err
	}
	if spec == embed.BuiltIn || spec == "" && c.App.Meaning != nil {
		if c.App.Meaning == nil {
			return nil, line.Hint(fmt.Errorf("%w: this program was built without a model of its own", state.ErrInvalid),
				"name another one: there are %s", model.List(embed.Specs(), "and"))
		}
		return embed.OpenExact(c.App.Meaning, opt.Progress), nil
	}
	if spec == "" || spec == embed.Off {
		return nil, noModel(c, "no embedding model: there are hash (built in, needs nothing), static:DIR, "+
			model.List(model.Specs(embed.Remotes()), "or"), flag+"=SPEC", settings.EmbedModel)
	}
	dir, ok := strings.CutPrefix(spec, "static:")
	if ok && dir != "" {
		spec = "static:" + c.Absolute(dir)
	}
	if opt.ProviderOptions, err = modelOptions(c, settings.Embed, spec, kept, opt.Attempts); err != nil {
		return nil, err
	}
	e, err := embed.Open(spec, opt)
	if _, file := errors.AsType[*fs.PathError](err); err != nil && !file {
		err = fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return e, err
}

// documents is a model as what embeds nodes.
type documents struct{ embed.Embedder }

func (documents) MaxText() int { return embed.MaxText }

func (d documents) Vectors(ctx context.Context, texts []string) ([][]int8, error) {
	return d.Embed(ctx, texts, embed.Document)
}

// WithModels puts the models there are into a help text. Nearly all texts name none: they are returned as they are,
// since every start of the program passes all of them.
func WithModels(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return strings.NewReplacer("$EMBEDDERS", model.List(embed.Specs(), "or"),
		"$REMOTE_EMBEDDERS", model.List(model.Specs(embed.Remotes()), "or"),
		"$RERANKERS", rerankSpecs(","), "$REWRITERS", model.List(model.Specs(settings.Rewrite.Providers), "or"),
	).Replace(text)
}

// rerankSpecs lists the values of rerank, with word before the last.
func rerankSpecs(word string) string {
	specs := model.Specs(settings.Rerank.Providers)
	last := len(specs) - 1
	return strings.Join(specs[:last], ", ") + word + " " + specs[last]
}

// openReranker opens the reranker of a value of rerank, nil for "".
func openReranker(c *line.Line, spec string) (*rerank.Reranker, error) {
	if spec == "" {
		return nil, nil
	}
	spec, kept, err := modelSpec(c, settings.Rerank, spec)
	if err != nil {
		return nil, err
	}
	if spec == "" {
		return nil, noModel(c, "no model to rerank with: there are "+rerankSpecs(" and"), "--set rerank=SPEC", settings.RerankModel)
	}
	opt, err := modelOptions(c, settings.Rerank, spec, kept, QueryAttempts)
	if err != nil {
		return nil, err
	}
	m, err := rerank.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: rerank: want a model: %w", state.ErrInvalid, err)
	}
	return m, nil
}

// tellingReranker prints why a reranker failed. The answer says only that it did, since it must be the same when it is
// replayed without the model.
type tellingReranker struct {
	*rerank.Reranker
	c *line.Line
}

func (r tellingReranker) Rerank(ctx context.Context, query string, texts []string) ([]int64, error) {
	scores, err := r.Reranker.Rerank(ctx, query, texts)
	if err != nil && ctx.Err() == nil {
		modelWarning(r.c, complete.FailedRerank, "%v", err)
	}
	return scores, err
}

// openQueryRewriter opens the chat model of a spec, "" for the configured one, for queries or cues.
func openQueryRewriter(c *line.Line, spec, flag string, attempts int) (complete.Rewriter, error) {
	spec, kept, err := modelSpec(c, settings.Rewrite, spec)
	if err != nil {
		return nil, err
	}
	if spec == "" {
		return nil, noModel(c, "no model to rewrite with: there are "+
			model.List(model.Specs(settings.Rewrite.Providers), "and"), flag, settings.RewriteModel)
	}
	opt, err := modelOptions(c, settings.Rewrite, spec, kept, attempts)
	if err != nil {
		return nil, err
	}
	m, err := rewrite.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, strings.TrimRight(strings.TrimSuffix(flag, "SPEC"), " ="), err)
	}
	return queryRewriter{m}, nil
}

// MayChooseModel returns an error if a remote caller names a model: the name decides which server receives the memory's
// text.
func MayChooseModel(c *line.Line, spec string) error {
	if !c.By.Remote || spec == "" || spec == ModelConfigured {
		return nil
	}
	return fmt.Errorf("%w: an argument names a model", line.ErrRemote)
}

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

type queryEmbedder struct{ embed.Embedder }

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

func (e queryEmbedder) Whole(texts ...string) (permille int, ok bool) {
	if k, is := e.Embedder.(complete.Knower); is {
		return k.Whole(texts...)
	}
	return 0, false
}

type queryRewriter struct{ *rewrite.Rewriter }

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
