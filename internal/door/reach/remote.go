package reach

import (
	"fmt"

	"github.com/mnem-project/mnem/internal/door/line"
)

// MayChooseModel returns an error if a remote caller names a model: the name decides which server receives the memory's
// text.
func MayChooseModel(c *line.Line, spec string) error {
	if !c.By.Remote || spec == "" || spec == ModelConfigured {
		return nil
	}
	return fmt.Errorf("%w: an argument names a model", line.ErrRemote)
}
