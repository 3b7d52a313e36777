package show

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ProfileRow is a profile in a list, with the flags that would set it.
func (c *Console) ProfileRow(p *asking.Profile) []Cell {
	mark, from, text := " ", "own", ""
	if p.Default {
		mark = "*"
	}
	if p.Builtin {
		from = "built in"
	}
	for _, row := range profileRows(p) {
		text += " --" + row[0].text + "=" + row[1].text
	}
	return []Cell{{mark + " " + p.Name, Bold}, {from, Dim}, {strings.TrimPrefix(text, " "), ""}}
}

// profileRows are what a profile says: names of flags and their values.
func profileRows(p *asking.Profile) (rows [][]Cell) {
	for _, typ := range p.Types {
		rows = append(rows, []Cell{{"for-type", ""}, {line(typ), ""}})
	}
	for _, e := range p.Params {
		rows = append(rows, []Cell{{line(retrieve.FlagName(e.Key)), ""}, {ParamText(e), ""}})
	}
	return rows
}

func (c *Console) Profile(p *asking.Profile) error {
	title := "the repository's own"
	if p.Builtin {
		title = "built in: " + p.About
	}
	if p.Default {
		title += "; the default"
	}
	c.put("%s  %s\n", c.Paint(Bold, line(p.Name)), title)
	rows := profileRows(p)
	for _, row := range rows {
		row[0].text = "  " + row[0].text
	}
	c.putTable(rows)
	if p.Misfit != "" {
		return c.Printf("%s\n", line("does not count: "+p.Misfit))
	}
	return nil
}

func (c *Console) ProfilesChanged(p *asking.ProfilesChanged) error {
	if p.NoChange {
		return c.Printf("nothing to commit\n")
	}
	c.put("[%s %s]\n", c.Paint(Cyan, line(p.Branch)),
		c.commit(p.Commit))
	return c.printProfilesDiff(p.Profiles)
}

// ParamText is the value of a parameter as the flag of its name takes it.
func ParamText(e ipld.Entry) string {
	v, _ := retrieve.Share(e.Key, e.Value)
	return plainText(v)
}

func plainText(v ipld.Value) string {
	switch v.Kind() {
	case ipld.String:
		return line(v.Text())
	case ipld.Float:
		return fmt.Sprint(v.Float())
	case ipld.List:
		parts := make([]string, len(v.List()))
		for i, item := range v.List() {
			parts[i] = plainText(item)
		}
		return strings.Join(parts, ",")
	case ipld.Map:
		parts := make([]string, len(v.Entries()))
		for i, e := range v.Entries() {
			parts[i] = line(e.Key) + "=" + plainText(e.Value)
		}
		return strings.Join(parts, ",")
	}
	return line(string(ipld.AppendJSON(nil, v)))
}

// printProfilesDiff prints what differs between retrieval profiles, nil for nothing.
func (c *Console) printProfilesDiff(d *branching.ProfilesDiff) error {
	if d == nil {
		return nil
	}
	if d.Default != nil {
		if err := c.printItemDiff(state.Changed, "profiles", []reading.FieldDiff{*d.Default}, false); err != nil {
			return err
		}
	}
	if len(d.Fields) > 0 {
		if err := c.printItemDiff(state.Changed, "profiles", d.Fields, false); err != nil {
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
func shareFields(fields []reading.FieldDiff) []reading.FieldDiff {
	show := func(name string, v verb.Raw) verb.Raw {
		units, err := ipld.ParseJSON(v)
		if v == nil || err != nil {
			return v
		}
		shown, _ := retrieve.Share(name, units)
		return verb.Value(&shown)
	}
	out := make([]reading.FieldDiff, len(fields))
	for i, f := range fields {
		out[i] = reading.FieldDiff{Field: f.Field, Old: show(f.Field, f.Old), New: show(f.Field, f.New)}
	}
	return out
}
