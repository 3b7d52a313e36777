package place

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// ListFile is the name of the file, next to a repository, that lists its remotes.
	ListFile = "remotes.json"
	// maxList bounds that file in bytes; a longer one was not written by mnem.
	maxList = 64 << 10
	// DefaultName is the remote name of the repository that was cloned.
	DefaultName = "origin"
)

// Remote is another repository and its local name.
type Remote struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// AcceptPurge is AcceptAlways to erase here, without asking, what was erased there.
	AcceptPurge string `json:"accept_purge,omitempty"`
	// Encrypt has the recipients for whom the first push encrypts, and is not empty if all that is there must be
	// encrypted. Identity is the file with the identity that reads it, "" for the user's own.
	Encrypt  []string `json:"encrypt,omitempty"`
	Identity string   `json:"identity,omitempty"`
}

func (r Remote) equal(o Remote) bool {
	return slices.Equal(r.Encrypt, o.Encrypt) && r.Name == o.Name && r.URL == o.URL && r.AcceptPurge == o.AcceptPurge &&
		r.Identity == o.Identity
}

// AcceptAlways accepts a remote's redactions as they arrive.
const AcceptAlways = "always"

// listJSON is the form of the file.
type listJSON struct {
	Remotes []Remote `json:"remotes"`
}

// List returns the remotes in a file, by name.
func List(path string) ([]Remote, error) {
	data, err := filestate.Read(path, maxList)
	if err != nil {
		return nil, fmt.Errorf("read the list of remotes: %w", err)
	}
	return parseList(path, data)
}

// parseList parses the file's content; nil is an empty list.
func parseList(path string, data []byte) ([]Remote, error) {
	if data == nil {
		return nil, nil
	}
	var list listJSON
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
			err = r.Check()
		}
		if err == nil && seen[r.Name] {
			err = fmt.Errorf("%q is there twice", r.Name)
		}
		seen[r.Name] = true
	}
	if err != nil {
		return nil, verb.Hintf(fmt.Errorf("%w: %s: %w", state.ErrInvalid, path, err), "repair or remove the file")
	}
	return list.Remotes, nil
}

// Check refuses a remote with an invalid name or URL.
func (r Remote) Check() error {
	if err := graph.ValidateImport(r.Name); err != nil {
		return fmt.Errorf("%w: remote: %w", state.ErrInvalid, err)
	}
	if a := r.AcceptPurge; a != "" && a != AcceptAlways {
		return fmt.Errorf("%w: remote %s: accept_purge is %q, want %q", state.ErrInvalid, r.Name, a, AcceptAlways)
	}
	u, err := ParseURL(r.URL)
	if err == nil && len(r.Encrypt) > 0 {
		switch u.Scheme {
		case "http", "https", "ssh":
			err = verb.Hintf(fmt.Errorf("%w: remote %s: a server reads the memory that it serves", state.ErrInvalid, r.Name),
				"encrypt in a git repository, a bucket or a directory")
		}
	}
	return err
}

// Edit changes the list in a file atomically.
func Edit(ctx context.Context, path string, edit func([]Remote) ([]Remote, error)) error {
	err := filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxList}, func(data []byte) ([]byte, error) {
		old, err := parseList(path, data)
		if err != nil {
			return nil, err
		}
		next, err := edit(slices.Clone(old))
		if err != nil || slices.EqualFunc(next, old, Remote.equal) {
			return data, err
		}
		slices.SortFunc(next, func(a, b Remote) int { return strings.Compare(a.Name, b.Name) })
		out, _ := json.MarshalIndent(listJSON{next}, "", "  ") // strings have a JSON form
		if len(out) >= maxList {
			return nil, fmt.Errorf("%w: the list of remotes would have more than %d bytes", state.ErrInvalid, maxList)
		}
		return append(out, '\n'), nil
	})
	if err != nil {
		return fmt.Errorf("write the list of remotes: %w", err)
	}
	return nil
}

// Find returns the remote with a name; if name is empty, origin or the only one.
func Find(list []Remote, name string) (r Remote, err error) {
	for _, r := range list {
		if r.Name == cmp.Or(name, DefaultName) || name == "" && len(list) == 1 {
			return r, nil
		}
	}
	switch {
	case len(list) == 0:
		err = verb.Hintf(&state.NotFoundError{What: "remote", Name: cmp.Or(name, DefaultName)},
			"name another repository with 'mnem remote add origin URL'")
	case name == "":
		err = verb.Hintf(verb.Usagef("there is no remote %q, and more than one other", DefaultName),
			"name one of %s", strings.Join(Names(list), ", "))
	default:
		err = Missing(name)
	}
	return Remote{}, err
}

// Names returns the names of remotes.
func Names(list []Remote) (names []string) {
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// Change changes a remote in a list, for Edit.
func Change(name string, change func(*Remote)) func([]Remote) ([]Remote, error) {
	return func(list []Remote) ([]Remote, error) {
		at := slices.Index(Names(list), name)
		if at < 0 {
			return nil, Missing(name)
		}
		change(&list[at])
		return list, nil
	}
}

// Missing returns the error for an unknown remote.
func Missing(name string) error {
	return verb.Hintf(&state.NotFoundError{What: "remote", Name: name}, "'mnem remote list' shows those there are")
}
