// Package serving is the commands that keep running: the HTTP server, the MCP server, and the pages of a browser.
package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// defaultAddr is where 'mnem serve' listens.
const defaultAddr = "127.0.0.1:7117"

// serveRequest is the request of 'mnem serve'.
type serveRequest struct {
	Addr      string   `op:"" default:"127.0.0.1:7117" doc:"listen at {HOST:PORT} (port 0: a free one) or at unix:PATH, a socket for this user alone"`
	Hosts     []string `op:"host" doc:"a {NAME} by which clients call the server (repeatable)"`
	Origins   []string `op:"origin" doc:"let pages of this {ORIGIN} ask from browsers, as https://example.org (repeatable)"`
	Only      string   `op:"" complete:"branch" not:"root all stdio token-file" doc:"confine all callers to this {BRANCH}: they read and write nothing else"`
	NeedToken bool     `op:"" doc:"refuse who has no token, on this machine too"`
	Log       string   `op:"" default:"text" enum:"text json none" doc:"log requests on standard error as {FORM}: text, json or none"`
	Stdio     bool     `op:"" not:"addr root all limit need-token metrics" doc:"answer on standard input and output, for who started it, until they end"`
	Root      string   `op:"" doc:"serve every repository under {DIR}: that in DIR/NAME as http://ADDR/NAME"`
	Many      bool     `op:"all" not:"root" doc:"serve every repository in the database of -R: NAME as http://ADDR/NAME"`
	Limit     []string `op:"" doc:"bound something by {NAME=VALUE}, see above" note:" (repeatable)"`
	Metrics   string   `op:"" doc:"answer /metrics at {HOST:PORT} too, without tokens"`
	TokenFile string   `op:"" not:"root all stdio" doc:"need a token, and write one for this run with the address to {FILE}, for this user alone"`
	OpenAPI   bool     `op:"openapi" doc:"print the OpenAPI document of the operations and end"`
	verb.Params
}

// socket is the path of the socket to listen at, "" for an address.
func (f *serveRequest) socket() string {
	if path, ok := strings.CutPrefix(f.Addr, "unix:"); ok {
		return path
	}
	return ""
}

// Check refuses what does not go with a socket.
func (f *serveRequest) Check() error {
	path, ok := strings.CutPrefix(f.Addr, "unix:")
	switch {
	case ok && path == "":
		return line.Usagef("--addr unix: has no path")
	case ok && (f.Root != "" || f.Many || f.NeedToken || f.TokenFile != "" || f.Only != ""):
		return line.Usagef("--addr unix:PATH is for this user alone: it goes with none of --root, --all, --need-token, --token-file, --only")
	}
	return nil
}

// serveTime is how long a request takes at most.
const serveTime = 5 * time.Minute

// ServeJSON says where the server listens.
type ServeJSON struct {
	URL        string `json:"url"`
	Repository string `json:"repository"`
}

