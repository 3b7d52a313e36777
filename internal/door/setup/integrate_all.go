package setup

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb"
)

// integrationsJSON says what was, or would be, done for all clients.
type integrationsJSON struct {
	Level   clients.Level   `json:"level" shape:"user|project"`
	DryRun  bool            `json:"dry_run"`
	Clients []integrate.Row `json:"clients"`
}

var doneStyles = map[string]string{
	integrate.Written: show.Green, integrate.Taken: show.Green, integrate.NoFile: show.Dim, integrate.NotHere: show.Dim, integrate.Failed: show.Red,
}

// eachClient integrates the clients that are on this machine, or takes all of them back. One that fails does not keep
// the others from it, and its exit code becomes that of the command.
func eachClient(ctx context.Context, c *line.Line, s *integrate.Setup, f Integration, add bool) error {
	if f.Client != "" {
		return line.Usagef("--all takes no client")
	}
	if f.Project {
		if _, _, err := clientFile(c, s, integrate.Names()[0]); err != nil {
			return err // it is not the client's fault
		}
	}
	out := integrationsJSON{Level: s.Level, DryRun: f.DryRun}
	for _, client := range clients.All() {
		row, all, err := s.One(ctx, client, add)
		if err != nil {
			row.State, row.Error = integrate.Failed, verb.Text(err.Error())
			row.Hint = verb.Text(line.HintOf(err, false))
			if c.Exit == 0 {
				c.Exit = line.OutcomeOf(ctx, err).Exit
			}
		}
		out.Clients = append(out.Clients, row)
		switch {
		case c.InJSON || all.Entry == nil:
		case !f.DryRun:
			var command []string
			if add {
				command = []string{c.App.Executable}
			}
			remarkEdits(c, s, client, all, command)
		default:
			for _, change := range all.All() {
				if err := printChange(c, change); err != nil {
					return err
				}
			}
		}
	}
	if c.InJSON {
		return c.PrintJSON(out)
	}
	return printAll(c, out, f, add)
}

// printAll prints what became of each client, and what is left to the user.
func printAll(c *line.Line, out integrationsJSON, f Integration, add bool) error {
	var rows [][]show.Cell
	some := false
	for _, row := range out.Clients {
		said := map[string]string{
			integrate.Unchanged: "there already", integrate.Taken: "taken away", integrate.NoFile: "has no file of a " + string(out.Level),
			integrate.NotHere: "not installed",
		}[row.State]
		switch {
		case said == "":
			said = row.State
		case row.State == integrate.Unchanged && !add:
			said = "nothing there"
		}
		if f.DryRun && (row.State == integrate.Written || row.State == integrate.Taken) {
			said = "would be " + said
		}
		some = some || row.State == integrate.Written
		about := ""
		if row.State == integrate.Failed {
			about = line.OneLine(string(row.Error))
		}
		files := row.Files
		if len(files) > 0 {
			about, files = line.OneLine(files[0]), files[1:]
		}
		rows = append(rows, show.Row(row.Client, show.Bold, said, doneStyles[row.State], about, ""))
		for _, file := range files {
			rows = append(rows, show.Row("", "", "", "", line.OneLine(file), ""))
		}
		if row.Hint != "" {
			rows = append(rows, show.Row("", "", "", "", "→ "+line.OneLine(string(row.Hint)), ""))
		}
	}
	if err := c.Table(rows); err != nil {
		return err
	}
	if some && !f.DryRun {
		c.Remark("restart them to use it; 'mnem doctor' checks it")
	}
	return nil
}

var stateStyles = map[string]string{
	integrate.Integrated: show.Green, integrate.Outdated: show.Yellow, integrate.Damaged: show.Red,
}

func listClients(c *line.Line) error {
	list := Integrating(c, Integration{}).States()
	if c.InJSON {
		return c.PrintJSON(clientsJSON{list})
	}
	rows := [][]show.Cell{show.HeadRow("client", "level", "state", "hooks", "rules", "file")}
	for _, row := range list {
		style := map[string]string{integrate.Integrated: show.Green, integrate.Damaged: show.Red}[row.State]
		rows = append(rows, show.Row(row.Client, show.Bold, string(row.Level), "", row.State, style,
			string(row.Hooks), stateStyles[string(row.Hooks)],
			string(row.Rules), stateStyles[string(row.Rules)], line.OneLine(row.Path), ""))
	}
	return c.Table(slices.Clip(rows))
}
