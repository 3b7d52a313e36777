package cli

import (
	"slices"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/ops"
)

// clientStates returns each file of each client that there can be here, and what it has.
func (c *cli) clientStates() (out ops.List[clientJSON]) {
	m := c.machine()
	for _, client := range clients.All() {
		for _, level := range []clients.Level{clients.User, clients.Project} {
			path := client.Path(m, level)
			if path == "" {
				continue
			}
			row := clientJSON{
				Client: client.Name, Title: client.Title, Level: level, Path: path, State: stateAbsent,
			}
			e, ok, err := client.Get(path, serverName)
			switch {
			case err != nil:
				row.State = stateDamaged
			case ok:
				row.State, row.Command = stateIntegrated, words(e)
			}
			if row.file = client.HooksPath(m, level); row.file != "" {
				row.Hooks = c.hooksState(client, row.file)
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
func (c *cli) hooksState(client clients.Client, path string) ops.Text {
	state, err := client.Hooks(path, c.hookSetup())
	switch {
	case err != nil:
		return stateDamaged
	case state.There == 0:
		return stateAbsent
	case state.Outdated:
		return stateOutdated
	}
	return stateIntegrated
}

// rulesState says what a file has of rules.
func rulesState(client clients.Client, path string) ops.Text {
	state, err := client.Rules(path)
	if err != nil {
		return stateDamaged
	}
	return ops.Text(state)
}

var stateStyles = map[string]string{
	stateIntegrated: styleGreen, stateOutdated: styleYellow, stateDamaged: styleRed,
}

func (c *cli) listClients() error {
	list := c.clientStates()
	if c.global.json {
		return c.printJSON(clientsJSON{list})
	}
	head := func(s string) cell { return cell{s, styleDim} }
	rows := [][]cell{{head("client"), head("level"), head("state"), head("hooks"), head("rules"), head("file")}}
	for _, row := range list {
		style := map[string]string{stateIntegrated: styleGreen, stateDamaged: styleRed}[row.State]
		rows = append(rows, []cell{
			{row.Client, styleBold}, {string(row.Level), ""}, {row.State, style},
			{string(row.Hooks), stateStyles[string(row.Hooks)]},
			{string(row.Rules), stateStyles[string(row.Rules)]}, {line(row.Path), ""},
		})
	}
	return c.table(slices.Clip(rows))
}
