package owner

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
)

// ErrElsewhere is returned by Dial when the process that listens holds another directory: a copy of
// a repository brings along the owner file of the original.
var ErrElsewhere = errors.New("the process that listens there holds another directory")

const (
	identityLen = 16 // device and inode, 8 bytes each
	valueLen    = 16 // bytes of a random value
	valueText   = 2 * valueLen
	proofPrefix = "proof-"
	// maxProofs is how many claims a connection may make: one by device and inode, one by a value.
	maxProofs = 2
)

// holding is the directory that an owner answers for. It is kept open, so that it stays the same one
// whatever its path names later, and its inode is not used again.
type holding struct {
	root     *os.Root
	identity []byte // nil where the system tells none
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
	names, _ := dir.Readdirnames(-1) // what is not swept now is swept by a later owner
	_ = dir.Close()
	for _, name := range names {
		if strings.HasPrefix(name, proofPrefix) {
			_ = h.root.Remove(name)
		}
	}
}

// proves reports whether a claim, as a client sends it, is about this directory.
func (h *holding) proves(claim []byte) bool {
	switch len(claim) {
	case identityLen:
		return h.identity != nil && string(claim) == string(h.identity)
	case valueText:
		value, err := hex.DecodeString(string(claim))
		if err != nil {
			return false
		}
		info, err := h.root.Lstat(proofPrefix + hex.EncodeToString(value))
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

func identityOf(device, inode uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, device), inode)
}

// prove makes sure that the owner holds the .mnem directory dir, or returns ErrElsewhere. Device and
// inode are the fast way, which says no where both ends reach one directory by different file
// systems; a random value that only a process with this very directory can see always tells.
func (c *Client) prove(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if id := identity(info); id != nil {
		if ok, err := c.claim(id); ok || err != nil {
			return err
		}
	}
	var value [valueLen]byte
	_, _ = rand.Read(value[:]) // never fails
	text := hex.EncodeToString(value[:])
	path := filepath.Join(dir, proofPrefix+text)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, socketMode)
	if err != nil {
		return fmt.Errorf("%w, as far as can be told: %w", ErrElsewhere, err)
	}
	defer func() { _ = os.Remove(path) }() // what is left of it a later owner removes
	if err := f.Close(); err != nil {
		return err
	}
	ok, err := c.claim([]byte(text))
	if err == nil && !ok {
		err = ErrElsewhere
	}
	return err
}

// claim makes one claim and returns the answer.
func (c *Client) claim(claim []byte) (bool, error) {
	if err := c.out.send(kindHolds, claim); err != nil {
		return false, err
	}
	k, data, err := readFrame(c.conn, make([]byte, 0, valueText))
	if err != nil {
		return false, err
	}
	if k != kindHolds || len(data) != 1 || data[0] > 1 {
		return false, fmt.Errorf("%w: no answer to a claim", ErrProtocol)
	}
	return data[0] == 1, nil
}

// prove answers claims until one holds, and returns the frame that comes after it.
func (s *session) prove() (kind, []byte, error) {
	proven := false
	for range maxProofs + 1 {
		k, data, err := readFrame(s.conn, nil)
		if err != nil {
			return 0, nil, err
		}
		if k != kindHolds {
			if !proven {
				err = fmt.Errorf("%w: frame %q before it is known which directory is meant", ErrProtocol, k)
			}
			return k, data, err
		}
		proven = s.host.holding.proves(data)
		answer := []byte{0}
		if proven {
			answer[0] = 1
		}
		if err := s.out.send(kindHolds, answer); err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, fmt.Errorf("%w: more claims than there are ways to prove one", ErrProtocol)
}
