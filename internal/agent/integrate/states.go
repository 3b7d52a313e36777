package integrate

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// State describes a client's file.
type State struct {
	Client  string        `json:"client"`
	Title   string        `json:"title"`
	Level   clients.Level `json:"level" shape:"user|project"`
	Path    string        `json:"path"`
	State   string        `json:"state" shape:"integrated|absent|damaged"`
	Command []string      `json:"command"`                                               // that starts the server, empty if there is none
	Hooks   verb.Text     `json:"hooks" shape:"integrated|outdated|absent|damaged|null"` // null if there can be none
	Rules   verb.Text     `json:"rules" shape:"integrated|outdated|edited|foreign|absent|damaged|null"`
	file    string        // that has the hooks
	rules   string        // that has the rules
}

// States of a file.
const (
	Integrated = "integrated"
	Absent     = "absent"
	Damaged    = "damaged"
	Outdated   = "outdated"
)

// States returns the state of each file of each client that can exist on this machine.
func (s *Setup) States() (out []State) {
	m := s.Machine
	for _, client := range clients.All() {
		for _, level := range []clients.Level{clients.User, clients.Project} {
			path := client.Path(m, level)
			if path == "" {
				continue
			}
			row := State{Client: client.Name, Title: client.Title, Level: level, Path: path, State: Absent}
			e, ok, err := client.Get(path, clients.Name)
			switch {
			case err != nil:
				row.State = Damaged
			case ok:
				row.State, row.Command = Integrated, Command(e)
			}
			if row.file = client.HooksPath(m, level); row.file != "" {
				row.Hooks = s.hooksState(client, row.file)
			}
			if row.rules = client.RulesPath(m, level); row.rules != "" {
				row.Rules = rulesState(client, row.rules)
			}
			out = append(out, row)
		}
	}
	return out
}

func (s *Setup) hooksState(client clients.Client, path string) verb.Text {
	state, err := client.Hooks(path, s.hooks())
	switch {
	case err != nil:
		return Damaged
	case state.There == 0:
		return Absent
	case state.Outdated:
		return Outdated
	}
	return Integrated
}

func rulesState(client clients.Client, path string) verb.Text {
	state, err := client.Rules(path)
	if err != nil {
		return Damaged
	}
	return verb.Text(state)
}

// Row is the result for one client when all are integrated.
type Row struct {
	Client string    `json:"client"`
	Title  string    `json:"title"`
	State  string    `json:"state" shape:"written|unchanged|taken|none|not-installed|failed"`
	Files  []string  `json:"files"` // that were written or removed
	Error  verb.Text `json:"error"`
	Hint   verb.Text `json:"hint"`
}

// Results for a client when all are integrated.
const (
	Written   = "written"
	Unchanged = "unchanged" // there was nothing to add or remove
	Taken     = "taken"     // away
	NoFile    = "none"      // the client has no file of this level
	NotHere   = "not-installed"
	Failed    = "failed"
)

// One integrates one client, or removes it, and returns the result.
func (s *Setup) One(ctx context.Context, client clients.Client, add bool) (row Row, all Edits, err error) {
	row = Row{Client: client.Name, Title: client.Title, State: NoFile}
	m := s.Machine
	path := client.Path(m, s.Level)
	switch {
	case path == "":
		return row, all, nil
	case add && !client.Installed(m):
		row.State = NotHere
		return row, all, nil
	}
	var e *clients.ServerCommand
	if add {
		entry, err := s.Entry(client)
		if err != nil {
			return row, all, err
		}
		e = &entry
	}
	if all, err = s.Edits(client, path, e); err != nil {
		return row, Edits{}, err
	}
	if _, err := s.Write(ctx, client, all); err != nil {
		return row, Edits{}, err
	}
	for _, change := range all.All() {
		if change.Changed() && !slices.Contains(row.Files, change.Path) {
			row.Files = append(row.Files, change.Path)
		}
	}
	switch {
	case len(row.Files) == 0:
		row.State = Unchanged
	case add:
		row.State = Written
	default:
		row.State = Taken
	}
	return row, all, nil
}

