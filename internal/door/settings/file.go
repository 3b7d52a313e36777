package settings

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// File is the name of a configuration's file.
	File = "config.json"
	// MaxFile bounds it in bytes: what is longer was not written for us.
	MaxFile = 64 << 10
)

// Setting is one key of a configuration and its value.
type Setting struct{ Key, Value string }

// Layers are the configurations that apply, each sorted by key and nil if there is none.
type Layers struct{ Repo, User []Setting }

// If a value comes from, in the order in which they apply.
const (
	FromEnvironment = "environment"
	FromRepository  = "repository"
	FromUser        = "user"
	fromDefault     = "default"
)

// InEffect is one value that applies; From says which source gave it.
type InEffect struct {
	Key   string    `json:"key"`
	Value *string   `json:"value"`
	From  verb.Text `json:"from" shape:"environment|repository|user|default|null"`
}

// Text returns the value, "" for none.
func (e *InEffect) Text() string {
	if e.Value == nil {
		return ""
	}
	return *e.Value
}

// Of returns what the configurations say, that of the repository before the user's, "" for nothing.
func (l *Layers) Of(key string) string {
	v, ok := Find(l.Repo, key)
	if !ok {
		v, _ = Find(l.User, key)
	}
	return v
}

// LookUp returns the value of a key that applies: what its variable says, "" for nothing, then a configuration, then the
// default; or where only the user's own counts, that.
func (l *Layers) LookUp(key Key, variable string, userOnly bool) InEffect {
	got := InEffect{Key: key.Name}
	set := func(value, from string) InEffect {
		got.Value, got.From = &value, verb.Text(from)
		return got
	}
	if variable != "" && !userOnly {
		return set(variable, FromEnvironment)
	}
	if v, ok := Find(l.Repo, key.Name); ok && !userOnly {
		return set(v, FromRepository)
	}
	if v, ok := Find(l.User, key.Name); ok {
		return set(v, FromUser)
	}
	if key.Default != "" && !userOnly {
		return set(key.Default, fromDefault)
	}
	return got
}

// Find returns the value of a key in a configuration.
func Find(list []Setting, key string) (string, bool) {
	for _, s := range list {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// Read reads a configuration: one JSON object of known keys and strings. It is nil if there is no file, or path is "". A
// key of older versions is an error that names its replacement.
func Read(path string) ([]Setting, error) {
	if path == "" {
		return nil, nil
	}
	data, err := filestate.Read(path, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	list, err := parseFile(path, data)
	for _, s := range list {
		if err := removed(s.Key); err != nil {
			return nil, verb.Hintf(fmt.Errorf("config %s: %w", path, err),
				"run 'mnem config unset %s', with --user for the user's configuration", s.Key)
		}
	}
	return list, err
}

func parseFile(path string, data []byte) ([]Setting, error) {
	if data == nil {
		return nil, nil
	}
	list, err := Parse(data)
	if err != nil {
		return nil, verb.Hintf(fmt.Errorf("config %s: %w", path, err), "repair or remove the file")
	}
	return list, nil
}

// Parse reads the bytes of a configuration. Values of removed keys are not checked.
func Parse(data []byte) ([]Setting, error) {
	v, err := ipld.ParseJSON(bytes.TrimSpace(data))
	if err != nil {
		return nil, err
	}
	if v.Kind() != ipld.Map {
		return nil, fmt.Errorf("%w: not a JSON object", state.ErrInvalid)
	}
	var list []Setting
	for _, e := range v.Entries() {
		key, err := KeyOf(e.Key)
		if WasRemoved(e.Key) {
			key, err = Key{Check: func(string) error { return nil }}, nil
		}
		if err == nil && e.Value.Kind() != ipld.String {
			err = fmt.Errorf("%w: %s: not a string", state.ErrInvalid, e.Key)
		}
		if err == nil {
			err = key.Check(e.Value.Text())
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Setting{e.Key, e.Value.Text()})
	}
	sortSettings(list)
	return list, nil
}

func sortSettings(list []Setting) {
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
}

// Edit changes a configuration in one step, upon all that other processes changed in it
// before: a reader sees the old one or the new one. The function must not change the list that it is given.
func Edit(ctx context.Context, path string, edit func([]Setting) ([]Setting, error)) error {
	err := filestate.Edit(ctx, path, filestate.EditOptions{Limit: MaxFile}, func(data []byte) ([]byte, error) {
		old, err := parseFile(path, data)
		if err != nil {
			return nil, err
		}
		next, err := edit(old)
		sortSettings(next)
		if err != nil || slices.Equal(next, old) {
			return data, err
		}
		if data = encode(next); len(data) > MaxFile {
			err = fmt.Errorf("%w: the configuration would have more than %d bytes", state.ErrInvalid, MaxFile)
		}
		return data, err
	})
	if err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	return nil
}

// encode returns the file of a configuration, whose settings are sorted.
func encode(list []Setting) []byte {
	lines := make([]string, len(list))
	for i, s := range list {
		lines[i] = fmt.Sprintf("\n  %s: %s", ipld.AppendJSON(nil, ipld.StringValue(s.Key)),
			ipld.AppendJSON(nil, ipld.StringValue(s.Value)))
	}
	return []byte("{" + strings.Join(lines, ",") + "\n}\n")
}

// With returns list with a key set.
func With(list []Setting, key, value string) []Setting {
	return append(Without(list, key), Setting{key, value})
}

// Without returns list without a key.
func Without(list []Setting, key string) []Setting {
	return slices.DeleteFunc(slices.Clone(list), func(s Setting) bool { return s.Key == key })
}
