package answers

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

func Blame(c *show.Console, b *branching.Blamed) error {
	var rows [][]show.Cell
	for _, f := range b.Fields {
		by := show.Line(f.Author)
		if f.Agent != "" {
			by += " by " + show.Line(string(f.Agent))
		}
		row := []show.Cell{
			{Text: show.Brief(f.Field, nameWidth), Style: show.Bold}, {Text: show.ShortCID(f.Commit), Style: show.Yellow}, {Text: f.Time.String(), Style: show.Dim},
		}
		if f.Git != nil {
			row = append(row, show.Cell{Text: shortGit(f.Git), Style: show.Dim})
		}
		rows = append(rows, append(row, show.Cell{Text: by, Style: ""}, show.Cell{Text: show.Brief(firstLine(f.Message), show.SummaryWidth), Style: ""}))
	}
	return c.Table(rows)
}

// Op prints one operation of the log.
func Op(c *show.Console, o *branching.Op) error {
	words := make([]string, len(o.Command))
	for i, w := range o.Command {
		words[i] = show.Line(w)
	}
	text := c.Paint(show.Yellow, strconv.FormatUint(o.Seq, 10)) + " " +
		c.Paint(show.Dim, o.Time.String()) + " " + show.Line(o.Actor) + ": " + strings.Join(words, " ")
	switch {
	case o.Undoes.Defined():
		text += ", undoes " + show.ShortCID(o.Undoes)
	case o.Redoes.Defined():
		text += ", redoes what " + show.ShortCID(o.Redoes) + " undid"
	}
	if o.Undone != nil && *o.Undone {
		text += " (undone)"
	}
	c.Put("%s\n", text)
	if o.Oldest {
		return c.Printf("  what came before was collected\n")
	}
	return printMoves(c, o.Refs)
}

// OneOp prints an operation, or which refs moved between two.
func OneOp(c *show.Console, o *branching.Op) error {
	if o.Since != nil {
		c.Put("after operation %d, compared with after %d: %s differ\n", o.Seq, o.Since.Seq, show.Plural(len(o.Refs), "ref"))
		return printMoves(c, o.Refs)
	}
	return cmp.Or(c.Printf("operation %s\n", o.Op), Op(c, o))
}

// printMoves prints refs that differ, one a line.
func printMoves(c *show.Console, moves []core.RefMove) error {
	for _, m := range moves {
		c.Put("  %s  %s -> %s\n", show.Line(string(m.Name)), refText(c, m.From.Ref),
			refText(c, m.To.Ref))
	}
	return c.Failed()
}

// refText is the value of a ref: a CID, or the name of a branch.
func refText(c *show.Console, r core.Ref) string {
	if r.Symbolic != "" {
		return show.Line(strings.TrimPrefix(string(r.Symbolic), graph.Heads))
	}
	return c.Commit(r.Target)
}

// Undone prints what undo, redo and op restore did.
func Undone(c *show.Console, u *branching.Undone) error {
	if u.Passed > 0 {
		c.Remark("passed over operation %d, a purge, which is for ever", u.Passed)
	}
	if !u.Op.Defined() {
		return c.Printf("all refs are as operation %d left them\n", u.Of.Seq)
	}
	return cmp.Or(c.Printf("%s operation %d (%s)\n", u.Did, u.Seq, show.Line(u.Verb)), printMoves(c, u.Refs),
		skipped(c, u), pushed(c, u))
}

// skipped prints how many operations of each command were passed over.
func skipped(c *show.Console, u *branching.Undone) error {
	if u.SkippedAll == 0 {
		return nil
	}
	count := make(map[string]int)
	var verbs []string
	for _, s := range u.Skipped {
		var words []string
		for _, w := range s.Command {
			if !strings.HasPrefix(w, "-") && len(words) < 2 {
				words = append(words, show.Line(w))
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
	return c.Printf("  passed over %s: %s\n", show.Plural(u.SkippedAll, "operation"), strings.Join(parts, ", "))
}

// pushed prints which remotes have what was taken back, and how to take it back there.
func pushed(c *show.Console, u *branching.Undone) error {
	for _, p := range u.Pushed {
		back := "mnem undo --redo"
		if u.Did == "restored" {
			back = "mnem undo"
		}
		err := c.Printf("  %s has it: the next sync brings it back to %s. To take it back for everybody:\n"+
			"    %s && mnem revert %s && mnem sync %s\n",
			show.Line(p.Remote), show.Line(p.Branch), back, shortSpan(p.Commits), show.Line(p.Remote))
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
			ends[i] = show.ShortCID(c)
		}
	}
	return strings.Join(ends, "..")
}

// Verified prints a commit and what its signature is worth, and in the end how many there are.
func Verified(c *show.Console, answer any) error {
	switch v := answer.(type) {
	case *branching.Verified:
		return c.Printf("%s  %s  %s  %s  %s\n", strings.TrimSuffix(signatureColumn(c, &v.Signature), " "),
			c.Commit(v.Commit), v.Time.String()[:len("2006-01-02")],
			signedBy(&v.Signature), show.Line(v.Title))
	case *branching.VerifiedAll:
		n := 0
		var parts []string
		for _, state := range commit.SignatureStates() {
			if (*v)[state] > 0 {
				n += (*v)[state]
				parts = append(parts, fmt.Sprintf("%d %s", (*v)[state], state))
			}
		}
		c.Remark("%s: %s", show.Plural(n, "commit"), cmp.Or(strings.Join(parts, ", "), "nothing to verify"))
	}
	return nil
}

// signedBy says who signed, or why that does not count.
func signedBy(v *branching.Signature) string {
	who := "(no key)"
	if key, err := commit.ParseKey(string(v.Key)); err == nil {
		who = key.Fingerprint()
	}
	if v.Name != "" {
		who = show.Line(string(v.Name)) + " " + who
	}
	if v.Reason != "" {
		who += " (" + show.Line(string(v.Reason)) + ")"
	}
	return who
}

func signatureStyle(s commit.SignatureState) string {
	switch s {
	case commit.Signed:
		return show.Green
	case commit.Untrusted:
		return show.Yellow
	case commit.Unsigned:
		return show.Dim
	}
	return show.Red
}
