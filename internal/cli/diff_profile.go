package cli

import (
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// printProfilesDiff prints what differs between retrieval profiles.
func (c *cli) printProfilesDiff(d repo.ProfilesDiff) error {
	if d.Default != nil {
		fields := ops.FieldDiffs([]repo.FieldDiff{*d.Default})
		if err := c.printItemDiff(repo.Changed, "profiles", fields); err != nil {
			return err
		}
	}
	if len(d.Fields) > 0 {
		if err := c.printItemDiff(repo.Changed, "profiles", ops.FieldDiffs(d.Fields)); err != nil {
			return err
		}
	}
	for _, p := range d.Profiles {
		if err := c.printItemDiff(p.Kind, "profile "+line(p.Name),
			ops.FieldDiffs(shareFields(p.Fields))); err != nil {
			return err
		}
	}
	return nil
}

// shareFields turns units of 2^-16 into the numbers that flags have.
func shareFields(fields []repo.FieldDiff) []repo.FieldDiff {
	show := func(name string, v *ipld.Value) *ipld.Value {
		if v == nil {
			return nil
		}
		shown, _ := retrieve.Share(name, *v)
		return &shown
	}
	out := make([]repo.FieldDiff, len(fields))
	for i, f := range fields {
		out[i] = repo.FieldDiff{Field: f.Field, Old: show(f.Field, f.Old), New: show(f.Field, f.New)}
	}
	return out
}
