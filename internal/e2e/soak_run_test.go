//go:build linux

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSoak has command lines, MCP clients and readers over HTTP use one repository at once, by every verb that writes,
// while the process that has it open is killed again and again. Hooks record conversations, and the disk fills up and is
// freed again and again, if a small one can be mounted. What was acknowledged is there at the end, once; a write without
// an answer is there once or not at all; what a full disk refused is not there; nothing else failed, fsck finds nothing,
// and internal/layout knows every file. In the last quarter nothing is killed and the disk has space, to see whether the
// server's memory stays as it is.
func TestSoak(t *testing.T) {
	length := effort.Soak(t)
	s := &soak{
		t: t, stop: make(chan struct{}), quiet: make(chan struct{}), counts: map[string]int{},
		settings: map[string]string{},
	}
	s.place()
	for w := range soakWriters {
		mustRun(t, s.dir, "", "branch", fmt.Sprintf("own-%d", w))
	}
	v := &server{}
	var servers, writers, others sync.WaitGroup
	ready := make(chan struct{})
	done := make(chan struct{}) // when the server may end
	servers.Go(func() { s.serve(v, ready, done) })
	<-ready
	for w := range soakWriters {
		writers.Go(func() {
			for i := 0; !s.stopped(); i++ {
				s.write(w, i)
			}
		})
	}
	for h := range soakHosts {
		home := t.TempDir() // on a disk with space
		writers.Go(func() { s.host(h, home) })
	}
	for c := range soakClients {
		others.Go(func() { s.client(c) })
	}
	for n := range soakReaders {
		others.Go(func() { s.read(v, n) })
	}
	memory := s.direct(v, length)
	close(s.stop)
	writers.Wait()
	close(s.quiet) // a client that ends may be the owner, and gives others' commands little time
	others.Wait()
	close(done)
	servers.Wait()
	s.check()
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		t.Logf("%6d %s", s.counts[name], name)
	}
	s.logFills()
	t.Logf("%d kills; memory of the server without kills, MiB: %v", len(s.kills)/2, memory)
	if n := len(memory); n >= 12 && length >= warm { // before, caches fill
		early, late := slices.Max(memory[n/4:n/2]), slices.Max(memory[3*n/4:])
		must.True(t, late <= early+early/2, "memory grew from %d to %d MiB", early, late)
	}
}

// direct kills owners and fills the disk for three quarters of the time, and returns the server's memory in MiB during
// the rest.
func (s *soak) direct(v *server, length time.Duration) []int {
	began := time.Now()
	var filler sync.WaitGroup
	fillNoMore := make(chan struct{})
	filler.Go(func() { s.fill(min(fillEvery, length/5), fillNoMore) })
	kill := time.NewTicker(min(killEvery, length/6))
	defer kill.Stop()
	for time.Since(began) < length*3/4 {
		<-kill.C
		s.kill()
	}
	close(fillNoMore)
	filler.Wait()
	var memory []int
	sample := time.NewTicker(max(length/4/20, time.Second))
	defer sample.Stop()
	for time.Since(began) < length {
		<-sample.C
		memory = append(memory, v.resident())
	}
	return memory
}

// serve runs 'mnem serve' until done, again whenever it was killed.
func (s *soak) serve(v *server, ready, done chan struct{}) {
	for first := true; ; first = false {
		began := time.Now()
		cmd := command(context.Background(), s.dir, "serve", "--addr", "127.0.0.1:0", "--log", "none",
			"--limit", "rate=1000000")
		out, err := cmd.StdoutPipe()
		if err != nil {
			s.t.Error(err)
			return
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			s.t.Error(err)
			return
		}
		lines := bufio.NewReader(out)
		said := ""
		for urlPattern.FindString(said) == "" && err == nil {
			var line string
			line, err = lines.ReadString('\n')
			said += line
		}
		rest, silent := &firstBytes{}, make(chan struct{})
		go func() {
			_, _ = io.Copy(rest, lines) // ends with the process
			close(silent)
		}()
		v.mu.Lock()
		v.url, v.cmd, v.up = urlPattern.FindString(said), cmd, time.Now()
		v.mu.Unlock()
		if first {
			close(ready)
		}
		ended := make(chan error, 1)
		go func() {
			<-silent
			ended <- cmd.Wait()
		}()
		select {
		case err := <-ended:
			v.mu.Lock()
			v.up = time.Time{}
			v.mu.Unlock()
			if !wasKilled(cmd) || !s.killedSince(began) {
				s.t.Errorf("serve ended: %v; %s; %s: %s%s", err, s.lastKill(), s.lastFill(), said, rest)
			}
		case <-done:
			_ = cmd.Process.Signal(os.Interrupt)
			must.OK(s.t, <-ended, "serve")
			return
		}
	}
}

