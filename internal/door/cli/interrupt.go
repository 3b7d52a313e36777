package cli

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/door/show"
)

// interruptGrace is how long a command may take to end by itself after an interrupt. Ending the
// process then loses nothing that was acknowledged, as a power cut does not.
const interruptGrace = 700 * time.Millisecond

// Main runs the command line of a process and returns its exit code. A command that does not end
// soon after the context has is left behind: the process must end. Servers end the requests under way
// first.
func (a *App) Main(ctx context.Context, args []string) int {
	app := *a
	app.serving = new(atomic.Bool)
	ended := make(chan int, 1)
	go func() { ended <- app.Run(ctx, args) }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	timer := time.NewTimer(interruptGrace)
	defer timer.Stop()
	select {
	case code := <-ended:
		return code
	case <-timer.C:
	}
	if app.serving.Load() {
		return <-ended
	}
	left := &cli{app: &app, Console: show.Console{Out: buffered(io.Discard), InJSON: wantsJSON(args)}}
	return left.report(ctx, ctx.Err())
}

// serves says that the command is a server, whose end takes as long as its settings say.
func (a *App) serves() {
	if a.serving != nil {
		a.serving.Store(true)
	}
}
