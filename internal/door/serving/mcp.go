package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/shelf"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

type mcpRequest struct {
	Addr       string   `op:"" doc:"serve HTTP at {HOST:PORT}, as 127.0.0.1:7118, instead of standard input and output"`
	OAuth      string   `op:"oauth" doc:"with --addr, let clients sign in: {URL} is this server as the web reaches it, https://HOST"`
	Only       string   `op:"" complete:"branch" doc:"confine all clients to this {BRANCH}: they read and write nothing else"`
	NeedToken  bool     `op:"" doc:"with --addr, refuse who has no token, on this machine too"`
	Profile    string   `op:"" default:"core" enum:"read core full" doc:"which tools there are: {PROFILE} is read, core or full"`
	Pin        bool     `op:"" doc:"answer from the commit at the first call, whatever is committed"`
	Without    []string `op:"" enum:"session" doc:"leave out {PARTS}: session, which records what was retrieved"`
	WithGlobal bool     `op:"" doc:"have retrieve and recall ask the user's own repository too"`
	Author     string   `op:"" doc:"who makes changes" note:" (MNEM_AUTHOR; config: author)"`
	Agent      string   `op:"" doc:"the program that acts for the author" note:" (MNEM_AGENT; default: name and version of the client)"`
	Task       string   `op:"" doc:"what the agent works on" note:" (MNEM_TASK)"`
	verb.OnBranch
}

// MCPCommand is the command that serves MCP.
func MCPCommand() *line.Bound {
	return reach.Local(verb.Spec{
		Command: "mcp", Right: verb.NoRight, Confined: true,
		Usage: "[flags]", Group: line.GroupTrade, Hidden: true, Title: "Serve the memory to an agent over MCP",
		Doc: "Serve the memory to an agent by the Model Context Protocol, on standard input and output until that\n" +
			"ends, or with --addr on http://ADDR/mcp. It speaks 2026-07-28 and the versions since 2024-11-05. It\n" +
			"starts at once and opens the repository at the first call. Without --repo it uses the first of the\n" +
			"client's open folders that has a repository, or the working directory if the client names no\n" +
			"folders, and keeps to it. Without a repository, tools say how to make one and find it once it is\n" +
			"made; with mcp.fallback = global in the user's configuration, they use the user's own. With\n" +
			"--with-global, retrieve and recall answer from both, and each item says which.\n\n" +
			"The profile core has the tools retrieve, recall, show, explore, stats, diff, log, remember, commit,\n" +
			"forget, mark and undo; read leaves out those that write; full adds branches, merges, upkeep and\n" +
			"other verbs. docs/reference/mcp.md describes each, and how to connect clients.\n\n" +
			"With --oauth a client without a token shows the owner a page, and gets a token that counts for an\n" +
			"hour and is renewed. So connectors on the web reach a memory behind your own TLS.\n\n" +
			"The client's name and version are the agent on its commits unless --agent names another. What it\n" +
			"retrieves is recorded in a session named after it and the time, which 'mnem session log' and 'mnem\n" +
			"session replay' read. Answers come from HEAD, or with --pin from the commit that HEAD is at when the\n" +
			"first one is asked for.",
		Example: "  mnem mcp\n" +
			"  mnem mcp --profile read --pin\n" +
			"  mnem mcp --addr 127.0.0.1:7118\n" +
			"  mnem mcp --addr 127.0.0.1:7118 --oauth https://memory.example.org\n" +
			"  claude mcp add mnem -- mnem mcp -R ~/project",
	}, serveMCP)
}

func serveMCP(ctx context.Context, c *line.Line, opt *mcpRequest) (err error) {
	line.LastingHeap()
	options := mcp.ServerOptions{
		Version: upkeep.VersionsHere().Version, Profile: mcp.Profile(opt.Profile), Now: c.App.Now,
		Caller: operation.Caller{
			Author: opt.Author, Agent: line.FirstOf(opt.Agent, c.By.Agent), Task: opt.Task,
			Branch: opt.Branch, Only: opt.Only,
		},
		Log: mcpLog(c),
	}
	if err := checkOnly(opt.Only); err != nil {
		return err
	}
	if !slices.Contains(mcp.Profiles(), options.Profile) {
		return line.Usagef("--profile: want read, core, full")
	}
	switch {
	case slices.ContainsFunc(opt.Without, func(part string) bool { return part != "session" }):
		return line.Usagef("--without: %q is not session", opt.Without)
	case opt.Pin && len(opt.Without) > 0:
		return line.Usagef("--pin and --without session exclude each other")
	case opt.Pin:
		options.Record = mcp.RecordPin
	case len(opt.Without) > 0:
		options.Record = mcp.RecordNone
	}
	named := c.Global.User || line.FirstOf(c.Global.Repo, c.Env("MNEM_REPO")) != ""
	switch {
	case opt.Addr != "" && opt.WithGlobal:
		return line.Usagef("--%s and --addr exclude each other: your own memory is for programs that you start", reach.WithGlobal)
	case opt.OAuth != "" && opt.Addr == "":
		return line.Usagef("--oauth wants --addr")
	case opt.NeedToken && opt.Addr == "":
		return line.Usagef("--need-token wants --addr")
	case opt.Addr == "" && !named:
		return serveProject(ctx, c, opt, options)
	case opt.Addr == "":
		also, err := alsoGlobal(c)
		if err != nil {
			return err
		}
		options.Caller.Global = opt.WithGlobal || also
	}
	if c.Global.User {
		options.Memory = mcp.OfUser
	}
	c.App.Serves()
	// If there is no repository yet, clients are told so when they ask: one may be made later.
	h, err := reach.NewHolder(c)
	switch {
	case errors.Is(err, store.ErrNotFound):
		h = nil
	case err != nil:
		return err
	default:
		defer func() { err = line.FirstError(err, h.Close()) }()
	}
	if opt.Addr != "" {
		return serveMCPHTTP(ctx, c, opt, options, h)
	}
	return mcp.New(verbs.Operations(), verbs.Runner(c, h, true), options).Run(ctx, c.App.Stdin, c.App.Stdout)
}

