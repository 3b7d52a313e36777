package owner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
)

const (
	socketName = "socket"
	// maxPath is the longest path of a socket in bytes: macOS has room for 103, Linux for 107.
	maxPath    = 100
	hashLen    = 10 // bytes of the hash that names a socket outside of its repository
	socketMode = 0o600
	dirMode    = 0o700
)

// place is where a socket is.
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
		return fmt.Errorf("listen for other processes: %s is not a directory of this user alone: "+ "remove it", dir)
	}
	return nil
}
