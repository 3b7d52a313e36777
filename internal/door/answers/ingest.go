package answers

import (
	"cmp"
	"fmt"
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
		printRecords(c, a.Records)
		return printCommit(c, &a.Committed)
	}
	n := &a.Documents
	tables := "tables"
	if n.Tables == 1 {
		tables = "table"
	}
	parts := counts(count{n.Added, "added"}, count{n.Changed, "changed"}, count{n.Renamed, "renamed"},
		count{n.Restored, "restored"}, count{n.Removed, "removed"}, count{n.Retired, "retired"},
		count{n.Unchanged, "unchanged"}, count{n.Skipped, "skipped"}, count{n.Empty, "empty"}, count{n.Failed, "failed"},
		count{n.Tables, tables + " without --map"}, count{n.Others - n.Tables, "of no known format"})
	c.Put("files: %s\n", cmp.Or(strings.Join(parts, ", "), "none"))
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

func printRecords(c *show.Console, n *ingest.Taken) {
	parts := []string{}
	add := func(count int, text string) {
		if count > 0 {
			parts = append(parts, text)
		}
	}
	add(n.Sessions, show.Plural(n.Sessions, "session"))
	add(n.Turns, show.Plural(n.Turns, "turn"))
	add(n.Memories, memoriesText(n.Memories))
	add(n.Relations, show.Plural(n.Relations, "relation"))
	if len(parts) == 0 {
		parts = append(parts, "nothing")
	}
	add(n.Redacted, show.Plural(n.Redacted, "credential")+" taken out")
	c.Put("read: %s\n", strings.Join(parts, ", "))
	if left := countsByName(n.Skipped); len(left) > 0 {
		c.Put("left out: %s\n", strings.Join(left, ", "))
	}
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
	rest := counts(count{out.Unchanged, "unchanged"}, count{out.Stale, "stale"}, count{out.Skipped, "without text to embed"},
		count{out.TooLong, "too long"}, count{out.Remaining, "left by --limit"})
	c.Put("%s\n", strings.Join(append([]string{text}, rest...), ", "))
	if out.Stale > 0 {
		c.Remark("note: stale embeddings are of an older text of their nodes; --stale embeds them again")
	}
	return c.Failed()
}

func embedStatus(c *show.Console, out *ingesting.Embedded) error {
	st := out.Status
	text := fmt.Sprintf("%s %d of %s have vectors by %s", c.At(out.Branch, out.Commit), st.Vectors,
		show.Plural(st.Nodes, "node"), show.Line(out.Model))
	rest := counts(count{out.Stale, "of an older text"}, count{st.Missing, "missing"},
		count{out.Skipped, "without text to embed"}, count{out.TooLong, "too long"})
	c.Put("%s\n", strings.Join(append([]string{text}, rest...), ", "))
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
	return c.Failed()
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
	rest := counts(count{w.Skipped, "without any"}, count{w.Remaining, "left by --limit"})
	return c.Printf("%s\n", strings.Join(append([]string{text}, rest...), ", "))
}

// Sources prints what became of sources, or what was taken over.
func Sources(c *show.Console, answer any) error {
	if taken, ok := answer.(*ingesting.SourcesAccepted); ok {
		return accepted(c, taken)
	}
	d := answer.(*ingesting.SourcesDiff)
	if err := d.Sources(func(s ingesting.SourceCheck) error { return printSourceCheck(c, &s) }); err != nil {
		return err
	}
	c.Put("%s\n", sourceSummary(&d.Counts))
	if d.Marking == nil {
		return c.Failed()
	}
	return Marked(c, d.Marking)
}

func sourceSummary(n *ingesting.SourceCounts) string {
	var parts []string
	for _, state := range []count{
		{n.Unchanged, "unchanged"}, {n.Moved, "moved"}, {n.Changed, "changed"}, {n.Removed, "removed"},
		{n.Unhashed, "unhashed"}, {n.Unreadable, "unreadable"}, {n.Unchecked, "unchecked"},
	} {
		if state.n > 0 {
			parts = append(parts, show.Plural(state.n, state.what+" source"))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no sources")
}

func printSourceCheck(c *show.Console, s *ingesting.SourceCheck) error {
	style := ""
	if s.Gone {
		style = show.Red
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

func accepted(c *show.Console, r *ingesting.SourcesAccepted) error {
	for i := range r.Sources {
		s := &r.Sources[i]
		if _ = printSourceCheck(c, s); s.Span == nil || *s.Span == "" {
			continue
		}
		for l := range strings.SplitSeq(strings.TrimRight(*s.Span, "\n"), "\n") {
			c.Put("  | %s\n", show.Line(l))
		}
	}
	return printCommit(c, r.Committed)
}