// serveProject serves the project that the client has open.
func serveProject(ctx context.Context, c *line.Line, opt *mcpRequest, options mcp.ServerOptions) (err error) {
	to, err := reach.OfUser(c, settings.FallbackKey, settings.FallbackNone)
	if err != nil {
		return err
	}
	if to == settings.FallbackGlobal { // if the client has no project open that has one
		options.Memory = mcp.OfEither
	}
	p := &projectRunner{c: c, global: opt.WithGlobal}
	defer func() { err = line.FirstError(err, p.Close()) }()
	options.Folders = p.open
	c.App.Serves()
	return mcp.New(verbs.Operations(), p, options).Run(ctx, c.App.Stdin, c.App.Stdout)
}

// alsoGlobal reports whether the user's own memory keeps types of memories, and is therefore asked together with a project's.
func alsoGlobal(c *line.Line) (bool, error) {
	types, err := reach.GlobalTypes(c)
	return len(types) > 0, err
}

// mcpLog returns a log of warnings on standard error.
func mcpLog(c *line.Line) *slog.Logger {
	return slog.New(slog.NewTextHandler(c.App.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// mcpPath is where clients find the server over HTTP.
const mcpPath = "/mcp"

// serveMCPHTTP serves clients over HTTP until the context ends, guarded as 'mnem serve' is.
func serveMCPHTTP(ctx context.Context, c *line.Line, req *mcpRequest, opt mcp.ServerOptions, h *peers.Holder) error {
	cfg, err := serveConfig(c, &serveRequest{Log: "none", Only: req.Only, NeedToken: req.NeedToken}, limits{Body: 8 << 20, Time: mcpTime, Rate: mcpRate})
	if err != nil {
		return err
	}
	tokens, err := access.TokensFor(c, cfg)
	if err != nil {
		return err
	}
	defer tokens.Close()
	if req.OAuth != "" {
		if err := letSignIn(cfg, req.OAuth, tokens); err != nil {
			return err
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", req.Addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", req.Addr, err)
	}
	defer func() { _ = l.Close() }() // the server has closed it, unless it never began
	if err := guardAddr(c, l.Addr(), cfg); err != nil {
		return err
	}
	opt.CallerOf = serve.CallerOf
	cfg.Runner = verbs.Runner(c, h, false)
	m := mcp.New(verbs.Operations(), cfg.Runner, opt)
	effect := operation.Writes
	if opt.Profile == mcp.ProfileRead {
		effect = operation.Reads
	}
	cfg.Routes = []serve.Route{{Path: mcpPath, Effect: effect, Handler: m.Handler()}}
	s := serve.New(*cfg)
	c.Put("http://%s%s; stop with Ctrl-C\n", l.Addr(), mcpPath)
	if err := c.Out.Flush(); err != nil {
		return err
	}
	defer m.Close(context.WithoutCancel(ctx))
	return s.Serve(ctx, l)
}

// letSignIn lets clients sign in to a server that the web reaches at a URL.
func letSignIn(cfg *serve.Config, address string, tokens shelf.Tokens) error {
	home, err := serve.CheckOAuthURL(address)
	if err != nil {
		return line.Usagef("--oauth: %w", err)
	}
	u, err := url.Parse(home)
	if err != nil {
		return line.Usagef("--oauth: %w", err)
	}
	cfg.NeedToken, cfg.Hosts, cfg.Origins = true, append(cfg.Hosts, u.Hostname()), append(cfg.Origins, home)
	cfg.OAuth = &serve.OAuth{URL: home, Path: mcpPath, Grants: tokens}
	return nil
}

const (
	mcpTime = 10 * time.Minute // for one request
	mcpRate = 2000             // requests a second, more than some processors answer
)

// projectRunner runs operations on the repository of the project that a client has open: of the first of its folders
// that is in one, and where it names none, of the working directory. Once there is one it stays: an agent does not move
// from one memory to another. It is safe for concurrent use.
type projectRunner struct {
	c      *line.Line
	global bool // whether the user's own repository is asked too, whatever is configured

	mu      sync.Mutex
	folders []string // that the client has open
	named   bool     // whether it was told by these which repository it is
	dir     string   // that holds the repository, once there is one
	runner  operation.Runner
	also    bool // whether the user's own repository is asked too
	holder  *peers.Holder
}

// open is told which folders the client has open.
func (p *projectRunner) open(folders []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders = folders
}

// Run implements operation.Runner.
func (p *projectRunner) Run(ctx context.Context, call operation.Call, out io.Writer) (operation.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return verbs.Failed(ctx, err) // what is not waited for decides nothing
	}
	run, global, err := p.find(call.Operation.Name != "session_end")
	if moved, ok := errors.AsType[*operation.Error](err); ok {
		return moved.Outcome, moved
	}
	if err != nil {
		return verbs.Failed(ctx, err)
	}
	call.Caller.Global = global
	return run.Run(ctx, call, out)
}

// find returns what runs operations on the repository, or tells that there is none, and whether to ask the user's own
// too. Once there is one it is an error that the client has other projects open, if it must stay.
func (p *projectRunner) find(must bool) (run operation.Runner, also bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runner != nil {
		if must {
			err = p.stays()
		}
		return p.runner, p.also, err
	}
	var nowhere operation.Runner
	for _, at := range p.places() {
		_, err := at.Dir()
		_, none := errors.AsType[line.NoRepoError](err)
		switch {
		case err == nil:
			err = p.settle(at)
			return p.runner, p.also, err
		case !none:
			return nil, false, err
		case nowhere == nil:
			nowhere = verbs.Runner(at, nil, true) // which says how to make one, and finds it once it is made
		}
	}
	if to, err := reach.OfUser(p.c, settings.FallbackKey, settings.FallbackNone); err != nil || to != settings.FallbackGlobal {
		return nowhere, false, err
	}
	own := p.at(p.c.App.Dir)
	own.Global.User = true
	if err := p.settle(own); err != nil {
		return nil, false, err
	}
	p.c.Remark("no repository in %s: serving the user's own", line.OneLine(p.places()[0].App.Dir))
	return p.runner, p.also, nil
}

// places are where a repository is looked for: in the folders, or in the working directory.
func (p *projectRunner) places() (out []*line.Line) {
	for _, folder := range p.folders {
		out = append(out, p.at(folder))
	}
	if len(out) == 0 {
		out = append(out, p.at(p.c.App.Dir))
	}
	return out
}

// at returns the command as if it was started in a directory.
func (p *projectRunner) at(dir string) *line.Line {
	app, c := *p.c.App, *p.c
	app.Dir = dir
	c.App, c.Conf = &app, nil
	return &c
}

// settle takes the repository that a command is about.
func (p *projectRunner) settle(at *line.Line) error {
	dir, err := at.Dir()
	if err != nil {
		return err
	}
	also, err := alsoGlobal(at)
	if err != nil {
		return err
	}
	h, err := reach.NewHolder(at)
	if err != nil {
		return err
	}
	if !at.Global.User {
		at.Global.Repo = dir // even if a repository is made or removed since
	}
	p.dir, p.also, p.holder, p.runner = dir, p.global || also, h, verbs.Runner(at, h, true)
	p.named = len(p.folders) > 0
	return nil
}

// stays returns an error if the client has other projects open than the one that is served.
func (p *projectRunner) stays() error {
	if len(p.folders) == 0 && !p.named || p.dir == p.own() {
		return nil
	}
	for _, folder := range p.folders {
		at := p.at(folder)
		if dir, err := at.Dir(); err == nil && integrate.SameDir(dir, p.dir) {
			return nil
		}
	}
	open := slices.Clone(p.folders)
	for i := range open {
		open[i] = line.OneLine(open[i])
	}
	if len(open) == 0 {
		open = []string{"no folder of this machine"}
	}
	return &operation.Error{
		Outcome: operation.Conflict,
		Message: "this server has the memory of " + line.OneLine(p.dir) + ", and the client has " + strings.Join(open, ", ") + " open",
		Hint:    "restart the server: it stays with the project that it began with",
	}
}

// own is the directory of the user's own repository, "" for none.
func (p *projectRunner) own() string {
	c := p.at(p.c.App.Dir)
	c.Global.User = true
	if dir, err := c.Dir(); err == nil {
		return dir
	}
	return ""
}

// Close closes the repository.
func (p *projectRunner) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holder == nil {
		return nil
	}
	return p.holder.Close()
}
