package queue

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func join(t *testing.T, path string) *Ticket {
	t.Helper()
	p := Join(path, 1)
	if p.f == nil {
		t.Skip("this file system has no queues")
	}
	t.Cleanup(p.Leave)
	return p
}

// TestOrder: whichever processes come and go, only the earliest of those present has its turn.
func TestOrder(t *testing.T) {
	const steps, most = 400, 12
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "queue")
	var line []*Ticket
	for range steps {
		if n := len(line); n == 0 || n < most && r.IntN(2) == 0 {
			line = append(line, join(t, path))
		} else {
			i := r.IntN(n) // the first, or one that gives up
			line[i].Leave()
			line = slices.Delete(line, i, i+1)
		}
		for _, i := range r.Perm(len(line)) {
			must.Equal(t, line[i].Turn(), i == 0, "seed ", seed, ": place ", i+1, " of ", len(line), ": turn")
			if d := line[i].Pause(); d < firstPause || d > lastPause || i == 0 && d > frontPause {
				t.Fatalf("place %d of %d: a pause of %v", i+1, len(line), d)
			}
		}
	}
	must.Equal(t, must.Get(os.Stat(path))(t).Size(), 0, "the file")
}

// TestKilled: the place of a process that was killed is free.
func TestKilled(t *testing.T) {
	if path := os.Getenv("QUEUE_TEST_FILE"); path != "" {
		defer Join(path, 1).Leave()
		_, _ = os.Stdout.WriteString("joined\n")
		select {}
	}
	path := filepath.Join(t.TempDir(), "queue")
	join(t, path).Leave()
	cmd := exec.Command(os.Args[0], "-test.run=TestKilled")
	cmd.Env = append(os.Environ(), "QUEUE_TEST_FILE="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	next, last := join(t, path), join(t, path)
	must.True(t, !next.Turn() && !last.Turn(), "overtook another process")
	must.OK(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	must.True(t, next.Turn() && !last.Turn(), "the next is not the next one")
}

// TestStopped: a process that has its turn and does nothing delays the others for a while each, not forever.
func TestStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue")
	line := []*Ticket{join(t, path), join(t, path), join(t, path)}
	for i, p := range line {
		var waited time.Duration
		for ; !p.Turn(); waited += p.Pause() {
			must.Require(t, waited <= 10*Patience, "place %d waits for ever", i+1)
		}
		least := time.Duration(i) * Patience
		must.True(t, waited >= least && waited <= least+lastPause, "place %d waited for %v", i+1, waited)
	}
	line[0].Leave()
	must.True(t, line[1].Turn() && !line[2].Turn(), "no order when the front moved on")
}

// TestAlone: without a queue all may try, and do not march in step.
func TestAlone(t *testing.T) {
	a, b := Join(filepath.Join(t.TempDir(), "none", "queue"), 100), Alone(101)
	differ := false
	for range 100 {
		must.True(t, a.Turn() && b.Turn(), "one has to wait for its turn")
		x, y := a.Pause(), b.Pause()
		differ = differ || x != y
		for _, d := range []time.Duration{x, y} {
			must.True(t, d >= firstPause/2 && d <= lastPause, "a pause of %v", d)
		}
	}
	must.True(t, differ, "two processes wait in step")
	a.Leave()
	b.Leave()
}
