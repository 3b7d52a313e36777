package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/internal/door/line"
)

// A ManPage is one page of the manual, in the macros of man(7).
type ManPage struct{ File, Text string }

// Manual returns a page for mnem, one for each command in section 1, and one for each topic of the help in section 7,
// ordered by file name. Commands that the help does not list have one too.
func Manual() []ManPage {
	top := root(&line.Line{App: &line.App{Getenv: func(string) string { return "" }}})
	var pages []ManPage
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return
		}
		if cmd.Runnable() || cmd.HasAvailableSubCommands() {
			pages = append(pages, ManPage{manName(cmd) + ".1", manCommand(cmd)})
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(top)
	for _, t := range topics() {
		pages = append(pages, ManPage{"mnem-" + t.Name + ".7", manTopic(t)})
	}
	slices.SortFunc(pages, func(a, b ManPage) int { return strings.Compare(a.File, b.File) })
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manCommand(cmd *cobra.Command) string {
	var b strings.Builder
	manHead(&b, manName(cmd), "1", cmd.Short)
	b.WriteString(".SH SYNOPSIS\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".B %s\n", roff(cmd.UseLine()))
	} else {
		fmt.Fprintf(&b, ".B %s \\fICOMMAND\\fR\n", roff(cmd.CommandPath()))
	}
	manText(&b, "DESCRIPTION", cmd.Long)
	manCommands(&b, cmd)
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	if cmd.HasParent() {
		manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	}
	manText(&b, "EXAMPLES", cmd.Example)
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(manSee(cmd), ", ")))
	return b.String()
}

// manSee names the pages above a command's; that of mnem names the topics.
func manSee(cmd *cobra.Command) []string {
	var see []string
	for parent := cmd.Parent(); parent != nil; parent = parent.Parent() {
		see = append(see, manName(parent)+"(1)")
	}
	if see != nil {
		return append(see, "mnem-exit-codes(7)")
	}
	for _, t := range topics() {
		see = append(see, "mnem-"+t.Name+"(7)")
	}
	return see
}

func manTopic(t topic) string {
	var b strings.Builder
	manHead(&b, "mnem-"+t.Name, "7", t.Short)
	manText(&b, "DESCRIPTION", t.Long)
	b.WriteString(".SH SEE ALSO\nmnem(1)\n")
	return b.String()
}

// manHead has no date, so that a page changes only with its command.
func manHead(b *strings.Builder, name, section, short string) {
	fmt.Fprintf(b, ".TH %s %s \"\" mnem \"mnem manual\"\n.nh\n.ad l\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), section,
		roff(name), roff(short))
}

// manText keeps the lines of a text as they are: texts of the help have tables and lists.
func manText(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for text := range strings.SplitSeq(text, "\n") {
		b.WriteString(roffLine(text) + "\n")
	}
	b.WriteString(".fi\n")
}

func manCommands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			fmt.Fprintf(b, ".TP\n.B %s(1)\n%s\n", roff(manName(sub)), roffLine(sub.Short))
		}
	}
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			fmt.Fprintf(b, "\\fB%s\\fR, ", roff("-"+f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB%s\\fR", roff("--"+f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		b.WriteString("\n")
		for text := range strings.SplitSeq(usage, "\n") {
			b.WriteString(roffLine(strings.TrimSpace(text)) + "\n")
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
			fmt.Fprintf(b, "(default %s)\n", roff(f.DefValue))
		}
	})
}

// roffEscapes protect characters that formatters would obey or print as others.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

func roff(text string) string { return roffEscapes.Replace(text) }

// roffLine escapes a line of text, which may begin like a request, and may be empty.
func roffLine(text string) string {
	if text == "" {
		return `\&`
	}
	if text[0] == '.' {
		return `\&` + roff(text)
	}
	return roff(text)
}
