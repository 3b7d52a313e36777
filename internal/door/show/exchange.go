package show

import (
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

func (c *Console) Export(res *transfer.Exported) error {
	if res.File == "-" {
		c.Remark("exported %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
		return nil
	}
	var rows [][]Cell
	for _, ref := range res.Refs {
		rows = append(rows, []Cell{
			{line(string(ref.Ref)), Cyan}, {ShortCID(ref.Target), Yellow},
		})
	}
	for _, o := range res.Objects {
		rows = append(rows, []Cell{{"without a ref", Dim}, {ShortCID(o), Yellow}})
	}
	for _, s := range res.Since {
		rows = append(rows, []Cell{{"needs", Dim}, {ShortCID(s), Yellow}})
	}
	c.putTable(rows)
	if res.Redacted > 0 {
		c.Remark("%s %s erased: the file says so and has the rest", plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	return c.Printf("exported %s, %s to %s\n", plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), line(res.File))
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (c *Console) Import(q *transfer.ImportRequest, res *transfer.Imported) error {
	c.warnSecrets(res.Warnings)
	if len(res.Refs) == 0 {
		return c.Printf("nothing to import: all of %s is here already\n", line(q.File))
	}
	var rows [][]Cell
	for _, ref := range res.Refs {
		from := "(new)"
		if ref.From.Defined() {
			from = ShortCID(ref.From)
		}
		rows = append(rows, []Cell{
			{line(string(ref.Ref)), Cyan}, {from, Dim}, {"->", Dim},
			{ShortCID(ref.To), Yellow},
		})
	}
	c.putTable(rows)
	did := "imported"
	if res.DryRun {
		did = "would import"
	}
	if res.Redacted > 0 {
		c.Remark("%s of the file %s erased here: left out", plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	if res.Redactions > 0 {
		c.Remark("%s %s erased where the file is from", plural(res.Redactions, "block"),
			wasWere(res.Redactions))
	}
	if res.Head != "" {
		did = "on branch " + line(string(res.Head)) + ": " + did
	}
	return c.Printf("%s %s, %d of %s new\n", did, plural(len(res.Refs), "ref"), res.NewBlocks,
		plural(res.Blocks, "block"))
}

func (c *Console) PackRefs(a *transfer.PackRefsAnswer) error {
	var rows [][]Cell
	for _, ref := range a.Refs {
		mark := " "
		if string(ref.Ref) == string(a.Head) {
			mark = "*"
		}
		rows = append(rows, []Cell{{mark + " " + line(string(ref.Ref)), Cyan}, {ref.Target.String(), Yellow}})
	}
	for _, known := range a.Known {
		rows = append(rows, []Cell{{"has", ""}, {known.String(), Yellow}})
	}
	return c.Table(rows)
}

func (c *Console) PackSent(a *transfer.PackSent) error {
	if a.File == "-" {
		c.Remark("packed %s", plain.Bytes(a.Bytes))
		return nil
	}
	return c.Printf("packed %s into %s\n", plain.Bytes(a.Bytes), line(a.File))
}

func (c *Console) PackTaken(a *transfer.PackTaken) error {
	c.printRefMoves(a.Refs)
	did := "changed"
	if a.DryRun {
		did = "would change"
	}
	return c.Printf("%s %s, %s new\n", did, plural(len(a.Refs), "ref"), plural(a.NewBlocks, "block"))
}

func (c *Console) PackRedactions(a *transfer.PackRedactionsAnswer) error {
	if err := c.printTold(a.Redactions); err != nil || !a.More {
		return err
	}
	c.Remark("note: there are more: go on with --after %s", a.Redactions[len(a.Redactions)-1].CID)
	return nil
}

// printTold prints redactions.
func (c *Console) printTold(list []transfer.ToldRedaction) error {
	var rows [][]Cell
	for _, r := range list {
		rows = append(rows, []Cell{{r.CID.String(), Yellow}, {r.What, ""}, {r.Time.String(), Dim},
			{line(string(r.Actor)), Cyan}, {line(string(r.Reason)), ""}})
	}
	return c.Table(rows)
}

func (c *Console) PackRedacted(a *transfer.PackRedacted) error {
	did := "erased"
	if a.DryRun {
		did = "would erase"
	}
	c.put("%s %s, closed %s, left %d\n", did, plural(len(a.Erased), "block"), plural(len(a.Closed), "gap"),
		len(a.Left))
	c.remarkPending(a.ErasurePending, a.ErasureDenied)
	return nil
}

// remarkPending warns of bytes that were erased and are still in the files, and says why.
func (c *Console) remarkPending(pending bool, denied verb.Text) {
	switch {
	case denied != "":
		c.Remark("warning: the bytes are still in the tables: %s", line(string(denied)))
	case pending:
		c.Remark("warning: the bytes are still in the files: the disk has no room to write these anew")
	}
}

func (c *Console) Remote(r place.Remote) error {
	if err := c.Printf("%s is %s\n", c.Paint(Cyan, line(r.Name)), line(r.URL)); err != nil || r.AcceptPurge == "" {
		return err
	}
	return c.Printf("what is purged there is erased here, as it comes\n")
}

func (c *Console) Pruned(p *trade.Pruned) error {
	if len(p.Refs) == 0 {
		return c.Printf("nothing to forget: %s has all of them\n", line(p.Remote))
	}
	c.printRefMoves(p.Refs)
	did := "forgot"
	if p.DryRun {
		did = "would forget"
	}
	return c.Printf("%s %s of %s\n", did, plural(len(p.Refs), "ref"), line(p.Remote))
}

// Quarantine prints what remotes say was erased, or what became of it.
func (c *Console) Quarantine(answer any) error {
	if d, ok := answer.(*transfer.QuarantineDecided); ok {
		c.remarkPending(d.ErasurePending, d.ErasureDenied)
		return c.Printf("erased %s, closed %s; %d of %s wait\n", plural(len(d.Erased), "block"),
			plural(len(d.Closed), "gap"), d.Waiting, line(d.Remote))
	}
	var rows [][]Cell
	for _, r := range answer.(*transfer.Quarantine).Redactions {
		rows = append(rows, []Cell{{string(r.Decision), ""}, {r.CID.String(), Yellow}, {r.What, ""},
			{r.Time.String(), Dim}, {line(string(r.Actor)), Cyan}, {line(string(r.Reason)), ""}})
	}
	return c.Table(rows)
}

func (c *Console) Fetch(f *trade.Fetched) error {
	did := "fetched"
	if f.DryRun {
		did = "would fetch"
	}
	c.printRefMoves(f.Refs)
	for _, tag := range f.Clashing {
		c.Remark("note: %s is elsewhere here and stays; it is under %s", line(string(tag)),
			line(string(remote.Tracking(f.Remote, tag))))
	}
	c.RemarkLearned(f.Remote, f.Learned)
	c.remarkSkewed(f.Skewed)
	c.remarkWentBack(f.WentBack)
	if len(f.Refs) == 0 {
		return c.Printf("nothing new from %s\n", line(f.Remote))
	}
	return c.Printf("%s %s from %s: %s, %s new\n", did, plural(len(f.Refs), "ref"), line(f.Remote),
		plain.Bytes(f.Bytes), plural(f.NewBlocks, "block"))
}

// RemarkLearned says what was erased where something came from.
func (c *Console) RemarkLearned(name string, l trade.Learned) {
	if n := l.Gaps; n > 0 {
		c.Remark("note: %s of what came %s erased at %s: they are gaps here", plural(n, "block"), wasWere(n), line(name))
	}
	if n := l.Erased; n > 0 {
		c.Remark("note: %s %s erased here, as at %s", plural(n, "block"), wasWere(n), line(name))
	}
	if n := l.Waiting; n > 0 && l.Learned > 0 {
		c.Remark("note: %s says that %s %s erased, which has no effect here: 'mnem remote redactions %s' lists them, "+
			"--accept erases them here too", line(name), plural(n, "block"), wasWere(n), plain.Shell(name))
	}
}

// printRefMoves prints where refs moved.
func (c *Console) printRefMoves(list []transfer.RefMoved) {
	var rows [][]Cell
	for _, ref := range list {
		from, to := "(new)", "(removed)"
		if ref.From.Defined() {
			from = ShortCID(ref.From)
		}
		if ref.To.Defined() {
			to = ShortCID(ref.To)
		}
		rows = append(rows, []Cell{{line(string(ref.Ref)), Cyan}, {from, Dim}, {"->", Dim},
			{to, Yellow}})
	}
	c.putTable(rows)
}

func (c *Console) Push(p *trade.Pushed) error {
	did := "pushed"
	if p.DryRun {
		did = "would push"
	}
	c.remarkUntold(p.Remote, p.Untold)
	if p.Erased > 0 {
		c.put("%s erased at %s\n", plural(p.Erased, "block"), line(p.Remote))
	}
	if len(p.Refs) == 0 {
		return c.Printf("nothing to push: %s has all of it\n", line(p.Remote))
	}
	c.printRefMoves(p.Refs)
	return c.Printf("%s %s to %s: %s\n", did, plural(len(p.Refs), "ref"), line(p.Remote), plain.Bytes(p.Bytes))
}

// remarkUntold says that what was erased here may be at the remote.
func (c *Console) remarkUntold(name string, untold bool) {
	if untold {
		c.Remark("note: what was purged here may still be at %s: 'mnem push %s --redactions' erases it there", line(name),
			plain.Shell(name))
	}
}

// remarkSkewed says of which branches a clock was ahead.
func (c *Console) remarkSkewed(list []trade.Skew) {
	for _, s := range list {
		c.Remark("note: the newest commit of %s is of %s, %s ahead of the clock here: one of both is wrong, and "+
			"--conflicts newest would believe it", line(string(s.Ref)), s.Time,
			(time.Duration(s.Ahead) * time.Second).Round(time.Second))
	}
}

// remarkWentBack says which branches of a remote are at an earlier commit than before.
func (c *Console) remarkWentBack(list []graph.RefName) {
	for _, ref := range list {
		c.Remark("note: %s went back to an earlier commit: the remote was restored or reset; a push brings back what "+
			"is missing there", line(string(ref)))
	}
}

// putSessions prints where sessions went.
func (c *Console) putSessions(s *trade.Synced) {
	for _, part := range []struct {
		what string
		refs []transfer.RefMoved
	}{{"came from", s.Fetched}, {"went to", s.Pushed}} {
		for _, ref := range part.refs {
			if name, session := strings.CutPrefix(string(ref.Ref), graph.Sessions); session && !s.DryRun {
				c.put("session %s: records %s %s\n", line(name), part.what, line(s.Remote))
			}
		}
	}
}

// Sync prints what a sync did, of one that failed nothing of the branches that it did not come to.
func (c *Console) Sync(s *trade.Synced, failed bool) error {
	for _, b := range s.Branches {
		if failed && !b.Did() {
			continue
		}
		c.printConflicts(b.Conflicts)
		var did []string
		if b.Forward {
			did = append(did, "moved to what "+line(s.Remote)+" had")
		}
		if b.Merged > 0 {
			did = append(did, plural(b.Merged, "merge"))
		}
		if b.Pushed {
			did = append(did, "pushed")
		}
		if len(did) == 0 {
			did = append(did, "no change")
		}
		at := "no commit yet"
		if b.Commit.Defined() {
			at = ShortCID(b.Commit)
		}
		err := c.Printf("[%s %s] %s\n", c.Paint(Cyan, line(b.Branch)), c.Paint(Yellow, at),
			strings.Join(did, ", "))
		if err != nil {
			return err
		}
	}
	c.putSessions(s)
	for _, tag := range s.Clashing {
		c.Remark("note: %s is elsewhere here and stays", line(string(tag)))
	}
	c.RemarkLearned(s.Remote, s.Learned)
	c.remarkSkewed(s.Skewed)
	c.remarkWentBack(s.WentBack)
	c.remarkUntold(s.Remote, s.Untold)
	if s.DryRun {
		c.printRefMoves(append(slices.Clone(s.Fetched), s.Pushed...))
	}
	return c.Printf("%s: received %s, sent %s\n", line(s.Remote), plain.Bytes(s.Received), plain.Bytes(s.Sent))
}
