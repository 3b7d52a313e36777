package show

import (
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/remote/trade"
)

func (c *Console) Fetch(f *trade.Fetched) error {
	did := "fetched"
	if f.DryRun {
		did = "would fetch"
	}
	if err := c.printRefMoves(f.Refs); err != nil {
		return err
	}
	for _, tag := range f.Clashing {
		c.Remark("note: %s is elsewhere here and stays; it is under %s", line(string(tag)),
			line(string(remote.Tracking(f.Remote, tag))))
	}
	c.RemarkLearned(f.Remote, f.Learned)
	c.remarkSkewed(f.Skewed)
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
func (c *Console) printRefMoves(list []ops.RefMoved) error {
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
	return c.Table(rows)
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
	if err := c.printRefMoves(p.Refs); err != nil {
		return err
	}
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

func (c *Console) Sync(s *trade.Synced) error {
	for _, b := range s.Branches {
		if err := c.printConflicts(b.Conflicts); err != nil {
			return err
		}
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
	for _, tag := range s.Clashing {
		c.Remark("note: %s is elsewhere here and stays", line(string(tag)))
	}
	c.RemarkLearned(s.Remote, s.Learned)
	c.remarkSkewed(s.Skewed)
	c.remarkUntold(s.Remote, s.Untold)
	if s.DryRun {
		if err := c.printRefMoves(append(slices.Clone(s.Fetched), s.Pushed...)); err != nil {
			return err
		}
	}
	return c.Printf("%s: received %s, sent %s\n", line(s.Remote), plain.Bytes(s.Received), plain.Bytes(s.Sent))
}
