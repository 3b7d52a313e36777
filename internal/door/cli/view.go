package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

type viewRequest struct {
	Port   int  `op:"" doc:"listen at port {N} of 127.0.0.1; 0 takes a free one"`
	Write  bool `op:"" doc:"let the page do what 'mnem undo' takes back"`
	NoOpen bool `op:"" doc:"open no browser"`
}

func viewCommand() *bound {
	return local(verb.Spec{
		Command: "view", Right: verb.NoRight,
		Usage: "[flags]", Group: groupRead, Title: "Show the memory in a browser",
		Doc: "Serve the web view of the memory on a free port of this machine, print its address and open it:\n" +
			"search with reasons, nodes, history at any commit, sessions with replay, and operations. It ends\n" +
			"with this terminal, or with an interrupt.\n\n" +
			"Other users of this machine reach the port too, so the address has a code that lets one browser\n" +
			"in, once and within ten minutes. Who has no such browser sees nothing. The page changes nothing\n" +
			"unless --write lets it undo, restore and mark. docs/web.md says what it shows.",
		Example: "  mnem view\n  mnem view --write\n  mnem view --no-open --port 7119", Answers: []any{serveJSON{}},
	}, (*cli).view)
}

func (c *cli) view(ctx context.Context, f *viewRequest) error {
	c.app.serves()
	if err := checkRange("port", f.Port, 0, 65535); err != nil {
		return err
	}
	cfg, err := c.serveConfig(&serveRequest{MaxBody: "8MiB", Timeout: viewTime, Rate: viewRate, Log: "none"})
	if err != nil {
		return err
	}
	tokens, err := c.tokensFor(cfg)
	if err != nil {
		return err
	}
	defer tokens.Close()
	cfg.NeedToken, cfg.Log = true, c.mcpLog(false)
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
		if err := c.sayServes(url, dir); err != nil || f.NoOpen || c.app.Open == nil || !c.app.OutTTY {
			return err
		}
		closeFile, err = openByFile(ctx, url, c.app.Open)
		if err != nil {
			c.Remark("no browser opens (%v): go to the address above", err)
		}
		return nil
	}
	listen := func(ctx context.Context) (net.Listener, error) {
		return c.listenAt(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(f.Port)), "--port", cfg)
	}
	err = c.serveFrom(ctx, listen, cfg, announce)
	return firstError(err, closeFile())
}

const (
	viewTime = 5 * time.Minute // for one request
	viewRate = 500             // requests a second
)

// openByFile opens a browser at an address by a file that leads there. The address has a secret, and
// what a program is started with can be read by every user of the machine; the file by its own alone.
// What it returns removes the file, and must be called when the address counts no more.
func openByFile(
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

// openFile opens a file in the browser of the user, and does not wait for that to end.
func openFile(ctx context.Context, path string) error {
	var name string
	var args []string
	switch runtime.GOOS {
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	case "darwin":
		name = "open"
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no display")
		}
		name = "xdg-open"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("there is no %s", name)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, path)...)
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	go func() { _ = cmd.Wait() }() // whether a browser came up is to be seen
	return nil
}
