package cli

import "github.com/mnem-project/mnem/ops"

// printMergeAnswer prints what merge did, or what is in progress.
func (c *cli) printMergeAnswer(answer any) error {
	switch a := answer.(type) {
	case *ops.Merged:
		return c.printMerged(a)
	case *ops.Pending:
		return c.printPending(a)
	}
	return c.printJSON(answer)
}

// printMerged prints what a merge, a revert or a cherry-pick did.
func (c *cli) printMerged(m *ops.Merged) error {
	c.warnSecrets(m.Warnings)
	if err := c.printConflicts(m.Conflicts); err != nil {
		return err
	}
	if m.VectorsDropped > 0 {
		c.remark("note: %s of changed text dropped: embed again", plural(m.VectorsDropped, "vector"))
	}
	would := ""
	if m.DryRun {
		would = "would be "
	}
	branch, at := c.paint(styleCyan, line(m.Branch)), c.paint(styleYellow, shortCID(m.Commit))
	counts := c.countsLine(m.Nodes, "nodes") + ", " + c.countsLine(m.Edges, "edges")
	switch {
	case m.NoChange:
		return c.printf("nothing to do: %s has all of it\n", branch)
	case !m.Commit.Defined():
		return nil
	case m.FastForward:
		return c.printf("[%s %s] %sfast-forward: %s\n", branch, at, would, counts)
	case m.DryRun:
		return c.printf("[%s] would be %s\n", branch, counts)
	}
	return c.printf("[%s %s] %s\n", branch, at, counts)
}

// printConflicts prints conflicts for people: an item a line, then its fields.
func (c *cli) printConflicts(list []ops.Conflict) error {
	for _, con := range list {
		state := c.paint(styleRed, string(con.Kind))
		if con.Resolution != "" {
			state = c.paint(styleGreen, "resolved: "+string(con.Resolution))
		}
		if err := c.printf("%s  %s  %s\n", state, con.Item, line(con.Label)); err != nil {
			return err
		}
		for _, f := range con.Fields {
			err := c.printf("  %s: ours %s, theirs %s, base %s\n", line(f.Field), shownField(f.Ours),
				shownField(f.Theirs), shownField(f.Base))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// printPending prints a merge in progress and what was kept.
func (c *cli) printPending(p *ops.Pending) error {
	switch {
	case p.Aborted != "":
		return c.printf("forgot the merge into %s\n", line(p.Aborted))
	case p.Forgot != "":
		return c.printf("forgot %s\n", line(p.Forgot))
	case p.Verb == "" && len(p.Kept) == 0:
		return c.printf("no merge in progress\n")
	}
	if p.Verb != "" {
		err := c.printf("%s into %s: %s, %d open\n", p.Verb, line(string(p.Branch)),
			plural(len(p.Conflicts), "conflict"), p.Open)
		if err = firstError(err, c.printConflicts(p.Conflicts)); err != nil {
			return err
		}
	}
	for _, k := range p.Kept {
		if err := c.printf("kept for %s: %s\n", line(k.Branch), line(k.Ref)); err != nil {
			return err
		}
	}
	return nil
}

// shownField is one value of a field for people, nil for none.
func shownField(v ops.Raw) string {
	if v == nil {
		return "none"
	}
	return brief(string(v), summaryWidth)
}