// ServeCommand is the command that serves HTTP.
func ServeCommand() *line.Bound {
	return reach.Local(verb.Spec{
		Command: "serve", Right: verb.NoRight,
		Usage: "[flags]", Group: line.GroupTrade, Title: "Serve the memory over HTTP",
		Doc: "Answer http://ADDR/v1/OPERATION: every command about the memory, by its name here, with the answers\n" +
			"that --json prints. /openapi.json describes them, docs/reference/http.md the rest. Commands that\n" +
			"read accept GET, all accept POST. http://ADDR/ is a web view of the memory for browsers.\n\n" +
			"It listens on this machine alone. If --addr names an address that others can reach, callers need a\n" +
			"token of 'mnem serve token new'. On this machine they need one only with --need-token, and for what cannot\n" +
			"be undone. It speaks plain HTTP: put a server that speaks TLS in front of it if others can reach it.\n" +
			"Other mnem processes can use the repository at the same time. An interrupt ends it when the requests\n" +
			"under way have been answered.\n\n" +
			"With --root it serves every repository under a directory, with --all every one in the database of\n" +
			"-R postgres://HOST/DATABASE, each by its path and with its own tokens, and opens those that are\n" +
			"asked for. Any number of servers can answer for one database. --metrics answers /metrics, /healthz\n" +
			"and /readyz on an address of its own without tokens: no one else should reach it.\n\n" +
			"With --addr unix:PATH or --token-file it serves programs of this user, which may do everything.\n" +
			"Clients start such a server themselves: see docs/python.md and docs/typescript.md. Of several with\n" +
			"the same socket or file one stays, the others end with exit code 6.\n\n" +
			"--limit NAME=VALUE bounds\n\n" +
			"  rate=500      requests a second of one token, or of all without\n" +
			"  body=64MiB    the size of a request's body\n" +
			"  open=16       repositories open at once, with --root or --all\n" +
			"  size=SIZE     the bytes of a repository; when it is full, only a token of scope admin, which can\n" +
			"                purge and collect, may write\n" +
			"  blocks=N      its blocks, and commits=N its commits a day, in UTC: in a database\n" +
			"  idle=TIME     end when no request came for so long, as 5m\n" +
			"  drain=TIME    after an interrupt, keep answering for so long, as 10s, while /readyz says that it\n" +
			"                will end, so that a load balancer can switch to another server\n\n" +
			"With --stdio it answers HTTP on standard input and output instead, with all that this user may do:\n" +
			"ssh:// URLs of 'mnem remote' start it like this on another machine.",
		Example: "  mnem serve\n" +
			"  mnem serve --addr 127.0.0.1:8080 --origin http://localhost:3000\n" +
			"  mnem serve --addr 0.0.0.0:7117 --host memory.example.org\n" +
			"  mnem serve --addr unix:/run/user/1000/memory.sock --limit idle=5m\n" +
			"  mnem serve --root /srv/memories --limit size=2GiB --need-token\n" +
			"  mnem serve -R postgres://mnem@db.example/memories --all --need-token --limit drain=10s --metrics :9117\n" +
			"  curl 'http://127.0.0.1:7117/v1/retrieve?query=who+leads+infra&limit=3'", Answers: []any{ServeJSON{}},
	}, runServe)
}

// listenAt listens at the address that --addr names.
func listenAt(ctx context.Context, c *line.Line, addr string, cfg *serve.Config) (net.Listener, error) {
	l, err := listenTCP(ctx, addr, "--addr")
	if err != nil {
		return nil, err
	}
	if err := guardAddr(c, l.Addr(), cfg); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func listenTCP(ctx context.Context, addr, flag string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, line.Hint(err, "name another address with %s; port 0 takes a free one", flag)
	}
	return l, nil
}

func runServe(ctx context.Context, c *line.Line, f *serveRequest) (err error) {
	if f.OpenAPI {
		return printOpenAPI(c)
	}
	c.App.Serves()
	if f.Stdio && !f.Given("log") {
		f.Log = "none" // standard error belongs to the process that started it
	}
	most, err := readLimits(f.Limit)
	if err != nil {
		return err
	}
	cfg, err := serveConfig(c, f, most)
	if err != nil {
		return err
	}
	if f.Root != "" || f.Many {
		return serveMany(ctx, c, f, most, cfg)
	}
	dir, err := c.Dir()
	if err != nil {
		return err
	}
	one, err := access.Served(c)
	if err != nil {
		return err
	}
	defer one.Tokens.Close()
	if cfg.Quota, err = most.quota(one.Counts); err != nil {
		return err
	}
	cfg.Token, cfg.Usage = one.Tokens.Get, one.Usage
	takeUploads(c, cfg, dir)
	end := func() {}
	defer func() { end() }()
	if f.Stdio {
		return serveOne(ctx, c, cfg)
	}
	if own := cmp.Or(f.socket(), f.TokenFile); own != "" {
		unlock, err := lockOwn(ctx, c.Absolute(own))
		if err != nil {
			return err
		}
		defer func() { err = line.FirstError(err, unlock()) }()
	}
	start := startFile{PID: os.Getpid(), Version: cfg.Version}
	if f.TokenFile != "" {
		if start.Token, err = ownToken(c, cfg); err != nil {
			return err
		}
	}
	return serveFrom(ctx, c, f.listen(c, cfg), cfg, func(s *serve.Server, at net.Addr, dir string) error {
		if end, err = serveMetrics(ctx, c, f, s); err != nil {
			return err
		}
		if start.URL = "http://" + at.String(); f.socket() != "" {
			start.URL = "unix:" + f.socket()
		}
		if f.TokenFile != "" {
			if err := writeStartFile(c.Absolute(f.TokenFile), start); err != nil {
				return err
			}
		}
		return sayServes(c, start.URL, dir)
	})
}

