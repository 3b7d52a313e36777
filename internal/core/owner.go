package core

import (
	"path/filepath"

	"github.com/mnem-project/mnem/internal/block/store/pebble"
)

// ErrStopped is wrapped by the errors of a repository that takes no more writes since one failed: what
// was acknowledged is on disk, and reopening the repository finds it.
var ErrStopped = pebble.ErrStopped

// Owner says which process has a repository open, and where that answers others.
type Owner = pebble.Owner

// ReadOwner returns what the owner of the repository in dir/.mnem says of itself, the zero Owner
// if there is none. One that was killed may have left its words behind.
func ReadOwner(dir string) (Owner, error) {
	return pebble.ReadOwner(filepath.Join(dir, DirName), nil)
}

// Taken reports whether a process has the repository in dir/.mnem open, this one included, whatever an owner file says.
func Taken(dir string) (bool, error) { return pebble.Taken(filepath.Join(dir, DirName)) }

// QueueFile is the file by which the processes that want to open the repository in dir/.mnem keep their order.
func QueueFile(dir string) string { return filepath.Join(dir, DirName, pebble.QueueName) }

// SetOwner replaces what others read who find the repository taken. It does nothing for a repository
// that is not on disk.
func (r *Repo) SetOwner(o Owner) error {
	if st, ok := r.Store.(interface{ SetOwner(Owner) error }); ok {
		return st.SetOwner(o)
	}
	return nil
}
