// Command mnem is git for an AI agent's memory. See 'mnem --help'.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/model/builtin"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
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
	app := line.System()
	if m := builtin.New(weights.File); m != nil {
		app.Meaning = m
	}
	code := cli.Main(ctx, app, os.Args[1:])
	stop()
	os.Exit(code)
}
