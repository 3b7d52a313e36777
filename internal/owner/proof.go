package owner

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
)

// ErrElsewhere is returned by Dial when the process that listens holds another directory: a copy of
// a repository brings along the owner file of the original.
var ErrElsewhere = errors.New("the process that listens there holds another directory")

const (
	valueLen    = 16 // bytes of a random value
	proofPrefix = "proof-"
	// A claim is a parameter of a hello: the identity of the directory, or a value that is in the name of a file there.
	byIdentity = "identity"
	byValue    = "value"
)

// holding is the directory that an owner answers for. It is kept open, so that it stays the same one
// whatever its path names later, and its inode is not used again.
type holding struct {
	root     *os.Root
	identity string // "" if the system has none
}

func hold(dir string) (*holding, error) {
	root, err := regular.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	h := &holding{root: root, identity: identity(info)}
	h.sweep()
	return h, nil
}

// sweep removes values that processes left which were killed. No process proves anything yet to an
// owner that only begins.
func (h *holding) sweep() {
	dir, err := h.root.Open(".")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1) // a later owner sweeps the rest
	_ = dir.Close()
	for _, name := range names {
		if strings.HasPrefix(name, proofPrefix) {
			_ = h.root.Remove(name)
		}
	}
}

// proves reports whether a claim is about this directory.
func (h *holding) proves(claim url.Values) bool {
	if claim.Has(byIdentity) {
		return h.identity != "" && claim.Get(byIdentity) == h.identity
	}
	value, err := hex.DecodeString(claim.Get(byValue))
	if err != nil || len(value) != valueLen {
		return false
	}
	info, err := h.root.Lstat(proofPrefix + hex.EncodeToString(value))
	return err == nil && info.Mode().IsRegular()
}

func identityOf(device, inode uint64) string { return fmt.Sprintf("%x-%x", device, inode) }

// prove makes sure that the owner holds the .mnem directory dir, or returns ErrElsewhere. Comparing device and inode is
// fast but fails if both processes reach one directory through different file systems. Then a file with a random name
// decides: only a process with this very directory can see it.
func (c *Client) prove(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if id := identity(info); id != "" {
		if ok, err := c.claim(byIdentity + "=" + id); ok || err != nil {
			return err
		}
	}
	var value [valueLen]byte
	_, _ = rand.Read(value[:]) // never fails
	text := hex.EncodeToString(value[:])
	path := filepath.Join(dir, proofPrefix+text)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, socketMode)
	if err != nil {
		return fmt.Errorf("%w, or it cannot be checked: %w", ErrElsewhere, err)
	}
	defer func() { _ = os.Remove(path) }() // if this fails, a later owner removes it
	if err := f.Close(); err != nil {
		return err
	}
	ok, err := c.claim(byValue + "=" + text)
	if err == nil && !ok {
		err = ErrElsewhere
	}
	return err
}
