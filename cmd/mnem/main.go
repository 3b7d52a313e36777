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
	code := cli.System().Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
