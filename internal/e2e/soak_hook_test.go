//go:build linux

package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const (
	soakHosts = 2 // programs that call hooks
	// drains bounds how many runs take in what is left at the end; one takes in 64 sessions and 1 MiB.
	drains = 100
)

// soakTalk is a conversation whose hooks meet kills and full disks.
type soakTalk struct {
	*talk
	noted int // turns that the spool is known to have had
}

// host is a program that calls hooks, one conversation after another; commands take in what they noted.
func (s *soak) host(h int, home string) {
	random := rand.New(rand.NewPCG(9, uint64(h)))
	for n := 0; !s.stopped(); n++ {
		k := &soakTalk{talk: &talk{t: s.t, dir: s.dir, home: home, name: fmt.Sprintf("soak-%d-%d", h, n)}}
		s.mu.Lock()
		s.talks = append(s.talks, k)
		s.mu.Unlock()
		s.hook(k, "session-start")
		for range 1 + random.IntN(3) {
			s.hook(k, "prompt")
			k.say(1 + random.IntN(3))
			s.hook(k, "stop")
		}
		k.say(1)
		s.hook(k, "session-end")
		began := time.Now()
		if n%2 == 0 {
			_, err := s.run("", "capture")
			s.record("capture", k.name, "", began, err)
			continue
		}
		_, err := s.run("", "ls", "--limit", "1")
		s.record("read", k.name, "", began, err)
	}
}

// hook calls a hook, which ends well whatever the disk has. At the end of a turn it must have written its spool, unless
// the disk was full in that time.
func (s *soak) hook(k *soakTalk, event string) {
	began := time.Now()
	out, err := k.call(event)
	if err != nil && !s.killedSince(began) { // one that asks may be the owner
		s.count("hook "+event, "FAILED")
		s.t.Errorf("hook %s: %v; %s; %s", event, err, s.lastKill(), s.lastFill())
		return
	}
	ends := event == "stop" || event == "session-end"
	switch {
	case ends && (err != nil || out != ""):
		s.t.Errorf("hook %s: %v, %q", event, err, out)
	case ends && (!s.fullSince(began) || k.spooled()):
		k.noted = k.turns
	case ends:
		s.count("hook "+event, "no space")
		return
	case err != nil:
		s.count("hook "+event, "unknown")
		return
	}
	s.count("hook "+event, "ok")
}

// call calls a hook and returns what it printed. To print an error is one.
func (k *soakTalk) call(event string) (string, error) {
	cmd := k.command(k.t.Context(), "hook", "claude-code", event)
	cmd.Stdin = strings.NewReader(k.input())
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil && errs.Len() > 0 {
		err = fmt.Errorf("it says %q", errs.String())
	}
	return out.String(), err
}

// spooled is whether the spool has an entry of all that was said.
func (k *soakTalk) spooled() bool {
	info, err := os.Stat(k.transcript())
	if err != nil {
		k.t.Error(err)
		return false
	}
	sum := sha256.Sum256([]byte(k.name))
	data, err := os.ReadFile(filepath.Join(k.dir, ".mnem", "spool", fmt.Sprintf("claude-code-%x.json", sum[:8])))
	var entry struct{ Size int64 }
	return err == nil && json.Unmarshal(data, &entry) == nil && entry.Size == info.Size()
}

// drain takes in what hooks noted, until the spool is empty.
func (s *soak) drain() {
	for range drains {
		mustRun(s.t, s.dir, "", "capture")
		left, err := filepath.Glob(filepath.Join(s.dir, ".mnem", "spool", "*.json"))
		waiting, err2 := filepath.Glob(filepath.Join(s.dir, ".mnem", "spool", "*.wait"))
		must.Require(s.t, err == nil && err2 == nil, "%v %v", err, err2)
		if len(left)+len(waiting) == 0 {
			return
		}
	}
	s.t.Errorf("%d runs do not empty the spool", drains)
}

// checkTalks looks for the turns of conversations and returns how many it looked for.
func (s *soak) checkTalks(main found) (total int) {
	there := 0
	for _, k := range s.talks {
		for n := 1; n <= k.turns; n++ {
			times := main.summaries[k.said(n)]
			if times > 1 || times == 0 && n <= k.noted {
				s.t.Errorf("%q is there %d times; %d of %d turns were noted", k.said(n), times, k.noted, k.turns)
			}
			total, there = total+1, there+times
		}
	}
	must.True(s.t, there > 0, "no turn is there")
	s.t.Logf("%d turns of %d conversations, %d are there", total, len(s.talks), there)
	return total
}
