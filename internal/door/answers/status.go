// Package answers writes the answers of verbs as text for people: a function for each answer. It is given an answer and
// decides nothing of it; reads no repository, flag or file; and is not asked if an answer is printed as JSON.
package answers

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

func Status(c *show.Console, st *branching.Status) error {
	head := "no commit yet"
	if st.Head.Defined() {
		head = "at " + c.Commit(st.Head)
	}
	where := "on branch " + c.Paint(show.Cyan, show.Line(string(st.Branch))) + ", " + head
	if st.Branch == "" {
		where = "HEAD is " + head + " and on no branch"
	}
	c.Put("%s\n", where)
	if st.Client != "" {
		c.Put("as client %s\n", show.Line(st.Client))
	}
	if st.Following != nil {
		_ = Followed(c, st.Following)
	}
	printUnmerged(c, st)
	printSynced(c, st)
	if !st.Staged {
		return c.Printf("nothing staged\n")
	}
	c.Put("staged in %s: %s\n", show.Line(st.Stage), c.Changes(st.Nodes, st.Edges))
	if st.Base != st.Head {
		c.Put("the branch has moved since: the stage began at %s and will be merged\n", c.Commit(st.Base))
	}
	printShort(c, st.Short, st.Nodes, st.Edges)
	return c.Failed()
}

func printSynced(c *show.Console, st *branching.Status) {
	for _, s := range st.Synced {
		worked := "not yet synced"
		if s.Worked.Given {
			worked = "synced " + s.Worked.String()
		}
		if s.Failed != "" {
			worked += "; failed " + s.Tried.String() + " (" + show.Word(string(s.Failed)) + "), 'mnem doctor' says why"
		}
		c.Put("%s: %s\n", show.Line(s.Remote), worked)
	}
}

func printUnmerged(c *show.Console, st *branching.Status) {
	if m := st.Merge; m != nil {
		next := "'mnem merge --list' shows them"
		if m.Open == 0 {
			next = "end it with 'mnem merge --continue'"
		}
		c.Put("%s in progress: %s, %d open; %s\n", m.Verb, show.Plural(m.Conflicts, "conflict"), m.Open, next)
	}
	for _, k := range st.Kept {
		c.Put("kept, as it did not merge: %s; 'mnem merge' it to resolve what conflicts\n",
			show.Line(string(k.Ref)))
	}
}

// printShort prints the first items that differ: nodes by type and name, edges by their ends.
func printShort(c *show.Console, list []reading.ShortChange, nodes, edges state.Counts) {
	var rows [][]show.Cell
	for _, one := range list {
		letter, style := changeLetter(one.Change)
		about := show.Brief(one.About, show.SummaryWidth)
		if one.Item == graph.KindEdge {
			about = "-> " + show.Brief(show.Line(one.About), nameWidth)
		}
		rows = append(rows, show.Row(letter, style, one.Item, "", show.Brief(one.Type, typeWidth), show.Cyan,
			show.Brief(show.Line(one.Name), nameWidth), show.Bold, about, ""))
	}
	c.PutTable(rows)
	all := nodes.Added + nodes.Changed + nodes.Removed + edges.Added + edges.Changed + edges.Removed
	if all != len(rows) {
		c.Put("… and %d more\n", all-len(rows))
	}
}

const typeWidth = 24

const nameWidth = 40

func changeLetter(kind state.ChangeKind) (letter, style string) {
	switch kind {
	case state.Added:
		return "A", show.Green
	case state.Removed:
		return "D", show.Red
	}
	return "M", show.Yellow
}

// BranchRow is a branch in a list, nil for one that was made or removed, which is reported at once.
func BranchRow(c *show.Console, answer any) []show.Cell {
	switch a := answer.(type) {
	case *branching.Branch:
		if a.Made {
			c.Put("branch %s is at %s\n", c.Paint(show.Cyan, show.Line(a.Name)), c.Commit(a.Commit))
			return nil
		}
		mark, style := " ", ""
		if a.Current {
			mark, style = "*", show.Green
		}
		return show.Row(mark+" "+show.Line(a.Name), style, show.ShortCID(a.Commit), show.Yellow,
			againstText(a.Remotes)+show.Brief(a.Title, show.SummaryWidth), "")
	case *branching.Gone:
		c.Put("branch %s, which was at %s, is removed\n", show.Line(a.Removed), c.Commit(a.Commit))
	}
	return nil
}

// againstText says how a branch differs from those of the same name in remotes, before its title.
func againstText(list []branching.BranchThere) string {
	var all strings.Builder
	for _, there := range list {
		var how []string
		if there.Ahead > 0 {
			how = append(how, "ahead "+strconv.Itoa(there.Ahead))
		}
		if there.Behind > 0 {
			how = append(how, "behind "+strconv.Itoa(there.Behind))
		}
		if len(how) == 0 {
			how = append(how, "the same")
		}
		all.WriteString("[" + show.Line(there.Remote) + ": " + strings.Join(how, ", ") + "] ")
	}
	return all.String()
}

func firstLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

func TagRow(c *show.Console, answer any) []show.Cell {
	switch a := answer.(type) {
	case *branching.Tag:
		if a.Made {
			c.Put("tag %s is at %s\n", c.Paint(show.Bold, show.Line(a.Name)), c.Commit(a.Commit))
			return nil
		}
		return show.Row(show.Line(a.Name), show.Bold, show.ShortCID(a.Commit), show.Yellow,
			show.Brief(a.Title, show.SummaryWidth), "")
	case *branching.Gone:
		c.Put("tag %s, which was at %s, is removed\n", show.Line(a.Removed), c.Commit(a.Commit))
	}
	return nil
}

