// Package place locates other repositories: their URLs, their names in a repository's list, and the tokens for servers.
package place

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// maxURL is the longest URL in bytes.
	maxURL = 4096
	// gitRef is the ref that stores a memory in a git repository unless its URL names another.
	gitRef = "refs/mnem/data"
)

// URL is the location of another repository.
type URL struct {
	Scheme string // "file" for a directory
	Path   string // of a directory
	At     *url.URL
	Ref    string // of a git repository
}

// errUserInURL refuses a URL with credentials.
var errUserInURL = verb.Hintf(fmt.Errorf("%w: URL: it names a user, and is kept and shown", state.ErrInvalid),
	"leave out what stands before @")

// schemes lists the supported URLs.
const schemes = "a path, file://, http://, https://, ssh:// or git+file://, git+https://, git+ssh://, or s3://"

// ParseURL parses the location of a repository, without using the system.
func ParseURL(text string) (*URL, error) {
	bad := func(format string, args ...any) (*URL, error) {
		return nil, fmt.Errorf("%w: URL: %s", state.ErrInvalid, fmt.Sprintf(format, args...))
	}
	switch {
	case text == "":
		return bad("it is empty")
	case len(text) > maxURL:
		return bad("it has more than %d bytes", maxURL)
	case graph.CheckLine("URL", text, 1, maxURL) != nil:
		return bad("it has control characters or is not UTF-8")
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return &URL{Scheme: "file", Path: text}, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return bad("it cannot be read") // the error would repeat a password
	case scheme == "git+file", scheme == "git+http", scheme == "git+https", scheme == "git+ssh":
		return parseGit(scheme, u)
	case scheme == "s3":
		return parseS3(u)
	case scheme == "ssh":
		return parseSSH(u)
	case u.User != nil:
		return nil, errUserInURL
	case scheme == "http" || scheme == "https":
		if u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
			return bad("want %s://HOST[:PORT][/PATH]", scheme)
		}
		return &URL{Scheme: scheme, Path: u.Path, At: u}, nil
	case scheme != "file":
		return bad("%q is none of %s", scheme+"://", schemes)
	case u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" || rest == "":
		return bad("want file:///PATH")
	}
	return &URL{Scheme: "file", Path: filepath.FromSlash(u.Path)}, nil
}

// Kept returns the stored form of a given URL: a path, relative to dir, is made absolute.
func Kept(dir, text string) (string, error) {
	u, err := ParseURL(text)
	if err == nil && u.Scheme == "file" && !strings.Contains(text, "://") {
		if !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		text = filepath.Clean(text)
	}
	return text, err
}

func parseGit(scheme string, u *url.URL) (*URL, error) {
	ref := gitRef
	query, err := url.ParseQuery(u.RawQuery)
	if v := query["ref"]; len(v) == 1 {
		ref = v[0]
		delete(query, "ref")
	}
	bad := !isPlain(strings.ReplaceAll(ref, "/", "")) || strings.Contains(ref, "..") ||
		strings.Contains(ref, "//") || !strings.HasPrefix(ref, "refs/") || strings.HasSuffix(ref, "/")
	switch {
	case err != nil || len(query) > 0 || u.Fragment != "" || len(u.Path) < 2 || bad:
		return nil, fmt.Errorf("%w: URL: want %s://HOST/PATH, with ?ref=refs/… for another ref than %s", state.ErrInvalid,
			scheme, gitRef)
	case scheme == "git+ssh":
		if _, err := parseSSH(&url.URL{Scheme: "ssh", Host: u.Host, User: u.User, Path: u.Path}); err != nil {
			return nil, err
		}
	case u.User != nil:
		return nil, errUserInURL
	case scheme == "git+file" && u.Host != "", scheme != "git+file" && u.Hostname() == "":
		return nil, fmt.Errorf("%w: URL: want git+file:///PATH, or a host", state.ErrInvalid)
	}
	at := *u
	at.Scheme, at.RawQuery = strings.TrimPrefix(scheme, "git+"), ""
	return &URL{Scheme: scheme, Path: u.Path, At: &at, Ref: ref}, nil
}

