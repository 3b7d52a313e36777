package answers

import (
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
	"github.com/mnem-project/mnem/internal/ingest/vault"
	"github.com/mnem-project/mnem/internal/verb"
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

func Fetch(c *show.Console, f *trade.Fetched) error {
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
func RemarkLearned(c *show.Console, name string, l trade.Learned) {
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

func Push(c *show.Console, p *trade.Pushed) error {
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

func remarkSkewed(c *show.Console, list []trade.Skew) {
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