type examination struct {
	*upkeep.Diagnosis
	s    *Setup
	here string // the directory of the repository, "" if there is none
}

// Examine checks that the commands in existing entries can be started. here is the directory of the repository, "" if
// there is none.
func (s *Setup) Examine(to *upkeep.Diagnosis, here string) {
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
			d.Find(upkeep.LevelWarning, check, "repair the file", "%s cannot be read", row.rules)
		case clients.RulesOutdated:
			d.Find(upkeep.LevelWarning, check, fix, "the rules in %s are out of date", row.rules)
		case clients.RulesEdited:
			d.Find(upkeep.LevelNote, check, "", "the rules in %s were edited, and are left alone", row.rules)
		}
		switch row.State {
		case Damaged:
			d.Find(upkeep.LevelWarning, check, "repair the file", "%s cannot be read", row.Path)
		case Integrated:
			some = true
			own := slices.ContainsFunc(rows, func(o State) bool {
				return o.Client == row.Client && o.Level == clients.Project && o.State == Integrated
			})
			d.client(check, fix, row, own)
		}
	}
	if !some {
		d.Find(upkeep.LevelNote, "clients", "mnem integrate --list", "no client is integrated")
	}
}

// hooks looks at the hooks of a file: they must be those that integrate would write, and be run.
func (d *examination) hooks(check, fix string, row State) {
	switch row.Hooks {
	case Damaged:
		d.Find(upkeep.LevelWarning, check, "repair the file", "%s cannot be read", row.file)
	case Outdated:
		d.Find(upkeep.LevelWarning, check, fix, "the hooks in %s are out of date%s", row.file, d.outdated(row))
	}
	client, ok := clients.Find(row.Client)
	if !ok || row.Hooks != Integrated && row.Hooks != Outdated {
		return
	}
	if untrusted, err := client.Untrusted(d.s.Machine, row.file, d.s.hooks()); err == nil && untrusted {
		d.Find(upkeep.LevelWarning, check, "open /hooks in "+client.Title+" and trust them",
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
	for _, u := range state.Unknown {
		why = append(why, fmt.Sprintf("%s has no event %q, the nearest is %s", row.Client, u.Name, u.Nearest))
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

// client checks one entry. own reports whether the client has an entry of the project, which goes before the user's.
func (d *examination) client(check, fix string, row State, own bool) {
	why := startable(row.Command)
	if why != "" {
		d.Find(upkeep.LevelError, check, fix, "%s: %s", row.Path, why)
	}
	memory := memoryOf(row.Command)
	if memory != "" && memory != globalMemory && !isRepo(memory) {
		d.Find(upkeep.LevelError, check, fix+" --repo DIR", "%s: there is no repository in %s", row.Path, memory)
		return
	}
	if memory != "" && memory != globalMemory && d.here != "" && !d.s.Global && isRepo(d.here) &&
		!SameDir(memory, d.here) && (!own || row.Level == clients.Project) {
		fix += " --force"
		if row.Level == clients.User && hasProjectFile(d.s, row.Client) {
			fix = "mnem integrate " + row.Client + " --project"
		}
		d.Find(upkeep.LevelWarning, check, fix, "%s starts mnem for another repository, %s", row.Path, memory)
		return
	}
	if why == "" {
		d.Find(upkeep.LevelOK, check, "", "%s", row.Path)
	}
}

func hasProjectFile(s *Setup, name string) bool {
	client, ok := clients.Find(name)
	return ok && client.Path(s.Machine, clients.Project) != ""
}

// startable says why the first word of a command is no program, "" if it is one.
func startable(command []string) string {
	if len(command) == 0 || command[0] == "" {
		return "the entry starts nothing"
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return fmt.Sprintf("there is no program %s", command[0])
	}
	return ""
}
