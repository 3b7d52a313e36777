package show

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/verb/branching"
)

func (c *Console) Log(q *branching.LogRequest, e *branching.Commit) error {
	var text string
	switch {
	case q.Oneline:
		git := ""
		if e.Git != nil {
			git = c.Paint(Dim, fmt.Sprintf("%-12s", shortGit(e.Git))) + " "
		}
		text = fmt.Sprintf("%s %s %s%s%s\n", c.commit(e.Commit),
			e.Time.String()[:len("2006-01-02")], git, c.signatureColumn(e.Signature), line(messageOrTitle(e)))
	case e.Stat != nil:
		text = c.commitText(e) + "\n"
	default:
		text = c.commitText(e)
	}
	if e.Stat != nil {
		text += c.statText(e.Stat)
	}
	if q.Graph {
		d := c.lanes.draw(e.Commit, e.Parents)
		if !q.Oneline {
			text += "\n" // the lines go on between commits
		}
		return c.printBeside(d, text)
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

// messageOrTitle is the first line of a commit's message, or its title where that has only ids to say.
func messageOrTitle(e *branching.Commit) string {
	message := firstLine(e.Message)
	if e.Title != nil && *e.Title != "" && (message == "" || idsAlone().MatchString(message)) {
		return *e.Title
	}
	return message
}

// signatureColumn is what a signature is worth, as the beginning of a line's last column.
func (c *Console) signatureColumn(v *branching.Signature) string {
	if v == nil {
		return ""
	}
	return c.Paint(signatureStyle(v.Signature), fmt.Sprintf("%-9s", v.Signature)) + " "
}

// commitText is a commit's own lines.
func (c *Console) commitText(e *branching.Commit) string {
	var b strings.Builder
	b.WriteString(c.Paint(Yellow, "commit "+e.Commit.String()) + "\n")
	if len(e.Parents) > 1 {
		b.WriteString("merge ")
		for _, parent := range e.Parents {
			b.WriteString(" " + parent.String())
		}
		b.WriteString("\n")
	}
	b.WriteString("author " + line(e.Author) + "\n")
	if e.Agent != "" {
		b.WriteString("agent  " + line(string(e.Agent)) + "\n")
	}
	if e.Task != "" {
		b.WriteString("task   " + line(string(e.Task)) + "\n")
	}
	b.WriteString("time   " + e.Time.String() + "\n")
	if e.Git != nil {
		b.WriteString("git    " + cmp.Or(string(*e.Git), "-") + "\n")
	}
	b.WriteString("change " + c.changes(e.Nodes, e.Edges))
	if e.Profiles != nil {
		b.WriteString(", profiles " + line(strings.Join(e.Profiles, " ")))
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
			b.WriteString(strings.TrimRight("    "+line(l), " ") + "\n")
		}
	}
	return b.String()
}

// statText is the counts of a commit by type.
func (c *Console) statText(stat *branching.Stat) string {
	var b strings.Builder
	for _, part := range []struct {
		what  string
		types []branching.TypeCounts
	}{{"node", stat.NodeTypes}, {"edge", stat.EdgeTypes}} {
		for _, t := range part.types {
			b.WriteString("  " + c.countsLine(t.Counts, part.what+" "+word(t.Type)) + "\n")
		}
	}
	return b.String()
}
