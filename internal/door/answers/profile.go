package answers

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ProfileRow is a profile in a list, with what it sets; nil for one that was asked for by its name and for a change,
// which are printed at once.
func ProfileRow(c *show.Console, answer any) []show.Cell {
	switch a := answer.(type) {
	case *asking.ProfilesChanged:
		_ = profilesChanged(c, a)
	case *asking.Profile:
		if !a.Alone {
			return profileRow(a)
		}
		_ = profile(c, a)
	}
	return nil
}

func profileRow(p *asking.Profile) []show.Cell {
	mark, from, text := " ", "own", ""
	if p.Default {
		mark = "*"
	}
	if p.Builtin {
		from = "built in"
	}
	for _, row := range profileRows(p) {
		text += " " + row[0].Text + "=" + row[1].Text
	}
	return []show.Cell{{Text: mark + " " + p.Name, Style: show.Bold}, {Text: from, Style: show.Dim}, {Text: strings.TrimPrefix(text, " "), Style: ""}}
}

// profileRows returns a profile's flags and their values.
func profileRows(p *asking.Profile) (rows [][]show.Cell) {
	for _, typ := range p.Types {
		rows = append(rows, []show.Cell{{Text: "type", Style: ""}, {Text: show.Line(typ), Style: ""}})
	}
	for _, e := range p.Params {
		rows = append(rows, []show.Cell{{Text: show.Line(retrieve.FlagName(e.Key)), Style: ""}, {Text: ParamText(e), Style: ""}})
	}
	return rows
}

func profile(c *show.Console, p *asking.Profile) error {
	title := "the repository's own"
	if p.Builtin {
		title = "built in: " + p.About
	}
	if p.Default {
		title += "; the default"
	}
	c.Put("%s  %s\n", c.Paint(show.Bold, show.Line(p.Name)), title)
	rows := profileRows(p)
	for _, row := range rows {
		row[0].Text = "  " + row[0].Text
	}
	c.PutTable(rows)
	if p.Misfit != "" {
		return c.Printf("%s\n", show.Line("does not count: "+p.Misfit))
	}
	return nil
}

func profilesChanged(c *show.Console, p *asking.ProfilesChanged) error {
	if p.NoChange {
		return c.Printf("nothing to commit\n")
	}
	c.Put("[%s %s]\n", c.Paint(show.Cyan, show.Line(p.Branch)),
		c.Commit(p.Commit))
	return printProfilesDiff(c, p.Profiles)
}

// ParamText is the value of a parameter as the flag of its name takes it.
func ParamText(e ipld.Entry) string {
	v, _ := retrieve.Share(e.Key, e.Value)
	return plainText(v)
}

func plainText(v ipld.Value) string {
	switch v.Kind() {
	case ipld.String:
		return show.Line(v.Text())
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
			parts[i] = show.Line(e.Key) + "=" + plainText(e.Value)
		}
		return strings.Join(parts, ",")
	}
	return show.Line(string(ipld.AppendJSON(nil, v)))
}

// printProfilesDiff prints what differs between retrieval profiles, nil for nothing.
func printProfilesDiff(c *show.Console, d *rank.ProfilesDiff) error {
	if d == nil {
		return nil
	}
	if d.Default != nil {
		if err := printItemDiff(c, state.Changed, "profiles", []state.FieldDiff{*d.Default}, false); err != nil {
			return err
		}
	}
	if len(d.Fields) > 0 {
		if err := printItemDiff(c, state.Changed, "profiles", d.Fields, false); err != nil {
			return err
		}
	}
	for _, p := range d.Profiles {
		if err := printItemDiff(c, p.Kind, "profile "+show.Line(p.Name), shareFields(p.Fields), false); err != nil {
			return err
		}
	}
	return nil
}

// shareFields turns units of 2^-16 into the numbers that flags have.
func shareFields(fields []state.FieldDiff) []state.FieldDiff {
	show := func(name string, v *ipld.Value) *ipld.Value {
		if v == nil {
			return nil
		}
		shown, _ := retrieve.Share(name, *v)
		return &shown
	}
	out := make([]state.FieldDiff, len(fields))
	for i, f := range fields {
		out[i] = state.FieldDiff{Field: f.Field, Old: show(f.Field, f.Old), New: show(f.Field, f.New)}
	}
	return out
}
