package keyring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestTrust(t *testing.T) {
	key := func(n byte) commit.Key { return secret(t, n).Key() }
	l := &TrustList{}
	must := func(err error) {
		t.Helper()
		must.OK(t, err)
	}
	must(l.Add(key(1), "ada", "met her", 10))
	must(l.Add(key(2), "bob", "", 10))
	must(l.Revoke(key(2), Revocation{At: 50, Since: graph.At(20), Reason: "new key"}))
	must(l.Add(key(3), "eve", "", 10))
	must(l.Revoke(key(3), Revocation{At: 50}))
	must(l.Revoke(key(4), Revocation{At: 50, Since: graph.At(20)}))
	for _, c := range []struct {
		key  byte
		at   graph.Time
		want commit.Trust
	}{
		{1, 0, commit.Trust{State: commit.Signed, Name: "ada"}},
		{2, 19, commit.Trust{State: commit.Signed, Name: "bob"}},
		{2, 20, commit.Trust{State: commit.Revoked, Name: "bob", Reason: "new key"}},
		{2, 21, commit.Trust{State: commit.Revoked, Name: "bob", Reason: "new key"}},
		{3, -5, commit.Trust{State: commit.Revoked, Name: "eve"}},
		{4, 19, commit.Trust{State: commit.Untrusted}},
		{4, 20, commit.Trust{State: commit.Revoked}},
		{5, 20, commit.Trust{State: commit.Untrusted}},
	} {
		if got := l.Trust(key(c.key), c.at); got != c.want {
			t.Errorf("key %d at %d: %v, want %v", c.key, c.at, got, c.want)
		}
	}
}

// TestTrustChanges checks that no change but the explicit one increases the trust in a key.
func TestTrustChanges(t *testing.T) {
	l := &TrustList{}
	key := secret(t, 1).Key()
	at := func(n graph.Time) Revocation { return Revocation{At: 100, Since: graph.At(n)} }
	for _, step := range []struct {
		name string
		do   func() error
		ok   bool
		want commit.SignatureState // on a commit of time 30
	}{
		{"add", func() error { return l.Add(key, "ada", "", 1) }, true, commit.Signed},
		{"revoke later", func() error { return l.Revoke(key, at(40)) }, true, commit.Signed},
		{"revoke still later", func() error { return l.Revoke(key, at(50)) }, false, commit.Signed},
		{"trust again", func() error { return l.Add(key, "ada", "", 1) }, false, commit.Signed},
		{"revoke earlier", func() error { return l.Revoke(key, at(30)) }, true, commit.Revoked},
		{"revoke for ever", func() error { return l.Revoke(key, Revocation{}) }, true, commit.Revoked},
		{"only from then on", func() error { return l.Revoke(key, at(20)) }, false, commit.Revoked},
		{"control character", func() error {
			return l.Revoke(key, Revocation{Reason: "a\nb"})
		}, false, commit.Revoked},
	} {
		err := step.do()
		if (err == nil) != step.ok || err != nil && !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%s: %v", step.name, err)
		}
		if got := l.Trust(key, 30).State; got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
	if !l.Remove(key) || l.Remove(key) {
		t.Error("removed not exactly once")
	}
	if got := l.Trust(key, 30).State; got != commit.Untrusted {
		t.Errorf("after removing: %s", got)
	}
	must.OK(t, l.Add(key, "ada", "a note", 5))
	if err := l.Add(key, "", "another", 9); err != nil {
		t.Fatal(err)
	}
	e, _ := l.Find(key)
	want := TrustedKey{Key: key, Name: "ada", Note: "another", Added: 5, Trusted: true}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("added twice (-want +got):\n%s", diff)
	}
	must.Fail(t, l.Add(commit.Key{}, "", "", 1), graph.ErrInvalid)
}

