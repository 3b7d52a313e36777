//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// talk is one conversation of a host: a transcript that grows, and hooks.
type talk struct {
	t     *testing.T
	dir   string // of the project
	home  string
	name  string
	turns int
}

func (k *talk) transcript() string { return filepath.Join(k.home, k.name+".jsonl") }

func (k *talk) said(turn int) string { return fmt.Sprintf("In %s we said thing %d.", k.name, turn) }

// say adds turns to the transcript, as hosts do: some in one write, some in the midst of a line.
func (k *talk) say(n int) {
	var b strings.Builder
	for range n {
		k.turns++
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","sessionId":%q,"message":{"content":%q}}`+"\n",
			k.name, k.turns, k.name, k.said(k.turns))
	}
	f, err := os.OpenFile(k.transcript(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		text := b.String()
		half := len(text) / 2
		_, err = f.WriteString(text[:half])
		if err == nil {
			_, err = f.WriteString(text[half:])
		}
		err = errors.Join(err, f.Close())
	}
	must.OK(k.t, err)
}

// command is mnem as the host starts it.
func (k *talk) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := command(ctx, k.dir, args...)
	cmd.Env = append(cmd.Env, "HOME="+k.home)
	return cmd
}

// input returns a host's message to a hook.
func (k *talk) input() string {
	in, _ := json.Marshal(map[string]any{
		"session_id": k.name, "transcript_path": k.transcript(), "cwd": k.dir, "prompt": "what did we say of thing 3?",
	})
	return string(in)
}

// hook calls a hook, killed after a time unless that is 0. One that is not killed ends well and says
// nothing on the error stream.
func (k *talk) hook(event string, kill time.Duration) string {
	cmd := k.command(k.t.Context(), "hook", "claude-code", event)
	cmd.Stdin = strings.NewReader(k.input())
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		k.t.Error(err)
		return ""
	}
	if kill > 0 {
		defer time.AfterFunc(kill, func() { _ = cmd.Process.Kill() }).Stop()
	}
	if err := cmd.Wait(); (err != nil || errs.Len() > 0) && kill == 0 {
		k.t.Errorf("hook %s: %v, %q", event, err, errs.String())
	}
	return out.String()
}

// TestHooksUnderFire has three conversations go on while hooks, and commands that take in what they noted, are killed
// at any moment and run at once: in the end each turn is there once.
func TestHooksUnderFire(t *testing.T) {
	dir, home := newRepo(t), t.TempDir()
	var hosts sync.WaitGroup
	var talks []*talk
	stop := make(chan struct{})
	for i := range 3 {
		k := &talk{t: t, dir: dir, home: home, name: fmt.Sprintf("talk%d", i)}
		talks = append(talks, k)
		random := rand.New(rand.NewPCG(7, uint64(i)))
		hosts.Go(func() {
			for range 25 {
				k.say(1 + random.IntN(3))
				kill := time.Duration(0)
				if random.IntN(2) == 0 {
					kill = time.Duration(1+random.IntN(25)) * time.Millisecond
				}
				k.hook([]string{"stop", "compact", "session-end", "prompt"}[random.IntN(4)], kill)
			}
		})
	}
	var readers sync.WaitGroup
	for i := range 2 { // readers take in what was noted, and are killed as well
		random := rand.New(rand.NewPCG(8, uint64(i)))
		k := &talk{t: t, dir: dir, home: home}
		readers.Go(func() {
			for !closed(stop) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(5+random.IntN(80))*time.Millisecond)
				_ = k.command(ctx, "ls", "--type", "Session").Run()
				cancel()
			}
		})
	}
	hosts.Wait()
	close(stop)
	readers.Wait()
	for _, k := range talks {
		k.hook("session-end", 0)
	}
	if out, err := talks[0].command(t.Context(), "capture").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got struct{ Nodes []struct{ Summary string } }
	list := mustRun(t, dir, "", "ls", "--type", "Turn", "--limit", "1000", "--json")
	must.OK(t, json.Unmarshal([]byte(list), &got))
	times := make(map[string]int)
	for _, n := range got.Nodes {
		times[n.Summary]++
	}
	for _, k := range talks {
		for n := 1; n <= k.turns; n++ {
			if text := k.said(n); times[text] != 1 {
				t.Errorf("%q is there %d times", text, times[text])
			}
			delete(times, k.said(n))
		}
	}
	must.True(t, len(times) == 0, "no host said %v", times)
	left, err := filepath.Glob(filepath.Join(dir, ".mnem", "spool", "*.json"))
	must.True(t, err == nil && len(left) == 0, "left in the spool: %v, %v", left, err)
}
