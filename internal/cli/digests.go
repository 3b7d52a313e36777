package cli

import (
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) printDistilled(d *ops.Distilled) error {
	if d.Skipped {
		c.remark("no digests were kept before: 'mnem distill' begins them")
		return nil
	}
	if d.Made == 0 {
		return c.printf("up to date: %s, %s\n", plural(d.Facts, "fact"), plural(d.Scopes, "scope"))
	}
	return c.printf("%s made, of %s in %s\n", plural(d.Made, "digest"), plural(d.Facts, "fact"),
		plural(d.Scopes, "scope"))
}

func (c *cli) printMap(m *ops.MapAnswer) error {
	if m.Printed == "" {
		c.remark("nothing is in the memory")
		return nil
	}
	return c.printf("%s\n", printable(string(m.Printed)))
}

func (c *cli) printDigest(d *ops.DigestAnswer) error {
	head := fmt.Sprintf("%s %s: %s", d.Kind, d.Name, plural(d.Facts, "fact"))
	if d.Kind == string(d.Name) {
		head = fmt.Sprintf("%s: %s", d.Kind, plural(d.Facts, "fact"))
	}
	if d.Title != "" && d.Title != d.Name && len(d.Text) != 1 {
		head += ", " + string(d.Title)
	}
	if err := c.printf("%s\n", line(head)); err != nil || d.Source == "" {
		return err
	}
	if err := c.printf("source %s\nsem %s\n", d.Source, d.Sem); err != nil {
		return err
	}
	for _, s := range d.Text {
		if err := c.printf("[%.8s] %s\n", s.Fact, line(string(s.Text))); err != nil {
			return err
		}
	}
	for _, name := range d.Above {
		if err := c.printf("in %s\n", line(string(name))); err != nil {
			return err
		}
	}
	var rows [][]cell
	for _, k := range d.Children {
		rows = append(rows, []cell{{line(string(k.Name)), styleBold}, {strconv.Itoa(k.Facts), ""},
			{brief(string(k.Title), summaryWidth), styleDim}})
	}
	for _, f := range d.Members {
		rows = append(rows, []cell{{nodeLabel(f.Key, f.ID), styleBold}, {"", ""},
			{brief(string(f.Title), summaryWidth), styleDim}})
	}
	if len(rows) > 0 {
		if err := c.printf("\n"); err != nil {
			return err
		}
		if err := c.table(rows); err != nil {
			return err
		}
	}
	if d.More > 0 {
		if err := c.printf("... (+%d more)\n", d.More); err != nil {
			return err
		}
	}
	for _, id := range d.Expired {
		if err := c.printf("expired %s\n", id); err != nil {
			return err
		}
	}
	if d.Refused > 0 {
		return c.printf("left out since they may hold a credential: %s\n", plural(d.Refused, "sentence"))
	}
	return nil
}

func (c *cli) printResolved(r *ops.ResolveAnswer) error {
	if len(r.Found) == 0 {
		c.remark("nothing has that hash, or one near it")
		return nil
	}
	var rows [][]cell
	for _, f := range r.Found {
		rows = append(rows, []cell{{strconv.Itoa(f.Distance), styleDim}, {f.Kind, ""},
			{line(string(f.Name)), styleBold}, {brief(string(f.Title), summaryWidth), styleDim}})
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if r.More > 0 {
		return c.printf("... (+%d more)\n", r.More)
	}
	return nil
}