// listen returns the function that begins to listen where the flags say.
func (f *serveRequest) listen(c *line.Line, cfg *serve.Config) func(context.Context) (net.Listener, error) {
	return func(ctx context.Context) (net.Listener, error) {
		if f.socket() != "" {
			return listenOnSocket(ctx, c.Absolute(f.socket()), cfg)
		}
		return listenAt(ctx, c, f.Addr, cfg)
	}
}

// announce tells where a server listens that is about to answer.
type announce func(s *serve.Server, at net.Addr, dir string) error

func sayServes(c *line.Line, url, dir string) error {
	return line.FirstError(c.Say(ServeJSON{url, dir}, "%s serves %s; stop with Ctrl-C\n", url, line.OneLine(dir)), c.Out.Flush())
}

// serveFrom finds the repository, listens, and serves it and its web view until the context ends.
func serveFrom(
	ctx context.Context, c *line.Line, listen func(context.Context) (net.Listener, error), cfg *serve.Config, say announce,
) (err error) {
	dir, err := c.Dir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, core.DirName)); err != nil {
		return line.Hint(line.NoRepoError{Dir: dir, Err: &state.NotFoundError{What: "repository", Name: dir}},
			"run 'mnem init' to make one")
	}
	l, err := listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // the server has closed it, unless it never began
	h, err := reach.NewHolder(c)
	if err != nil {
		return err
	}
	defer func() { err = line.FirstError(err, h.Close()) }()
	cfg.Operations, cfg.Runner, cfg.View = verbs.Operations(), verbs.Runner(c, h, false), !cfg.Own
	return listenOn(ctx, c, l, h, cfg, func(s *serve.Server) error { return say(s, l.Addr(), dir) })
}

// listenOn answers connections and holds on to the repository until the context ends.
func listenOn(
	ctx context.Context, c *line.Line, l net.Listener, h *peers.Holder, cfg *serve.Config, say func(*serve.Server) error,
) error {
	var open atomic.Bool
	cfg.Ready = func() error {
		if !open.Load() {
			return errors.New("the repository is being opened")
		}
		return nil
	}
	s := serve.New(*cfg)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		if err := h.Keep(ctx, func(string, bool) { open.Store(true) }); err != nil {
			stop(c.OpenHint(err))
		}
	}()
	err := say(s)
	if err == nil {
		err = s.Serve(ctx, l)
	}
	if cfg.Own && errors.Is(err, net.ErrClosed) {
		err = nil // who started it has all
	}
	cause := context.Cause(ctx)
	stop(nil)
	<-kept
	if cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func serveConfig(c *line.Line, f *serveRequest, most limits) (*serve.Config, error) {
	line.LastingHeap()
	if c.App.Rand == nil {
		return nil, errors.New("serve: no source of randomness")
	}
	if err := checkOnly(f.Only); err != nil {
		return nil, err
	}
	handler, err := logHandler(c, f.Log)
	if err != nil {
		return nil, err
	}
	cfg := &serve.Config{
		Version: upkeep.VersionsHere().Version, Now: c.App.Now, Rand: c.App.Rand, Log: slog.New(handler),
		NeedToken: f.NeedToken, Only: f.Only, Hosts: f.Hosts, Origins: f.Origins,
		Limits: serve.Limits{Body: most.Body, Rate: float64(most.Rate), Time: cmp.Or(most.Time, serveTime), Drain: most.Drain, Quiet: most.Idle},
	}
	return cfg, nil
}

