//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	soakWriters = 8 // command lines
	soakClients = 4 // MCP clients
	soakReaders = 4 // over HTTP
	killEvery   = 20 * time.Second
	// grace is how long after a kill a read over HTTP may still fail for it, without the time in which
	// 'mnem serve' starts again. A command line that begins after a kill has no excuse.
	grace = 3 * time.Second
	// longest is how long one call may take; one that takes longer hangs. Collections and purges wait
	// for each other, and each reads all that is stored: eight at once, with all else on two cores.
	longest = 20 * time.Minute
	// warm is how long a soak must be for the server's memory to be compared: while its caches fill it
	// grows.
	warm = 10 * time.Minute
)

// outcome says what the caller of a write knows.
type outcome int

const (
	refused outcome = iota // it failed, which fails the test
	made                   // it was acknowledged
	unknown                // the process that made it was killed before it answered
	full                   // the disk had no space for it: it was not made
	halted                 // the disk was full in the midst of it, which stopped the store: it may have been made
)

// soak is one run: what was written, what became of it, when owners were killed, and when the disk was full.
type soak struct {
	t     *testing.T
	disk  string // the small disk that dir is on, "" if none can be mounted here
	dir   string
	stop  chan struct{} // closed when writers are to begin nothing more
	quiet chan struct{} // closed when they have ended

	mu       sync.Mutex
	kills    []time.Time // of each when it began and when the process was gone
	fills    []fill
	talks    []*soakTalk
	ledger   []entry
	counts   map[string]int // calls by "WHAT OUTCOME"
	settings map[string]string
}

// entry is one thing that was written, and what must be true of it at the end.
type entry struct {
	what    string // the verb
	key     string // of the node; for remember its text
	outcome outcome
	want    string // what check reads when it was made: see states
}

// killedSince is whether an owner was killed since a moment.
func (s *soak) killedSince(began time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kills {
		if k.After(began) {
			return true
		}
	}
	return false
}

func (s *soak) count(what, result string) {
	s.mu.Lock()
	s.counts[what+" "+result]++
	s.mu.Unlock()
}

// record notes a write and judges its error: one that neither a kill nor a full disk explains fails the test.
func (s *soak) record(what, key, want string, began time.Time, err error) outcome {
	return s.judge(what, key, want, began, err, s.killedSince(began))
}

// judge is record for a caller that knows whether the process that answers was killed since the call began.
func (s *soak) judge(what, key, want string, began time.Time, err error, killed bool) outcome {
	o, name := made, "ok"
	switch {
	case err == nil:
	case noSpace(err) && s.fullSince(began):
		o, name = full, "no space"
		if stopped(err) {
			o, name = halted, "store stopped"
		}
	case killed:
		o, name = unknown, "unknown"
	default:
		o, name = refused, "FAILED"
		s.t.Errorf("%s %s, begun %v ago: %v; %s; %s", what, key, time.Since(began), err, s.lastKill(), s.lastFill())
	}
	s.count(what, name)
	s.mu.Lock()
	s.ledger = append(s.ledger, entry{what, key, o, want})
	s.mu.Unlock()
	return o
}

// lastKill says when an owner was last killed.
func (s *soak) lastKill() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kills) == 0 {
		return "no owner was killed yet"
	}
	return fmt.Sprintf("an owner was last killed %v ago", time.Since(s.kills[len(s.kills)-1]))
}

// stopped reports whether writers begin nothing more, over whether they have ended.
func (s *soak) stopped() bool { return closed(s.stop) }
func (s *soak) over() bool    { return closed(s.quiet) }

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func node(key, summary string) string {
	return fmt.Sprintf(`{"node":{"key":%q,"type":"Fact","summary":%q}}`, key, summary) + "\n"
}

// run is one command line; the answer is JSON.
func (s *soak) run(input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), longest)
	defer cancel()
	return mnem(ctx, s.dir, input, append(args, "--json")...)
}

// commit writes one node and reports whether that is known to be there.
func (s *soak) commit(key string, flags ...string) bool {
	began := time.Now()
	_, err := s.run(node(key, "soak "+key), append([]string{"commit", "-m", "soak", "-"}, flags...)...)
	return s.record("commit", key, "present", began, err) == made
}

