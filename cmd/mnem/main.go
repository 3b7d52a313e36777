// Command mnem is git for an AI agent's memory. See 'mnem --help'.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mnem-project/mnem/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write, so that Close runs
	cli.TuneHeap(os.Getenv)
	code := cli.System().Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
