//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestForeignRepository: a repository above the working directory that is another user's is neither
// used nor passed over.
func TestForeignRepository(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only who administers the machine can give files away")
	}
	w := newWorld(t)
	w.init()
	planted := filepath.Join(w.Dir, "shared")
	inner := filepath.Join(planted, "work")
	for _, dir := range []string{filepath.Join(planted, ".mnem"), inner} {
		must.OK(t, os.MkdirAll(dir, 0o777))
	}
	if err := os.Chown(filepath.Join(planted, ".mnem"), 12345, 12345); err != nil {
		t.Skip(err)
	}
	up := w.Dir
	w.Dir = inner
	_, message := w.run(7, "status")
	if !strings.Contains(message, "belongs to another user") || !strings.Contains(message, "--repo") {
		t.Errorf("it says %q", message)
	}
	w.run(0, "status", "--repo", up)
	w.Dir = up
	w.run(0, "status")
}