// write is one round of a writer of the command line.
func (s *soak) write(w, i int) {
	key := fmt.Sprintf("w%d/%d", w, i)
	do := func(what, on, want string, args ...string) outcome {
		began := time.Now()
		_, err := s.run("", args...)
		return s.record(what, on, want, began, err)
	}
	switch i % 10 {
	case 0:
		s.commit(key)
	case 1:
		text := fmt.Sprintf("Worker %d of the soak stores parcel %d in bay %d", w, i, w*100000+i)
		do("remember", text, "once", "remember", text)
	case 2, 3:
		if s.commit(key) {
			if i%10 == 3 {
				do("mark", key, "stale", "mark", "stale", key, "--reason", "soak")
			} else {
				do("forget", key, "forgotten", "forget", key, "--reason", "soak")
			}
		}
	case 4:
		if s.commit(key) && s.commit(key+"/new") {
			do("mark", key, "superseded", "mark", "superseded", key, "--by", key+"/new")
		}
	case 5:
		s.merge(w, key)
	case 6:
		s.undo(w, key)
	case 7:
		if s.commit(key) {
			do("purge", key, "absent", "purge", key, "--yes", "--reason", "soak")
		}
	case 8:
		began := time.Now()
		_, err := s.run("", "gc", "--keep", "2000")
		s.record("gc", key, "", began, err)
	case 9:
		s.set(w, i)
	}
}

// merge commits to a branch that begins at the head and merges it.
func (s *soak) merge(w int, key string) {
	began := time.Now()
	branch := fmt.Sprintf("side-%d-%s", w, strings.ReplaceAll(key, "/", "-"))
	if _, err := s.run("", "branch", branch); err != nil {
		s.record("branch", branch, "", began, err)
		return
	}
	began = time.Now()
	_, err := s.run(node(key, "soak "+key), "commit", "-m", "soak", "-", "-b", branch)
	if s.record("commit aside", key, "", began, err) != made {
		return
	}
	began = time.Now()
	_, err = s.run("", "merge", branch)
	s.record("merge", key, "present", began, err)
}

// undo commits to the writer's own branch and takes that back.
func (s *soak) undo(w int, key string) {
	branch := fmt.Sprintf("own-%d", w)
	began := time.Now()
	out, err := s.run(node(key, "soak "+key), "commit", "-m", "soak", "-", "-b", branch)
	if s.record("commit aside", key, "", began, err) != made {
		return
	}
	var c struct{ Commit string }
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		s.t.Errorf("commit %s: %v: %s", key, err, out)
		return
	}
	began = time.Now()
	op, err := s.operationOf(c.Commit)
	if err != nil || op == "" {
		s.record("op log", key, "", began, errors.Join(err, fmt.Errorf("no operation of %s", c.Commit)))
		return
	}
	began = time.Now()
	_, err = s.run("", "undo", op)
	s.record("undo", key, "absent from "+branch, began, err)
}

// operationOf returns the operation that moved a branch to a commit.
func (s *soak) operationOf(commit string) (string, error) {
	out, err := s.run("", "op", "log", "--limit", "200")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		var op struct {
			Op   string
			Refs []struct{ To string }
		}
		if err := json.Unmarshal([]byte(line), &op); err != nil {
			return "", err
		}
		for _, r := range op.Refs {
			if r.To == commit {
				return op.Op, nil
			}
		}
	}
	return "", nil
}

// soakSettings are settings that change nothing here, one a writer.
var soakSettings = []string{
	"model.timeout", "cache", "key", "credential-helper", "rerank.model", "rewrite.model", "gc.grace", "mcp.fallback",
}

func (s *soak) set(w, i int) {
	key, value := soakSettings[w%len(soakSettings)], strconv.Itoa(i)
	switch {
	case strings.HasSuffix(key, "timeout"):
		value = strconv.Itoa(i%3000+1) + "s"
	case strings.HasSuffix(key, ".model"):
		value = map[string]string{"rerank.model": "cohere:", "rewrite.model": "ollama:"}[key] + value
	case key == "gc.grace":
		value = strconv.Itoa(336+i) + "h"
	case key == "mcp.fallback":
		value = []string{"none", "global"}[i%2]
	case key == "cache":
		value = strconv.Itoa(i%100+16) + "MiB"
	}
	began := time.Now()
	_, err := s.run("", "config", "set", key, value)
	if s.record("config", key, "", began, err) == made {
		s.mu.Lock()
		s.settings[key] = value
		s.mu.Unlock()
	}
}