// isPlain reports whether a text has only letters, digits and - . _.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '.' && r != '_'
	})
}

func parseS3(u *url.URL) (*URL, error) {
	prefix := strings.Trim(u.Path, "/")
	bad := !isPlain(u.Host) || !isPlain(strings.ReplaceAll(prefix, "/", "")) ||
		strings.Contains("/"+prefix+"/", "/../") || strings.Contains("/"+prefix+"/", "/./") || strings.Contains(prefix, "//")
	if len(u.Host) < 3 || len(u.Host) > 63 || len(prefix) > 512 || u.User != nil || u.RawQuery != "" || u.Fragment != "" || bad {
		return nil, fmt.Errorf("%w: URL: want s3://BUCKET[/PREFIX], of letters, digits and - . _", state.ErrInvalid)
	}
	return &URL{Scheme: "s3", Path: cmp.Or(prefix, u.Host), At: u}, nil
}

func parseSSH(u *url.URL) (*URL, error) {
	plain := func(s string) bool {
		return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
			return r > '~' || r <= ' ' || strings.ContainsRune("'\"\\$`&|;<>()*?!#@/%{}", r)
		})
	}
	_, secret := u.User.Password()
	switch {
	case secret:
		return nil, verb.Hintf(fmt.Errorf("%w: URL: it has a password, and is kept and shown", state.ErrInvalid),
			"leave the password out: ssh asks for it, or uses a key")
	case !plain(u.Hostname()) || u.User != nil && !plain(u.User.Username()),
		len(u.Path) < 2 || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return nil, fmt.Errorf("%w: URL: want ssh://[USER@]HOST[:PORT]/PATH", state.ErrInvalid)
	}
	return &URL{Scheme: u.Scheme, Path: u.Path, At: u}, nil
}

// GitURL returns the URL of the git repository in a directory, an absolute path.
func GitURL(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	return (&url.URL{Scheme: "git+file", Path: path}).String()
}

// Host provides what transfers need from the program: they look up nothing themselves.
type Host struct {
	// Side returns the repository in a directory, which may be open in another process; with try it only checks
	// what it would take in.
	Side func(dir string, try bool) remote.Side
	// Init makes an empty repository in dir with HEAD on a branch, as a local copy of another one: nothing in it is
	// signed or guarded.
	Init func(ctx context.Context, dir, branch string) error

	Author      func() (string, error) // who makes changes, "" if unknown
	Agent, Task string
	Time        string // of changes, "" for when they are made

	Getenv func(name string) string
	Now    func() time.Time
	// Pause waits, or returns an error if the context ends first.
	Pause func(ctx context.Context, d time.Duration) error
	// Spread is a number that differs between processes, to spread their retries.
	Spread int
	Rand   io.Reader

	// Dir is the base of relative paths of remotes, Config the user's own configuration, "" for none, and Helper
	// returns the program that prints tokens, "" for none.
	Dir    string
	Config string
	Helper func() (string, error)
	// Stderr receives the errors of child processes; Terminal is whether a person reads it.
	Stderr   io.Writer
	Terminal bool
	// Identities returns the identities that open encrypted remotes: those of a file, or if path is "" the user's.
	// Passphrase asks for a passphrase.
	Identities func(path string) ([]age.Identity, error)
	Passphrase func() (string, error)
	// TrustPurge returns a function that reports which keys are trusted to erase, nil if no key is.
	TrustPurge func() (func(commit.Key) bool, error)
	// Progress receives the number of bytes transferred, and Over is called at the end.
	Progress func(what string, bytes int64)
	Over     func()
}

// Absolute resolves a path against the host's directory.
func (h *Host) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(h.Dir, path)
}

// Env returns the value of the first variable that is set.
func (h *Host) Env(names ...string) string {
	for _, name := range names {
		if v := h.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}
