package cli

import (
	"strconv"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) printReplay(r *ops.Replayed) error {
	if len(r.Redacted) > 0 {
		err := c.printf("%s: receipt %d needs what was purged since\n",
			c.paint(styleYellow, "redacted"), r.Receipts)
		for _, e := range r.Redacted {
			err = firstError(err, c.printf("  %s: %s\n", e.CID, line(e.About)))
		}
		return err
	}
	d := r.FirstDifference
	if d == nil {
		return c.printf("%s: %s\n", c.paint(styleGreen, "identical"), plural(r.Receipts, "receipt"))
	}
	where := ""
	if d.Item != nil {
		where = "item " + strconv.Itoa(*d.Item+1) + ", "
	}
	return c.printf("%s: receipt %d (%s), %s%s\n  recorded: %s\n  now:      %s\n",
		c.paint(styleRed, "different"), d.Number+1, d.Receipt, where, line(d.Field), line(d.Old),
		line(d.New))
}
