package cli

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/ops"
)

// integrationsJSON is what was, or would be, done for all clients.
type integrationsJSON struct {
	Level   clients.Level            `json:"level" shape:"user|project"`
	DryRun  bool                     `json:"dry_run"`
	Clients ops.List[clientDoneJSON] `json:"clients"`
}

// clientDoneJSON is what became of one client.
type clientDoneJSON struct {
	Client string           `json:"client"`
	Title  string           `json:"title"`
	State  string           `json:"state" shape:"written|unchanged|taken|none|not-installed|failed"`
	Files  ops.List[string] `json:"files"` // that were written or removed
	Error  ops.Text         `json:"error"`
	Hint   ops.Text         `json:"hint"`
}

// What becomes of a client where all are meant.
const (
	doneWritten   = "written"
	doneUnchanged = "unchanged" // all of it is there already, or nothing is
	doneTaken     = "taken"     // away
	doneNoFile    = "none"      // the client has no file of this level
	doneNotHere   = "not-installed"
	doneFailed    = "failed"
)

var doneStyles = map[string]string{
	doneWritten: styleGreen, doneTaken: styleGreen, doneNoFile: styleDim, doneNotHere: styleDim, doneFailed: styleRed,
}

// eachClient integrates the clients that are on this machine, or takes all of them back. One that fails does not keep
// the others from it, and its exit code is that of the command.
func (c *cli) eachClient(ctx context.Context, f integration, args []string, add bool) error {
	if len(args) > 0 {
		return usagef("--all takes no client")
	}
	if f.project {
		if _, _, err := c.clientFile(f, clientList()[:1]); err != nil {
			return err // it is not the client's fault
		}
	}
	out := integrationsJSON{Level: f.level(), DryRun: f.dryRun}
	for _, client := range clients.All() {
		row, all, err := c.oneOfAll(ctx, client, f, add)
		if err != nil {
			row.State, row.Error = doneFailed, ops.Text(err.Error())
			row.Hint = ops.Text(hintOf(err, false))
			if c.exit == 0 {
				c.exit = outcomeOf(ctx, err).Exit
			}
		}
		out.Clients = append(out.Clients, row)
		switch {
		case c.global.json || all.entry == nil:
		case !f.dryRun:
			var command []string
			if add {
				command = []string{c.app.Executable}
			}
			c.remarkEdits(client, f, all, command)
		default:
			for _, change := range all.all() {
				if err := c.printChange(change); err != nil {
					return err
				}
			}
		}
	}
	if c.global.json {
		return c.printJSON(out)
	}
	return c.printAll(out, f, add)
}

// oneOfAll integrates one client, or takes it back, and says what became of it.
func (c *cli) oneOfAll(
	ctx context.Context, client clients.Client, f integration, add bool,
) (row clientDoneJSON, all edits, err error) {
	row = clientDoneJSON{Client: client.Name, Title: client.Title, State: doneNoFile}
	m := c.machine()
	path := client.Path(m, f.level())
	switch {
	case path == "":
		return row, all, nil
	case add && !client.Installed(m):
		row.State = doneNotHere
		return row, all, nil
	case add:
		e, err := c.serverEntry(client, f)
		if err != nil {
			return row, all, err
		}
		if all, err = c.additions(client, f, path, e); err != nil {
			return row, edits{}, damagedHint(err)
		}
	default:
		if all, err = c.removals(client, f, path); err != nil {
			return row, edits{}, damagedHint(err)
		}
	}
	if _, err := c.writeEdits(ctx, client, f, all); err != nil {
		return row, edits{}, err
	}
	for _, change := range all.all() {
		if change.Changed() && !slices.Contains(row.Files, change.Path) {
			row.Files = append(row.Files, change.Path)
		}
	}
	switch {
	case len(row.Files) == 0:
		row.State = doneUnchanged
	case add:
		row.State = doneWritten
	default:
		row.State = doneTaken
	}
	return row, all, nil
}

// printAll prints what became of each client, and what is left to the user.
func (c *cli) printAll(out integrationsJSON, f integration, add bool) error {
	var rows [][]cell
	some := false
	for _, row := range out.Clients {
		said := map[string]string{
			doneUnchanged: "there already", doneTaken: "taken away", doneNoFile: "has no file of a " + string(out.Level),
			doneNotHere: "not installed",
		}[row.State]
		switch {
		case said == "":
			said = row.State
		case row.State == doneUnchanged && !add:
			said = "nothing there"
		}
		if f.dryRun && (row.State == doneWritten || row.State == doneTaken) {
			said = "would be " + said
		}
		some = some || row.State == doneWritten
		about := ""
		if row.State == doneFailed {
			about = line(string(row.Error))
		}
		files := row.Files
		if len(files) > 0 {
			about, files = line(files[0]), files[1:]
		}
		rows = append(rows, []cell{{row.Client, styleBold}, {said, doneStyles[row.State]}, {about, ""}})
		for _, file := range files {
			rows = append(rows, []cell{{"", ""}, {"", ""}, {line(file), ""}})
		}
		if row.Hint != "" {
			rows = append(rows, []cell{{"", ""}, {"", ""}, {"→ " + line(string(row.Hint)), ""}})
		}
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if some && !f.dryRun {
		c.remark("restart them to use it; 'mnem doctor' checks it")
	}
	return nil
}
