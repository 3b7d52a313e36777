package cli

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/access"
	linepkg "github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb"
)

// TestHelpIsShort holds what a newcomer sees first to eighteen commands, and all of it to the width
// of a terminal.
func TestHelpIsShort(t *testing.T) {
	w := newWorld(t)
	short, _ := w.run(0, "--help")
	all, _ := w.run(0, "help", "--all")
	var missing []string
	listed := 0
	for _, name := range commands(append(verbs.Verbs(), locals()...)) {
		line := "\n  " + name + " "
		hidden := commandOf((&linepkg.Line{App: w.App}), name).Hidden
		if strings.Contains(all, line) == hidden || hidden && !strings.Contains(all[strings.Index(all, "\nRun by programs:\n"):], name) {
			missing = append(missing, name)
		}
		if !strings.Contains(short, line) {
			continue
		}
		listed++
		must.True(t, slices.Contains(linepkg.Basics, name), "%s is listed", name)
	}
	if len(missing) > 0 || listed != len(linepkg.Basics) || listed != 18 {
		t.Errorf("%d commands in the short help; wrong in the long one: %v", listed, missing)
	}
	must.Contain(t, short, "'mnem help --all'", "the short help does not say where the rest is")
	for _, line := range strings.Split(short+all, "\n") {
		must.True(t, len(line) <= linepkg.HelpWidth, "%d columns: %s", len(line), line)
	}
}

// TestFlagsAreNarrow holds what help says of flags and commands to the width of a terminal.
func TestFlagsAreNarrow(t *testing.T) {
	eachCommand(func(path string, cmd *cobra.Command) {
		usage := cmd.UsageString()
		_, flags, _ := strings.Cut(usage, "\nFlags")
		for _, line := range strings.Split(flags, "\n") {
			// A value is one word and stays whole.
			if len([]rune(line)) > linepkg.HelpWidth && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %d columns: %s", path, len(line), line)
			}
		}
	})
}

// TestManualHasEveryCommand looks for the page of each command and topic, and for every request in it: a line of text
// must not be one.
func TestManualHasEveryCommand(t *testing.T) {
	pages := make(map[string]string)
	for _, p := range Manual() {
		pages[p.File] = p.Text
	}
	wanted := []string{"mnem.1"}
	eachCommand(func(_ string, cmd *cobra.Command) { wanted = append(wanted, manName(cmd)+".1") })
	for _, topic := range topics() {
		wanted = append(wanted, "mnem-"+topic.Name+".7")
	}
	for _, file := range wanted {
		must.True(t, pages[file] != "", "no page %s", file)
	}
	requests := []string{".TH ", ".nh", ".ad l", ".SH ", ".nf", ".fi", ".TP", ".B "}
	for file, text := range pages {
		for line := range strings.Lines(text) {
			known := false
			for _, r := range requests {
				known = known || strings.HasPrefix(line, r)
			}
			if line[0] == '\'' || line[0] == '.' && !known {
				t.Errorf("%s: formatters obey the line %q", file, line)
			}
		}
	}
}

// TestManualKeepsTexts formats pages as man does, and looks for the texts of the command in what it prints.
func TestManualKeepsTexts(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff")
	}
	hostile := topic{"x", "short", ".SH not a section\n'br not a request\n\\fBnot bold\\fR\n\n  a\\tb -x 'y' `z` ^ ~ \"q\" …"}
	check := func(page, text string) {
		cmd := exec.Command("groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou", "-rLL=200n")
		cmd.Stdin = strings.NewReader(page)
		var warned bytes.Buffer
		cmd.Stderr = &warned
		out, err := cmd.Output()
		must.Require(t, err == nil && warned.Len() <= 0, "groff: %v\n%s", err, &warned)
		for line := range strings.Lines(text) {
			must.Contain(t, string(out), strings.TrimRight(line, "\n"), "not printed: ", line, " ", out)
		}
	}
	check(manTopic(hostile), hostile.Long)
	for _, topic := range topics() {
		check(manTopic(topic), topic.Long)
	}
	tried := 0
	eachCommand(func(path string, cmd *cobra.Command) {
		if tried++; tried%8 == 1 {
			check(manCommand(cmd), cmd.Long+"\n"+cmd.Example)
		}
	})
	must.True(t, tried >= 25, "only %d commands", tried)
}

