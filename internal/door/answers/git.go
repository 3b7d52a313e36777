package answers

import (
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
)

// Followed prints the git branch that is followed, and whether it can be written.
func Followed(c *show.Console, f *branching.Followed) error {
	git, doing := c.Paint(show.Cyan, show.Line(string(f.Git))), ""
	if f.Doing != "" {
		doing = ", in the middle of a " + string(f.Doing)
	}
	if f.Git == "" {
		git = "no branch"
	}
	c.Put("following git: %s in %s%s\n", git, show.Line(f.Work), doing)
	if f.Branch != "" && f.Branch != f.Git {
		c.Put("its branch of the memory is %s\n", c.Paint(show.Cyan, show.Line(string(f.Branch))))
	}
	if !f.Exists && f.From != "" && f.Branch != "" {
		c.Put("until its first write it has the memory of %s\n", c.Paint(show.Cyan, show.Line(string(f.From))))
	}
	if f.Why != "" {
		return c.Printf("read-only: %s; name a branch with --branch to write\n", show.Line(string(f.Why)))
	}
	return nil
}

func GitSync(c *show.Console, s *gitfollow.Synced) error {
	if len(s.Merged) == 0 {
		return c.Printf("[%s] nothing to merge\n", c.Paint(show.Cyan, show.Line(s.Branch)))
	}
	for _, m := range s.Merged {
		PrintConflicts(c, m.Conflicts)
		verb := "merged"
		if s.DryRun {
			verb = "would merge"
		}
		c.Put("[%s] %s the memory of %s (%s)\n", c.Paint(show.Cyan, show.Line(s.Branch)), verb,
			c.Paint(show.Cyan, show.Line(m.Branch)), m.By)
	}
	return nil
}

func GitPrune(c *show.Console, p *gitfollow.Pruned) error {
	for _, b := range p.Removed {
		c.Put("removed %s, which was at %s\n", c.Paint(show.Cyan, show.Line(b.Removed)),
			c.Commit(b.Commit))
	}
	for _, k := range p.Kept {
		c.Put("kept: %s; merge it with 'mnem git sync %s', or give --force\n", show.Line(k.Why),
			show.Line(k.Git))
	}
	if len(p.Removed)+len(p.Kept) == 0 {
		return c.Printf("nothing to remove\n")
	}
	return nil
}

func GitHook(c *show.Console, out *gitfollow.Hook) error {
	switch {
	case !out.Installed && out.Changed:
		return c.Printf("removed the hook of git\n")
	case !out.Installed:
		return c.Printf("there is no hook of mnem\n")
	}
	more := ""
	if out.Chained {
		more = ", and the hook that was there before it"
	}
	return c.Printf("git runs 'mnem git sync' after each merge%s: %s\n", more, show.Line(out.Path))
}

// shortGit is how a commit of git is shown, "-" for none.
func shortGit(id *verb.Text) string {
	if *id == "" {
		return "-"
	}
	return string((*id)[:min(len(*id), 12)])
}
