package integrate

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/ops"
)

// State is a client's file and what it has.
type State struct {
	Client  string           `json:"client"`
	Title   string           `json:"title"`
	Level   clients.Level    `json:"level" shape:"user|project"`
	Path    string           `json:"path"`
	State   string           `json:"state" shape:"integrated|absent|damaged"`
	Command ops.List[string] `json:"command"`                                               // that starts the server, empty where there is none
	Hooks   ops.Text         `json:"hooks" shape:"integrated|outdated|absent|damaged|null"` // null where there can be none
	Rules   ops.Text         `json:"rules" shape:"integrated|outdated|edited|foreign|absent|damaged|null"`
	file    string           // that has the hooks
	rules   string           // that has the rules
}

// What a file has.
const (
	Integrated = "integrated"
	Absent     = "absent"
	Damaged    = "damaged"
	Outdated   = "outdated"
)

// States returns each file of each client that there can be here, and what it has.
func (s *Setup) States() (out ops.List[State]) {
	m := s.Machine
	for _, client := range clients.All() {
		for _, level := range []clients.Level{clients.User, clients.Project} {
			path := client.Path(m, level)
			if path == "" {
				continue
			}
			row := State{
				Client: client.Name, Title: client.Title, Level: level, Path: path, State: Absent,
			}
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

// hooksState says what a file has of hooks.
func (s *Setup) hooksState(client clients.Client, path string) ops.Text {
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

// rulesState says what a file has of rules.
func rulesState(client clients.Client, path string) ops.Text {
	state, err := client.Rules(path)
	if err != nil {
		return Damaged
	}
	return ops.Text(state)
}

// Row is what became of one client of all.
type Row struct {
	Client string           `json:"client"`
	Title  string           `json:"title"`
	State  string           `json:"state" shape:"written|unchanged|taken|none|not-installed|failed"`
	Files  ops.List[string] `json:"files"` // that were written or removed
	Error  ops.Text         `json:"error"`
	Hint   ops.Text         `json:"hint"`
}

// What becomes of a client where all are meant.
const (
	Written   = "written"
	Unchanged = "unchanged" // all of it is there already, or nothing is
	Taken     = "taken"     // away
	NoFile    = "none"      // the client has no file of this level
	NotHere   = "not-installed"
	Failed    = "failed"
)

// One integrates one client, or takes it back, and says what became of it.
func (s *Setup) One(
	ctx context.Context, client clients.Client, add bool,
) (row Row, all Edits, err error) {
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
	var e *clients.Entry
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
