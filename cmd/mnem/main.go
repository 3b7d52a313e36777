// Command mnem is git for an AI agent's memory. See 'mnem --help'.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write, so that Close runs
	line.TuneHeap(os.Getenv)
	code := cli.Main(ctx, line.System(), os.Args[1:])
	stop()
	os.Exit(code)
}
