package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/repo"
)

const (
	// remotesFile keeps the names and URLs of other repositories, remotesDir the packs that come and go.
	remotesFile = "remotes.json"
	remotesDir  = "remotes"
	// maxRemotes bounds that file in bytes: what is longer was not written for us.
	maxRemotes = 64 << 10
	// defaultRemote is the name of the repository that a clone was made of.
	defaultRemote = "origin"
	// maxURL is how many bytes a URL may have.
	maxURL = 4096
)

// remoteJSON is another repository and the name it has here.
type remoteJSON struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// AcceptPurge is acceptAlways where what was erased there is erased here without being asked about.
	AcceptPurge string `json:"accept_purge,omitempty"`
}

// acceptAlways has redactions of a remote accepted as they come.
const acceptAlways = "always"

// remotesJSON is the form of the file.
type remotesJSON struct {
	Remotes []remoteJSON `json:"remotes"`
}

// remotesPath returns the path of the file.
func (c *cli) remotesPath() (string, error) {
	dir, err := c.repoFile("")
	return filepath.Join(dir, remotesFile), err
}

// remotes returns the other repositories that are known here, by name.
func (c *cli) remotes() ([]remoteJSON, error) {
	path, err := c.remotesPath()
	if err != nil {
		return nil, err
	}
	data, err := filestate.Read(path, maxRemotes)
	if err != nil {
		return nil, fmt.Errorf("read the list of remotes: %w", err)
	}
	return parseRemotes(path, data)
}

// parseRemotes parses what the file has, nil for none.
func parseRemotes(path string, data []byte) ([]remoteJSON, error) {
	if data == nil {
		return nil, nil
	}
	var list remotesJSON
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&list)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("more than one JSON object")
		}
	}
	seen := make(map[string]bool)
	for _, r := range list.Remotes {
		if err == nil {
			err = checkRemote(r)
		}
		if err == nil && seen[r.Name] {
			err = fmt.Errorf("%q is there twice", r.Name)
		}
		seen[r.Name] = true
	}
	if err != nil {
		return nil, hint(fmt.Errorf("%w: %s: %w", repo.ErrInvalid, path, err), "repair or remove the file")
	}
	return list.Remotes, nil
}

func checkRemote(r remoteJSON) error {
	if err := graph.ValidateImport(r.Name); err != nil {
		return fmt.Errorf("%w: remote: %w", repo.ErrInvalid, err)
	}
	if a := r.AcceptPurge; a != "" && a != acceptAlways {
		return fmt.Errorf("%w: remote %s: accept_purge is %q, want %q", repo.ErrInvalid, r.Name, a, acceptAlways)
	}
	_, err := parseURL(r.URL)
	return err
}

// editRemotes changes the list.
func (c *cli) editRemotes(ctx context.Context, edit func([]remoteJSON) ([]remoteJSON, error)) error {
	path, err := c.remotesPath()
	if err != nil {
		return err
	}
	err = filestate.Edit(ctx, path, filestate.Options{Limit: maxRemotes}, func(data []byte) ([]byte, error) {
		old, err := parseRemotes(path, data)
		if err != nil {
			return nil, err
		}
		next, err := edit(slices.Clone(old))
		if err != nil || slices.Equal(next, old) {
			return data, err
		}
		slices.SortFunc(next, func(a, b remoteJSON) int { return strings.Compare(a.Name, b.Name) })
		out, _ := json.MarshalIndent(remotesJSON{next}, "", "  ") // strings have a JSON form
		if len(out) >= maxRemotes {
			return nil, fmt.Errorf("%w: the list of remotes would have more than %d bytes", repo.ErrInvalid, maxRemotes)
		}
		return append(out, '\n'), nil
	})
	if err != nil {
		return fmt.Errorf("write the list of remotes: %w", err)
	}
	return nil
}

// findRemote returns the remote of a name: where none is given origin, or else the only one.
func (c *cli) findRemote(name string) (remoteJSON, error) {
	list, err := c.remotes()
	if err != nil {
		return remoteJSON{}, err
	}
	for _, r := range list {
		if r.Name == firstOf(name, defaultRemote) || name == "" && len(list) == 1 {
			return r, nil
		}
	}
	switch {
	case len(list) == 0:
		err = hint(&repo.NotFoundError{What: "remote", Name: firstOf(name, defaultRemote)},
			"name another repository with 'mnem remote add origin URL'")
	case name == "":
		err = hint(usagef("there is no remote %q, and more than one other", defaultRemote),
			"name one of %s", strings.Join(remoteNames(list), ", "))
	default:
		err = hint(&repo.NotFoundError{What: "remote", Name: name}, "'mnem remote list' shows those there are")
	}
	return remoteJSON{}, err
}

func remoteNames(list []remoteJSON) (names []string) {
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// remoteURL is where another repository is.
type remoteURL struct {
	scheme string // "file" for a directory
	path   string // of a directory
	url    *url.URL
	ref    string // of a git repository
}

// errUserInURL is the error of a URL with what is for nobody else.
var errUserInURL = hint(fmt.Errorf("%w: URL: it names a user, and is kept and shown", repo.ErrInvalid),
	"leave out what stands before @")

// schemes are the ways to other repositories.
const schemes = "a path, file://, http://, https://, ssh:// or git+file://, git+https://, git+ssh://, or s3://"

// parseURL reads where another repository is. It asks nothing of the system.
func parseURL(text string) (*remoteURL, error) {
	bad := func(format string, args ...any) (*remoteURL, error) {
		return nil, fmt.Errorf("%w: URL: %s", repo.ErrInvalid, fmt.Sprintf(format, args...))
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
		return &remoteURL{scheme: "file", path: text}, nil
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
		return &remoteURL{scheme: scheme, path: u.Path, url: u}, nil
	case scheme != "file":
		return bad("%q is none of %s", scheme+"://", schemes)
	case u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" || rest == "":
		return bad("want file:///PATH")
	}
	return &remoteURL{scheme: "file", path: filepath.FromSlash(u.Path)}, nil
}

// keptURL returns how a URL that was given is kept: a path is made absolute.
func (c *cli) keptURL(text string) (string, error) {
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	if u.scheme == "file" && !strings.Contains(text, "://") {
		return c.absolute(text), nil
	}
	return text, nil
}
