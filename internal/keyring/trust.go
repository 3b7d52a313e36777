package keyring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// MaxTrusted is the largest number of keys in a trust list, MaxTrustFile its largest size in bytes.
	MaxTrusted   = 5000
	MaxTrustFile = 4 << 20
	// MaxLine is the longest name, note or reason in bytes.
	MaxLine = 255

	trustVersion = 1
)

// Revocation says from when on a key is not trusted.
type Revocation struct {
	At     graph.Time    // when it was revoked
	Since  graph.OptTime // on commits of this time and later; absent: on all
	Reason string        // "" for none
}

// TrustedKey is one key of a trust list.
type TrustedKey struct {
	Key     commit.Key
	Name    string      // of the owner, "" for none
	Note    string      // "" for none
	Added   graph.Time  // when it was added to the list
	Trusted bool        // false only if Revoked is set
	Purge   bool        // whether redactions that it signed are accepted without being asked about
	Revoked *Revocation // nil for none
}

// TrustList holds the keys a user knows, ordered by text form. The zero list is empty. It must not be used
// concurrently while it is changed.
type TrustList struct{ entries []TrustedKey }

// Entries returns the keys. The slice must not be changed.
func (l *TrustList) Entries() []TrustedKey { return l.entries }

// Find returns the entry of a key.
func (l *TrustList) Find(key commit.Key) (TrustedKey, bool) {
	i, ok := l.search(key)
	if !ok {
		return TrustedKey{}, false
	}
	return l.entries[i], true
}

// Trust implements commit.Verifier.
func (l *TrustList) Trust(key commit.Key, at graph.Time) commit.Trust {
	e, _ := l.Find(key)
	t := commit.Trust{State: commit.Untrusted, Name: e.Name}
	switch r := e.Revoked; {
	case r != nil && (!r.Since.Given || at >= r.Since.Time):
		t.State, t.Reason = commit.Revoked, r.Reason
	case e.Trusted:
		t.State = commit.Signed
	}
	return t
}

func (l *TrustList) search(key commit.Key) (int, bool) {
	return slices.BinarySearchFunc(l.entries, key.String(), func(e TrustedKey, text string) int {
		return strings.Compare(e.Key.String(), text)
	})
}

// Add trusts a key, or changes the name and note of a trusted one, unless they are empty. It returns a
// *graph.FieldError for a revoked key: that would undo the revocation.
func (l *TrustList) Add(key commit.Key, name, note string, now graph.Time) error {
	if old, ok := l.Find(key); ok {
		if old.Revoked != nil {
			return graph.Fieldf("key", "%s was revoked: remove it from the list first", key)
		}
		name = cmp.Or(name, old.Name)
		note = cmp.Or(note, old.Note)
		now = old.Added
	}
	e, _ := l.Find(key)
	return l.put(TrustedKey{Key: key, Name: name, Note: note, Added: now, Trusted: true, Purge: e.Purge})
}

// SetPurge sets whether redactions signed by a key are accepted without asking. It returns a *graph.FieldError for
// a key that is not trusted.
func (l *TrustList) SetPurge(key commit.Key, purge bool) error {
	e, ok := l.Find(key)
	if !ok || !e.Trusted || e.Revoked != nil {
		return graph.Fieldf("key", "%s is not trusted", key)
	}
	e.Purge = purge
	return l.put(e)
}

// TrustPurge reports whether a key is trusted for redactions: a revoked one never is, whenever it signed.
func (l *TrustList) TrustPurge(key commit.Key) bool {
	e, ok := l.Find(key)
	return ok && e.Trusted && e.Purge && e.Revoked == nil
}

// Revoke revokes a key, which need not be in the list. A revoked key may be revoked again from an earlier time on
// or entirely; anything else would restore trust and is a *graph.FieldError.
func (l *TrustList) Revoke(key commit.Key, r Revocation) error {
	e, ok := l.Find(key)
	if !ok {
		e = TrustedKey{Key: key, Added: r.At}
	}
	if old := e.Revoked; old != nil {
		wider := !r.Since.Given || old.Since.Given && r.Since.Time <= old.Since.Time
		if !wider {
			return graph.Fieldf("since", "%s is revoked already%s", key, sinceText(old.Since))
		}
	}
	e.Revoked = &r
	return l.put(e)
}

func sinceText(t graph.OptTime) string {
	if !t.Given {
		return " for all times"
	}
	return " since " + t.String()
}

// Remove removes a key from the list, with its revocation, and reports whether it was there.
func (l *TrustList) Remove(key commit.Key) bool {
	i, ok := l.search(key)
	if ok {
		l.entries = slices.Delete(l.entries, i, i+1)
	}
	return ok
}

// put inserts or replaces an entry.
func (l *TrustList) put(e TrustedKey) error {
	if err := e.validate(); err != nil {
		return err
	}
	i, ok := l.search(e.Key)
	switch {
	case ok:
		l.entries[i] = e
	case len(l.entries) == MaxTrusted:
		return graph.Fieldf("keys", "the list is full: it has %d", MaxTrusted)
	default:
		l.entries = slices.Insert(l.entries, i, e)
	}
	return nil
}

func (e TrustedKey) validate() error {
	checks := []error{
		e.Key.Validate(),
		graph.CheckLine("name", e.Name, 0, MaxLine),
		graph.CheckLine("note", e.Note, 0, MaxLine),
		graph.CheckTime("added", e.Added),
	}
	if r := e.Revoked; r != nil {
		checks = append(checks,
			graph.CheckTime("revoked.at", r.At),
			graph.CheckTime("revoked.since", r.Since.Time),
			graph.CheckLine("revoked.reason", r.Reason, 0, MaxLine))
	} else if !e.Trusted {
		checks = append(checks, graph.Fieldf("trusted", "a key neither trusted nor revoked"))
	}
	if e.Purge && !e.Trusted {
		checks = append(checks, graph.Fieldf("purge", "a key that is not trusted"))
	}
	return cmp.Or(checks...)
}

// Encode returns the content of the list's file, one key a line.
func (l *TrustList) Encode() ([]byte, error) {
	b := []byte("{\n  \"v\": 1,\n  \"keys\": [")
	for i, e := range l.entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = ipld.AppendJSON(append(b, "\n    "...), e.value())
	}
	if len(l.entries) > 0 {
		b = append(b, "\n  "...)
	}
	b = append(b, "]\n}\n"...)
	if len(b) > MaxTrustFile {
		return nil, graph.Fieldf("keys", "the list has %d bytes, limit %d", len(b), MaxTrustFile)
	}
	return b, nil
}

func (e TrustedKey) value() ipld.Value {
	m := []ipld.Entry{text("key", e.Key.String()), text("added", e.Added.String())}
	m = append(m, optional("name", e.Name)...)
	m = append(m, optional("note", e.Note)...)
	m = append(m, ipld.Entry{Key: "trusted", Value: ipld.BoolValue(e.Trusted)})
	if e.Purge {
		m = append(m, ipld.Entry{Key: "purge", Value: ipld.BoolValue(true)})
	}
	if r := e.Revoked; r != nil {
		inner := append([]ipld.Entry{text("at", r.At.String())}, optional("reason", r.Reason)...)
		inner = append(inner, optional("since", r.Since.String())...)
		m = append(m, ipld.Entry{Key: "revoked", Value: ipld.MapValue(inner...)})
	}
	return ipld.MapValue(m...)
}

func text(key, s string) ipld.Entry { return ipld.Entry{Key: key, Value: ipld.StringValue(s)} }

func optional(key, s string) []ipld.Entry {
	if s == "" {
		return nil
	}
	return []ipld.Entry{text(key, s)}
}

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
