package answers

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/branching"
)

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
