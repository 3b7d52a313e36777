package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// asMain makes the test binary be the program.
const asMain = "MNEM_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// mnem returns a process of the program in a directory.
func mnem(t *testing.T, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asMain+"=1", "XDG_CONFIG_HOME="+filepath.Join(dir, "xdg"),
		"MNEM_AUTHOR=Tess", "MNEM_REPO=", "MNEM_BRANCH=", "MNEM_SESSION=", "MNEM_STAGE=")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// ok runs the program to its end and returns what it printed.
func ok(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd, stderr := mnem(t, dir, args...)
	out, err := cmd.Output()
	must.Require(t, err == nil, "mnem %q: %v\n%s", args, err, stderr)
	return string(out)
}

func skipWithoutSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no signals between processes")
	}
}

func TestInterruptLeavesNothingHalfWritten(t *testing.T) {
	skipWithoutSignals(t)
	for _, lines := range []int{0, 1, 20_000} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d,held=%t", lines, held), func(t *testing.T) {
				interruptCommit(t, lines, held)
			})
		}
	}
}

// interruptCommit interrupts a commit after some lines, which another process makes where held.
func interruptCommit(t *testing.T, lines int, held bool) {
	dir := t.TempDir()
	ok(t, dir, "init")
	if held {
		defer hold(t, dir)()
	}
	code, said := -1, ""
	for wait := 100 * time.Millisecond; code == -1 && wait < 10*time.Second; wait *= 2 {
		code, said = interrupted(t, dir, lines, wait) // -1 if it had not begun: other work took the processors
	}
	must.Require(t, code == 130, "exit code %d, want 130\n%s", code, said)
	if got := ok(t, dir, "status"); !strings.Contains(got, "no commit yet") {
		t.Errorf("after the interrupt: %s", got)
	}
	ok(t, dir, "fsck", "--full")
}

// interrupted begins a commit, interrupts it after some lines and a time, and returns its exit code, -1 if the
// signal ended it, and what it said.
func interrupted(t *testing.T, dir string, lines int, wait time.Duration) (code int, said string) {
	t.Helper()
	cmd, stderr := mnem(t, dir, "commit", "-m", "x", "-")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	for i := 0; i < lines && err == nil; i++ {
		_, err = fmt.Fprintf(in, `{"node":{"key":"n%d","type":"N"}}`+"\n", i)
	}
	must.OK(t, err)
	if lines <= 1 {
		time.Sleep(wait) // until it has begun and waits
	}
	must.OK(t, cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	return cmd.ProcessState.ExitCode(), fmt.Sprint(err, "\n", stderr)
}

// hold starts a process that has the repository in dir and answers others, and returns what stops
// it.
func hold(t *testing.T, dir string) (stop func()) {
	t.Helper()
	cmd, stderr := mnem(t, dir, "hold")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.Contains(line, "open here") {
		t.Fatalf("%s, %v", line, err)
	}
	return func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
		for _, name := range []string{"socket", "owner"} {
			must.True(t, must.Err(os.Lstat(filepath.Join(dir, ".mnem", name))) != nil,
				".mnem/%s is left behind", name)
		}
	}
}

func TestClosedPipeIsSilent(t *testing.T) {
	skipWithoutSignals(t)
	dir := t.TempDir()
	r, w, err := os.Pipe()
	must.OK(t, err)
	cmd, stderr := mnem(t, dir, "completion", "bash")
	cmd.Stdout = w
	must.OK(t, r.Close())
	err = cmd.Run()
	must.OK(t, w.Close())
	must.True(t, err == nil && stderr.Len() <= 0, "%v, stderr %q; want success and silence", err, stderr)
}

// TestSecondProcessWaits holds the repository in this process while others want it.
func TestSecondProcessWaits(t *testing.T) {
	dir := t.TempDir()
	ok(t, dir, "init")
	holder := must.Get(care.Open(dir, core.Options{}))(t)
	waitFor(t, func() bool {
		cmd, _ := mnem(t, dir, "status", "--wait", "0s")
		_ = cmd.Run() // its exit code tells
		return cmd.ProcessState.ExitCode() == 6
	})
	cmd, stderr := mnem(t, dir, "status", "--wait", "10ms", "--json")
	_ = cmd.Run() // its exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 6 {
		t.Errorf("exit code %d, want 6: %s", code, stderr)
	}
	must.True(t, strings.Contains(stderr.String(), `"code":"busy"`), "stderr %s", stderr)
	patient, stderr := mnem(t, dir, "status", "--wait", "20s")
	must.OK(t, patient.Start())
	must.OK(t, holder.Close())
	if err := patient.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for range 200 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("did not happen")
}
