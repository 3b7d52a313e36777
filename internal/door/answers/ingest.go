package answers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/remembering"
)

// Ingested prints what became of files, and what was committed.
func Ingested(c *show.Console, a *ingesting.Ingested) error {
	files := unsaid(c, a.Files)
	if c.Again && a.NoChange && len(files) == 0 {
		return nil // what changed was nothing that is kept
	}
	for i := range files {
		if !c.Quiet || files[i].Why != "" {
			printIngestedFile(c, &files[i])
		}
	}
	if a.Records != nil {
		return cmp.Or(printRecords(c, a.Records), printCommit(c, &a.Committed))
	}
	n := &a.Documents
	tables := "tables"
	if n.Tables == 1 {
		tables = "table"
	}
	var parts []string
	for _, one := range []struct {
		count int
		what  string
	}{
		{n.Added, "added"}, {n.Changed, "changed"}, {n.Renamed, "renamed"}, {n.Restored, "restored"},
		{n.Removed, "removed"}, {n.Retired, "retired"}, {n.Unchanged, "unchanged"}, {n.Skipped, "skipped"}, {n.Empty, "empty"},
		{n.Failed, "failed"}, {n.Tables, tables + " without --map"}, {n.Others - n.Tables, "of no known format"},
	} {
		if one.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.count, one.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	c.Put("files: %s\n", strings.Join(parts, ", "))
	return printCommit(c, &a.Committed)
}

// unsaid returns the files without those whose omission the previous run of a watch has explained already.
func unsaid(c *show.Console, files []ingesting.IngestedFile) (out []ingesting.IngestedFile) {
	left := make(map[ingesting.IngestedFile]bool)
	for _, f := range files {
		if f.Why == "" || !c.Left[f] {
			out = append(out, f)
		}
		left[f] = f.Why != ""
	}
	c.Left = left
	return out
}

// printRecords prints what was read of another program's files.
func printRecords(c *show.Console, n *ingest.Taken) error {
	parts := []string{}
	add := func(count int, what string) {
		if count > 0 {
			parts = append(parts, show.Plural(count, what))
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
		parts = append(parts, show.Plural(n.Redacted, "credential")+" taken out")
	}
	c.Put("read: %s\n", strings.Join(parts, ", "))
	var left []string
	for _, kind := range slices.Sorted(maps.Keys(n.Skipped)) {
		left = append(left, fmt.Sprintf("%d %s", n.Skipped[kind], show.Line(kind)))
	}
	if len(left) > 0 {
		c.Put("left out: %s\n", strings.Join(left, ", "))
	}
	return nil
}

func printIngestedFile(c *show.Console, f *ingesting.IngestedFile) {
	name := f.Path
	if f.Project != "" {
		name = f.Project + "/" + name
	}
	var more []string
	if f.From != "" {
		more = append(more, "from "+f.From)
	}
	if f.Chunks > 0 && f.Action != "removed" {
		more = append(more, show.Plural(f.Chunks, "chunk"))
	}
	if f.Redacted > 0 {
		more = append(more, show.Plural(f.Redacted, "credential")+" taken out")
	}
	if f.Left != "" {
		more = append(more, "left out: "+f.Left)
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
		style = show.Red
	}
	c.Put("%s  %s%s\n", c.Paint(style, f.Action), show.Line(name), show.Line(text))
}

// Captured prints what became of what hooks noted.
func Captured(c *show.Console, q *ingesting.CaptureRequest, a *ingesting.Captured) error {
	if q.Retire {
		return printRetired(c, a)
	}
	said := fmt.Sprintf("%s of %s", show.Plural(a.Turns, "turn"), show.Plural(a.Sessions, "session"))
	if a.Redacted > 0 {
		said += fmt.Sprintf(", %s taken out", show.Plural(a.Redacted, "credential"))
	}
	if a.Left > 0 {
		said += fmt.Sprintf("; %s left whose transcripts cannot be read now", show.Plural(a.Left, "session"))
	}
	if a.Retired > 0 {
		said += fmt.Sprintf("; %s retired", show.Plural(a.Retired, "turn"))
	}
	if a.Receipts > 0 {
		said += fmt.Sprintf("; %s of what agents were given", show.Plural(a.Receipts, "receipt"))
	}
	if a.Commit.Defined() {
		said += " in commit " + a.Commit.String()
	}
	return c.Printf("%s\n", said)
}

// printRetired prints how many turns were retired.
func printRetired(c *show.Console, a *ingesting.Captured) error {
	switch {
	case a.DryRun:
		return c.Printf("%s would be retired\n", show.Plural(a.Retired, "turn"))
	case a.Commit.Defined():
		return c.Printf("%s retired in commit %s\n", show.Plural(a.Retired, "turn"), a.Commit)
	}
	return c.Printf("%s retired\n", show.Plural(a.Retired, "turn"))
}

func Embedded(c *show.Console, out *ingesting.Embedded) error {
	if out.Status != nil {
		return embedStatus(c, out)
	}
	verb, place := "embedded", ""
	switch {
	case out.DryRun:
		verb = "would embed"
	case out.Commits > 0:
		place = fmt.Sprintf("%s ", c.At(out.Branch, out.Commit))
	}
	text := fmt.Sprintf("%s%s %s with %s", place, verb, show.Plural(out.Embedded, "node"), show.Line(out.Model))
	if out.Dim != nil {
		text += fmt.Sprintf(" (%s)", show.Plural(*out.Dim, "dimension"))
	}
	for _, n := range []struct {
		count int
		what  string
	}{
		{out.Unchanged, "unchanged"}, {out.Stale, "stale"}, {out.Skipped, "without text to embed"},
		{out.TooLong, "too long"}, {out.Remaining, "left by --limit"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	c.Put("%s\n", text)
	if out.Stale > 0 {
		c.Remark("note: stale embeddings are of an older text of their nodes; --stale embeds them again")
	}
	return nil
}

// embedStatus prints how much of a branch has embeddings, and what is done about the rest.
func embedStatus(c *show.Console, out *ingesting.Embedded) error {
	st := out.Status
	text := fmt.Sprintf("%s %d of %s have vectors by %s", c.At(out.Branch, out.Commit), st.Vectors,
		show.Plural(st.Nodes, "node"), show.Line(out.Model))
	for _, n := range []struct {
		count int
		what  string
	}{
		{out.Stale, "of an older text"}, {st.Missing, "missing"}, {out.Skipped, "without text to embed"}, {out.TooLong, "too long"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	c.Put("%s\n", text)
	switch {
	case st.Running:
		c.Put("the process that has the repository open embeds now\n")
	case st.Missing == 0:
	case st.ByItself:
		c.Put("the process that has the repository open embeds what is written; 'mnem embed' embeds these at once\n")
	case st.Resumes:
		c.Put("'mnem embed' goes on where it was interrupted\n")
	default:
		c.Put("'mnem embed' embeds them\n")
	}
	return nil
}

// Cues prints one page of memories with their cues, or what a model wrote.
func Cues(c *show.Console, answer any) error {
	if w, ok := answer.(*remember.CuesWritten); ok {
		return printCuesWritten(c, w)
	}
	list := answer.(*remembering.CueList)
	err := list.Nodes(func(n remembering.CuedMemory) error {
		return c.Printf("%s\n", show.JoinText(c.Paint(show.Bold, nodeLabel(n.Key, n.ID)), show.Word(n.Type),
			c.Paint(show.Dim, show.Brief(string(n.Summary), show.SummaryWidth)), show.Line(strings.Join(n.Cues, "; "))))
	})
	if err == nil && list.Next != "" {
		c.Remark("more follows: --after %s", list.Next)
	}
	return err
}

func printCuesWritten(c *show.Console, w *remember.CuesWritten) error {
	place := ""
	if w.Commits > 0 {
		place = fmt.Sprintf("%s ", c.At(w.Branch, w.Commit))
	}
	text := fmt.Sprintf("%s%s written", place, show.Plural(w.Cues, "cue"))
	if w.Memories > 0 {
		text += fmt.Sprintf(" for %d memories in %s", w.Memories, show.Plural(w.Commits, "commit"))
	}
	if w.Skipped > 0 {
		text += fmt.Sprintf(", %d without any", w.Skipped)
	}
	if w.Remaining > 0 {
		text += fmt.Sprintf(", %d left by --limit", w.Remaining)
	}
	return c.Printf("%s\n", text)
}

// Sources prints what became of sources, or what was taken over.
func Sources(c *show.Console, answer any) error {
	if taken, ok := answer.(*ingesting.SourcesAccepted); ok {
		return accepted(c, taken)
	}
	d := answer.(*ingesting.SourcesDiff)
	err := d.Sources(func(s ingesting.SourceCheck) error { return printSourceCheck(c, &s) })
	if err == nil {
		err = c.Printf("%s\n", sourceSummary(&d.Counts))
	}
	if err != nil || d.Marking == nil {
		return err
	}
	return Marked(c, d.Marking)
}

func sourceSummary(n *ingesting.SourceCounts) string {
	var parts []string
	for _, state := range []struct {
		name  string
		count int
	}{
		{"unchanged", n.Unchanged}, {"moved", n.Moved}, {"changed", n.Changed}, {"removed", n.Removed},
		{"unhashed", n.Unhashed}, {"unreadable", n.Unreadable}, {"unchecked", n.Unchecked},
	} {
		if state.count > 0 {
			parts = append(parts, show.Plural(state.count, state.name+" source"))
		}
	}
	if len(parts) == 0 {
		return "no sources"
	}
	return strings.Join(parts, ", ")
}

func printSourceCheck(c *show.Console, s *ingesting.SourceCheck) error {
	style := show.Red
	if !s.Gone {
		style = ""
	}
	text := s.Place
	if s.MovedTo != "" {
		text += " -> " + s.MovedTo
	}
	if s.Why != "" {
		text += " (" + string(s.Why) + ")"
	}
	return c.Printf("%s  %s  %s\n", c.Paint(style, string(s.State)),
		c.Paint(show.Bold, nodeLabel(s.Key, s.Node)), show.Line(text))
}

// accepted prints the sources as they are now, with the text.
func accepted(c *show.Console, r *ingesting.SourcesAccepted) error {
	for i := range r.Sources {
		s := &r.Sources[i]
		if err := printSourceCheck(c, s); err != nil {
			return err
		}
		if s.Span == nil || *s.Span == "" {
			continue
		}
		for l := range strings.SplitSeq(strings.TrimRight(*s.Span, "\n"), "\n") {
			c.Put("  | %s\n", show.Line(l))
		}
	}
	return printCommit(c, r.Committed)
}
