package sharing_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// serverEnds is how long a server may go on whose client was killed: more than it allows itself, on a busy machine.
const serverEnds = 3 * time.Minute

// servers returns the processes that answer for sshd.
func (s *sshd) servers(t *testing.T) (list []int) {
	t.Helper()
	names := must.Get(filepath.Glob(filepath.Join(s.dir, "server-*")))(t)
	for _, name := range names {
		pid := must.Get(strconv.Atoi(strings.TrimPrefix(filepath.Base(name), "server-")))(t)
		words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !bytes.Contains(words, []byte(s.dir)) {
			_ = os.Remove(name) // it was killed
			continue
		}
		list = append(list, pid)
	}
	return list
}

// login returns the process of sshd that has started a server, 0 if there is none any more.
func login(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	words := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	parent, _ := strconv.Atoi(words[1]) // 0 for what is no number
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if !strings.HasPrefix(string(name), "sshd") {
		return 0
	}
	return parent
}

// TestServersEnd kills clients, their ssh and the logins at random moments: each server ends, leaves its repository
// to others, and nothing is lost.
func TestServersEnd(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("processes cannot be looked at here")
	}
	t.Parallel()
	s, why := startSSHD(t)
	if s == nil {
		t.Skip(why)
	}
	w := newTeam(t, carrier{name: "sshd", url: s.url})
	w.add("hub", "first", strings.Repeat("text ", 500))
	w.clones("a", "b")
	rnd := rand.New(rand.NewPCG(3, 7))
	for i := range effort.Pick(8, 40, 200) {
		var running []*exec.Cmd
		for _, m := range []string{"a", "b"}[:1+rnd.IntN(2)] {
			w.add(m, fmt.Sprint(m, i), strings.Repeat("of "+m+" ", 1+rnd.IntN(2000)))
			cmd := w.process(m, "", "sync")
			must.OK(t, cmd.Start())
			running = append(running, cmd)
		}
		time.Sleep(time.Duration(rnd.Int64N(int64(500 * time.Millisecond))))
		how := rnd.IntN(3)
		for _, cmd := range running {
			switch how {
			case 0:
				_ = cmd.Process.Kill() // it may have ended
			case 1:
				_ = exec.Command("pkill", "-KILL", "-P", strconv.Itoa(cmd.Process.Pid)).Run() // as above
			}
		}
		for _, pid := range s.servers(t) {
			if p := login(pid); how == 2 && p != 0 {
				if end, err := os.FindProcess(p); err == nil {
					_ = end.Kill() // as above
				}
			}
		}
		for _, cmd := range running {
			_ = cmd.Wait() // as above
		}
		for until := time.Now().Add(serverEnds); len(s.servers(t)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("kill %d (way %d): servers %v go on without a client", i, how, s.servers(t))
			}
		}
		w.ok("hub", "fsck") // opens it
	}
	for range 2 {
		w.ok("a", "sync")
		w.ok("b", "sync")
	}
	w.same("main", "a", "b", "hub")
}
