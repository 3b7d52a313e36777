package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// FileName is the name of the policy in the directory of a repository.
const FileName = "policy.json"

const (
	version     = 1
	maxFile     = 64 << 10 // bytes
	maxRules    = 256
	maxPatterns = 256 // of one list
	maxPattern  = 255 // bytes, as much as a type may have
	maxNote     = 1 << 10
)

// Read returns the policy in a file, nil if there is none. A file that is no policy gives one
// that allows nothing and tells why, with the error, which wraps ErrDamaged.
func Read(path string) (*Policy, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var p *Policy
	if err == nil {
		p, err = Parse(data)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
		return &Policy{Damage: err}, err
	}
	return p, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A link that leads nowhere is no missing file: somebody wanted a policy.
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return nil, errors.New("the link leads nowhere")
		}
	}
	if err != nil {
		return nil, err
	}
	if err := regular.Check(path, info); err != nil {
		return nil, err
	}
	f, err := regular.Open(path)
	if err != nil {
		// Not wrapped: removed between the two calls, it is there no more and no less than before.
		return nil, fmt.Errorf("open: %v", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return data, errors.Join(err, f.Close())
}

// Parse reads a policy, strictly. Its errors name the rule and the member.
func Parse(data []byte) (*Policy, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("more than %d bytes", maxFile)
	}
	v, err := ipld.ParseJSON(bytes.TrimSpace(data))
	if err != nil {
		return nil, err
	}
	p := &Policy{}
	versioned := false
	err = members(v, func(name string, v ipld.Value) error {
		switch name {
		case "version":
			if versioned = v.Kind() == ipld.Int && v.Int() == version; !versioned {
				return fmt.Errorf("this program knows version %d alone", version)
			}
			return nil
		case "rules":
			p.Rules, err = rules(v)
			return err
		}
		return errors.New("no member of a policy: want version and rules")
	})
	switch {
	case err != nil:
		return nil, err
	case !versioned:
		return nil, fmt.Errorf("version: missing: want %d", version)
	}
	return p, nil
}

// members calls fn with the members of an object and names the one that it returns an error for.
func members(v ipld.Value, fn func(name string, v ipld.Value) error) error {
	if v.Kind() != ipld.Map {
		return errors.New("not a JSON object")
	}
	for _, e := range v.Entries() {
		if err := fn(e.Key, e.Value); err != nil {
			return fmt.Errorf("%s: %w", e.Key, err)
		}
	}
	return nil
}

func rules(v ipld.Value) ([]Rule, error) {
	if v.Kind() != ipld.List {
		return nil, errors.New("not a list")
	}
	if n := len(v.List()); n > maxRules {
		return nil, fmt.Errorf("%d rules: at most %d", n, maxRules)
	}
	out := make([]Rule, len(v.List()))
	for i, item := range v.List() {
		var err error
		if out[i], err = rule(item); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return out, nil
}

func rule(v ipld.Value) (Rule, error) {
	r := Rule{Edges: []string{"*"}}
	lists := map[string]*[]string{"agents": &r.Agents, "operations": &r.Operations, "types": &r.Types, "edges": &r.Edges}
	err := members(v, func(name string, v ipld.Value) (err error) {
		switch name {
		case "agents", "operations", "types", "edges":
			*lists[name], err = patterns(v)
		case "signed":
			if r.Signed = v.Bool(); v.Kind() != ipld.Bool {
				err = errors.New("not true or false")
			}
		case "only":
			r.Only = v.Text()
			if err = core.CheckOnly(strings.ReplaceAll(r.Only, agentWord, "agent")); v.Kind() != ipld.String {
				err = errors.New("not a string")
			}
		case "note":
			if r.Note = v.Text(); v.Kind() != ipld.String || len(r.Note) > maxNote {
				err = fmt.Errorf("not a string of at most %d bytes", maxNote)
			}
		default:
			err = errors.New("no member of a rule: want agents, operations, types, edges, only, signed and note")
		}
		return err
	})
	if err != nil {
		return r, err
	}
	for _, name := range []string{"agents", "operations", "types"} {
		if *lists[name] == nil {
			return r, fmt.Errorf("%s: missing", name)
		}
	}
	return r, nil
}

func patterns(v ipld.Value) ([]string, error) {
	if v.Kind() != ipld.List || len(v.List()) > maxPatterns {
		return nil, fmt.Errorf("not a list of at most %d strings", maxPatterns)
	}
	out := make([]string, len(v.List()))
	for i, item := range v.List() {
		s := item.Text()
		if item.Kind() != ipld.String || s == "" || len(s) > maxPattern || !utf8.ValidString(s) {
			return nil, fmt.Errorf("item %d: not a string of 1 to %d bytes", i+1, maxPattern)
		}
		out[i] = s
	}
	return out, nil
}
