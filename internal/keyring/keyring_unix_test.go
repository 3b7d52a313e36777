//go:build unix

package keyring

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestPipesAndLinks reads files that are not regular: it does not wait for a pipe, and follows a link, whose
// target's mode counts.
func TestPipesAndLinks(t *testing.T) {
	r := ring(t)
	add(t, r, "good", 1)
	in := func(name string) string { return filepath.Join(r.Dir(), name) }
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	for name, target := range map[string]string{
		"link": in("good"), "to-pipe": in("pipe"), "nowhere": in("missing"),
	} {
		must.OK(t, os.Symlink(target, in(name)))
	}
	for _, name := range []string{"pipe", "to-pipe"} {
		if _, err := r.Secret(name); err == nil || !strings.Contains(err.Error(), "regular") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := r.Secret("nowhere")
	must.Fail(t, err, fs.ErrNotExist)
	must.Fail(t, r.Add("nowhere", secret(t, 2)), fs.ErrExist)
	_, err = os.Lstat(in("missing"))
	must.Fail(t, err, fs.ErrNotExist)
	if s, err := r.Secret("link"); s != secret(t, 1) || err != nil {
		t.Errorf("a link to a key: %v", err)
	}
	must.OK(t, os.Chmod(in("good"), 0o644))
	_, err = r.Secret("link")
	must.Fail(t, err, ErrExposed)
}
