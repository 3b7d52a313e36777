package cli

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
)

// Main runs the command line of a process and returns its exit code. A command that does not end
// soon after the context has is left behind: the process must end. Servers end the requests under way
// first.
func Main(ctx context.Context, a *line.App, args []string) int {
	app := *a
	app.Serving = new(atomic.Bool)
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, &app, args) }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	timer := time.NewTimer(line.InterruptGrace)
	defer timer.Stop()
	select {
	case code := <-ended:
		return code
	case <-timer.C:
	}
	if app.Serving.Load() {
		return <-ended
	}
	left := &line.Line{App: &app, Console: show.Console{Out: line.Buffered(io.Discard), InJSON: line.WantsJSON(args)}}
	return left.Report(ctx, ctx.Err())
}