// checkOnly checks the name of a branch that callers are confined to.
func checkOnly(branch string) error {
	if branch == "" {
		return nil
	}
	if err := core.CheckOnly(branch); err != nil {
		return line.Usagef("--only: %w", err)
	}
	return nil
}

func logHandler(c *line.Line, form string) (slog.Handler, error) {
	opt := &slog.HandlerOptions{}
	if c.Quiet {
		opt.Level = slog.LevelWarn
	}
	switch form {
	case "text":
		return slog.NewTextHandler(c.App.Stderr, opt), nil
	case "json":
		return slog.NewJSONHandler(c.App.Stderr, opt), nil
	case "none":
		return slog.DiscardHandler, nil
	}
	return nil, line.Usagef("--log: %q is not text, json or none", form)
}

// guardAddr demands tokens unless only this machine reaches the server.
func guardAddr(c *line.Line, addr net.Addr, cfg *serve.Config) error {
	tcp, ok := addr.(*net.TCPAddr)
	cfg.Loopback = ok && tcp.IP.IsLoopback()
	if cfg.Loopback {
		return nil
	}
	cfg.NeedToken = true
	dir, err := access.Tokens(c)
	if err != nil {
		return err
	}
	defer dir.Close()
	all, err := dir.List()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(t serve.Token) bool { return t.Valid(c.App.Now()) }) {
		return nil
	}
	return line.Hint(fmt.Errorf("%w: %s", line.ErrOpenToAll, addr),
		"make a token with 'mnem serve token new NAME' first, or listen at %s", defaultAddr)
}

type limits struct {
	Rate  int64         // requests a second of one token, or of all without
	Body  int64         // bytes of a request's body
	Open  int64         // repositories open at once, of several
	Quota serve.Quota   // of a repository
	Time  time.Duration // of a request, serveTime for 0
	Drain time.Duration // how long it answers after an interrupt
	Idle  time.Duration // without a request until it ends, 0 for ever
}

// readLimits reads the values of --limit, each NAME=VALUE. What is not named has its default.
func readLimits(given []string) (limits, error) {
	l := limits{Rate: 500, Body: 64 << 20, Open: defaultOpen}
	for _, text := range given {
		name, value, _ := strings.Cut(text, "=")
		if err := l.set(name, value); err != nil {
			return l, line.Usagef("--limit %s: %w", text, err)
		}
	}
	return l, nil
}

func (l *limits) set(name, value string) error {
	switch name {
	case "rate":
		return number(&l.Rate, value, 1, 1_000_000)
	case "open":
		return number(&l.Open, value, 1, maxOpen)
	case "blocks":
		return number(&l.Quota.Blocks, value, 0, math.MaxInt64)
	case "commits":
		return number(&l.Quota.Commits, value, 0, math.MaxInt64)
	case "body":
		return size(&l.Body, value, 1)
	case "size":
		return size(&l.Quota.Bytes, value, 0)
	case "idle":
		return duration(&l.Idle, value, time.Second, 30*24*time.Hour)
	case "drain":
		return duration(&l.Drain, value, 0, time.Hour)
	}
	return fmt.Errorf("want rate, body, open, size, blocks, commits, idle or drain, with = and a value")
}

func number(to *int64, text string, low, high int64) (err error) {
	if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < low || *to > high {
		return fmt.Errorf("want a number from %d to %d", low, high)
	}
	return nil
}

func size(to *int64, text string, low int64) (err error) {
	if *to, err = settings.ParseSize(text); err == nil && *to < low {
		err = fmt.Errorf("want at least %d byte", low)
	}
	return err
}

func duration(to *time.Duration, text string, low, high time.Duration) (err error) {
	if *to, err = time.ParseDuration(text); err != nil || *to < low || *to > high {
		return fmt.Errorf("want a duration from %s to %s", low, high)
	}
	return nil
}

// quota returns the bounds of a repository. Only a database counts blocks and commits.
func (l *limits) quota(counts bool) (serve.Quota, error) {
	if !counts && (l.Quota.Blocks > 0 || l.Quota.Commits > 0) {
		return serve.Quota{}, line.Usagef("--limit blocks=N and commits=N are for repositories in a database, which counts them")
	}
	return l.Quota, nil
}
