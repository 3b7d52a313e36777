package show

import (
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Distilled(d *ops.Distilled) error {
	if d.Skipped {
		c.Remark("no digests were kept before: 'mnem distill' begins them")
		return nil
	}
	if d.Made == 0 {
		return c.Printf("up to date: %s, %s\n", plural(d.Facts, "fact"), plural(d.Scopes, "scope"))
	}
	return c.Printf("%s made, of %s in %s\n", plural(d.Made, "digest"), plural(d.Facts, "fact"),
		plural(d.Scopes, "scope"))
}

func (c *Console) Map(m *ops.MapAnswer) error {
	if m.Printed == "" {
		c.Remark("nothing is in the memory")
		return nil
	}
	return c.Printf("%s\n", plain.Lines(string(m.Printed)))
}

func (c *Console) Digest(d *ops.DigestAnswer) error {
	head := fmt.Sprintf("%s %s: %s", d.Kind, d.Name, plural(d.Facts, "fact"))
	if d.Kind == string(d.Name) {
		head = fmt.Sprintf("%s: %s", d.Kind, plural(d.Facts, "fact"))
	}
	if d.Title != "" && d.Title != d.Name && len(d.Text) != 1 {
		head += ", " + string(d.Title)
	}
	c.put("%s\n", line(head))
	if d.Source == "" {
		return c.failed()
	}
	c.put("source %s\nsem %s\n", d.Source, d.Sem)
	for _, s := range d.Text {
		c.put("[%.8s] %s\n", s.Fact, line(string(s.Text)))
	}
	for _, name := range d.Above {
		c.put("in %s\n", line(string(name)))
	}
	var rows [][]Cell
	for _, k := range d.Children {
		rows = append(rows, []Cell{{line(string(k.Name)), Bold}, {strconv.Itoa(k.Facts), ""},
			{brief(string(k.Title), SummaryWidth), Dim}})
	}
	for _, f := range d.Members {
		rows = append(rows, []Cell{{nodeLabel(f.Key, f.ID), Bold}, {"", ""},
			{brief(string(f.Title), SummaryWidth), Dim}})
	}
	if len(rows) > 0 {
		c.put("\n")
		c.putTable(rows)
	}
	if d.More > 0 {
		c.put("... (+%d more)\n", d.More)
	}
	for _, id := range d.Expired {
		c.put("expired %s\n", id)
	}
	if d.Refused > 0 {
		return c.Printf("left out since they may hold a credential: %s\n", plural(d.Refused, "sentence"))
	}
	return nil
}

func (c *Console) Resolved(r *ops.ResolveAnswer) error {
	if len(r.Found) == 0 {
		c.Remark("nothing has that hash, or one near it")
		return nil
	}
	var rows [][]Cell
	for _, f := range r.Found {
		rows = append(rows, []Cell{{strconv.Itoa(f.Distance), Dim}, {f.Kind, ""},
			{line(string(f.Name)), Bold}, {brief(string(f.Title), SummaryWidth), Dim}})
	}
	c.putTable(rows)
	if r.More > 0 {
		return c.Printf("... (+%d more)\n", r.More)
	}
	return nil
}
