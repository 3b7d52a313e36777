package reach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/server"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// maxOwners is how many owners in turn a verb is given to that end before it does.
const maxOwners = 10

// errOwnersEnd is returned for a verb that no owner lived long enough for.
var errOwnersEnd = fmt.Errorf("%w: each process that had it open ended", store.ErrBusy)

// answeredError ends a verb that an owner ran, with its result.
type answeredError struct{ err error }

func (e *answeredError) Error() string { return "another process ran it" }

// openRepo returns the repository of a command, and a function that ends its use: the repository that this process
// shares, held until the command ends, or a separate one. If another process has it open and answers, that process runs
// the verb.
func openRepo(ctx context.Context, c *line.Line, write bool) (*core.Repo, func() error, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, nil, err
	}
	opt, err := Options(c)
	if err != nil {
		return nil, nil, err
	}
	opt.ReadOnly = !write
	endless := c.Asked != nil && c.Asked.Rest != nil
	for tries := 0; endless || tries < maxOwners; tries++ {
		r, done, client, err := reach(ctx, c, dir, opt)
		switch {
		case err != nil && endless && tries > 0 && peers.Passes(ctx, err):
			continue
		case err != nil:
			return nil, nil, c.OpenHint(err)
		case client == nil:
			return r, done, nil
		}
		if err := forward(ctx, c, client); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, errOwnersEnd
}

// reach opens the repository in dir, uses the shared one, or connects to the process that has it open.
func reach(ctx context.Context, c *line.Line, dir string, opt core.Options) (
	_ *core.Repo, done func() error, client *owner.Client, err error,
) {
	if h := c.App.Holder; c.InUse == nil && h != nil && h.Covers(dir) {
		if c.InUse, client, err = h.Reach(ctx); c.InUse == nil {
			return nil, nil, client, err
		}
	}
	if c.InUse != nil {
		if c.AcceptHead {
			err = errOpen(c.App.PID)
		}
		return c.InUse.Repo, func() error { return nil }, nil, err
	}
	r, client, err := peers.Reach(ctx, dir, opt)
	if r == nil {
		return nil, nil, client, err
	}
	if r.Shared() {
		return r, r.Close, nil, nil
	}
	written := c.WriteAhead(ctx)
	return r, func() error { return line.FirstError(r.Close(), written()) }, nil, nil
}

// errOpen is returned if --accept is given and a process has the repository open.
func errOpen(pid int) error {
	return line.Hint(fmt.Errorf("%w: --accept needs it closed, and process %d has it open", store.ErrBusy, pid),
		"a repository that opens has lost nothing: leave the flag out, or stop that process first")
}

// forward has another process run the verb; the verb uses up client. It returns an *answeredError with the result, or
// nil if that process ended and the verb must be tried again.
func forward(ctx context.Context, c *line.Line, client *owner.Client) error {
	defer func() { _ = client.Close() }() // all was said
	if c.Asked == nil {
		return line.Hint(fmt.Errorf("%w: another process has it open", store.ErrBusy),
			"stop that process, or run outside of the repository")
	}
	if _, pid := client.Owner(); c.AcceptHead {
		return errOpen(pid)
	}
	err := forwardVerb(ctx, c, client)
	if again, err := lost(ctx, c, err); again || err != nil {
		return err
	}
	return &answeredError{err}
}

// lost says what to do if an owner ended first: try again, or return an error. Otherwise it returns neither.
func lost(ctx context.Context, c *line.Line, err error) (again bool, _ error) {
	lost, ok := errors.AsType[*owner.LostError](err)
	switch {
	case !ok:
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case c.Asked.Over:
		return false, &answeredError{}
	case lost.Clean || c.Asked.Rest != nil:
		return true, nil
	case lost.Writes:
		const what = "the process that had it open ended before it said what came of this command"
		return false, &operation.Error{Outcome: operation.Busy, Unknown: true,
			Message: fmt.Sprintf("%v: %s", store.ErrBusy, what),
			Hint:    "'mnem op log' tells whether the change was made"}
	}
	return false, line.Hint(fmt.Errorf("%w: the process that had it open ended in the middle of the answer",
		store.ErrBusy), "give the command again: it changed nothing")
}

func forwardVerb(ctx context.Context, c *line.Line, client *owner.Client) error {
	call, err := callOf(c)
	if err != nil {
		return err
	}
	by := &peers.Caller{
		Tell: shower(c),
		Input: func(number int) (io.Reader, error) {
			names := inputs(c)
			if number >= len(names) {
				return nil, fmt.Errorf("%w: input %d of %d", owner.ErrProtocol, number, len(names))
			}
			in, _, err := c.Open(ctx, names[number])
			return in, err
		},
		Read: func(r io.Reader) error {
			if !c.Asked.Typed {
				_, err := io.Copy(struct{ io.Writer }{c.Out}, r) // an error of reading is none of writing
				return err
			}
			return c.Asked.Spec.ReadAnswers(r, c.Asked.Emit)
		},
	}
	if q, ok := c.Asked.Req.(interface{ OutputName() string }); ok && q.OutputName() != "" {
		return writeVerb(ctx, c, client, call, by, q.OutputName())
	}
	return peers.Ask(ctx, client, call, by)
}

