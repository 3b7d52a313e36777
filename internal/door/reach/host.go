package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Program is another program of this module, whose commands take flags, answer and fail as those of mnem do.
type Program struct {
	Name, Short, Long, Example string
	Commands                   func(*Host) []*cobra.Command
}

// RunProgram runs one command line of another program and returns its exit code.
func RunProgram(ctx context.Context, a *line.App, p Program, args []string) int {
	return a.Run(ctx, args, func(c *line.Line) *cobra.Command { return programRoot(c, p) })
}

// Tree returns the commands of a program, for its documentation. They cannot run.
func (p Program) Tree() *cobra.Command {
	return programRoot((&line.Line{App: &line.App{Getenv: func(string) string { return "" }}}), p)
}

func programRoot(c *line.Line, p Program) *cobra.Command {
	c.Program = p.Name
	root := &cobra.Command{Use: p.Name, Short: p.Short, Long: p.Long, Example: p.Example}
	c.Parent(root, p.Commands(&Host{&c.Console, c})...)
	c.RootFlags(root)
	root.Version = upkeep.VersionsHere().Version
	return root
}

// Host lets the commands of another program share with those of mnem: one is given to each command line.
type Host struct {
	*show.Console
	c *line.Line
}

// Command finishes a command: Run reports errors and usage.
func (h *Host) Command(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return h.c.Command(cmd, run)
}

// Table prints rows in columns, and what was printed before.
func (h *Host) Table(rows [][]show.Cell) error {
	h.c.PutTable(rows)
	return h.c.Out.Flush()
}

// Progress starts a line that tells how far long work is; done takes it away.
func (h *Host) Progress() (set func(what string, done, total int), done func()) {
	p := h.c.Progress()
	return p.Set, p.Done
}

// Absolute returns a path from the working directory.
func (h *Host) Absolute(path string) string { return h.c.Absolute(path) }

// WriteAnswers calls fn with what prints answers as 'mnem retrieve --batch' does, into a file that
// is there only if fn succeeds.
func (h *Host) WriteAnswers(
	ctx context.Context, path string, fn func(print func(*retrieve.Answer, complete.Query) error) error,
) error {
	return line.WriteOut(ctx, h.c.Absolute(path), func(w io.Writer) error {
		side := line.ConsoleOf(h.c.App, line.Buffered(w))
		err := fn(func(answer *retrieve.Answer, q complete.Query) error {
			return side.PrintJSON(asking.AnswerOf(answer, q))
		})
		if err != nil {
			return err
		}
		return side.Out.Flush()
	})
}

// Usagef returns the error of a command line that makes no sense.
func Usagef(format string, args ...any) error { return line.Usagef(format, args...) }

// Retrieval makes requests from the flags of a command, as 'mnem retrieve' does.
type Retrieval struct {
	Models   *Models            // what completes a request; set by Request
	Profiles *retrieve.Profiles // that may be named, nil for the built-in ones; set by Request

	c     *line.Line
	cmd   *cobra.Command
	q     *asking.RetrieveRequest
	flags []*pflag.Flag // those that a report repeats
}

// RetrievalFlags adds the flags of retrieval but some. Limit and budget are defaults of the command's own.
func (h *Host) RetrievalFlags(cmd *cobra.Command, limit, budget int, but ...string) *Retrieval {
	r := &Retrieval{c: h.c, cmd: cmd}
	more := []string{"include", "profile", "embed", "rerank", "rerank-top", "rewrite", "rewrite-model", "rewrites"}
	r.q = someFlags(h.c, cmd, func(f *verb.Field) bool {
		return (f.Param() != nil || slices.Contains(more, f.Name)) && !slices.Contains(but, f.Name)
	})
	f := cmd.Flags()
	changeDefault(f, "limit", limit)
	changeDefault(f, "budget", budget)
	f.Lookup("profile").Usage = "take what no flag says from this `NAME`; see 'mnem config profile --help'"
	f.VisitAll(func(flag *pflag.Flag) { r.flags = append(r.flags, flag) })
	return r
}

