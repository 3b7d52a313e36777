package reach

import (
	"fmt"

	"github.com/mnem-project/mnem/internal/door/line"
)

// MayChooseModel returns an error if a model, and so what is told of the memory to which server, is named
// by a remote caller.
func MayChooseModel(c *line.Line, spec string) error {
	if !c.By.Remote || spec == "" || spec == ModelConfigured {
		return nil
	}
	return fmt.Errorf("%w: an argument names a model", line.ErrRemote)
}
