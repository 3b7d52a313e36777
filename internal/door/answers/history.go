package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
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

func Log(c *show.Console, q *branching.LogRequest, e *branching.Commit) error {
	var text string
	switch {
	case q.Oneline:
		git := ""
		if e.Git != nil {
			git = c.Paint(show.Dim, fmt.Sprintf("%-12s", shortGit(e.Git))) + " "
		}
		text = fmt.Sprintf("%s %s %s%s%s\n", c.Commit(e.Commit),
			e.Time.String()[:len("2006-01-02")], git, signatureColumn(c, e.Signature), show.Line(messageOrTitle(e)))
	case e.Stat != nil:
		text = commitText(c, e) + "\n"
	default:
		text = commitText(c, e)
	}
	if e.Stat != nil {
		text += statText(c, e.Stat)
	}
	if q.Graph {
		d := c.Lanes.Draw(e.Commit, e.Parents)
		if !q.Oneline {
			text += "\n" // the lines go on between commits
		}
		return c.PrintBeside(d, text)
	}
	if c.Answers > 1 && !q.Oneline {
		text = "\n" + text
	}
	return c.Printf("%s", text)
}

// idsAlone are messages that verbs write: a few words and ids, which say nothing to people.
var idsAlone = pattern.New(strings.ReplaceAll(`^(observe|pin|unpin|forget|stale|supersede|retire|expire|contradict|`+
	`stale by their sources:|refresh the sources of|remember( \S+)?) ID(, ID)*( and \d+ more)?( (by|in place of) ID)?$`,
	"ID", `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`))

// messageOrTitle is the first line of a commit's message, or its title if that has only ids to say.
func messageOrTitle(e *branching.Commit) string {
	message := firstLine(e.Message)
	if e.Title != nil && *e.Title != "" && (message == "" || idsAlone().MatchString(message)) {
		return *e.Title
	}
	return message
}

// signatureColumn returns the verdict on a signature, as the beginning of a line's last column.
func signatureColumn(c *show.Console, v *branching.Signature) string {
	if v == nil {
		return ""
	}
	return c.Paint(signatureStyle(v.Signature), fmt.Sprintf("%-9s", v.Signature)) + " "
}

// commitText is a commit's own lines.
func commitText(c *show.Console, e *branching.Commit) string {
	var b strings.Builder
	b.WriteString(c.Paint(show.Yellow, "commit "+e.Commit.String()) + "\n")
	if len(e.Parents) > 1 {
		b.WriteString("merge ")
		for _, parent := range e.Parents {
			b.WriteString(" " + parent.String())
		}
		b.WriteString("\n")
	}
	b.WriteString("author " + show.Line(e.Author) + "\n")
	if e.Agent != "" {
		b.WriteString("agent  " + show.Line(string(e.Agent)) + "\n")
	}
	if e.Task != "" {
		b.WriteString("task   " + show.Line(string(e.Task)) + "\n")
	}
	b.WriteString("time   " + e.Time.String() + "\n")
	if e.Git != nil {
		b.WriteString("git    " + cmp.Or(string(*e.Git), "-") + "\n")
	}
	b.WriteString("change " + c.Changes(e.Nodes, e.Edges))
	if e.Profiles != nil {
		b.WriteString(", profiles " + show.Line(strings.Join(e.Profiles, " ")))
	}
	b.WriteString("\n")
	if e.Title != nil && *e.Title != "" {
		b.WriteString("title  " + *e.Title + "\n")
	}
	if v := e.Signature; v != nil {
		b.WriteString("sign   " + c.Paint(signatureStyle(v.Signature), string(v.Signature)))
		if v.Signature != commit.Unsigned {
			b.WriteString(", " + signedBy(v))
		}
		b.WriteString("\n")
	}
	if e.Message != "" {
		b.WriteString("\n")
		for _, l := range strings.Split(strings.TrimRight(e.Message, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+show.Line(l), " ") + "\n")
		}
	}
	return b.String()
}

// statText is the counts of a commit by type.
func statText(c *show.Console, stat *branching.Stat) string {
	var b strings.Builder
	for _, part := range []struct {
		what  string
		types []branching.TypeCounts
	}{{"node", stat.NodeTypes}, {"edge", stat.EdgeTypes}} {
		for _, t := range part.types {
			b.WriteString("  " + c.CountsLine(t.Counts, part.what+" "+show.Word(t.Type)) + "\n")
		}
	}
	return b.String()
}

// Watched prints one operation, and before the first from where on it watches.
func Watched(c *show.Console, answer any) error {
	w, ok := answer.(*branching.Watched)
	if !ok {
		if c.Answers == 1 {
			c.Remark("watching what comes after operation %d; stop with Ctrl-C", answer.(*branching.WatchBegun).Seq)
		}
		return nil
	}
	by := show.Line(w.Actor)
	if w.Agent != "" {
		by += " (" + show.Line(string(w.Agent)) + ")"
	}
	words := make([]string, len(w.Command))
	for i, word := range w.Command {
		words[i] = show.Line(word)
	}
	err := c.Printf("%s %s %s: %s\n", c.Paint(show.Yellow, strconv.FormatUint(w.Seq, 10)),
		c.Paint(show.Dim, w.Time.String()), by, strings.Join(words, " "))
	err = cmp.Or(err, printMoves(c, w.Refs))
	for i := range w.Branches {
		err = cmp.Or(err, printBranchMove(c, &w.Branches[i]))
	}
	return err
}

func printBranchMove(c *show.Console, m *branching.BranchMoved) error {
	text := "  "
	if m.Nodes != nil {
		text += c.CountsLine(*m.Nodes, "nodes") + ", " +
			c.CountsLine(*m.Edges, "edges") + "  "
	}
	c.Put("%s%s\n", text, show.Brief(firstLine(m.Message), show.SummaryWidth))
	if m.Changes == nil {
		return c.Failed()
	}
	for _, n := range m.Changes.Nodes {
		title := "node " + nodeLabel(verb.Text(n.Key), n.ID) + " " + show.Word(n.Type)
		if err := printWatchedItem(c, n.Kind, title, n.Fields); err != nil {
			return err
		}
	}
	for _, e := range m.Changes.Edges {
		title := "edge " + show.Word(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " +
			nodeLabel(e.DstKey, e.Dst)
		if e.Key != "" {
			title += " (" + show.Line(e.Key) + ")"
		}
		if err := printWatchedItem(c, e.Kind, title, e.Fields); err != nil {
			return err
		}
	}
	if m.Changes.More {
		return c.Printf("  and more: see 'mnem diff %s~ %s'\n", m.Commit, m.Commit)
	}
	return nil
}

// printWatchedItem prints one item that changed as diff does, two columns further in.
func printWatchedItem(c *show.Console, k state.ChangeKind, title string, fields []state.FieldDiff) error {
	sign, style := changeSign(k)
	err := c.Printf("  %s\n", c.Paint(style, sign+" "+title))
	for _, f := range fields {
		before, after := watchedValue(f.Old), watchedValue(f.New)
		switch {
		case k != state.Changed && slices.Contains(headFields, f.Field):
			continue
		case k == state.Changed:
			after = c.Paint(show.Red, before) + " -> " + c.Paint(show.Green, after)
		case k == state.Removed:
			after = before
		}
		err = cmp.Or(err, c.Printf("    %s: %s\n", show.Line(f.Field), after))
	}
	return err
}

func watchedValue(v *ipld.Value) string {
	if v != nil && v.Kind() == ipld.Null {
		v = nil
	}
	return diffValue(v)
}
