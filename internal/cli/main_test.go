package cli_test

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/cli"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
)

// asProgram makes the test binary be the program, for commands that start it anew. The name does not
// begin with MNEM_: those are taken out of what such a process sees.
const asProgram = "TEST_AS_MNEM"

func TestMain(m *testing.M) {
	worker := slices.Contains(os.Args, "-test.fuzzworker") // is a test, in the environment of one
	if os.Getenv(asProgram) != "" && os.Getenv(asWriter) == "" && !worker {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := cli.System().Run(ctx, os.Args[1:])
		stop()
		os.Exit(code)
	}
	if os.Getenv(asWriter) != "" {
		if err := writer(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if err := os.Setenv(asProgram, "1"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400) // many small memories: time goes further than space
	remove, err := ramdir.Use()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}
