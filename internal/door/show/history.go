package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

func (c *Console) Blame(b *branching.Blamed) error {
	var rows [][]Cell
	for _, f := range b.Fields {
		by := line(f.Author)
		if f.Agent != "" {
			by += " by " + line(string(f.Agent))
		}
		row := []Cell{
			{brief(f.Field, nameWidth), Bold}, {ShortCID(f.Commit), Yellow}, {f.Time.String(), Dim},
		}
		if f.Git != nil {
			row = append(row, Cell{shortGit(f.Git), Dim})
		}
		rows = append(rows, append(row, Cell{by, ""}, Cell{brief(firstLine(f.Message), SummaryWidth), ""}))
	}
	return c.Table(rows)
}

// Op prints one operation of the log.
func (c *Console) Op(o *branching.Op) error {
	words := make([]string, len(o.Command))
	for i, w := range o.Command {
		words[i] = line(w)
	}
	text := c.Paint(Yellow, strconv.FormatUint(o.Seq, 10)) + " " +
		c.Paint(Dim, o.Time.String()) + " " + line(o.Actor) + ": " + strings.Join(words, " ")
	switch {
	case o.Undoes.Defined():
		text += ", undoes " + ShortCID(o.Undoes)
	case o.Redoes.Defined():
		text += ", redoes what " + ShortCID(o.Redoes) + " undid"
	}
	if o.Undone != nil && *o.Undone {
		text += " (undone)"
	}
	c.put("%s\n", text)
	if o.Oldest {
		return c.Printf("  what came before was collected\n")
	}
	return c.printMoves(o.Refs)
}

func (c *Console) OneOp(o *branching.Op) error {
	return cmp.Or(c.Printf("operation %s\n", o.Op), c.Op(o))
}

func (c *Console) OpDiff(d *branching.OpDiffered) error { return c.printMoves(d.Refs) }

// printMoves prints refs that differ, one a line.
func (c *Console) printMoves(moves []branching.RefMove) error {
	for _, m := range moves {
		c.put("  %s  %s -> %s\n", line(m.Ref), c.refText(string(m.From)),
			c.refText(string(m.To)))
	}
	return c.failed()
}

// refText is the value of a ref: a CID, or the name of a branch.
func (c *Console) refText(value string) string {
	at, err := ipld.ParseCID(value)
	if err != nil && value != "" {
		return line(strings.TrimPrefix(value, graph.Heads))
	}
	return c.commit(at)
}

// Undone prints what undo, redo and op restore did.
func (c *Console) Undone(u *branching.Undone) error {
	if u.Passed > 0 {
		c.Remark("passed over operation %d, a purge, which is for ever", u.Passed)
	}
	if !u.Op.Defined() {
		return c.Printf("all refs are as operation %d left them\n", u.Of.Seq)
	}
	return cmp.Or(c.Printf("%s operation %d (%s)\n", u.Did, u.Seq, line(u.Verb)), c.printMoves(u.Refs),
		c.skipped(u), c.pushed(u))
}

// skipped prints how many operations of each command were passed over.
func (c *Console) skipped(u *branching.Undone) error {
	if u.SkippedAll == 0 {
		return nil
	}
	count := make(map[string]int)
	var verbs []string
	for _, s := range u.Skipped {
		var words []string
		for _, w := range s.Command {
			if !strings.HasPrefix(w, "-") && len(words) < 2 {
				words = append(words, line(w))
			}
		}
		verb := strings.Join(words, " ")
		if count[verb]++; count[verb] == 1 {
			verbs = append(verbs, verb)
		}
	}
	var parts []string
	for _, verb := range verbs {
		parts = append(parts, fmt.Sprintf("%d %s", count[verb], verb))
	}
	if more := u.SkippedAll - len(u.Skipped); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return c.Printf("  passed over %s: %s\n", plural(u.SkippedAll, "operation"), strings.Join(parts, ", "))
}

// pushed prints which remotes have what was taken back, and how to take it back there.
func (c *Console) pushed(u *branching.Undone) error {
	for _, p := range u.Pushed {
		back := "mnem redo"
		if u.Did == "restored" {
			back = "mnem undo"
		}
		err := c.Printf("  %s has it: the next sync brings it back to %s. To take it back for everybody:\n"+
			"    %s && mnem revert %s && mnem sync %s\n",
			line(p.Remote), line(p.Branch), back, shortSpan(p.Commits), line(p.Remote))
		if err != nil {
			return err
		}
	}
	return nil
}

// shortSpan shortens the CIDs of a commit or a range of commits.
func shortSpan(commits string) string {
	ends := strings.Split(commits, "..")
	for i, end := range ends {
		if c, err := ipld.ParseCID(end); err == nil {
			ends[i] = ShortCID(c)
		}
	}
	return strings.Join(ends, "..")
}

// Verified prints a commit and what its signature is worth, and in the end how many there are.
func (c *Console) Verified(answer any) error {
	switch v := answer.(type) {
	case *branching.Verified:
		return c.Printf("%s  %s  %s  %s  %s\n", strings.TrimSuffix(c.signatureColumn(&v.Signature), " "),
			c.commit(v.Commit), v.Time.String()[:len("2006-01-02")],
			signedBy(&v.Signature), line(v.Title))
	case *branching.VerifiedAll:
		n := 0
		var parts []string
		for _, state := range commit.SignatureStates() {
			if (*v)[state] > 0 {
				n += (*v)[state]
				parts = append(parts, fmt.Sprintf("%d %s", (*v)[state], state))
			}
		}
		c.Remark("%s: %s", plural(n, "commit"), cmp.Or(strings.Join(parts, ", "), "nothing to verify"))
	}
	return nil
}

// signedBy says who signed, or why that does not count.
func signedBy(v *branching.Signature) string {
	who := "(nobody)"
	if key, err := commit.ParseKey(string(v.Key)); err == nil {
		who = key.Fingerprint()
	}
	if v.Name != "" {
		who = line(string(v.Name)) + " " + who
	}
	if v.Reason != "" {
		who += " (" + line(string(v.Reason)) + ")"
	}
	return who
}

func signatureStyle(s commit.SignatureState) string {
	switch s {
	case commit.Signed:
		return Green
	case commit.Untrusted:
		return Yellow
	case commit.Unsigned:
		return Dim
	}
	return Red
}
