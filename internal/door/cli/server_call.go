package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/server"
	"github.com/mnem-project/mnem/internal/verb"
)

// isServer reports whether the name of a repository is the URL of a server.
func isServer(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// serverURL returns the URL of the server whose repository was named, "" for a directory.
func (c *cli) serverURL() string {
	if path := firstOf(c.global.repo, c.env("MNEM_REPO")); !c.global.user && !c.by.Remote && isServer(path) {
		return path
	}
	return ""
}

// errOnServer is returned by commands that need the files of a repository.
func errOnServer(at string) error {
	shown := "a server"
	if u, err := url.Parse(at); err == nil {
		shown = u.Host
	}
	return hint(usagef("%s is no directory: this command needs the files of a repository", line(shown)),
		"verbs about the memory work there; others run on that machine, or in a clone")
}

// askServer has the server at a URL run a verb, and prints what it answers.
func (c *cli) askServer(ctx context.Context, at string, spec *verb.Spec, req any) error {
	if spec.Local || c.quietly {
		return errOnServer(at)
	}
	if q, ok := req.(verb.Checker); ok {
		if err := q.Check(); err != nil {
			return err
		}
	}
	u, err := place.ParseURL(at)
	if err != nil {
		return err
	}
	side, err := server.Reach(ctx, c.askHost(), u.At)
	if err != nil {
		return err
	}
	defer func() { _ = side.Close() }() // all was said
	call := &server.Call{
		Spec: spec, Req: req, JSON: c.InJSON, Branch: c.by.Branch, Session: c.by.Session, Inputs: c.inputs,
		Open: c.open, Create: host{c}.Create, Out: c.Out,
	}
	if q, ok := req.(fileReader); ok {
		call.Inputs = q.FileNames()
	}
	if err := onceStdin(call.Inputs); err != nil {
		return err
	}
	return side.Call(ctx, call)
}
