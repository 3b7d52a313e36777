package answers

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

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
