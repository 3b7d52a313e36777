package shelf

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestDamagedToken flips each bit of the file of a token and cuts it at each place: it is never read as a token, and the
// error names the file. What was kept is read as it is, in any time zone.
func TestDamagedToken(t *testing.T) {
	d := tokenDir(filepath.Join(t.TempDir(), tokenDirName))
	expires := time.Date(2030, 1, 2, 3, 4, 5, 6, time.FixedZone("", 7200))
	kept, _, err := serve.NewToken(bytes.NewReader(make([]byte, 64)), "note\u0085\u202e<book>", "read", expires.Add(-time.Hour))
	must.OK(t, err)
	kept.Expires, kept.Author, kept.Agent = &expires, "ana", "robot"
	other, _, err := serve.NewToken(bytes.NewReader(bytes.Repeat([]byte{7}, 64)), "other", "admin", expires)
	must.OK(t, err)
	for _, one := range []*serve.Token{&kept, &other} {
		must.OK(t, d.Add(t.Context(), one))
	}
	got, err := d.Get(kept.ID)
	if err != nil || got.Hash != kept.Hash || got.Name != kept.Name || !got.Expires.Equal(expires) {
		t.Fatalf("%+v, %v", got, err)
	}
	path := d.path(kept.ID)
	whole := must.Get(os.ReadFile(path))(t)
	refused := func(what string, at int, data []byte) {
		t.Helper()
		if got, err := readToken(data); err == nil && got.ID == kept.ID {
			t.Fatalf("%s at %d: %+v", what, at, got)
		}
	}
	for i := range whole[:len(whole)-1] { // what follows the line is a line feed or nothing
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			refused("bit", 8*i+bit, bad)
		}
		refused("cut", i, whole[:i])
	}
	scope := bytes.Replace(whole, []byte(`"scope":"read"`), []byte(`"scope":"reae"`), 1)
	if err := os.WriteFile(path, scope, 0o600); err != nil || bytes.Equal(scope, whole) {
		t.Fatalf("%v, %s", err, whole)
	}
	if got, err := d.Get(kept.ID); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.List(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the list says %v", err)
	}
	if got, err := d.Get(other.ID); err != nil || got.Scope != "admin" {
		t.Errorf("another token: %+v, %v", got, err)
	}
}

// TestReplaceToken replaces a token that is as it was read, and none that has changed since or is gone.
func TestReplaceToken(t *testing.T) {
	d := tokenDir(filepath.Join(t.TempDir(), tokenDirName))
	old, _, err := serve.NewToken(bytes.NewReader(make([]byte, 64)), "client", "read", time.Unix(0, 0))
	must.OK(t, err)
	must.OK(t, d.Add(t.Context(), &old))
	next := old
	next.Hash, next.Grant = strings.Repeat("a", len(old.Hash)), &serve.Grant{Client: "x"}
	if ok, err := d.Replace(t.Context(), &old, &next); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	if got, err := d.Get(old.ID); err != nil || got.Hash != next.Hash || got.Grant == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if ok, err := d.Replace(t.Context(), &old, &next); ok || err != nil {
		t.Errorf("a token that was replaced: %t, %v", ok, err)
	}
	must.OK(t, d.Remove(&next))
	if ok, err := d.Replace(t.Context(), &next, &old); ok || err != nil {
		t.Errorf("a token that was removed: %t, %v", ok, err)
	}
	if got, err := d.Get(old.ID); got != nil || err != nil {
		t.Errorf("it is back: %+v, %v", got, err)
	}
}
