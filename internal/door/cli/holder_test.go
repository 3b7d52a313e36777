package cli_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

func nodeLine(key string) string { return fmt.Sprintf(`{"node":{"key":%q,"type":"N"}}`, key) }

func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program.Ran(t, program.In(dir, io.Discard, io.Discard), "init")
	return dir
}

// TestTakeOver has one process wait for another that has the repository, in each way that one ends.
func TestTakeOver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals between processes")
	}
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := newRepo(t)
			first, out := program.Hold(t, dir)
			must.Require(t, program.Owns(t, out), "the first is not the owner")
			second, out := program.Hold(t, dir)
			must.Require(t, !program.Owns(t, out), "both are the owner")
			must.OK(t, first.Process.Signal(signal))
			begin := time.Now()
			must.Require(t, program.Owns(t, out), "the second does not take over")
			t.Logf("took over after %v", time.Since(begin))
			must.OK(t, second.Process.Signal(os.Interrupt))
			must.OK(t, second.Wait())
			for _, name := range []string{"socket", "owner"} {
				if _, err := os.Lstat(filepath.Join(dir, ".mnem", name)); err == nil {
					t.Errorf(".mnem/%s is left behind", name)
				}
			}
		})
	}
}

// TestCommandsLeaveNothing looks that a process that runs many command lines does not grow.
func TestCommandsLeaveNothing(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	err := cli.Live(app, func(h *peers.Holder) {
		app.Holder = h
		inUse := func() uint64 {
			runtime.GC()
			runtime.GC() // what finalizers held
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		work := func() {
			for range 200 {
				program.Ran(t, app, "status")
				program.Ran(t, app, "__complete", "switch", "")
			}
		}
		work()
		before := inUse()
		work()
		if after := inUse(); after > before+2<<20 {
			t.Errorf("400 commands left %d bytes", after-before)
		}
	})
	must.OK(t, err)
}
