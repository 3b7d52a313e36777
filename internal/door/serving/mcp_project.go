package serving

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// projectRunner runs operations on the repository of the project that a client has open: of the first of its folders
// that is in one, and where it names none, of the working directory. Once there is one it stays: an agent does not move
// from one memory to another. It is safe for concurrent use.
type projectRunner struct {
	c      *line.Line
	global bool // whether the user's own repository is asked too, whatever is configured

	mu      sync.Mutex
	folders []string // that the client has open
	named   bool     // whether it was told by these which repository it is
	dir     string   // that holds the repository, once there is one
	runner  operation.Runner
	also    bool // whether the user's own repository is asked too
	holder  *peers.Holder
}

// open is told which folders the client has open.
func (p *projectRunner) open(folders []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders = folders
}

// Run implements operation.Runner.
func (p *projectRunner) Run(ctx context.Context, call operation.Call, out io.Writer) (operation.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return verbs.Failed(ctx, err) // what is not waited for decides nothing
	}
	run, global, err := p.find(call.Operation.Name != "session_end")
	var moved *operation.Error
	switch {
	case errors.As(err, &moved):
		return moved.Outcome, moved
	case err != nil:
		return verbs.Failed(ctx, err)
	}
	call.Caller.Global = global
	return run.Run(ctx, call, out)
}

// find returns what runs operations on the repository, or tells that there is none, and whether to ask the user's own
// too. Once there is one it is an error that the client has other projects open, if it must stay.
func (p *projectRunner) find(must bool) (run operation.Runner, also bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runner != nil {
		if must {
			err = p.stays()
		}
		return p.runner, p.also, err
	}
	var nowhere operation.Runner
	for _, at := range p.places() {
		_, err := at.Dir()
		var none line.NoRepoError
		switch {
		case err == nil:
			err = p.settle(at)
			return p.runner, p.also, err
		case !errors.As(err, &none):
			return nil, false, err
		case nowhere == nil:
			nowhere = verbs.Runner(at, nil, true) // which says how to make one, and finds it once it is made
		}
	}
	if to, err := reach.OfUser(p.c, settings.FallbackKey, settings.FallbackNone); err != nil || to != settings.FallbackGlobal {
		return nowhere, false, err
	}
	own := p.at(p.c.App.Dir)
	own.Global.User = true
	if err := p.settle(own); err != nil {
		return nil, false, err
	}
	p.c.Remark("no repository in %s: serving the user's own", line.OneLine(p.places()[0].App.Dir))
	return p.runner, p.also, nil
}

// places are where a repository is looked for: in the folders, or in the working directory.
func (p *projectRunner) places() (out []*line.Line) {
	for _, folder := range p.folders {
		out = append(out, p.at(folder))
	}
	if len(out) == 0 {
		out = append(out, p.at(p.c.App.Dir))
	}
	return out
}

// at returns the command as if it was started in a directory.
func (p *projectRunner) at(dir string) *line.Line {
	app, c := *p.c.App, *p.c
	app.Dir = dir
	c.App, c.Conf = &app, nil
	return &c
}

// settle takes the repository that a command is about.
func (p *projectRunner) settle(at *line.Line) error {
	dir, err := at.Dir()
	if err != nil {
		return err
	}
	also, err := alsoGlobal(at)
	if err != nil {
		return err
	}
	h, err := reach.NewHolder(at)
	if err != nil {
		return err
	}
	if !at.Global.User {
		at.Global.Repo = dir // even if a repository is made or removed since
	}
	p.dir, p.also, p.holder, p.runner = dir, p.global || also, h, verbs.Runner(at, h, true)
	p.named = len(p.folders) > 0
	return nil
}

// stays returns an error if the client has other projects open than the one that is served.
func (p *projectRunner) stays() error {
	if len(p.folders) == 0 && !p.named || p.dir == p.own() {
		return nil
	}
	for _, folder := range p.folders {
		at := p.at(folder)
		if dir, err := at.Dir(); err == nil && integrate.SameDir(dir, p.dir) {
			return nil
		}
	}
	open := slices.Clone(p.folders)
	for i := range open {
		open[i] = line.OneLine(open[i])
	}
	if len(open) == 0 {
		open = []string{"no folder of this machine"}
	}
	return &operation.Error{
		Outcome: operation.Conflict,
		Message: "this server has the memory of " + line.OneLine(p.dir) + ", and the client has " + strings.Join(open, ", ") + " open",
		Hint:    "restart the server: it stays with the project that it began with",
	}
}

// own is the directory of the user's own repository, "" for none.
func (p *projectRunner) own() string {
	c := p.at(p.c.App.Dir)
	c.Global.User = true
	dir, err := c.Dir()
	if err != nil {
		return ""
	}
	return dir
}

// Close closes the repository.
func (p *projectRunner) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holder == nil {
		return nil
	}
	return p.holder.Close()
}
