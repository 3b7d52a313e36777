package line

import (
	"net/url"
	"strings"
)

// isServer reports whether the name of a repository is the URL of a server.
func isServer(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// ServerURL returns the URL of the server whose repository was named, "" for a directory.
func (c *Line) ServerURL() string {
	if path := FirstOf(c.Global.Repo, c.Env("MNEM_REPO")); !c.Global.User && !c.By.Remote && isServer(path) {
		return path
	}
	return ""
}

// ErrOnServer is returned by commands that need the files of a repository.
func ErrOnServer(at string) error {
	shown := "a server"
	if u, err := url.Parse(at); err == nil {
		shown = u.Host
	}
	return Hint(Usagef("%s is no directory: this command needs the files of a repository", OneLine(shown)),
		"verbs about the memory work there; others run on that machine, or in a clone")
}
