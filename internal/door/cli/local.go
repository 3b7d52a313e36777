package cli

import (
	"slices"

	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/trade"
)

// locals are the commands that are no verbs.
func locals() []*line.Bound {
	return slices.Concat(
		[]*line.Bound{demoCommand(), reach.HoldCommand(), secretsCommand(), access.PolicyCommand(), setup.InitCommand(), serving.MCPCommand(), serving.ServeCommand(), serving.ViewCommand()},
		setup.ConfigCommands(), trade.GitCommands(), setup.IntegrateCommands(), access.KeyCommands(),
		trade.RemoteCommands(), access.TokenCommands(), trade.TradeCommands(),
	)
}