func TestTrustListGolden(t *testing.T) {
	l := &TrustList{}
	must.OK(t, l.Add(secret(t, 1).Key(), "Ada", `said "hello"`, 1_790_000_000_000_000))
	r := Revocation{At: 1_790_000_000_000_001, Since: graph.At(0), Reason: "lost"}
	must.OK(t, l.Revoke(secret(t, 2).Key(), r))
	want := `{
  "v": 1,
  "keys": [
    {"key":"mnem-ed25519-qe4xodvipulv6vvdkrtmgtd6ztfy3curwtxdpis56yhvxd6jwokeluio",` +
		`"added":"2026-09-21T14:13:20.000001Z","revoked":{"at":"2026-09-21T14:13:20.000001Z",` +
		`"since":"1970-01-01T00:00:00.000000Z","reason":"lost"},"trusted":false},
    {"key":"mnem-ed25519-rkeohxlubhyzl7ks3mwtzos5olfgocn7dwkbeg7toseadnapn5oayeyw",` +
		`"name":"Ada","note":"said \"hello\"","added":"2026-09-21T14:13:20.000000Z","trusted":true}
  ]
}
`
	data, err := l.Encode()
	must.OK(t, err)
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("trust list (-want +got):\n%s", diff)
	}
	back, err := ParseTrustList(data)
	must.OK(t, err)
	if diff := cmp.Diff(l.Entries(), back.Entries()); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if data, err := (&TrustList{}).Encode(); string(data) != "{\n  \"v\": 1,\n  \"keys\": []\n}\n" {
		t.Errorf("empty list: %s, %v", data, err)
	}
}

func TestTrustListRoundTrip(t *testing.T) {
	line := rapid.StringMatching(`[a-zé"\\ ]{0,12}`)
	when := rapid.Int64Range(int64(graph.MinTime), int64(graph.MaxTime))
	rapid.Check(t, func(t *rapid.T) {
		l := &TrustList{}
		for i := range rapid.IntRange(0, 12).Draw(t, "keys") {
			s, err := commit.NewSecret(strings.NewReader(strings.Repeat(string(rune('a'+i)), 32)))
			must.OK(t, err)
			now := graph.Time(when.Draw(t, "time"))
			err = l.Add(s.Key(), line.Draw(t, "name"), line.Draw(t, "note"), now)
			if err == nil && rapid.Bool().Draw(t, "revoked") {
				r := Revocation{At: now, Reason: line.Draw(t, "reason")}
				if rapid.Bool().Draw(t, "since?") {
					r.Since = graph.At(graph.Time(when.Draw(t, "since")))
				}
				err = l.Revoke(s.Key(), r)
			}
			must.OK(t, err)
		}
		data, err := l.Encode()
		must.OK(t, err)
		back, err := ParseTrustList(data)
		must.OK(t, err)
		if diff := cmp.Diff(l.Entries(), back.Entries()); diff != "" {
			t.Fatalf("read again (-want +got):\n%s", diff)
		}
	})
}

// trustListWith is a trust list with one key whose object ends with more.
func trustListWith(t testing.TB, more string) string {
	return `{"v":1,"keys":[{"key":"` + secret(t, 1).Key().String() + `"` + more + `}]}`
}

func hostileTrustLists(t testing.TB) map[string]string {
	key := `{"key":"` + secret(t, 1).Key().String() + `","added":"2026-01-01","trusted":true}`
	bad := map[string]string{
		"empty": "", "list": "[]", "null": "null", "no keys": `{"v":1}`, "no version": `{"keys":[]}`,
		"version 2": `{"v":2,"keys":[]}`, "version text": `{"v":"1","keys":[]}`,
		"unknown member": `{"v":1,"keys":[],"x":1}`, "twice": `{"v":1,"keys":[` + key + "," + key + `]}`,
		"not an object": `{"v":1,"keys":[1]}`, "more": `{"v":1,"keys":[]}{}`,
		"duplicate": `{"v":1,"v":1,"keys":[]}`, "BOM": "\ufeff" + `{"v":1,"keys":[]}`,
		"many": `{"v":1,"keys":[` + strings.Repeat("1,", MaxTrusted) + `1]}`,
		"huge": `{"v":1,"keys":[]}` + strings.Repeat(" ", MaxTrustFile),
		"deep": strings.Repeat("[", 100_000),
	}
	const plain = `,"added":"2026-01-01","trusted":true`
	for name, more := range map[string]string{
		"no added": `,"trusted":true`, "no trusted": `,"added":"2026-01-01"`,
		"neither": `,"added":"2026-01-01","trusted":false`, "key twice": plain + `,"key":"x"`,
		"unknown": plain + `,"revoked_since":"2026-01-01"`, "null name": plain + `,"name":null`,
		"empty name": plain + `,"name":""`, "long name": plain + `,"name":"` + strings.Repeat("a", 256) + `"`,
		"line end": plain + `,"note":"a\nb"`, "bad time": `,"added":"yesterday","trusted":true`,
		"trusted text": `,"added":"2026-01-01","trusted":"yes"`,
		"revoked true": plain + `,"revoked":true`, "revoked null": plain + `,"revoked":null`,
		"revoked empty":   plain + `,"revoked":{}`,
		"revoked more":    plain + `,"revoked":{"at":"2026-01-01","by":"x"}`,
		"revoked since":   plain + `,"revoked":{"at":"2026-01-01","since":null}`,
		"revoked reason":  plain + `,"revoked":{"at":"2026-01-01","reason":""}`,
		"revoked at zero": plain + `,"revoked":{"at":0}`,
	} {
		bad[name] = trustListWith(t, more)
	}
	return bad
}

