package cli

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestCommandNames: a command line that begins with a name makes that command alone, so the table
// must have the names of the commands.
func TestCommandNames(t *testing.T) {
	all := commands(append(verbs.Verbs(), locals()...))
	for _, name := range all {
		c := &line.Line{App: &line.App{Getenv: func(string) string { return "" }}}
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
	c := &line.Line{App: &line.App{Getenv: func(string) string { return "" }}}
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
	out, err := cmd.Output()
	must.OK(t, err)
	ours := func(pkg string) bool { return strings.HasPrefix(pkg, "github.com/mnem-project/mnem/") }
	list := slices.DeleteFunc(strings.Fields(string(out)), ours)
	// 30 of them by the protocol library of mcp, which cost .5 ms at the start; two of HTML, whose
	// tables are made when a page is read; two of fsnotify; 20 of PostgreSQL's protocol, half of them of texts
	// by which passwords are prepared; one that tells what a processor can do; 24 of age and
	// keys of ssh, which encrypt remotes.
	const most = 500
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
