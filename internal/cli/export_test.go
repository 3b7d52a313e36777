package cli

import (
	"github.com/mnem-project/mnem/peers"
)

// Live runs body in the circumstances of app as a process that lives long: with a share in the
// repository that its working directory is in.
func Live(app *App, body func(*peers.Holder)) error {
	h, err := (&cli{app: app, global: globalFlags{wait: defaultWait}}).newHolder()
	if err != nil {
		return err
	}
	body(h)
	return h.Close()
}
