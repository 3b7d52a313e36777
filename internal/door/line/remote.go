package line

import (
	"errors"
	"fmt"
)

// ErrRemote is returned where a remote caller wants what only this machine's user may.
var ErrRemote = errors.New("not for callers from outside")

// MayName returns an error where a file or directory is named by a remote caller.
func (c *Line) MayName(path string) error {
	if !c.By.Remote || path == StdinName {
		return nil
	}
	return fmt.Errorf("%w: an argument names a file", ErrRemote)
}