// wasKilled is whether a process that has ended was killed.
func wasKilled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// resident is the server's resident memory in MiB, 0 if there is none.
func (v *server) resident() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kib / 1024
		}
	}
	return 0
}

// found describes a revision: by key the state of the node, and how many nodes have a summary.
type found struct {
	states    map[string]string
	summaries map[string]int
}

func (s *soak) list(rev string) found {
	f := found{map[string]string{}, map[string]int{}}
	for next := ""; ; {
		var page struct {
			Nodes []struct {
				Key, Summary string
				Mark         *struct{ State string }
			}
			Next *string
		}
		args := []string{"ls", "--all", "--json", "--limit", "1000", "--at", rev,
			"--include", "forgotten,superseded,expired,retired"}
		if next != "" {
			args = append(args, "--after", next)
		}
		must.OK(s.t, json.Unmarshal([]byte(mustRun(s.t, s.dir, "", args...)), &page))
		for _, n := range page.Nodes {
			state := "present"
			if n.Mark != nil {
				state = n.Mark.State
			}
			f.states[n.Key] = state
			f.summaries[n.Summary]++
		}
		if page.Next == nil {
			return f
		}
		next = *page.Next
	}
}

// check compares what was acknowledged with what is there.
func (s *soak) check() {
	s.drain()
	main := s.list("main")
	branches := map[string]found{}
	type history struct{ want, before string }
	keys := map[string]*history{} // what a node is, and, if that is unknown, what else it may be
	total, stoppedMade := 0, 0
	for _, e := range s.ledger {
		if _, there := main.states[e.key]; e.outcome == halted &&
			(there && e.want == "present" || e.want == "once" && main.summaries[e.key] > 0) {
			stoppedMade++
		}
		branch, aside := strings.CutPrefix(e.want, "absent from ")
		switch {
		case e.want == "" || e.outcome == refused:
			continue
		case aside:
			if _, ok := branches[branch]; !ok {
				branches[branch] = s.list(branch)
			}
			if _, there := branches[branch].states[e.key]; there && e.outcome == made {
				s.t.Errorf("%s was undone and is on %s", e.key, branch)
			}
		case e.want == "once":
			n := main.summaries[e.key]
			if n > 1 || n == 0 && e.outcome == made || n > 0 && e.outcome == full {
				s.t.Errorf("%q is there %d times, %s", e.key, n, e.outcome)
			}
		default:
			h := keys[e.key]
			if h == nil {
				h = &history{want: "absent"}
				keys[e.key] = h
			}
			if e.outcome == full && e.what != "purge" { // a purge can go on later
				break
			}
			h.before, h.want = h.want, e.want
			if e.outcome == made {
				h.before = e.want
			}
		}
		total++
	}
	for key, h := range keys {
		state, ok := main.states[key]
		if !ok {
			state = "absent"
		}
		if state != h.want && state != h.before {
			s.t.Errorf("%s is %s, want %s", key, state, h.want)
		}
	}
	for key, want := range s.settings {
		must.Equal(s.t, strings.TrimSpace(mustRun(s.t, s.dir, "", "config", "get", key)), want, "config ", key)
	}
	total += s.checkTalks(main)
	s.t.Logf("fsck --full: %s", strings.TrimSpace(mustRun(s.t, s.dir, "", "fsck", "--full")))
	s.checkFiles()
	must.True(s.t, total != 0 && len(branches) > 0, "nothing was checked")
	s.t.Logf("%d writes checked, %d nodes there; %d were made by calls that a stopped store did not acknowledge",
		total, len(main.states), stoppedMade)
}
