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
		row := show.Row(show.Brief(f.Field, nameWidth), show.Bold, show.ShortCID(f.Commit), show.Yellow,
			f.Time.String(), show.Dim)
		if f.Git != nil {
			row = append(row, show.Row(shortGit(f.Git), show.Dim)...)
		}
		rows = append(rows, append(row, show.Row(by, "", show.Brief(firstLine(f.Message), show.SummaryWidth), "")...))
	}
	return c.Table(rows)
}

// Op prints one operation of the log.
func Op(c *show.Console, o *branching.Op) error {
	text := opText(c, o.Seq, o.Time, show.Line(o.Actor), o.Command)
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
	printMoves(c, o.Refs)
	return c.Failed()
}

func opText(c *show.Console, seq uint64, at graph.Time, by string, command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = show.Line(w)
	}
	return fmt.Sprintf("%s %s %s: %s", c.Paint(show.Yellow, strconv.FormatUint(seq, 10)), c.Paint(show.Dim, at.String()), by,
		strings.Join(words, " "))
}

// OneOp prints an operation, or which refs moved between two.
func OneOp(c *show.Console, o *branching.Op) error {
	if o.Since != nil {
		c.Put("after operation %d, compared with after %d: %s differ\n", o.Seq, o.Since.Seq, show.Plural(len(o.Refs), "ref"))
		printMoves(c, o.Refs)
		return c.Failed()
	}
	c.Put("operation %s\n", o.Op)
	return Op(c, o)
}

func printMoves(c *show.Console, moves []core.RefMove) {
	for _, m := range moves {
		c.Put("  %s  %s -> %s\n", show.Line(string(m.Name)), refText(c, m.From.Ref), refText(c, m.To.Ref))
	}
}

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
	c.Put("%s operation %d (%s)\n", u.Did, u.Seq, show.Line(u.Verb))
	printMoves(c, u.Refs)
	skipped(c, u)
	return pushed(c, u)
}

// skipped prints how many operations of each command were passed over.
func skipped(c *show.Console, u *branching.Undone) {
	if u.SkippedAll == 0 {
		return
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
	c.Put("  passed over %s: %s\n", show.Plural(u.SkippedAll, "operation"), strings.Join(parts, ", "))
}

// pushed prints which remotes have what was taken back, and how to take it back there.
func pushed(c *show.Console, u *branching.Undone) error {
	for _, p := range u.Pushed {
		back := "mnem undo --redo"
		if u.Did == "restored" {
			back = "mnem undo"
		}
		c.Put("  %s has it: the next sync brings it back to %s. To take it back for everybody:\n"+
			"    %s && mnem revert %s && mnem sync %[1]s\n",
			show.Line(p.Remote), show.Line(p.Branch), back, shortSpan(p.Commits))
	}
	return c.Failed()
}

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
	text := ""
	if q.Oneline {
		git := ""
		if e.Git != nil {
			git = c.Paint(show.Dim, fmt.Sprintf("%-12s", shortGit(e.Git))) + " "
		}
		text = fmt.Sprintf("%s %s %s%s%s\n", c.Commit(e.Commit),
			e.Time.String()[:len("2006-01-02")], git, signatureColumn(c, e.Signature), show.Line(messageOrTitle(e)))
	} else if text = commitText(c, e); e.Stat != nil {
		text += "\n"
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
	put := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-6s %s\n", name, value)
		}
	}
	put("author", show.Line(e.Author))
	put("agent", show.Line(string(e.Agent)))
	put("task", show.Line(string(e.Task)))
	put("time", e.Time.String())
	if e.Git != nil {
		put("git", cmp.Or(string(*e.Git), "-"))
	}
	change := c.Changes(e.Nodes, e.Edges)
	if e.Profiles != nil {
		change += ", profiles " + show.Line(strings.Join(e.Profiles, " "))
	}
	put("change", change)
	if e.Title != nil {
		put("title", *e.Title)
	}
	if v := e.Signature; v != nil {
		sign := c.Paint(signatureStyle(v.Signature), string(v.Signature))
		if v.Signature != commit.Unsigned {
			sign += ", " + signedBy(v)
		}
		put("sign", sign)
	}
	if e.Message != "" {
		b.WriteString("\n")
		for l := range strings.SplitSeq(strings.TrimRight(e.Message, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+show.Line(l), " ") + "\n")
		}
	}
	return b.String()
}

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
	c.Put("%s\n", opText(c, w.Seq, w.Time, by, w.Command))
	printMoves(c, w.Refs)
	for i := range w.Branches {
		printBranchMove(c, &w.Branches[i])
	}
	return c.Failed()
}

