// Command mnem-bench measures mnem: how well memory is found, and what work costs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mnem-project/mnem/internal/bench"
	"github.com/mnem-project/mnem/internal/door/line"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	line.TuneHeap(os.Getenv)
	code := bench.Run(ctx, line.System(), os.Args[1:])
	stop()
	os.Exit(code)
}
