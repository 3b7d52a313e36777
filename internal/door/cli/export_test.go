package cli

import (
	"time"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// What a hook answers is asked for here, not how soon: that is measured with the program itself.
func init() { hookWithin = time.Minute }

// Live runs body in the circumstances of app as a process that lives long: with a share in the
// repository that its working directory is in.
func Live(app *line.App, body func(*peers.Holder)) error {
	h, err := reach.NewHolder((&line.Line{App: app, Global: line.GlobalFlags{Wait: settings.DefaultWait}}))
	if err != nil {
		return err
	}
	body(h)
	return h.Close()
}

// Declared returns the declarations of all commands: verbs, and what is for this machine alone.
func Declared() (all []*verb.Spec) {
	for _, v := range append(verbs.Verbs(), locals()...) {
		all = append(all, v.Spec)
	}
	return all
}
