package integrate

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/ops"
)

// examination looks at what integrate wrote.
type examination struct {
	*ops.Diagnosis
	s    *Setup
	here string // the directory of the repository, "" where there is none
}

// Examine looks at the entries that were made: what they start must be there. here is the directory of the repository,
// "" where there is none.
func (s *Setup) Examine(to *ops.Diagnosis, here string) {
	d := &examination{to, s, here}
	some := false
	rows := s.States()
	for _, row := range rows {
		check := "client " + row.Client
		fix := "mnem integrate " + row.Client
		if row.Level == clients.Project {
			fix += " --project"
		}
		d.hooks(check, fix, row)
		switch row.Rules {
		case Damaged:
			d.Find(ops.LevelWarning, check, "repair the file", "%s cannot be read", row.rules)
		case clients.RulesOutdated:
			d.Find(ops.LevelWarning, check, fix, "the rules in %s are out of date", row.rules)
		case clients.RulesEdited:
			d.Find(ops.LevelNote, check, "", "the rules in %s were edited, and are left alone", row.rules)
		}
		switch row.State {
		case Damaged:
			d.Find(ops.LevelWarning, check, "repair the file", "%s cannot be read", row.Path)
		case Integrated:
			some = true
			own := slices.ContainsFunc(rows, func(o State) bool {
				return o.Client == row.Client && o.Level == clients.Project && o.State == Integrated
			})
			d.client(check, row, own)
		}
	}
	if !some {
		d.Find(ops.LevelNote, "clients", "mnem integrate --list", "no client is integrated")
	}
}

// hooks looks at the hooks of a file: they must be those that integrate would write, and be run.
func (d *examination) hooks(check, fix string, row State) {
	switch row.Hooks {
	case Damaged:
		d.Find(ops.LevelWarning, check, "repair the file", "%s cannot be read", row.file)
	case Outdated:
		d.Find(ops.LevelWarning, check, fix, "the hooks in %s are out of date%s", row.file, d.outdated(row))
	}
	client, ok := clients.Find(row.Client)
	if !ok || row.Hooks != Integrated && row.Hooks != Outdated {
		return
	}
	if untrusted, err := client.Untrusted(d.s.Machine, row.file, d.s.hooks()); err == nil && untrusted {
		d.Find(ops.LevelWarning, check, "open /hooks in "+client.Title+" and trust them",
			"the hooks in %s do not run yet: %s asks its user first", row.file, client.Title)
	}
}

// outdated says what of hooks is not as it would be written.
func (d *examination) outdated(row State) string {
	client, _ := clients.Find(row.Client)
	state, err := client.Hooks(row.file, d.s.hooks())
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
func (d *examination) client(check string, row State, own bool) {
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
	if memory != "" && memory != globalMemory && d.here != "" && !d.s.Global && isRepo(d.here) &&
		!SameDir(memory, d.here) && (!own || row.Level == clients.Project) {
		fix += " --replace"
		if row.Level == clients.User && hasProjectFile(d.s, row.Client) {
			fix = "mnem integrate " + row.Client + " --project"
		}
		d.Find(ops.LevelWarning, check, fix, "%s starts mnem for another repository, %s", row.Path, memory)
		return
	}
	if why == "" {
		d.Find(ops.LevelOK, check, "", "%s", row.Path)
	}
}

func hasProjectFile(s *Setup, name string) bool {
	client, ok := clients.Find(name)
	return ok && client.Path(s.Machine, clients.Project) != ""
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
