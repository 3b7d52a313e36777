package sharing_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
)

// process returns a command line as a process of its own on a machine.
func (w *team) process(machine, stdin string, args ...string) *exec.Cmd {
	cmd := program.Child(w.T, filepath.Join(w.dir, machine), program.AsProgram, args...)
	for name, value := range w.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "MNEM_AUTHOR="+machine)
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), nil
	return cmd
}

// killed starts a process and kills it within a time. It may have ended.
func killed(t *testing.T, cmd *exec.Cmd, rnd *rand.Rand, within time.Duration) {
	t.Helper()
	must.OK(t, cmd.Start())
	time.Sleep(time.Duration(rnd.Int64N(int64(within))))
	_ = cmd.Process.Kill() // as above
	_ = cmd.Wait()
}

// TestSyncsAtOnce has machines commit and sync with one remote at once, a bucket whose store fails in each way among
// them: what was acknowledged is there.
func TestSyncsAtOnce(t *testing.T) {
	for _, by := range carriers(t, "path", "git", "s3") {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t, by)
			machines, commits := effort.Pick(3, 8, 8), effort.Pick(3, 10, 25)
			w.ok("m0", "clone", w.url, ".")
			w.add("m0", "first", "x")
			w.ok("m0", "push")
			names := []string{"m0"}
			for i := range machines - 1 {
				names = append(names, fmt.Sprint("m", i+1))
			}
			w.clones(names[1:]...)
			if w.store != nil {
				w.store.Faults = s3test.Faults{Refused: 4, Lost: 3, Cut: 3, Doubled: 3, Conflict: 3, Slow: 5}
			}
			w.commitAtOnce(names, commits)
			w.same("main", names...)
			w.holds("m0", machines*commits+1)
		})
	}
}

// commitAtOnce has machines commit and sync at once, until each has what all made.
func (w *team) commitAtOnce(machines []string, commits int) {
	w.Helper()
	var all sync.WaitGroup
	for _, m := range machines {
		all.Go(func() {
			for i := range commits {
				line := fmt.Sprintf(`{"node":{"key":"%s-%d","type":"N"}}`, m, i)
				for _, cmd := range []*exec.Cmd{
					w.process(m, line, "commit", "-m", "x", "-"), w.process(m, "", "sync"),
				} {
					var out bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &out
					if err := cmd.Run(); err != nil {
						w.Errorf("%s, commit %d: %v: %s", m, i, err, &out)
						return
					}
				}
			}
		})
	}
	all.Wait()
	for range 2 {
		for _, m := range machines {
			w.ok(m, "sync")
		}
	}
}

// holds sees to it that a machine has as many nodes as were acknowledged.
func (w *team) holds(machine string, want int) {
	w.Helper()
	got := strings.Count(w.ok(machine, "ls", "--type", "N", "--limit", "1000", "--json"), `"key"`)
	must.True(w, got == want, "%d nodes of %d that were acknowledged", got, want)
}

// TestSyncKilled kills a sync at random moments. Whatever it was about, both repositories are sound, and the
// next one ends with the same on both sides.
func TestSyncKilled(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	for i := range 20 {
		w.add("hub", fmt.Sprint("n", i), strings.Repeat("text ", 200+i))
	}
	w.clones("a", "b")
	rnd := rand.New(rand.NewPCG(1, 7))
	for i := range effort.Pick(12, 50, 200) {
		w.add("a", fmt.Sprint("a", i), strings.Repeat("of a ", 500))
		w.ok("a", "sync")
		w.add("b", fmt.Sprint("b", i), strings.Repeat("of b ", 500))
		killed(t, w.process("b", "", "sync"), rnd, 120*time.Millisecond)
		w.ok("b", "fsck")
		w.ok("hub", "fsck")
		w.ok("b", "sync")
		w.ok("a", "sync")
		w.same("main", "a", "b", "hub")
	}
}

// TestCloneKilled kills a clone at random moments: another one into a new directory has all.
func TestCloneKilled(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	for i := range 20 {
		w.add("hub", fmt.Sprint("n", i), strings.Repeat("text ", 200+i))
	}
	rnd := rand.New(rand.NewPCG(2, 7))
	for i := range effort.Pick(6, 30, 100) {
		m := fmt.Sprint("k", i)
		_ = w.app(m, "", io.Discard, io.Discard) // makes the directory
		killed(t, w.process(m, "", "clone", w.url, "."), rnd, 100*time.Millisecond)
		var out bytes.Buffer
		code := cli.Run(t.Context(), w.app(m, "", &out, &out), []string{"sync"})
		if code != 0 && code != 3 {
			t.Errorf("sync after kill %d: exit code %d: %s", i, code, &out)
		}
		w.ok(m, "clone", w.url, "anew")
		if code == 3 { // there is no repository yet that could be looked at
			must.OK(t, os.RemoveAll(filepath.Join(w.dir, m)))
		}
	}
}