func Switch(c *show.Console, h *branching.Head) error {
	where := c.Commit(h.Commit)
	if h.Branch == "" {
		return c.Printf("HEAD is at %s and on no branch\n", where)
	}
	if !h.Commit.Defined() {
		where = "no commit yet"
	}
	c.Put("on branch %s, %s\n", c.Paint(show.Cyan, show.Line(string(h.Branch))), where)
	if h.Staged != "" {
		c.Remark("note: what is staged stays for branch %s", show.Line(h.Staged))
	}
	return c.Failed()
}

func Reset(c *show.Console, s *branching.Staged) error {
	if !s.Staged {
		return c.Printf("nothing staged in %s\n", show.Line(s.Stage))
	}
	return c.Printf("forgot what was staged in %s: %s\n", show.Line(s.Stage), c.Changes(s.Nodes, s.Edges))
}

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
		c.Put("removed %s, which was at %s\n", c.Paint(show.Cyan, show.Line(b.Removed)), c.Commit(b.Commit))
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

func Versions(c *show.Console, v *upkeep.Versions) error {
	text := "mnem " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	return c.Printf("%s\n%s %s, record format %d, ranking %d, text analysis %d\n", text, v.Go,
		v.Platform, v.Format, v.Ranking, v.Analyser)
}

func Fsck(c *show.Console, res *upkeep.Fscked) error {
	if res.Unmarked != "" {
		c.Remark("note: marks are left as they are: %s", show.Line(res.Unmarked))
	}
	for _, done := range res.Repaired {
		c.Put("%s: %s\n", c.Paint(show.Yellow, "repaired"), done)
	}
	for _, e := range res.Errors {
		cid := "-"
		if e.CID.Defined() {
			cid = e.CID.String()
		}
		c.Put("%s %s: %s\n", c.Paint(show.Red, string(e.Kind)), cid, show.Line(e.Message))
	}
	if res.OK {
		return c.Printf("%s: %s\n", c.Paint(show.Green, "ok"), show.Plural(res.Blocks, "block"))
	}
	return c.Printf("%s in %s\n", c.Paint(show.Red, show.Plural(len(res.Errors), "error")),
		show.Plural(res.Blocks, "block"))
}

func GC(c *show.Console, res *core.GCResult) error {
	verb := "removed"
	if res.DryRun {
		verb = "would remove"
	}
	c.Put("%s %s, %s; %s kept\n", verb, show.Plural(res.Blocks, "block"),
		show.Plural(int(res.Bytes), "byte"), show.Plural(res.Kept, "block"))
	if res.MustFree > 0 {
		c.Put("the disk has no room to rewrite the files without them: free %s and run 'mnem gc'\n",
			show.Plural(int(res.MustFree), "byte"))
	}
	return c.Failed()
}

func Purged(c *show.Console, p *upkeep.Purged) error {
	verb := "erased"
	switch {
	case p.DryRun:
		verb = "would erase"
	case p.Pending:
		verb = "redacted"
	}
	ofText := p.Node.IsZero()
	what := "with the text"
	if !ofText {
		what = "of node " + p.Node.String()
	}
	c.Put("%s %s %s\n", verb, show.Plural(len(p.Erased), "block"), what)
	switch {
	case p.Denied != "":
		c.Put("erasure pending: %s\n'mnem gc' of the role that owns the tables goes on\n", show.Line(p.Denied))
	case p.Pending:
		some := "some"
		if p.MustFree > 0 {
			some = show.Plural(int(p.MustFree), "byte")
		}
		c.Put("erasure pending: the disk has no room to rewrite the files that still have "+
			"its bytes;\nfree %s, and 'mnem gc' or the next command that writes goes on\n", some)
	}
	var rows [][]show.Cell
	row := func(what, name string) {
		rows = append(rows, show.Row(what, show.Dim, show.Line(name), ""))
	}
	for _, ref := range p.Branches {
		row("removed from branch", string(ref.Ref[len(graph.Heads):]))
	}
	for _, s := range p.Stages {
		row("removed from stage", s)
	}
	for _, id := range p.Derived {
		row("with it, which nothing else led to, node", id.String())
	}
	if ofText {
		for _, h := range p.Erased {
			row(string(h.What), cmp.Or(h.Name, h.CID.String()))
		}
	}
	for _, h := range p.Shared {
		row("kept, another node has the same "+string(h.What), h.CID.String())
	}
	for _, h := range p.Hits {
		what := "its words are also in "
		if ofText {
			what = "kept, as it cannot be erased: "
		}
		row(what+h.What, cmp.Or(h.Name, h.CID.String()))
	}
	for _, f := range p.Files {
		row(purgedFile(f, p.DryRun), ".mnem/"+f.Path)
	}
	c.PutTable(rows)
	if p.More > 0 {
		c.Put("… and in %s more\n", show.Plural(p.More, "block"))
	}
	for _, name := range p.Elsewhere {
		c.Put("%s may still have it: 'mnem push %[1]s --redactions' erases it there\n", show.Line(name))
	}
	return c.Failed()
}

func purgedFile(f layout.File, dryRun bool) string {
	switch {
	case f.Done == layout.Left:
		return "kept, and has it: " + f.What
	case dryRun && f.Done == layout.Changed:
		return "would take it out of " + f.What
	case dryRun:
		return "would remove " + f.What
	case f.Done == layout.Changed:
		return "took it out of " + f.What
	}
	return "removed " + f.What
}
