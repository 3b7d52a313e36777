package cli

import (
	"context"
	"strings"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// profilesJSON is what differs between retrieval profiles.
type profilesJSON struct {
	Default *fieldDiffJSON    `json:"default"`
	Fields  []fieldDiffJSON   `json:"fields,omitempty"`
	Changed []profileDiffJSON `json:"changed"`
}

type profileDiffJSON struct {
	Name   string          `json:"name"`
	Kind   repo.ChangeKind `json:"kind"`
	Fields []fieldDiffJSON `json:"fields"`
}

// jsonProfiles returns nil where nothing differs.
func jsonProfiles(d repo.ProfilesDiff) *profilesJSON {
	if d.Zero() {
		return nil
	}
	out := &profilesJSON{Changed: []profileDiffJSON{}}
	if d.Default != nil {
		out.Default = &jsonFields([]repo.FieldDiff{*d.Default})[0]
	}
	if len(d.Fields) > 0 {
		out.Fields = jsonFields(d.Fields)
	}
	for _, p := range d.Profiles {
		out.Changed = append(out.Changed, profileDiffJSON{p.Name, p.Kind, jsonFields(p.Fields)})
	}
	return out
}

// profileDiff returns what differs of the profiles, nothing where only some types are wanted.
func (o *diffOptions) profileDiff(ctx context.Context, d repo.Diff) (repo.ProfilesDiff, error) {
	if len(o.types) > 0 {
		return repo.ProfilesDiff{}, nil
	}
	return d.Profiles(ctx)
}

// printProfilesDiff prints what differs between retrieval profiles.
func (c *cli) printProfilesDiff(d repo.ProfilesDiff) error {
	if d.Default != nil {
		fields := []repo.FieldDiff{*d.Default}
		if err := c.printItemDiff(repo.Changed, "profiles", fields); err != nil {
			return err
		}
	}
	if len(d.Fields) > 0 {
		if err := c.printItemDiff(repo.Changed, "profiles", d.Fields); err != nil {
			return err
		}
	}
	for _, p := range d.Profiles {
		if err := c.printItemDiff(p.Kind, "profile "+line(p.Name), shareFields(p.Fields)); err != nil {
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

// profilesNote is what a line about a commit adds for its profiles.
func profilesNote(ctx context.Context, d repo.Diff) (string, error) {
	p, err := d.Profiles(ctx)
	if err != nil || p.Zero() {
		return "", err
	}
	return ", profiles " + line(strings.Join(ops.ChangedProfiles(p), " ")), nil
}
