package line

import (
	"fmt"

	"github.com/mnem-project/mnem/internal/verb"
)

// ErrRemote is verb.ErrRemote.
var ErrRemote = verb.ErrRemote

// MayName returns an error if a file or directory is named by a remote caller.
func (c *Line) MayName(path string) error {
	if !c.By.Remote || path == StdinName {
		return nil
	}
	return fmt.Errorf("%w: an argument names a file", ErrRemote)
}
