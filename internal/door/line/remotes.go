package line

import (
	"errors"
)

// CloseKept closes the repositories that were kept open.
func (c *Line) CloseKept() (err error) {
	for _, h := range c.Kept {
		if h != nil {
			err = errors.Join(err, h.Close())
		}
	}
	c.Kept = nil
	return err
}
