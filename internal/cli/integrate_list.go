package cli

import (
	"slices"

	"github.com/mnem-project/mnem/internal/integrate"
)

var stateStyles = map[string]string{
	integrate.Integrated: styleGreen, integrate.Outdated: styleYellow, integrate.Damaged: styleRed,
}

func (c *cli) listClients() error {
	list := c.integrating(integration{}).States()
	if c.global.json {
		return c.printJSON(clientsJSON{list})
	}
	head := func(s string) cell { return cell{s, styleDim} }
	rows := [][]cell{{head("client"), head("level"), head("state"), head("hooks"), head("rules"), head("file")}}
	for _, row := range list {
		style := map[string]string{integrate.Integrated: styleGreen, integrate.Damaged: styleRed}[row.State]
		rows = append(rows, []cell{
			{row.Client, styleBold}, {string(row.Level), ""}, {row.State, style},
			{string(row.Hooks), stateStyles[string(row.Hooks)]},
			{string(row.Rules), stateStyles[string(row.Rules)]}, {line(row.Path), ""},
		})
	}
	return c.table(slices.Clip(rows))
}