// writeVerb is peers.Ask for a verb that writes a file. The answer is printed when the file is there.
func writeVerb(
	ctx context.Context, c *line.Line, client *owner.Client, call *peers.Call, by *peers.Caller, name string,
) error {
	var answer bytes.Buffer
	read := by.Read
	by.Read = func(r io.Reader) error {
		_, err := io.Copy(&answer, r)
		return err
	}
	err := VerbHost{c}.Create(ctx, name, func(w io.Writer) error {
		by.Output = w
		err := peers.Ask(ctx, client, call, by)
		if lost, ok := errors.AsType[*owner.LostError](err); ok && name == line.StdinName {
			lost.Clean = false // a part of it may be written
		}
		return err
	})
	if err != nil {
		return err
	}
	return read(&answer)
}

// callOf returns the call for another process: the request, with the caller's environment and configuration.
func callOf(c *line.Line) (*peers.Call, error) {
	a := c.Asked
	if err := line.OnceStdin(c.Inputs); err != nil {
		return nil, err
	}
	if d, ok := a.Top.(verb.Driver); ok {
		a.Typed = a.Typed || d.Drives()
	}
	request, err := a.Spec.EncodeRequest(a.Req)
	if err != nil {
		return nil, err
	}
	call := &peers.Call{
		Verb: a.Spec.Name(), Request: request, Given: verb.GivenOf(a.Req), Words: c.Doing.Words,
		Caller: c.By, Sign: a.Sign, Human: !c.InJSON, Typed: a.Typed, Progress: c.Progress().Visible(),
	}
	for _, name := range inputs(c) {
		call.Inputs = append(call.Inputs, line.ShownFile(name))
	}
	now := a.Stamp.Time
	if a.Spec.Authored(a.Req) {
		by := &a.Stamp
		call.Caller.Author, call.Caller.Agent, call.Caller.Task = by.Author, by.Agent, by.Task
		call.Collect, call.Meaning = collecting(c), by.Meaning != nil
	} else if now, err = c.Now(); err != nil {
		return nil, err
	}
	call.Caller.Time = now.String()
	if call.Root, err = c.Dir(); err != nil {
		return nil, err
	}
	call.Dir = c.App.Dir
	sendKeys(c, call)
	if slices.ContainsFunc(a.Spec.Fields(), func(f verb.Field) bool { return f.Name == "require-signed" }) {
		call.RequireSigned, err = c.Configured("require-signed")
	}
	return call, err
}

func sendKeys(c *line.Line, call *peers.Call) {
	list, err := c.Trusted()
	if err == nil {
		call.Trusted, err = list.Encode()
	}
	if err != nil {
		call.Untrusted = verb.FailureOf(c.Doing.Ctx, err, call.Caller.Remote)
		call.Untrusted.Code = line.OutcomeOf(c.Doing.Ctx, err).Code
	}
	if call.Caller.Agent == "" {
		return
	}
	if key, ok := c.OwnKey(); ok {
		call.Key = key.String()
	}
}

// inputs are the files to send to another process: those of change lines, or the one that the verb reads.
func inputs(c *line.Line) []string {
	if q, ok := c.Asked.Req.(interface{ InputName() string }); ok && q.InputName() != "" {
		return []string{q.InputName()}
	}
	return c.Inputs
}

// shower returns a function that shows the progress of another process.
func shower(c *line.Line) func(*peers.ProgressMessage) {
	p := c.Progress()
	c.Working = append(c.Working, p.Done)
	return func(t *peers.ProgressMessage) {
		switch {
		case t.Start != "":
			p.Start(t.Start)
		case t.What != "":
			p.Set(t.What, t.Done, t.Total)
		case t.Say != "":
			p.Say(t.Say)
		case t.End:
			p.Done()
		case t.Collected != nil:
			collected(c, t.Collected)
		case t.Remark != "":
			c.Remark("%s", line.OneLine(t.Remark))
		}
	}
}

