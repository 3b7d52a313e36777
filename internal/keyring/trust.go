package keyring

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
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
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
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
