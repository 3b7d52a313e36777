package show

import (
	"cmp"
	"strconv"

	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Replay(r *ops.Replayed) error {
	if len(r.Redacted) > 0 {
		err := c.Printf("%s: receipt %d needs what was purged since\n",
			c.Paint(Yellow, "redacted"), r.Receipts)
		for _, e := range r.Redacted {
			err = cmp.Or(err, c.Printf("  %s: %s\n", e.CID, line(e.About)))
		}
		return err
	}
	d := r.FirstDifference
	if d == nil {
		return c.Printf("%s: %s\n", c.Paint(Green, "identical"), plural(r.Receipts, "receipt"))
	}
	where := ""
	if d.Item != nil {
		where = "item " + strconv.Itoa(*d.Item+1) + ", "
	}
	return c.Printf("%s: receipt %d (%s), %s%s\n  recorded: %s\n  now:      %s\n",
		c.Paint(Red, "different"), d.Number+1, d.Receipt, where, line(d.Field), line(d.Old),
		line(d.New))
}
