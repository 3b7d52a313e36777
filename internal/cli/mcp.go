package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/mcp"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
)

// mcpOptions are the flags of 'mnem mcp'.
type mcpOptions struct {
	http, profile          string
	pin, noSession, debug  bool
	author, agent, task, b string
}

func (c *cli) mcpCommand() *cobra.Command {
	opt := &mcpOptions{}
	cmd := &cobra.Command{
		Use:     "mcp [flags]",
		GroupID: groupRecord,
		Short:   "Serve the memory to an agent by the Model Context Protocol",
		Long: "Serve the memory to an agent by the Model Context Protocol, on standard input and output until\n" +
			"that ends, or with --http on http://ADDR/mcp. It speaks 2026-07-28 and the versions since\n" +
			"2024-11-05. It starts at once: the repository is opened at the first call.\n\n" +
			"The profile core has the tools retrieve, recall, check, get, neighbors, diff, log, session,\n" +
			"remember, commit, forget and undo; read leaves out those that write; full adds branches, merges,\n" +
			"upkeep and other verbs. docs/mcp.md says what each does, and how to connect clients.\n\n" +
			"The client's name and version are the agent on its commits unless --agent says otherwise, and\n" +
			"what it retrieves is recorded in a session named after it and the time, which 'mnem session\n" +
			"log' and 'mnem replay' read. Answers come from HEAD, or with --pin from the commit that HEAD is\n" +
			"at when the first one is asked for.",
		Example: "  mnem mcp\n" +
			"  mnem mcp --profile read --pin\n" +
			"  mnem mcp --http 127.0.0.1:7118\n" +
			"  claude mcp add mnem -- mnem mcp -R ~/project",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&opt.http, "http", "", "serve HTTP at this `ADDR`, as 127.0.0.1:7118, instead of standard "+
		"input and output")
	f.StringVar(&opt.profile, "profile", string(mcp.ProfileCore), "which tools there are: `PROFILE` is "+
		"read, core or full")
	f.BoolVar(&opt.pin, "pin", false, "answer from the commit at the first call, whatever is committed")
	f.BoolVar(&opt.noSession, "no-session", false, "record no session")
	f.BoolVar(&opt.debug, "debug", false, "log more on standard error")
	f.StringVar(&opt.author, "author", "", "who makes changes (MNEM_AUTHOR; config: author)")
	f.StringVar(&opt.agent, "agent", "", "the program that acts for the author (MNEM_AGENT; default: "+
		"name and version of the client)")
	f.StringVar(&opt.task, "task", "", "what the agent works on (MNEM_TASK)")
	f.StringVarP(&opt.b, "branch", "b", "", "the branch to write to (MNEM_BRANCH; default: the one HEAD is on)")
	c.complete(cmd, "branch", completeBranches)
	c.complete(cmd, "profile", func(context.Context, *repo.Repo) ([]string, error) {
		return profileNames(), nil
	})
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.serveMCP(cmd.Context(), opt)
	})
}

func profileNames() []string {
	var names []string
	for _, p := range mcp.Profiles() {
		names = append(names, string(p))
	}
	return names
}

func (c *cli) serveMCP(ctx context.Context, opt *mcpOptions) error {
	options := mcp.Options{
		Version: versions().Version, Profile: mcp.Profile(opt.profile), Now: c.app.Now,
		Caller: operation.Caller{
			Author: opt.author, Agent: firstOf(opt.agent, c.env("MNEM_AGENT")), Task: opt.task,
			Branch: opt.b,
		},
		Log: c.mcpLog(opt.debug),
	}
	if !mcp.KnownProfile(options.Profile) {
		return usagef("--profile: want %s", strings.Join(profileNames(), ", "))
	}
	switch {
	case opt.pin && opt.noSession:
		return usagef("--pin and --no-session exclude each other")
	case opt.pin:
		options.Record = mcp.RecordPin
	case opt.noSession:
		options.Record = mcp.RecordNone
	}
	if opt.http != "" {
		return c.serveMCPHTTP(ctx, opt.http, options)
	}
	server := mcp.New(Operations(), NewRunner(c.served(), true), options)
	return server.Run(ctx, c.app.Stdin, c.app.Stdout)
}

// served is the app as the calls of clients see it: what flags say of the repository counts for each.
func (c *cli) served() *App {
	app := *c.app
	env := map[string]string{}
	if c.global.repo != "" {
		env["MNEM_REPO"] = c.absolute(c.global.repo)
	}
	if c.global.wait != defaultWait {
		env["MNEM_WAIT"] = c.global.wait.String()
	}
	app.Getenv = func(name string) string { return firstOf(env[name], c.app.Getenv(name)) }
	return &app
}

// mcpLog returns what is logged on standard error: warnings, or everything.
func (c *cli) mcpLog(debug bool) *slog.Logger {
	level := slog.LevelWarn
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(c.app.Stderr, &slog.HandlerOptions{Level: level}))
}

const (
	mcpPath      = "/mcp"
	readHeaders  = 10 * time.Second
	mostHeaders  = 64 << 10
	idleClient   = 2 * time.Minute
	shutdownTime = 5 * time.Second
)

// serveMCPHTTP serves clients over HTTP until the context ends.
func (c *cli) serveMCPHTTP(ctx context.Context, addr string, opt mcp.Options) error {
	if err := loopback(addr); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("--http %s: %w", addr, err)
	}
	server := mcp.New(Operations(), NewRunner(c.served(), false), opt)
	mux := http.NewServeMux()
	mux.Handle(mcpPath, server.Handler())
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: readHeaders, IdleTimeout: idleClient,
		MaxHeaderBytes: mostHeaders,
	}
	fmt.Fprintf(c.app.Stderr, "mcp on http://%s%s\n", listener.Addr(), mcpPath)
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		server.Close(end)
		if web.Shutdown(end) != nil {
			web.Close()
		}
	})
	defer stop()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// loopback refuses an address that other machines reach: there anybody could read and write.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usagef("--http: want HOST:PORT, as 127.0.0.1:7118: %w", err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return hint(fmt.Errorf("%w: --http %s is open to other machines", errUnguarded, addr),
		"use 127.0.0.1, and a tunnel or a proxy that asks who it is")
}

// errUnguarded is returned where a server would be open to everybody.
var errUnguarded = errors.New("no token guards it")