// client is an MCP client that commits and remembers; when its process is killed, the next begins.
func (s *soak) client(c int) {
	var cl *mcpClient
	for i := 0; !s.over(); i++ {
		began := time.Now()
		if cl == nil {
			var err error
			if cl, err = newClient(s.t.Context(), s.dir); err != nil {
				if !s.killedSince(began) {
					s.t.Errorf("mcp client %d: %v", c, err)
					return
				}
				cl = nil
				continue
			}
		}
		hangs := time.AfterFunc(longest, func() { _ = cl.cmd.Process.Kill() })
		var err error
		if i%2 == 0 {
			key := fmt.Sprintf("m%d/%d", c, i)
			var answer struct{ Commit string }
			err = cl.tool("commit", fact(key), &answer)
			s.record("mcp commit", key, "present", began, err)
		} else {
			text := fmt.Sprintf("Client %d of the soak moves crate %d to shelf %d", c, i, c*100000+i)
			var answer struct{ ID string }
			err = cl.tool("remember", map[string]any{"text": text}, &answer)
			s.record("mcp remember", text, "once", began, err)
		}
		hangs.Stop()
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) { // the process was killed
			if _ = cl.close(); !wasKilled(cl.cmd) {
				s.t.Errorf("mcp client %d ended: %v; %s; %s: %s", c, cl.cmd.ProcessState, s.lastKill(), s.lastFill(), cl.errs)
			}
			cl = nil
		}
	}
	if cl != nil {
		if err := cl.close(); err != nil && !s.killedSince(time.Now().Add(-killEvery)) {
			s.t.Errorf("mcp client %d: %v", c, err)
		}
	}
}

// server is 'mnem serve', begun again whenever it was killed.
type server struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	url string
	up  time.Time // since when it answers, zero while there is none
}

func (v *server) address() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.url
}

// answersSince is whether it has answered without a break since a moment.
func (v *server) answersSince(began time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.up.IsZero() && v.up.Before(began)
}

// read is a reader over HTTP. One call of ten commits.
func (s *soak) read(v *server, n int) {
	client := &http.Client{Timeout: longest}
	for i := 0; !s.over(); i++ {
		began, key, err := time.Now(), "", error(nil)
		switch {
		case i%10 == 9:
			key = fmt.Sprintf("h%d/%d", n, i)
			err = asked(client.Post(v.address()+"/v1/commit", "application/json", strings.NewReader(
				fmt.Sprintf(`{"message":"soak","lines":[%s]}`, node(key, "soak "+key)))))
		case (n+i)%2 == 0:
			err = asked(client.Get(v.address() + "/v1/show?name=alice"))
		default:
			err = asked(client.Get(v.address() + "/v1/retrieve?query=parcel+in+bay"))
		}
		gone := s.killedSince(began.Add(-grace)) || !v.answersSince(began)
		switch {
		case key != "":
			s.judge("http commit", key, "present", began, err, gone)
		case err == nil && s.fullSince(began):
			s.count("http read", fullRead)
		case err == nil:
			s.count("http read", "ok")
		case noSpace(err) && stopped(err) && s.fullSince(began): // the next call opens it again
			s.count("http read", "store stopped")
		case gone:
			s.count("http read", "failed at a kill")
		default:
			s.count("http read", "FAILED")
			s.t.Errorf("read: %v; %s; %s", err, s.lastKill(), s.lastFill())
		}
		if err != nil && gone {
			time.Sleep(50 * time.Millisecond) // until there is a server again
		}
	}
}

// statusError is an answer over HTTP that is an error.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, http.StatusText(e.status), e.body)
}

// asked reads an answer over HTTP to its end.
func asked(res *http.Response, err error) error {
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		err = errors.Join(err, &statusError{res.StatusCode, string(body)})
	}
	return errors.Join(err, res.Body.Close())
}

// owner is the process that has the repository open.
func (s *soak) owner() (int, bool) {
	data, err := os.ReadFile(filepath.Join(s.dir, ".mnem", "owner"))
	var o struct{ PID int }
	if err != nil || json.Unmarshal(data, &o) != nil || o.PID == 0 {
		return 0, false
	}
	return o.PID, true
}

func (s *soak) kill() {
	pid, ok := s.owner()
	if !ok {
		return
	}
	note := func() {
		s.mu.Lock()
		s.kills = append(s.kills, time.Now())
		s.mu.Unlock()
	}
	note()
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for deadline := time.Now().Add(longest); time.Now().Before(deadline) && lives(pid); {
		time.Sleep(time.Millisecond)
	}
	note() // until now a call could still come to it
}

// lives reports whether a process has not ended. A zombie has ended.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