// askServer has the server at a URL run a verb, and prints what it answers.
func askServer(ctx context.Context, c *line.Line, at string, spec *verb.Spec, req any) error {
	if spec.Local || c.Quietly {
		return line.ErrOnServer(at)
	}
	if q, ok := req.(verb.Checker); ok {
		if err := q.Check(); err != nil {
			return err
		}
	}
	if q, ok := req.(verb.TakesAlong); ok {
		if err := q.TakeAlong(VerbHost{c}.Setting); err != nil {
			return err
		}
	}
	u, err := place.ParseURL(at)
	if err != nil {
		return err
	}
	side, err := server.Reach(ctx, AskHost(c), u.At)
	if err != nil {
		return err
	}
	defer func() { _ = side.Close() }() // all was said
	call := &server.Call{
		Spec: spec, Req: req, JSON: c.InJSON, Branch: c.By.Branch, Session: c.By.Session, Inputs: c.Inputs,
		Open: c.Open, Create: VerbHost{c}.Create, Out: c.Out,
	}
	if q, ok := req.(fileReader); ok {
		call.Inputs = q.FileNames()
	}
	if err := line.OnceStdin(call.Inputs); err != nil {
		return err
	}
	return side.Call(ctx, call)
}

// holdJSON is printed by hold whenever another process begins or ends to have the repository.
type holdJSON struct {
	Path string `json:"path"`
	// Owner is whether this process has the repository open, and not another one.
	Owner  bool    `json:"owner"`
	Socket *string `json:"socket"` // where this process answers others, null where it does not
}

// HoldCommand is the command that keeps a repository open for others.
func HoldCommand() *line.Bound {
	return LocalLines(verb.Spec{
		Command: "hold", Right: verb.NoRight, Hidden: true, // serve and mcp do the same, and more
		Group: line.GroupCare, Title: "Hold the repository open and serve other mnem processes",
		Doc: "Keep the repository open until stopped, and run the commands of all other mnem\n" +
			"processes on it: what they need is in memory then. While another process does the same this\n" +
			"one waits, and takes over when that ends.",
		Example: "  mnem hold\n  mnem hold --json",
	}, hold)
}

func hold(ctx context.Context, c *line.Line, _ *struct{}) (err error) {
	c.App.Serves()
	h, err := NewHolder(c)
	if err != nil {
		return err
	}
	defer func() { err = line.FirstError(err, h.Close()) }()
	var printErr error
	err = h.Keep(ctx, func(socket string, own bool) {
		printErr = line.FirstError(printErr, printHold(c, h, socket, own), c.Out.Flush())
	})
	return line.FirstError(c.OpenHint(err), printErr)
}

func printHold(c *line.Line, h *peers.Holder, socket string, own bool) error {
	path := filepath.Join(h.Dir(), core.DirName)
	switch {
	case c.InJSON:
		out := holdJSON{Path: path, Owner: own}
		if socket != "" {
			out.Socket = &socket
		}
		return c.PrintJSON(out)
	case own:
		return c.Printf("%s is open here; stop with Ctrl-C\n", line.OneLine(path))
	}
	return c.Printf("another process has %s open; this one waits for it to end\n", line.OneLine(path))
}

// NewHolder returns a holder of the repository that a command is about. It opens nothing.
func NewHolder(c *line.Line) (*peers.Holder, error) { return NewHolderOf(c, 1) }

// NewHolderOf returns a holder of one of as many repositories, which share what a process may keep of them.
func NewHolderOf(c *line.Line, many int) (*peers.Holder, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	open, err := Options(c)
	if open.Memory > 0 {
		open.Memory = max(settings.MinSize, open.Memory/int64(many))
	}
	opt := peers.HostOptions{PID: c.App.PID, Temp: line.FirstOf(c.App.Getenv("TMPDIR"), os.TempDir()), Now: c.App.Now}
	if c.App.Meaning != nil {
		opt.Meaning = c.App.Meaning
	}
	serves := c.App.Serving != nil && c.App.Serving.Load()
	if serves && c.App.Detach != nil && many == 1 {
		go syncRegularly(c.Doing.Ctx, c.App, c.UserConfig(), dir)
	}
	if err == nil && (serves || c.Asked != nil && c.Asked.Rest != nil) {
		opt.Embeds, err = embedsLeft(c)
	} else {
		opt.Finish = func(r *core.Repo) { embedLeft(c.Doing.Ctx, c, r) }
	}
	return peers.NewHolder(dir, open, opt, func(err error) {
		_, _ = fmt.Fprintf(c.App.Stderr, "mnem: %s\n", line.OneLine(err.Error()))
	}), err
}

// share keeps the repository open for a command that works long and needs it again and again, and
// answers other processes in the meantime. done must be called.
func share(c *line.Line) (done func() error, err error) {
	if c.App.Holder != nil {
		return func() error { return nil }, nil
	}
	h, err := NewHolder(c)
	if err != nil {
		return nil, err
	}
	c.App.Holder = h
	return func() error {
		c.Release(nil)
		return h.Close()
	}, nil
}

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