// TestConfiguring holds the operations that policies know against the commands that need a right.
func TestConfiguring(t *testing.T) {
	var want []string
	for _, v := range locals() {
		if v.Spec.Right == verb.OwnRight {
			want = append(want, v.Spec.Name())
		}
	}
	got := slices.Clone(access.Configuring)
	slices.Sort(got)
	slices.Sort(want)
	must.Same(t, got, want, "policies know, the commands")
}

// TestCommandNames: a command line that begins with a name makes that command alone, so the table
// must have the names of the commands.
func TestCommandNames(t *testing.T) {
	all := commands(append(verbs.Verbs(), locals()...))
	for _, name := range all {
		c := &linepkg.Line{App: &linepkg.App{Getenv: func(string) string { return "" }}}
		made := commandOf(c, name)
		if made.Name() != name || len(made.Aliases) > 0 {
			t.Errorf("command %q is called %q, aliases %q", name, made.Name(), made.Aliases)
		}
		if got := wanted(all, []string{name, "--help"}); len(got) != 1 || got[0] != name {
			t.Errorf("%q makes %d commands", name, len(got))
		}
	}
	for _, line := range []string{"-q log", "-R get log -n 1", "--repo=get --json log", "__complete -R get log ''"} {
		if got := wanted(all, strings.Fields(line)); len(got) != 1 || got[0] != "log" {
			t.Errorf("%q makes %d commands", line, len(got))
		}
	}
	for _, args := range [][]string{
		nil, {"help", "log"}, {"lo"}, {"__complete", "log"}, {"-R", "log"}, {"--nonsense", "log"}, {"-h", "log"},
	} {
		if got := wanted(all, args); len(got) != len(all) {
			t.Errorf("%q makes %d commands", args, len(got))
		}
	}
}

// TestVersionCostsLittle bounds what is allocated until a small command runs, without what packages
// do when the program starts.
func TestVersionCostsLittle(t *testing.T) {
	c := &linepkg.Line{App: &linepkg.App{Getenv: func(string) string { return "" }}}
	few := testing.AllocsPerRun(5, func() { root(c, "version") })
	all := testing.AllocsPerRun(5, func() { root(c) })
	must.True(t, few <= 900 && few <= all/4, "%.0f allocations for one command, %.0f for all", few, all)
}

// TestProgramPackages bounds how many packages of others the program is linked from: each is work when a
// process starts, and most of all those with tables of their own. A new one is a decision.
func TestProgramPackages(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "../../../cmd/mnem")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is published
	out := must.Get(cmd.Output())(t)
	ours := func(pkg string) bool { return strings.HasPrefix(pkg, "github.com/mnem-project/mnem/") }
	list := slices.DeleteFunc(strings.Fields(string(out)), ours)
	// 30 of them by the protocol library of mcp, which cost .5 ms at the start; two of HTML, whose
	// tables are made when a page is read; two of fsnotify; 20 of PostgreSQL's protocol, half of them of texts
	// by which passwords are prepared; one that tells what a processor can do; 24 of age and
	// keys of ssh, which encrypt remotes; one that escapes HTML and makes its tables when it is used.
	const most = 501
	must.True(t, len(list) <= most, "%d packages, want at most %d", len(list), most)
	for _, heavy := range []string{
		"testing", "net/http/pprof", "html/template", "github.com/charmbracelet/glamour",
		"github.com/alecthomas/chroma",
	} {
		for _, name := range list {
			if name == heavy || strings.HasPrefix(name, heavy+"/") {
				t.Errorf("%s is linked: it is slow to start", name)
			}
		}
	}
}
