package cli_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// started starts a command whose standard input is a pipe, and returns what writes to it.
func started(t *testing.T, dir, line string) (cmd *exec.Cmd, in *os.File, errs *strings.Builder) {
	t.Helper()
	errs = new(strings.Builder)
	cmd = program.Child(t, dir, program.AsProgram, strings.Fields(line)...)
	cmd.Stderr = errs
	r, in, err := os.Pipe()
	must.OK(t, err)
	const setPipeSize = 1031 // F_SETPIPE_SZ of fcntl(2)
	if _, _, no := syscall.Syscall(syscall.SYS_FCNTL, in.Fd(), setPipeSize, pipeSize); no != 0 {
		t.Fatal(no)
	}
	cmd.Stdin = r
	must.OK(t, errors.Join(cmd.Start(), r.Close()))
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = in.Close() }) // most have ended
	return cmd, in, errs
}

// interrupted sends a signal to a process, which ends with exit code 130 and says why.
func interrupted(t *testing.T, cmd *exec.Cmd, by os.Signal, errs *strings.Builder) {
	t.Helper()
	must.OK(t, cmd.Process.Signal(by))
	_ = cmd.Wait() // its exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 130 || errs.String() != "mnem: interrupted\n" {
		t.Errorf("mnem %q: exit code %d: %s", cmd.Args[1:], code, errs)
	}
}

// pipeSize is how many bytes the pipes of these tests hold.
const pipeSize = 4096

// fill writes as much as a pipe does not hold: when it returns the other end reads.
func fill(t *testing.T, in io.Writer) {
	t.Helper()
	must.OK(t, must.Err(io.WriteString(in, strings.Repeat("\n", pipeSize+1))))
}

// TestStdinHoldsNothing has each command that reads standard input wait for the rest of it: another command works
// while it waits, and one signal ends it.
func TestStdinHoldsNothing(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	app.Stdin = strings.NewReader(nodeLine("alice"))
	program.Ran(t, app, "commit", "-m", "x", "-")
	var lines []string
	for _, some := range cli.StdinLines {
		lines = append(lines, some...)
	}
	effort.Alone(t)
	for i, line := range lines {
		if strings.HasPrefix(line, "key import") {
			continue // it reads less than a pipe holds, and ends
		}
		cmd, in, errs := started(t, dir, line)
		fill(t, in)
		program.Ran(t, app, "status", "--wait", "0s")
		interrupted(t, cmd, []os.Signal{os.Interrupt, syscall.SIGTERM}[i%2], errs)
	}
	must.True(t, len(lines) >= 20, "only %d lines", len(lines))
}

// TestInterruptEndsTheWaitForTheLock interrupts a command that waits for another process, which has the repository
// and does not answer.
func TestInterruptEndsTheWaitForTheLock(t *testing.T) {
	dir := newRepo(t)
	r := must.Get(care.Open(dir, core.Options{}))(t)
	defer func() {
		must.OK(t, r.Close())
	}()
	cmd, in, errs := started(t, dir, "commit -m x - --wait 10m")
	fill(t, in)
	must.OK(t, in.Close())
	interrupted(t, cmd, os.Interrupt, errs)
}

// TestInterruptEndsACall interrupts a command whose server takes a request and never answers.
func TestInterruptEndsACall(t *testing.T) {
	dir := newRepo(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }() // only read
	for _, line := range []string{
		"clone http://" + l.Addr().String() + "/x there", "-R http://" + l.Addr().String() + "/x status",
	} {
		cmd := program.Child(t, dir, program.AsProgram, strings.Fields(line)...)
		errs := new(strings.Builder)
		cmd.Stderr = errs
		must.OK(t, cmd.Start())
		conn := must.Get(l.Accept())(t)
		interrupted(t, cmd, os.Interrupt, errs)
		_ = conn.Close() // nothing was said
	}
}
