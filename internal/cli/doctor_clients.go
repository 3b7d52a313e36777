package cli

import (
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/ops"
)

// openToOthers reports whether users other than the owner may write a file; Windows has other ways
// to say so.
func openToOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0
}

// clients looks at the entries that integrate made: what they start must be there.
func (d *doctor) clients() {
	some := false
	rows := d.c.clientStates()
	for _, row := range rows {
		check := "client " + row.Client
		fix := "mnem integrate " + row.Client
		if row.Level == clients.Project {
			fix += " --project"
		}
		d.hooks(check, fix, row)
		switch row.Rules {
		case stateDamaged:
			d.Find(ops.LevelWarning, check, "repair the file", "%s cannot be read", row.rules)
		case clients.RulesOutdated:
			d.Find(ops.LevelWarning, check, fix, "the rules in %s are out of date", row.rules)
		case clients.RulesEdited:
			d.Find(ops.LevelNote, check, "", "the rules in %s were edited, and are left alone", row.rules)
		}
		switch row.State {
		case stateDamaged:
			d.Find(ops.LevelWarning, check, "repair the file", "%s cannot be read", row.Path)
		case stateIntegrated:
			some = true
			own := slices.ContainsFunc(rows, func(o clientJSON) bool {
				return o.Client == row.Client && o.Level == clients.Project && o.State == stateIntegrated
			})
			d.client(check, row, own)
		}
	}
	if !some {
		d.Find(ops.LevelNote, "clients", "mnem integrate --list", "no client is integrated")
	}
}

// hooks looks at the hooks of a file: they must be those that integrate would write, and be run.
func (d *doctor) hooks(check, fix string, row clientJSON) {
	switch row.Hooks {
	case stateDamaged:
		d.Find(ops.LevelWarning, check, "repair the file", "%s cannot be read", row.file)
	case stateOutdated:
		d.Find(ops.LevelWarning, check, fix, "the hooks in %s are out of date%s", row.file, d.outdated(row))
	}
	client, ok := clients.Find(row.Client)
	if !ok || row.Hooks != stateIntegrated && row.Hooks != stateOutdated {
		return
	}
	if untrusted, err := client.Untrusted(d.c.machine(), row.file, d.c.hookSetup()); err == nil && untrusted {
		d.Find(ops.LevelWarning, check, "open /hooks in "+client.Title+" and trust them",
			"the hooks in %s do not run yet: %s asks its user first", row.file, client.Title)
	}
}

// outdated says what of hooks is not as it would be written.
func (d *doctor) outdated(row clientJSON) string {
	client, _ := clients.Find(row.Client)
	state, err := client.Hooks(row.file, d.c.hookSetup())
	var why []string
	if err == nil && len(state.Programs) > 0 {
		why = append(why, "they run "+strings.Join(state.Programs, " and ")+", not this program")
	}
	if err == nil && len(state.Missing) > 0 {
		why = append(why, "there is none for "+strings.Join(state.Missing, ", "))
	}
	if err == nil && len(state.Others) > 0 {
		why = append(why, "there should be none for "+strings.Join(state.Others, ", "))
	}
	if len(why) == 0 {
		return ""
	}
	return ": " + strings.Join(why, "; ")
}

// client looks at one entry. own is whether the client has one of the project, which goes before the
// user's.
func (d *doctor) client(check string, row clientJSON, own bool) {
	fix := "mnem integrate " + row.Client
	if row.Level == clients.Project {
		fix += " --project"
	}
	why := startable(row.Command)
	if why != "" {
		d.Find(ops.LevelError, check, fix, "%s: %s", row.Path, why)
	}
	memory := memoryOf(row.Command)
	if memory != "" && memory != globalMemory && !isRepo(memory) {
		d.Find(ops.LevelError, check, fix+" --repo DIR", "%s: there is no repository in %s", row.Path, memory)
		return
	}
	here, err := d.c.dir()
	if memory != "" && memory != globalMemory && err == nil && !d.c.global.user && isRepo(here) &&
		!sameDir(memory, here) && (!own || row.Level == clients.Project) {
		fix += " --replace"
		if row.Level == clients.User && hasProjectFile(d.c, row.Client) {
			fix = "mnem integrate " + row.Client + " --project"
		}
		d.Find(ops.LevelWarning, check, fix, "%s starts mnem for another repository, %s", row.Path, memory)
		return
	}
	if why == "" {
		d.Find(ops.LevelOK, check, "", "%s", row.Path)
	}
}

func hasProjectFile(c *cli, name string) bool {
	client, ok := clients.Find(name)
	return ok && client.Path(c.machine(), clients.Project) != ""
}

// startable says why the first word of a command is no program, "" where it is one.
func startable(command []string) string {
	if len(command) == 0 || command[0] == "" {
		return "the entry starts nothing"
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return fmt.Sprintf("there is no program %s", command[0])
	}
	return ""
}

// print prints the findings and sets the exit code.
func (d *doctor) print() error {
	c := d.c
	if d.Errors > 0 {
		c.exit = 1
	}
	if d.corrupt {
		c.exit = 4
	}
	if c.global.json {
		return c.printJSON(d.Diagnosis)
	}
	styles := map[string]string{
		ops.LevelOK: styleGreen, ops.LevelNote: styleDim, ops.LevelWarning: styleYellow, ops.LevelError: styleRed,
	}
	var rows [][]cell
	for _, f := range d.Findings {
		rows = append(rows, []cell{{f.Level, styles[f.Level]}, {f.Check, styleBold}, {line(f.Message), ""}})
		if f.Fix != "" {
			rows = append(rows, []cell{{"", ""}, {"", ""}, {"→ " + line(string(f.Fix)), ""}})
		}
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if d.Errors+d.Warnings == 0 {
		return c.printf("all is well\n")
	}
	return c.printf("%s, %s\n", plural(d.Errors, "error"), plural(d.Warnings, "warning"))
}
