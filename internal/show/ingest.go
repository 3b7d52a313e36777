package show

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// Ingested prints what became of files, and what was committed.
func (c *Console) Ingested(a *ops.Ingested) error {
	if c.Again && a.NoChange && a.Documents.Failed == 0 {
		return nil // what changed was nothing that is kept
	}
	for i := range a.Files {
		if err := c.printIngestedFile(&a.Files[i]); err != nil {
			return err
		}
	}
	if a.Records != nil {
		return cmp.Or(c.printRecords(a.Records), c.printCommit(&a.Committed))
	}
	n := &a.Documents
	var parts []string
	for _, one := range []struct {
		count int
		what  string
	}{
		{n.Added, "added"}, {n.Changed, "changed"}, {n.Renamed, "renamed"}, {n.Restored, "restored"},
		{n.Removed, "removed"}, {n.Retired, "retired"}, {n.Unchanged, "unchanged"}, {n.Skipped, "skipped"},
		{n.Failed, "failed"}, {n.Others, "of no known format"},
	} {
		if one.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.count, one.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	c.put("files: %s\n", strings.Join(parts, ", "))
	return c.printCommit(&a.Committed)
}

// printRecords prints what was read of another program's files.
func (c *Console) printRecords(n *ops.RecordCounts) error {
	parts := []string{}
	add := func(count int, what string) {
		if count > 0 {
			parts = append(parts, plural(count, what))
		}
	}
	add(n.Sessions, "session")
	add(n.Turns, "turn")
	memories := "memories"
	if n.Memories == 1 {
		memories = "memory"
	}
	if n.Memories > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n.Memories, memories))
	}
	add(n.Relations, "relation")
	if len(parts) == 0 {
		parts = append(parts, "nothing")
	}
	if n.Redacted > 0 {
		parts = append(parts, plural(n.Redacted, "credential")+" taken out")
	}
	c.put("read: %s\n", strings.Join(parts, ", "))
	for _, why := range slices.Sorted(maps.Keys(n.Skipped)) {
		c.put("skipped: %d, %s\n", n.Skipped[why], line(why))
	}
	return nil
}

func (c *Console) printIngestedFile(f *ops.IngestedFile) error {
	name := f.Path
	if f.Project != "" {
		name = f.Project + "/" + name
	}
	var more []string
	if f.From != "" {
		more = append(more, "from "+f.From)
	}
	if f.Chunks > 0 && f.Action != "removed" {
		more = append(more, plural(f.Chunks, "chunk"))
	}
	if f.Redacted > 0 {
		more = append(more, plural(f.Redacted, "credential")+" taken out")
	}
	if f.Why != "" {
		more = append(more, f.Why)
	}
	text := ""
	if len(more) > 0 {
		text = " (" + strings.Join(more, ", ") + ")"
	}
	style := ""
	if f.Action == "failed" || f.Action == "damaged" {
		style = Red
	}
	return c.Printf("%s  %s%s\n", c.Paint(style, f.Action), line(name), line(text))
}
