package keyring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/ipld"
)

// TrustFile is the name of the trust list, which is not a valid name of a key.
const TrustFile = "trusted.json"

// Trusted reads the trust list. Without a file it is empty.
func (r *Ring) Trusted() (*TrustList, error) {
	data, err := r.read(TrustFile, MaxTrustFile, othersWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return &TrustList{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trust list: %w", err)
	}
	l, err := ParseTrustList(data)
	if err != nil {
		return nil, fmt.Errorf("trust list %s: %w", filepath.Join(r.dir, TrustFile), err)
	}
	return l, nil
}

// EditTrust reads the trust list, changes it by fn and replaces it, under a lock. It calls fn again, with the
// current list, if the file was changed without the lock. After an error, its own or that of fn, the list is
// unchanged. The error wraps filestate.ErrLocked if others hold the lock.
func (r *Ring) EditTrust(ctx context.Context, fn func(*TrustList) error) error {
	if err := r.prepare(); err != nil {
		return fmt.Errorf("trust list: %w", err)
	}
	opt := filestate.EditOptions{Limit: MaxTrustFile}
	path := filepath.Join(r.dir, TrustFile)
	var failed error // errors of Trusted and fn are not about writing
	err := filestate.Edit(ctx, path, opt, func([]byte) (data []byte, err error) {
		var list *TrustList
		if list, failed = r.Trusted(); failed == nil {
			failed = fn(list)
		}
		if failed != nil {
			return nil, failed
		}
		return list.Encode()
	})
	if err != nil && failed == nil {
		err = fmt.Errorf("trust list: %w", err)
	}
	return err
}

// ParseTrustList parses a trust list. It returns a *graph.FieldError or *ipld.JSONError for everything that does not
// have the form in the package documentation, including keys out of order and unknown members; white space is free.
func ParseTrustList(data []byte) (*TrustList, error) {
	if len(data) > MaxTrustFile {
		return nil, graph.Fieldf("", "has more than %d bytes", MaxTrustFile)
	}
	v, err := ipld.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	m := members{v: v}
	version := m.take("v", ipld.Int, true)
	keys := m.take("keys", ipld.List, true)
	if err := m.end(); err != nil {
		return nil, err
	}
	if version.Int() != trustVersion {
		return nil, graph.Fieldf("v", "version %d, want %d", version.Int(), trustVersion)
	}
	if n := len(keys.List()); n > MaxTrusted {
		return nil, graph.Fieldf("keys", "%d keys, limit %d", n, MaxTrusted)
	}
	list := &TrustList{}
	last := ""
	for i, item := range keys.List() {
		e, err := parseEntry(item)
		if err == nil && e.Key.String() <= last {
			err = graph.Fieldf("key", "given twice, or out of order")
		}
		if err != nil {
			return nil, fmt.Errorf("key %d of the list: %w", i+1, err)
		}
		last = e.Key.String()
		list.entries = append(list.entries, e)
	}
	return list, nil
}

func parseEntry(v ipld.Value) (TrustedKey, error) {
	m := members{v: v}
	e := TrustedKey{
		Name: m.line("name"), Note: m.line("note"), Added: m.time("added").Time,
		Trusted: m.take("trusted", ipld.Bool, true).Bool(),
	}
	if v := m.take("purge", ipld.Bool, false); v.Kind() == ipld.Bool {
		e.Purge = v.Bool()
		m.fail(!e.Purge, graph.Fieldf("purge", "is false: leave it out"))
	}
	text := m.take("key", ipld.String, true).Text()
	if v := m.take("revoked", ipld.Map, false); v.Kind() == ipld.Map {
		in := members{v: v}
		e.Revoked = &Revocation{At: in.time("at").Time, Reason: in.line("reason")}
		if _, given := v.Get("since"); given {
			e.Revoked.Since = in.time("since")
		}
		if err := in.end(); err != nil {
			return e, fmt.Errorf("revoked: %w", err)
		}
	}
	if err := m.end(); err != nil {
		return e, err
	}
	var err error
	if e.Key, err = commit.ParseKey(text); err != nil {
		return e, err
	}
	return e, e.validate()
}

// members takes the members of a JSON object one by one and remembers the first error.
type members struct {
	v     ipld.Value
	taken int
	err   error
}

// take returns a member of a kind, or null if it is absent and optional, or after an error.
func (m *members) take(name string, kind ipld.Kind, required bool) ipld.Value {
	v, ok := m.v.Get(name)
	if !ok {
		m.fail(required, graph.Fieldf(name, "missing"))
		return ipld.Value{}
	}
	m.taken++
	if v.Kind() != kind {
		m.fail(true, graph.Fieldf(name, "is not of kind %s", kind))
		return ipld.Value{}
	}
	return v
}

func (m *members) fail(really bool, err error) {
	if really && m.err == nil {
		m.err = err
	}
}

// line returns an optional string, which must not be empty if present.
func (m *members) line(name string) string {
	_, given := m.v.Get(name)
	s := m.take(name, ipld.String, false).Text()
	m.fail(given && s == "", graph.Fieldf(name, "is empty"))
	return s
}

func (m *members) time(name string) graph.OptTime {
	t, err := graph.ParseTime(m.take(name, ipld.String, true).Text())
	m.fail(err != nil, graph.Fieldf(name, "%v", err))
	return graph.At(t)
}

func (m *members) end() error {
	if m.v.Kind() != ipld.Map {
		return graph.Fieldf("", "is not an object")
	}
	if m.err != nil {
		return m.err
	}
	if n := len(m.v.Entries()); n != m.taken {
		return graph.Fieldf("", "has %d members, %d of them known", n, m.taken)
	}
	return nil
}
