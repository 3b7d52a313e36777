package show

import (
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/trade"
)

func (c *Console) Remote(r place.Remote) error {
	if err := c.Printf("%s is %s\n", c.Paint(Cyan, line(r.Name)), line(r.URL)); err != nil || r.AcceptPurge == "" {
		return err
	}
	return c.Printf("what is purged there is erased here, as it comes\n")
}

func (c *Console) Pruned(p *trade.Pruned) error {
	if len(p.Refs) == 0 {
		return c.Printf("nothing to forget: %s has all of them\n", line(p.Remote))
	}
	if err := c.printRefMoves(p.Refs); err != nil {
		return err
	}
	did := "forgot"
	if p.DryRun {
		did = "would forget"
	}
	return c.Printf("%s %s of %s\n", did, plural(len(p.Refs), "ref"), line(p.Remote))
}

// Quarantine prints what remotes say was erased, or what became of it.
func (c *Console) Quarantine(answer any) error {
	if d, ok := answer.(*ops.QuarantineDecided); ok {
		if d.ErasurePending {
			c.Remark("warning: the bytes are still in the files: the disk has no room to write these anew")
		}
		return c.Printf("erased %s, closed %s; %d of %s wait\n", plural(len(d.Erased), "block"),
			plural(len(d.Closed), "gap"), d.Waiting, line(d.Remote))
	}
	var rows [][]Cell
	for _, r := range answer.(*ops.Quarantine).Redactions {
		rows = append(rows, []Cell{{string(r.Decision), ""}, {r.CID.String(), Yellow}, {r.What, ""},
			{r.Time.String(), Dim}, {line(string(r.Actor)), Cyan}, {line(string(r.Reason)), ""}})
	}
	return c.Table(rows)
}