func TestHostileTrustLists(t *testing.T) {
	if _, err := ParseTrustList([]byte(trustListWith(t, `,"added":"2026-01-01","trusted":true`))); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	r := ring(t)
	trust(t, r, func(*TrustList) error { return nil })
	for name, data := range hostileTrustLists(t) {
		if _, err := ParseTrustList([]byte(data)); !errors.Is(err, graph.ErrInvalid) &&
			!errors.Is(err, ipld.ErrJSON) {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join(r.Dir(), TrustFile)
		must.OK(t, os.WriteFile(path, []byte(data), 0o600))
		if l, err := r.Trusted(); err == nil {
			t.Errorf("%s: read as %v", name, l.Entries())
		}
		err := r.EditTrust(context.Background(), func(*TrustList) error { return nil })
		if after, _ := os.ReadFile(path); err == nil || string(after) != data {
			t.Errorf("%s: editing wrote over it, %v", name, err)
		}
	}
	left, err := os.ReadDir(r.Dir())
	if len(left) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestEditTrustRace(t *testing.T) {
	r := ring(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			errs[i] = r.EditTrust(context.Background(), func(l *TrustList) error {
				return l.Add(secret(t, byte(i)).Key(), "", "", 1)
			})
		})
	}
	wg.Wait()
	must.OK(t, errors.Join(errs...))
	l, err := r.Trusted()
	if err != nil || len(l.Entries()) != len(errs) {
		t.Errorf("%d keys, want %d, %v", len(l.Entries()), len(errs), err)
	}
}

func TestEditTrustErrors(t *testing.T) {
	r := ring(t)
	key := secret(t, 1).Key()
	broken := errors.New("changed my mind")
	err := r.EditTrust(context.Background(), func(l *TrustList) error {
		return errors.Join(l.Add(key, "", "", 1), broken)
	})
	if l, _ := r.Trusted(); !errors.Is(err, broken) || len(l.Entries()) != 0 {
		t.Errorf("after an error the list is %v, %v", l, err)
	}
	unlock, err := filestate.Lock(context.Background(), filepath.Join(r.Dir(), TrustFile))
	must.OK(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = r.EditTrust(ctx, func(*TrustList) error { return nil })
	must.Fail(t, err, context.Canceled)
	must.OK(t, unlock())
	// The lock file of an older program, which a crash left there for ever.
	must.OK(t, os.WriteFile(filepath.Join(r.Dir(), "trusted.json.lock"), nil, 0o600))
	if err := r.EditTrust(context.Background(), func(*TrustList) error { return nil }); err != nil {
		t.Errorf("with an old lock file: %v", err)
	}
}

func FuzzParseTrustList(f *testing.F) {
	for _, data := range hostileTrustLists(f) {
		if len(data) < 4096 {
			f.Add([]byte(data))
		}
	}
	f.Add([]byte(trustListWith(f, `,"added":"2026-01-01","trusted":true,"revoked":{"at":"2026-01-02"}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseTrustList(data)
		if err != nil {
			return
		}
		once, err := l.Encode()
		must.OK(t, err)
		again, err := ParseTrustList(once)
		if err != nil {
			t.Fatalf("what was written does not read: %v", err)
		}
		if diff := cmp.Diff(l.Entries(), again.Entries()); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}

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
	must.True(t, r.Keep(t.Context(), "home", secret(t, 2), now) != nil, "a name that is taken is taken again")
}
