package serving

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

type viewRequest struct {
	Addr  string `op:"" default:"127.0.0.1:0" doc:"listen at {HOST:PORT} of this machine; port 0 takes a free one"`
	Write bool   `op:"" doc:"let the page do what 'mnem undo' takes back"`
	Print bool   `op:"" doc:"print the address, and open no browser"`
}

// Check refuses an address that others can reach.
func (f *viewRequest) Check() error {
	host, port, err := net.SplitHostPort(f.Addr)
	if err != nil {
		return line.Usagef("--addr: %w", err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return line.Usagef("--addr: %q is not a port", port)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return line.Usagef("--addr: %s is not an address of this machine alone: 'mnem serve' is for others", host)
	}
	return nil
}

// ViewCommand is the command that opens the page.
func ViewCommand() *line.Bound {
	return reach.Local(verb.Spec{
		Command: "view", Right: verb.NoRight,
		Usage: "[flags]", Group: line.GroupRead, Title: "Show the memory in a browser",
		Doc: "Serve the web view of the memory on a free port of this machine, print its address and open it:\n" +
			"search with reasons, nodes, history at any commit, sessions with replay, and operations. It ends\n" +
			"with this terminal, or with an interrupt.\n\n" +
			"Other users of this machine reach the port too, so the address has a code that lets one browser\n" +
			"in, once and within ten minutes. Who has no such browser sees nothing. The page changes nothing\n" +
			"unless --write lets it undo, restore and mark. docs/servers.md says what it shows.",
		Example: "  mnem view\n  mnem view --write\n  mnem view --print --addr 127.0.0.1:7119", Answers: []any{ServeJSON{}},
	}, view)
}

func view(ctx context.Context, c *line.Line, f *viewRequest) error {
	c.App.Serves()
	cfg, err := serveConfig(c, &serveRequest{Log: "none"}, limits{Body: 8 << 20, Time: viewTime, Rate: viewRate})
	if err != nil {
		return err
	}
	tokens, err := access.TokensFor(c, cfg)
	if err != nil {
		return err
	}
	defer tokens.Close()
	cfg.NeedToken, cfg.Log = true, mcpLog(c)
	may := operation.Reads
	if f.Write {
		may = operation.Writes
	}
	closeFile := func() error { return nil }
	announce := func(s *serve.Server, at net.Addr, dir string) error {
		code, err := s.NewCode(may)
		if err != nil {
			return err
		}
		url := "http://" + at.String() + "/#code=" + code
		if err := sayServes(c, url, dir); err != nil || f.Print || c.App.Open == nil || !c.App.OutTTY {
			return err
		}
		closeFile, err = OpenByFile(ctx, url, c.App.Open)
		if err != nil {
			c.Remark("no browser opens (%v): go to the address above", err)
		}
		return nil
	}
	listen := func(ctx context.Context) (net.Listener, error) {
		return listenAt(ctx, c, f.Addr, cfg)
	}
	err = serveFrom(ctx, c, listen, cfg, announce)
	return line.FirstError(err, closeFile())
}

const (
	viewTime = 5 * time.Minute // for one request
	viewRate = 500             // requests a second
)

// OpenByFile opens a browser at an address by a file that leads there. The address has a secret, and
// what a program is started with can be read by every user of the machine; the file by its own alone.
// What it returns removes the file, and must be called when the address is no longer valid.
func OpenByFile(
	ctx context.Context, url string, open func(context.Context, string) error,
) (remove func() error, err error) {
	remove = func() error { return nil }
	dir, err := os.MkdirTemp("", "mnem-view-")
	if err != nil {
		return remove, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	// The address has letters, digits and :/.#= alone.
	page := "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">" +
		"<meta http-equiv=\"refresh\" content=\"0;url=" + url + "\"><title>mnem</title>" +
		"<a href=\"" + url + "\">mnem</a>\n"
	path := filepath.Join(dir, "mnem.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return remove, err
	}
	return remove, open(ctx, path)
}
