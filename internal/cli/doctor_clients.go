package cli

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/repo"
)

// openToOthers reports whether users other than the owner may write a file; Windows has other ways
// to say so.
func openToOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0
}

// clients looks at the entries that integrate made: what they start must be there.
func (d *doctor) clients() {
	some := false
	for _, row := range d.c.clientStates() {
		check := "client " + row.Client
		switch row.State {
		case stateDamaged:
			d.find(levelWarning, check, "repair the file", "%s cannot be read", row.Path)
		case stateIntegrated:
			some = true
			d.client(check, row)
		}
	}
	if !some {
		d.find(levelNote, "clients", "mnem integrate --list", "no client is integrated")
	}
}

func (d *doctor) client(check string, row clientJSON) {
	fix := "mnem integrate " + row.Client
	if row.Level == clients.Project {
		fix += " --project"
	}
	if why := startable(row.Command); why != "" {
		d.find(levelError, check, fix, "%s: %s", row.Path, why)
		return
	}
	if i := slices.Index(row.Command, "--repo"); i >= 0 && i+1 < len(row.Command) {
		dir := row.Command[i+1]
		if filepath.IsAbs(dir) {
			if _, err := os.Stat(filepath.Join(dir, repo.DirName)); err != nil {
				d.find(levelError, check, fix+" --repo DIR", "%s: there is no repository in %s", row.Path, dir)
				return
			}
		}
	}
	d.find(levelOK, check, "", "%s", row.Path)
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
	if d.out.Errors > 0 {
		c.exit = 1
	}
	if d.corrupt {
		c.exit = 4
	}
	if c.global.json {
		return c.printJSON(d.out)
	}
	styles := map[string]string{
		levelOK: styleGreen, levelNote: styleDim, levelWarning: styleYellow, levelError: styleRed,
	}
	var rows [][]cell
	for _, f := range d.out.Findings {
		rows = append(rows, []cell{{f.Level, styles[f.Level]}, {f.Check, styleBold}, {line(f.Message), ""}})
		if f.Fix != nil {
			rows = append(rows, []cell{{"", ""}, {"", ""}, {"→ " + line(*f.Fix), ""}})
		}
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if d.out.Errors+d.out.Warnings == 0 {
		return c.printf("all is well\n")
	}
	return c.printf("%s, %s\n", plural(d.out.Errors, "error"), plural(d.out.Warnings, "warning"))
}
