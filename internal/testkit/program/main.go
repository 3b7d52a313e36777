package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
)

// AsProgram makes the test binary act as the program, for commands that start their own binary. The name does not begin
// with MNEM_: such variables are removed from that process's environment.
const AsProgram = "TEST_AS_MNEM"

// AsShell makes the test binary be ssh: it runs the last argument on this machine.
const AsShell = "as-ssh"

// shell runs 'mnem ARG…' with the quotes of a shell around the last one.
func shell(args []string) int {
	if args[0] == "forced" { // by sshd, which supplies the original command
		name := filepath.Join(args[1], fmt.Sprint("server-", os.Getpid()))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			return 1
		}
		defer func() { _ = os.Remove(name) }() // remains if the process is killed
		asked := os.Getenv("SSH_ORIGINAL_COMMAND")
		if !strings.HasPrefix(asked, "mnem ") {
			cmd := exec.Command("sh", "-c", asked)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			if cmd.Run() != nil {
				return 1
			}
			return 0
		}
		args = []string{"--", "", asked}
	}
	words := strings.Fields(args[len(args)-1])
	if len(args) != 3 || args[0] != "--" || len(words) < 2 || words[0] != "mnem" {
		return 255
	}
	words[len(words)-1] = strings.Trim(words[len(words)-1], "'")
	return cli.Run(context.Background(), line.System(), words[1:])
}

// Main runs tests with temporary files in memory. If a variable says so it acts as the program, as ssh, or as one of
// others, which are named by their variables. It does not return.
func Main(m *testing.M, others map[string]func() error) {
	worker := slices.Contains(os.Args, "-test.fuzzworker") // is a test, in the environment of one
	if len(os.Args) > 2 && os.Args[1] == AsShell {
		os.Exit(shell(os.Args[2:]))
	}
	for name, other := range others {
		if os.Getenv(name) == "" {
			continue
		}
		if err := other(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if os.Getenv(AsProgram) != "" && !worker {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Main(ctx, line.System(), os.Args[1:])
		stop()
		os.Exit(code)
	}
	if err := os.Setenv(AsProgram, "1"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400) // many small memories: time goes further than space
	os.Exit(ramdir.Run(m))
}
