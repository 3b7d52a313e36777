package owner

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestProof asks an owner about its directory by each of its names, and about others.
func TestProof(t *testing.T) {
	h := host(t, echo)
	dir := h.holding.root.Name()
	copied := t.TempDir()
	try := func(at string, want error) {
		t.Helper()
		c, err := Dial(h.Socket(), at, "v1", 1, 5*time.Second)
		must.Fail(t, err, want, at)
		if err == nil {
			_ = c.Close()
		}
		for _, d := range []string{dir, copied} {
			left, _ := filepath.Glob(filepath.Join(d, proofPrefix+"*"))
			must.Check(t, len(left) <= 0, "%q are left behind", left)
		}
	}
	try(dir, nil)
	try(copied, ErrElsewhere)
	try(filepath.Join(dir, "none"), os.ErrNotExist)
	if runtime.GOOS == "windows" {
		return // what is open cannot be renamed
	}
	link := filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Symlink(dir, link))
	try(link, nil)
	// Moved away, with a copy in its place.
	away := filepath.Join(t.TempDir(), "away")
	must.OK(t, errors.Join(os.Rename(dir, away), os.Rename(copied, dir)))
	socket := filepath.Join(away, filepath.Base(h.Socket()))
	c, err := Dial(socket, dir, "v1", 1, 5*time.Second)
	must.Fail(t, err, ErrElsewhere, c)
	c = must.Get(Dial(socket, away, "v1", 1, 5*time.Second))(t, "moved")
	_ = c.Close()
}

// TestProofByValue: where device and inode say no, a value that is left in the directory tells.
func TestProofByValue(t *testing.T) {
	h := host(t, echo)
	dir := h.holding.root.Name()
	h.holding.identity = "1-1" // as if it were reached by another file system
	for range 3 {
		c := dialed(t, h)
		names, _ := filepath.Glob(filepath.Join(dir, proofPrefix+"*"))
		must.Check(t, len(names) <= 0, "%q are left behind", names)
		_ = c.Close()
	}
	value := strings.Repeat("ab", valueLen)
	must.Check(t, !h.holding.proves(url.Values{byValue: {value}}), "a value that is not there proves it")
	must.OK(t, os.Mkdir(filepath.Join(dir, proofPrefix+value), 0o700))
	must.Check(t, !h.holding.proves(url.Values{byValue: {value}}), "a directory proves it")
	h.holding.identity = ""
	for _, claim := range []string{"", "x", value[1:], strings.Repeat("..", valueLen)} {
		if h.holding.proves(url.Values{byValue: {claim}}) || h.holding.proves(url.Values{byIdentity: {claim}}) {
			t.Errorf("claim %q proves it", claim)
		}
	}
}

// TestSweep: an owner that begins removes what processes left that were killed.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{proofPrefix + "1", proofPrefix + "2", "head"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	h := must.Get(hold(dir))(t)
	defer func() { _ = h.root.Close() }()
	entries, err := os.ReadDir(dir)
	must.Check(t, err == nil && len(entries) == 1 && entries[0].Name() == "head", "%v, %v", entries, err)
}