func printBranchMove(c *show.Console, m *branching.BranchMoved) {
	text := "  "
	if m.Nodes != nil {
		text += c.Changes(*m.Nodes, *m.Edges) + "  "
	}
	c.Put("%s%s\n", text, show.Brief(firstLine(m.Message), show.SummaryWidth))
	if m.Changes == nil {
		return
	}
	for _, n := range m.Changes.Nodes {
		printWatchedItem(c, n.Kind, nodeTitle(&n), n.Fields)
	}
	for _, e := range m.Changes.Edges {
		printWatchedItem(c, e.Kind, edgeTitle(&e), e.Fields)
	}
	if m.Changes.More {
		c.Put("  and more: see 'mnem diff %s~ %[1]s'\n", m.Commit)
	}
}

// printWatchedItem prints one item that changed as diff does, two columns further in.
func printWatchedItem(c *show.Console, k state.ChangeKind, title string, fields []state.FieldDiff) {
	sign, style := changeSign(k)
	c.Put("  %s\n", c.Paint(style, sign+" "+title))
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
		c.Put("    %s: %s\n", show.Line(f.Field), after)
	}
}

func watchedValue(v *ipld.Value) string {
	if v != nil && v.Kind() == ipld.Null {
		v = nil
	}
	return diffValue(v)
}

// Diff prints what differs.
func Diff(c *show.Console, q *branching.DiffRequest, answer any) error {
	if stat, ok := answer.(*branching.DifferedStat); ok {
		return printDiffStat(c, stat)
	}
	d := answer.(*branching.Differed)
	if err := printDiffered(c, d, q.WordDiff); err != nil {
		return err
	}
	n, e := d.Counts.Nodes, d.Counts.Edges
	if n.Zero() && e.Zero() && d.Profiles == nil {
		c.Remark("no differences")
		return nil
	}
	if d.Title != "" {
		c.Remark("%s", d.Title)
	}
	c.Remark("nodes +%d ~%d -%d, edges +%d ~%d -%d", n.Added, n.Changed, n.Removed, e.Added,
		e.Changed, e.Removed)
	return nil
}

func printDiffered(c *show.Console, d *branching.Differed, byWord bool) error {
	err := d.Nodes(func(n state.NodeDiff) error {
		printItemDiff(c, n.Kind, nodeTitle(&n), n.Fields, byWord)
		return c.Failed()
	})
	if err != nil {
		return err
	}
	err = d.Edges(func(e branching.EdgeDiff) error {
		printItemDiff(c, e.Kind, edgeTitle(&e), e.Fields, byWord)
		return c.Failed()
	})
	if err != nil {
		return err
	}
	return printProfilesDiff(c, d.Profiles)
}

func nodeTitle(n *state.NodeDiff) string {
	return "node " + nodeLabel(verb.Text(n.Key), n.ID) + " " + show.Word(n.Type)
}

