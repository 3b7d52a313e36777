package owner

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
)

const (
	socketName = "socket"
	// maxPath is the longest path of a socket in bytes: macOS has room for 103, Linux for 107.
	maxPath    = 100
	hashLen    = 10 // bytes of the hash that names a socket outside of its repository
	socketMode = 0o600
	dirMode    = 0o700
)

type place struct{ path string }

func (p place) remove() error {
	err := os.Remove(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// listen makes the socket of the .mnem directory dir: in it, or in a directory of the user's under
// temp where the path is too long or the file system has no sockets.
func listen(dir, temp string) (place, *net.UnixListener, error) {
	at := place{filepath.Join(dir, socketName)}
	var err error
	if len(at.path) <= maxPath {
		var l *net.UnixListener
		if l, err = at.listen(); err == nil {
			return at, l, nil
		}
	}
	room := filepath.Join(temp, fmt.Sprintf("mnem-%d", os.Getuid()))
	hash := sha256.Sum256([]byte(dir))
	at = place{filepath.Join(room, hex.EncodeToString(hash[:hashLen]))}
	if len(at.path) > maxPath {
		return place{}, nil, errors.Join(err, fmt.Errorf(
			"listen for other processes: %s is too long for the path of a socket", at.path))
	}
	if privateErr := makePrivate(room); privateErr != nil {
		return place{}, nil, errors.Join(err, privateErr)
	}
	l, tempErr := at.listen()
	if tempErr != nil {
		return place{}, nil, errors.Join(err, tempErr)
	}
	return at, l, nil
}

// listen replaces what an earlier owner left at the path and listens there.
func (p place) listen() (*net.UnixListener, error) {
	info, err := os.Lstat(p.path)
	switch {
	case err == nil && info.Mode().Type() != fs.ModeSocket && runtime.GOOS != "windows":
		return nil, fmt.Errorf("listen for other processes: %s is no socket: move it away", p.path)
	case err == nil:
		if err := os.Remove(p.path); err != nil {
			return nil, fmt.Errorf("remove the socket of an earlier owner: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for other processes: %w", err)
	}
	l.SetUnlinkOnClose(false) // place.remove does
	if err := os.Chmod(p.path, socketMode); err != nil && runtime.GOOS != "windows" {
		return nil, errors.Join(fmt.Errorf("listen for other processes: %w", err), l.Close(), p.remove())
	}
	return l, nil
}

// makePrivate makes a directory that only its user may look into, or finds that it is one: in a
// directory that all may write to, somebody else might have made it.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, dirMode); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	private := info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows"
	if !info.IsDir() || !ownedByUser(info) || !private {
		return fmt.Errorf("listen for other processes: %s is not a directory of this user alone: remove it", dir)
	}
	return nil
}

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
