package keyring

import (
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestKnown names keys that the user has and those that only the trust list has.
func TestKnown(t *testing.T) {
	r := ring(t)
	now := graph.Time(1)
	for name, n := range map[string]byte{"work": 1, "home": 2} {
		must.OK(t, r.Keep(t.Context(), name, secret(t, n), now))
	}
	trust(t, r, func(l *TrustList) error {
		if err := l.Revoke(secret(t, 2).Key(), Revocation{At: now}); err != nil {
			return err
		}
		return l.Add(secret(t, 3).Key(), "work", "", now)
	})
	type row struct {
		Name   string
		Secret bool
		Trust  string
	}
	rows := func(known []Known, err error) (out []row) {
		t.Helper()
		must.OK(t, err)
		for _, k := range known {
			out = append(out, row{k.Name, k.Secret, k.Trust()})
		}
		return out
	}
	home, work, other := row{"home", true, Revoked}, row{"work", true, Trusted}, row{"work", false, Trusted}
	stranger := secret(t, 4).Key().String()
	for name, got := range map[string][]row{
		"all": rows(r.Known()), "work": rows(r.Named("work")), "home": rows(r.Named("home")),
		"nobody": rows(r.Named("nobody")), "key": rows(r.Named(secret(t, 3).Key().String())),
		"stranger": rows(r.Named(stranger)),
	} {
		want := map[string][]row{
			"all": {home, work, other}, "work": {work, other}, "home": {home}, "nobody": nil,
			"key": {other}, "stranger": {{"", false, Untrusted}},
		}[name]
		must.Same(t, got, want, name)
	}
	must.Check(t, r.Keep(t.Context(), "home", secret(t, 2), now) != nil, "a name that is taken is taken again")
}
