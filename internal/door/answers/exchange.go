package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/vault"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

func Export(c *show.Console, res *transfer.Exported) error {
	if l := res.Lines; l != nil {
		return exportedLines(c, res.File, l)
	}
	if m := res.Markdown; m != nil {
		return exportedNotes(c, res.File, m)
	}
	if res.File == "-" {
		c.Remark("exported %s, %s", show.Plural(res.Blocks, "block"), show.Plural(int(res.Bytes), "byte"))
		return nil
	}
	var rows [][]show.Cell
	for _, ref := range res.Refs {
		rows = append(rows, show.Row(show.Line(string(ref.Name)), show.Cyan, show.ShortCID(ref.Target), show.Yellow))
	}
	for _, o := range res.Objects {
		rows = append(rows, show.Row("without a ref", show.Dim, show.ShortCID(o), show.Yellow))
	}
	for _, s := range res.Since {
		rows = append(rows, show.Row("needs", show.Dim, show.ShortCID(s), show.Yellow))
	}
	c.PutTable(rows)
	if res.Redacted > 0 {
		c.Remark("%s %s erased: the file says so and has the rest", show.Plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	return c.Printf("exported %s, %s to %s\n", show.Plural(res.Blocks, "block"),
		show.Plural(int(res.Bytes), "byte"), show.Line(res.File))
}

// exportedNotes prints which notes were written, and what they omit.
func exportedNotes(c *show.Console, dir string, m *vault.Result) error {
	remarkLeft(c, m.Left)
	if rebuilt := m.Documents - m.Exact; rebuilt > 0 {
		c.Remark("%s rebuilt from the memory: not the bytes of the file", show.Plural(rebuilt, "document"))
	}
	return c.Printf("exported %s, %s, %s, %s to %s: %s written, %d unchanged, %d removed\n", show.Plural(m.Notes, "note"),
		show.Plural(m.Documents, "document"), show.Plural(m.Edges, "edge"), show.Plural(m.Marks, "mark"), show.Line(dir),
		show.Plural(m.Written, "file"), m.Unchanged, m.Removed)
}

func remarkLeft(c *show.Console, kinds map[string]int) {
	if left := countsByName(kinds); len(left) > 0 {
		c.Remark("left out: %s", strings.Join(left, ", "))
	}
}

// exportedLines says what change lines were written, and what they cannot say.
func exportedLines(c *show.Console, file string, l *exchange.LinesResult) error {
	remarkLeft(c, l.Left)
	what := fmt.Sprintf("exported %s, %s, %s", show.Plural(l.Nodes, "node"), show.Plural(l.Edges, "edge"),
		show.Plural(l.Marks, "mark"))
	if file == "-" {
		c.Remark("%s", what)
		return nil
	}
	return c.Printf("%s to %s\n", what, show.Line(file))
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func Import(c *show.Console, q *transfer.ImportRequest, res *transfer.Imported) error {
	warnSecrets(c, res.Warnings)
	if len(res.Refs) == 0 {
		return c.Printf("nothing to import: all of %s is here already\n", show.Line(q.File))
	}
	printRefMoves(c, res.Refs)
	did := "imported"
	if res.DryRun {
		did = "would import"
	}
	if res.Redacted > 0 {
		c.Remark("%s of the file %s erased here: left out", show.Plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	if res.Redactions > 0 {
		c.Remark("%s %s erased where the file is from", show.Plural(res.Redactions, "block"),
			wasWere(res.Redactions))
	}
	if res.Head != "" {
		did = "on branch " + show.Line(string(res.Head)) + ": " + did
	}
	return c.Printf("%s %s, %d of %s new\n", did, show.Plural(len(res.Refs), "ref"), res.NewBlocks,
		show.Plural(res.Blocks, "block"))
}

func PackSent(c *show.Console, a *transfer.PackSent) error {
	if a.File == "-" {
		c.Remark("packed %s", plain.Bytes(a.Bytes))
		return nil
	}
	return c.Printf("packed %s into %s\n", plain.Bytes(a.Bytes), show.Line(a.File))
}

// remarkPending warns of bytes that were erased and are still in the files, and says why.
func remarkPending(c *show.Console, pending bool, denied verb.Text) {
	switch {
	case denied != "":
		c.Remark("warning: the bytes are still in the tables: %s", show.Line(string(denied)))
	case pending:
		c.Remark("warning: the bytes are still in the files: the disk has no room to rewrite them")
	}
}

func Remote(c *show.Console, r place.Remote) error {
	c.Put("%s is %s\n", c.Paint(show.Cyan, show.Line(r.Name)), show.Line(r.URL))
	if r.AcceptPurge != "" {
		c.Put("what is purged there is erased here, as it comes\n")
	}
	return c.Failed()
}

// Quarantine prints what remotes say was erased, or what became of it.
func Quarantine(c *show.Console, answer any) error {
	if d, ok := answer.(*transfer.QuarantineDecided); ok {
		remarkPending(c, d.ErasurePending, d.ErasureDenied)
		return c.Printf("erased %s, closed %s; %d of %s wait\n", show.Plural(len(d.Erased), "block"),
			show.Plural(len(d.Closed), "gap"), d.Waiting, show.Line(d.Remote))
	}
	var rows [][]show.Cell
	for _, r := range answer.(*transfer.Quarantine).Redactions {
		rows = append(rows, show.Row(string(r.Decision), "", r.CID.String(), show.Yellow, r.What, "",
			r.Time.String(), show.Dim, show.Line(string(r.Actor)), show.Cyan, show.Line(string(r.Reason)), ""))
	}
	return c.Table(rows)
}

func Fetch(c *show.Console, f *remote.Fetched) error {
	did := "fetched"
	if f.DryRun {
		did = "would fetch"
	}
	printRefMoves(c, f.Refs)
	for _, tag := range f.Clashing {
		c.Remark("note: %s is elsewhere here and stays; it is under %s", show.Line(string(tag)),
			show.Line(string(remote.Tracking(f.Remote, tag))))
	}
	RemarkLearned(c, f.Remote, f.Learned)
	remarkSkewed(c, f.Skewed)
	remarkWentBack(c, f.WentBack)
	if len(f.Refs) == 0 {
		return c.Printf("nothing new from %s\n", show.Line(f.Remote))
	}
	return c.Printf("%s %s from %s: %s, %s new\n", did, show.Plural(len(f.Refs), "ref"), show.Line(f.Remote),
		plain.Bytes(f.Bytes), show.Plural(f.NewBlocks, "block"))
}

// RemarkLearned says what was erased where something came from.
func RemarkLearned(c *show.Console, name string, l remote.Learned) {
	if n := l.Gaps; n > 0 {
		c.Remark("note: %s of what came %s erased at %s: they are gaps here", show.Plural(n, "block"), wasWere(n), show.Line(name))
	}
	if n := l.Erased; n > 0 {
		c.Remark("note: %s %s erased here, as at %s", show.Plural(n, "block"), wasWere(n), show.Line(name))
	}
	if n := l.Waiting; n > 0 && l.Learned > 0 {
		c.Remark("note: %s says that %s %s erased, which has no effect here: 'mnem remote redactions %s' lists them, "+
			"--accept erases them here too", show.Line(name), show.Plural(n, "block"), wasWere(n), plain.Shell(name))
	}
}

func printRefMoves(c *show.Console, list []core.RefChange) {
	var rows [][]show.Cell
	for _, ref := range list {
		from, to := "(new)", "(removed)"
		if ref.From.Defined() {
			from = show.ShortCID(ref.From)
		}
		if ref.To.Defined() {
			to = show.ShortCID(ref.To)
		}
		rows = append(rows, show.Row(show.Line(string(ref.Ref)), show.Cyan, from, show.Dim, "->", show.Dim,
			to, show.Yellow))
	}
	c.PutTable(rows)
}

func Push(c *show.Console, p *remote.Pushed) error {
	did := "pushed"
	if p.DryRun {
		did = "would push"
	}
	remarkUntold(c, p.Remote, p.Untold)
	if p.Erased > 0 {
		c.Put("%s erased at %s\n", show.Plural(p.Erased, "block"), show.Line(p.Remote))
	}
	if len(p.Refs) == 0 {
		return c.Printf("nothing to push: %s has all of it\n", show.Line(p.Remote))
	}
	printRefMoves(c, p.Refs)
	return c.Printf("%s %s to %s: %s\n", did, show.Plural(len(p.Refs), "ref"), show.Line(p.Remote), plain.Bytes(p.Bytes))
}

// remarkUntold says that what was erased here may be at the remote.
func remarkUntold(c *show.Console, name string, untold bool) {
	if untold {
		c.Remark("note: what was purged here may still be at %s: 'mnem push %s --redactions' erases it there", show.Line(name),
			plain.Shell(name))
	}
}

func remarkSkewed(c *show.Console, list []remote.Skew) {
	for _, s := range list {
		c.Remark("note: the newest commit of %s is of %s, %s ahead of the clock here: one of both is wrong, and "+
			"--conflicts newest would believe it", show.Line(string(s.Ref)), s.Time,
			(time.Duration(s.Ahead) * time.Second).Round(time.Second))
	}
}

// remarkWentBack says which branches of a remote are at an earlier commit than before.
func remarkWentBack(c *show.Console, list []graph.RefName) {
	for _, ref := range list {
		c.Remark("note: %s went back to an earlier commit: the remote was restored or reset; a push brings back what "+
			"is missing there", show.Line(string(ref)))
	}
}

func putSessions(c *show.Console, s *trade.Synced) {
	for _, part := range []struct {
		what string
		refs []core.RefChange
	}{{"came from", s.Fetched}, {"went to", s.Pushed}} {
		for _, ref := range part.refs {
			if name, session := strings.CutPrefix(string(ref.Ref), graph.Sessions); session && !s.DryRun {
				c.Put("session %s: records %s %s\n", show.Line(name), part.what, show.Line(s.Remote))
			}
		}
	}
}

// Sync prints what a sync did, of one that failed nothing of the branches that it did not come to.
func Sync(c *show.Console, s *trade.Synced, failed bool) error {
	for _, b := range s.Branches {
		if failed && !b.Did() {
			continue
		}
		PrintConflicts(c, b.Conflicts)
		var did []string
		if b.Forward {
			did = append(did, "moved to what "+show.Line(s.Remote)+" had")
		}
		if b.Merged > 0 {
			did = append(did, show.Plural(b.Merged, "merge"))
		}
		if b.Pushed {
			did = append(did, "pushed")
		}
		if len(did) == 0 {
			did = append(did, "no change")
		}
		at := "no commit yet"
		if b.Commit.Defined() {
			at = show.ShortCID(b.Commit)
		}
		c.Put("[%s %s] %s\n", c.Paint(show.Cyan, show.Line(b.Branch)), c.Paint(show.Yellow, at), strings.Join(did, ", "))
	}
	putSessions(c, s)
	for _, tag := range s.Clashing {
		c.Remark("note: %s is elsewhere here and stays", show.Line(string(tag)))
	}
	RemarkLearned(c, s.Remote, s.Learned)
	remarkSkewed(c, s.Skewed)
	remarkWentBack(c, s.WentBack)
	remarkUntold(c, s.Remote, s.Untold)
	if s.DryRun {
		printRefMoves(c, append(slices.Clone(s.Fetched), s.Pushed...))
	}
	return c.Printf("%s: received %s, sent %s\n", show.Line(s.Remote), plain.Bytes(s.Received), plain.Bytes(s.Sent))
}

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
