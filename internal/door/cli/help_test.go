package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	linepkg "github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
