// Command mnem-bench measures mnem: how well memory is found, and what work costs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mnem-project/mnem/internal/bench"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/model/builtin"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	line.TuneHeap(os.Getenv)
	app := line.System()
	if m := builtin.New(weights.File); m != nil {
		app.Meaning = m
	}
	code := bench.Run(ctx, app, os.Args[1:])
	stop()
	os.Exit(code)
}
