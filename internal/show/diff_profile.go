package show

import (
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// printProfilesDiff prints what differs between retrieval profiles, nil for nothing.
func (c *Console) printProfilesDiff(d *ops.ProfilesDiff) error {
	if d == nil {
		return nil
	}
	if d.Default != nil {
		if err := c.printItemDiff(repo.Changed, "profiles", []ops.FieldDiff{*d.Default}, false); err != nil {
			return err
		}
	}
	if len(d.Fields) > 0 {
		if err := c.printItemDiff(repo.Changed, "profiles", d.Fields, false); err != nil {
			return err
		}
	}
	for _, p := range d.Changed {
		if err := c.printItemDiff(p.Kind, "profile "+line(p.Name), shareFields(p.Fields), false); err != nil {
			return err
		}
	}
	return nil
}

// shareFields turns units of 2^-16 into the numbers that flags have.
func shareFields(fields []ops.FieldDiff) []ops.FieldDiff {
	show := func(name string, v ops.Raw) ops.Raw {
		units, err := ipld.ParseJSON(v)
		if v == nil || err != nil {
			return v
		}
		shown, _ := retrieve.Share(name, units)
		return ops.Value(&shown)
	}
	out := make([]ops.FieldDiff, len(fields))
	for i, f := range fields {
		out[i] = ops.FieldDiff{Field: f.Field, Old: show(f.Field, f.Old), New: show(f.Field, f.New)}
	}
	return out
}
