package show

import (
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/ops"
)

// importanceText is an effective importance for people.
func importanceText(e *ops.Importance) string {
	q := func(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }
	return fmt.Sprintf("%s = importance %d (%s) × use %s × age %s × links %s", q(e.Value), e.Importance,
		q(e.Base), q(e.Use), q(e.Decay), q(e.Links))
}
