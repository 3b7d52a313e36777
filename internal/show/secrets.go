package show

import (
	"slices"

	"github.com/mnem-project/mnem/ops"
)

// maxWarned is how many warnings people are shown.
const maxWarned = 10

// warnSecrets tells people what looks like credentials in what was written.
func (c *Console) warnSecrets(list ops.Warnings) {
	for _, w := range list[:min(len(list), maxWarned)] {
		c.Remark("warning: %s", line(w.Message))
	}
	if n := len(list) - maxWarned; n > 0 {
		c.Remark("warning: %d more; --json lists them", n)
	}
	if slices.ContainsFunc(list, func(w ops.Warning) bool { return w.Code == ops.CodeSecret }) {
		c.Remark("hint: %s", ops.SecretRemedy)
	}
}