func changeDefault(f *pflag.FlagSet, name string, n int) {
	flag := f.Lookup(name)
	flag.DefValue = strconv.Itoa(n)
	if err := flag.Value.Set(flag.DefValue); err != nil {
		panic(err) // a mistake in a program
	}
}

// CheckModels refuses flags that contradict each other or would do nothing.
func (r *Retrieval) CheckModels() error {
	return r.q.CheckModels(r.cmd.Flags().Changed, true)
}

// Request returns the request that flags make, and opens the models and finds the profiles that it
// may name.
func (r *Retrieval) Request(profiles bool) (retrieve.Request, error) {
	base, err := question(r.c, r.cmd, r.q)
	if err != nil {
		return base, err
	}
	if err := r.openModels(&base); err != nil {
		return base, err
	}
	for name, to := range map[string]**int{"limit": &base.Limit, "budget": &base.Budget} {
		n, err := r.cmd.Flags().GetInt(name)
		if err != nil {
			return base, err
		}
		*to = &n // metrics look further down than profiles
	}
	named := r.cmd.Flags().Changed("profile")
	if named || profiles {
		if r.Profiles, err = r.profilesHere(); err != nil {
			return base, err
		}
	}
	if named {
		if base.Profile = r.q.Profile; base.Profile == "" {
			return base, verb.Bad("profile", "want a name; see 'mnem config profile'")
		}
		_, err = r.Profiles.Choose(base.Profile, nil)
	}
	return base, verb.ProfileHint(err)
}

// profilesHere returns the profiles of the repository around the command, nil outside of one.
func (r *Retrieval) profilesHere() (p *retrieve.Profiles, err error) {
	if _, err := r.c.Dir(); errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	err = withRepo(r.c.Doing.Ctx, r.c, false, func(ctx context.Context, in *core.Repo) error {
		_, head, err := in.Branch(ctx)
		if err != nil {
			return err
		}
		s, err := in.At(ctx, head)
		if err == nil {
			p, err = rank.Profiles(ctx, s)
		}
		return err
	})
	return p, err
}

// Settings returns the flags that select, rank and print, with the values that held.
func (r *Retrieval) Settings(base retrieve.Request) map[string]string {
	set := make(map[string]string)
	for _, f := range r.flags {
		if v := f.Value.String(); v != "" && v != "[]" {
			set[f.Name] = v
		}
	}
	name, err := r.Profiles.Choose(base.Profile, base.Types)
	if err == nil && name != retrieve.DefaultProfile {
		set["profile"] = name
	}
	profile, _, _ := r.Profiles.Get(name)
	for _, e := range profile.Params { // unless a flag says otherwise
		if f := r.flag(retrieve.FlagName(e.Key)); f != nil && !f.Changed && e.Key != "limit" && e.Key != "budget" {
			set[f.Name] = answers.ParamText(e)
		}
	}
	r.Models.settings(set)
	if n := base.SummaryCap; n != nil { // the environment has a say
		set["summary-cap"] = strconv.Itoa(*n)
	}
	return set
}

func (r *Retrieval) flag(name string) *pflag.Flag {
	if i := slices.IndexFunc(r.flags, func(f *pflag.Flag) bool { return f.Name == name }); i >= 0 {
		return r.flags[i]
	}
	return nil
}

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

var failures = []string{complete.FailedRewrite, complete.FailedEmbed, complete.FailedRerank}

// Summary says what the models did, as parts of a line.
func (m *Models) Summary(questions int) []string {
	var parts []string
	if m.Embeds() {
		parts = append(parts, fmt.Sprintf("%s embedded with %s", line.Plural(m.count, "node"),
			line.OneLine(m.asked.Embedder.Model())))
	}
	var failed []string
	for _, kind := range failures {
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
	for _, kind := range failures {
		out[kind] = m.c.Failures[kind]
	}
	return out
}
