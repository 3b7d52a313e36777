package keyring

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
)

// Known is a key of the user's, a key in the trust list, or both.
type Known struct {
	Name   string // of the user's own key, otherwise from the trust list
	Key    commit.Key
	Secret bool       // whether the user can sign with it
	Entry  TrustedKey // zero if the trust list does not have it
}

// The trust in a key.
const (
	Trusted   = "trusted"
	Revoked   = "revoked"
	Untrusted = "untrusted"
)

// Trust returns the trust in the key.
func (k Known) Trust() string {
	switch {
	case k.Entry.Revoked != nil:
		return Revoked
	case k.Entry.Trusted:
		return Trusted
	}
	return Untrusted
}

// Known returns all keys, the user's own first, by name and then key.
func (r *Ring) Known() ([]Known, error) {
	list, err := r.Trusted()
	if err != nil {
		return nil, err
	}
	names, err := r.Names()
	if err != nil {
		return nil, err
	}
	var known []Known
	own := make(map[commit.Key]bool)
	for _, name := range names {
		secret, err := r.Secret(name)
		if err != nil {
			return nil, err
		}
		entry, _ := list.Find(secret.Key())
		own[secret.Key()] = true
		known = append(known, Known{name, secret.Key(), true, entry})
	}
	for _, e := range list.Entries() {
		if !own[e.Key] {
			known = append(known, Known{e.Name, e.Key, false, e})
		}
	}
	slices.SortStableFunc(known, func(a, b Known) int {
		if a.Secret != b.Secret {
			return map[bool]int{true: -1, false: 1}[a.Secret]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return known, nil
}

// Named returns the keys that a name or a text form matches, each once; for a text form that key, even if it is
// unknown.
func (r *Ring) Named(name string) (found []Known, err error) {
	known, err := r.Known()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, commit.KeyPrefix) {
		key, err := commit.ParseKey(name)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(known, func(k Known) bool { return k.Key == key }); i >= 0 {
			return known[i : i+1], nil
		}
		return []Known{{Key: key}}, nil
	}
	for _, k := range known {
		if k.Name == name && !slices.ContainsFunc(found, func(o Known) bool { return o.Key == k.Key }) {
			found = append(found, k)
		}
	}
	return found, nil
}

// Keep stores a secret under an unused name, and trusts its key, unless it was revoked. It returns an error
// wrapping fs.ErrExist if the name is taken.
func (r *Ring) Keep(ctx context.Context, name string, secret commit.Secret, now graph.Time) error {
	if err := r.Add(name, secret); err != nil {
		return err
	}
	return r.EditTrust(ctx, func(l *TrustList) error {
		if e, ok := l.Find(secret.Key()); ok && e.Revoked != nil {
			return nil
		}
		return l.Add(secret.Key(), name, "", now)
	})
}
