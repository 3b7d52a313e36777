package show

import (
	"cmp"

	"github.com/mnem-project/mnem/ops"
)

// Reviewed prints what is to be reviewed, or what was decided.
func (c *Console) Reviewed(q *ops.ReviewRequest, r *ops.Reviewed) error {
	c.warnSecrets(r.Warnings)
	changed := len(r.Dropped) + len(r.Pinned) + len(r.Edited)
	switch {
	case len(r.Items) == 0 && changed+len(r.Kept)+len(r.Already) == 0 && !q.Rest:
		return c.Printf("nothing to review\n")
	case len(r.Items) > 0:
		rows := [][]Cell{}
		for _, it := range r.Items {
			rows = append(rows, []Cell{
				{line(cmp.Or(string(it.Key), it.ID.String())), Bold}, {line(it.Type), ""},
				{it.Created.String(), Dim}, {brief(it.Text, SummaryWidth), ""},
			})
		}
		c.Remark("%d to review; --keep, --drop, --pin, --edit and --rest decide", r.Left)
		return c.Table(rows)
	}
	err := c.printParts(r.Labels, changedPart{r.Dropped, "forgotten"}, changedPart{r.Pinned, "pinned"},
		changedPart{r.Edited, "edited"}, changedPart{r.Already, "as it was"})
	if err == nil && len(r.Kept) > 0 {
		err = c.Printf("%d kept\n", len(r.Kept))
	}
	if err == nil && changed > 0 {
		err = c.printCommitOf(plural(changed, "change"), false, r.DryRun, r.Branch, r.Commit)
	}
	if err != nil {
		return err
	}
	return c.Printf("%d left to review\n", r.Left)
}