func edgeTitle(e *branching.EdgeDiff) string {
	title := "edge " + show.Word(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " + nodeLabel(e.DstKey, e.Dst)
	if e.Key != "" {
		title += " (" + show.Line(e.Key) + ")"
	}
	return title
}

func printDiffStat(c *show.Console, d *branching.DifferedStat) error {
	for _, part := range []struct {
		what  string
		types []branching.TypeCounts
		total state.Counts
	}{{"node", d.NodeTypes, d.Counts.Nodes}, {"edge", d.EdgeTypes, d.Counts.Edges}} {
		for _, t := range part.types {
			c.Put("%s\n", c.CountsLine(t.Counts, part.what+" "+show.Word(t.Type)))
		}
		c.Put("%s\n", c.CountsLine(part.total, part.what+"s in all"))
	}
	return c.Failed()
}

// headFields are in the line of an item already.
var headFields = []string{"key", "type", "src", "dst"}

// changeSign is how people read that an item was added, changed or removed.
func changeSign(k state.ChangeKind) (sign, style string) {
	switch k {
	case state.Added:
		return "+", show.Green
	case state.Removed:
		return "-", show.Red
	}
	return "~", show.Yellow
}

func printItemDiff(c *show.Console, k state.ChangeKind, title string, fields []state.FieldDiff, byWord bool) {
	sign, style := changeSign(k)
	c.Put("%s\n", c.Paint(style, sign+" "+title))
	for _, f := range fields {
		if k != state.Changed && slices.Contains(headFields, f.Field) {
			continue
		}
		var values string
		switch {
		case k == state.Added:
			values = diffValue(f.New)
		case k == state.Removed:
			values = diffValue(f.Old)
		case byWord:
			values = WordDiff(c, f.Old, f.New)
		default:
			values = c.Paint(show.Red, diffValue(f.Old)) + " -> " + c.Paint(show.Green, diffValue(f.New))
		}
		c.Put("  %s: %s\n", show.Line(f.Field), values)
	}
}

// diffValue is a value in one safe line, nil for none.
func diffValue(v *ipld.Value) string {
	if v == nil {
		return "(none)"
	}
	return show.Line(string(ipld.AppendJSON(nil, *v)))
}

// MaxCompared bounds how many words of each text are compared one by one: the work grows with their product.
// Longer texts are shown as replaced between what they begin and end with alike.
const MaxCompared = 2000

// wordPattern cuts a text into words, spaces and single signs. Scripts without spaces are cut by character.
var wordPattern = pattern.New(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}\p{M}_]+|\s+|.`)

// WordDiff shows how a value became another, words that went as [-…-] and words that came as {+…+}.
func WordDiff(c *show.Console, from, to *ipld.Value) string {
	a, b := wordsOf(from), wordsOf(to)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out strings.Builder
	out.WriteString(show.Line(strings.Join(a[:start], "")))
	writeChanged(c, &out, a[start:len(a)-end], b[start:len(b)-end])
	out.WriteString(show.Line(strings.Join(a[len(a)-end:], "")))
	return out.String()
}

// wordsOf are the words of a value: of a text, or of its JSON form.
func wordsOf(v *ipld.Value) []string {
	if v == nil || v.Kind() == ipld.Null {
		return nil
	}
	text := v.Text()
	if v.Kind() != ipld.String {
		text = string(ipld.AppendJSON(nil, *v))
	}
	return wordPattern().FindAllString(text, -1)
}

func writeChanged(c *show.Console, out *strings.Builder, a, b []string) {
	if len(a) > MaxCompared || len(b) > MaxCompared {
		writeWords(c, out, a, b)
		return
	}
	common := commonLengths(a, b)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var went, came []string
		for i < len(a) || j < len(b) {
			switch {
			case i < len(a) && j < len(b) && a[i] == b[j]:
			case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
				went = append(went, a[i])
				i++
				continue
			default:
				came = append(came, b[j])
				j++
				continue
			}
			break
		}
		writeWords(c, out, went, came)
		for i < len(a) && j < len(b) && a[i] == b[j] {
			out.WriteString(show.Line(a[i]))
			i, j = i+1, j+1
		}
	}
}

// commonLengths are the lengths of longest common subsequences of what follows in both.
func commonLengths(a, b []string) [][]uint16 {
	rows := make([][]uint16, len(a)+1)
	all := make([]uint16, (len(a)+1)*(len(b)+1))
	for i := range rows {
		rows[i], all = all[:len(b)+1], all[len(b)+1:]
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				rows[i][j] = rows[i+1][j+1] + 1
			} else {
				rows[i][j] = max(rows[i+1][j], rows[i][j+1])
			}
		}
	}
	return rows
}

func writeWords(c *show.Console, out *strings.Builder, went, came []string) {
	if len(went) > 0 {
		out.WriteString(c.Paint(show.Red, "[-"+show.Line(strings.Join(went, ""))+"-]"))
	}
	if len(came) > 0 {
		out.WriteString(c.Paint(show.Green, "{+"+show.Line(strings.Join(came, ""))+"+}"))
	}
}

// MergeAnswer prints what merge did, or what is in progress.
func MergeAnswer(c *show.Console, answer any) error {
	switch a := answer.(type) {
	case *branching.Merged:
		return Merged(c, a)
	case *branching.Pending:
		return printPending(c, a)
	}
	return c.PrintJSON(answer)
}

// Merged prints what a merge, a revert or a cherry-pick did.
func Merged(c *show.Console, m *branching.Merged) error {
	warnSecrets(c, m.Warnings)
	PrintConflicts(c, m.Conflicts)
	if m.VectorsDropped > 0 {
		c.Remark("note: %s of changed text dropped: embed again", show.Plural(m.VectorsDropped, "vector"))
	}
	branch, counts, would := c.Paint(show.Cyan, show.Line(m.Branch)), c.Changes(m.Nodes, m.Edges), ""
	if m.DryRun {
		would = "would be "
	}
	switch {
	case m.NoChange:
		return c.Printf("nothing to do: %s has all of it\n", branch)
	case !m.Commit.Defined():
		return nil
	case m.FastForward:
		return c.Printf("%s %sfast-forward: %s\n", c.At(m.Branch, m.Commit), would, counts)
	case m.DryRun:
		return c.Printf("[%s] would be %s\n", branch, counts)
	}
	return c.Printf("%s %s\n", c.At(m.Branch, m.Commit), counts)
}

// PrintConflicts prints conflicts for people: an item a line, then its fields.
func PrintConflicts(c *show.Console, list []core.Conflict) {
	for _, con := range list {
		state := c.Paint(show.Red, string(con.Kind))
		if con.Resolution != "" {
			state = c.Paint(show.Green, "resolved: "+con.Resolution)
		}
		c.Put("%s  %s  %s\n", state, con.Item, show.Line(con.Label))
		for _, f := range con.Fields {
			c.Put("  %s: ours %s, theirs %s, base %s\n", show.Line(f.Field), shownField(f.Ours),
				shownField(f.Theirs), shownField(f.Base))
		}
	}
}

func printPending(c *show.Console, p *branching.Pending) error {
	switch {
	case p.Aborted != "":
		return c.Printf("forgot the merge into %s\n", show.Line(p.Aborted))
	case p.Forgot != "":
		return c.Printf("forgot %s\n", show.Line(p.Forgot))
	case p.Verb == "" && len(p.Kept) == 0:
		return c.Printf("no merge in progress\n")
	}
	if p.Verb != "" {
		c.Put("%s into %s: %s, %d open\n", p.Verb, show.Line(p.Branch), show.Plural(len(p.Conflicts), "conflict"), p.Open)
		PrintConflicts(c, p.Conflicts)
	}
	for _, k := range p.Kept {
		c.Put("kept for %s: %s\n", show.Line(k.Branch), show.Line(string(k.Ref)))
	}
	return c.Failed()
}

// shownField is one value of a field for people, nil for none.
func shownField(v *ipld.Value) string {
	if v == nil {
		return "none"
	}
	return show.Brief(string(ipld.AppendJSON(nil, *v)), show.SummaryWidth)
}
