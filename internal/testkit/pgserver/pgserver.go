// Package pgserver starts a PostgreSQL server for a test, of the programs that the system has.
package pgserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// Server is a running server with one database.
type Server struct {
	dir string // of its socket
}

// URL returns the URL of a repository in the database.
func (s *Server) URL(repository string) string {
	return fmt.Sprintf("postgres://mnem@/postgres?host=%s&repository=%s", s.dir, repository)
}

// bins are where systems keep the server's programs, the newest last.
const bins = "/usr/lib/postgresql/*/bin"

// program returns the path of one of the server's programs, "" if there is none.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob(filepath.Join(bins, name)) // a constant pattern
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// servants are the users that the server runs as where the test is root's, which it refuses to be.
var servants = []string{"postgres", "nobody"}

// Start starts a server that answers on a socket alone and ends with the test, which is skipped where the system
// has no server. Settings are given as the server's command line takes them.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	initdb, postgres := program("initdb"), program("postgres")
	if initdb == "" || postgres == "" {
		t.Skip("not run: no PostgreSQL server is installed (package postgresql)")
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 107 bytes
	must.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a temporary directory
	var as []string
	if os.Getuid() == 0 {
		as = becoming(t, dir)
	}
	run := func(args ...string) *exec.Cmd {
		args = append(slices.Clone(as), args...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		return cmd
	}
	data := filepath.Join(dir, "data")
	out, err := run("cp", "-R", first(t, initdb), data).CombinedOutput()
	must.OK(t, err, "cp: ", out)
	args := []string{postgres, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=400"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	server := run(args...)
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	must.OK(t, server.Start())
	t.Cleanup(func() {
		stop(data, server)
		if t.Failed() {
			t.Logf("the server's log:\n%s", tail(log.String()))
		}
	})
	for range 400 {
		if _, err := os.Stat(filepath.Join(dir, ".s.PGSQL.5432")); err == nil {
			return &Server{dir}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the server does not begin to listen")
	return nil
}

// made is the directory of a server that was never started, which others begin with a copy of.
var made struct {
	sync.Mutex
	dir string
}

// first returns the directory that servers begin with, made by initdb, which takes ten times as long as a copy of it.
// It stays until the process ends: what puts temporary files into memory removes it with them.
func first(t testing.TB, initdb string) string {
	t.Helper()
	made.Lock()
	defer made.Unlock()
	if made.dir != "" {
		return made.dir
	}
	dir := must.Get(os.MkdirTemp("", "pg"))(t)
	var as []string
	if os.Getuid() == 0 {
		as = becoming(t, dir)
	}
	data := filepath.Join(dir, "data")
	args := append(slices.Clone(as), initdb, "-D", data, "-U", "mnem", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, out)
	}
	made.dir = data
	return data
}

// becoming gives a directory to a user who may run the server, and returns how a command line becomes theirs.
func becoming(t testing.TB, dir string) []string {
	t.Helper()
	for _, name := range servants {
		u, err := user.Lookup(name)
		path, lookErr := exec.LookPath("runuser")
		if err != nil || lookErr != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr != nil || gidErr != nil || os.Chown(dir, uid, gid) != nil {
			continue
		}
		return []string{path, "-u", name, "--"}
	}
	t.Skip("not run: a PostgreSQL server does not run as root, and there is no other user to run it")
	return nil
}

// stop ends a server by its own process: the one that was started may have become another user's first.
func stop(data string, server *exec.Cmd) {
	if pid, err := os.ReadFile(filepath.Join(data, "postmaster.pid")); err == nil {
		first, _, _ := strings.Cut(string(pid), "\n")
		if n, err := strconv.Atoi(first); err == nil {
			if p, err := os.FindProcess(n); err == nil {
				_ = p.Signal(os.Interrupt) // fast: clients are told
			}
		}
	}
	timer := time.AfterFunc(20*time.Second, func() { _ = server.Process.Kill() })
	defer timer.Stop()
	_ = server.Wait() // it was asked to end
}

func tail(s string) string {
	if len(s) > 4000 {
		return s[len(s)-4000:]
	}
	return s
}

// Cut returns the URL of a repository by way of connections that are cut at random bytes, some way after most
// bytes on the average, until the test ends.
func (s *Server) Cut(t *testing.T, repository string, most int64, seed uint64) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "cut"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a temporary directory
	const name = ".s.PGSQL.5432"
	l := must.Get(net.Listen("unix", filepath.Join(dir, name)))(t)
	t.Cleanup(func() { _ = l.Close() }) // which ends accepting
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	after := func() int64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Int64N(2 * most)
	}
	go func() {
		for {
			from, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			to, err := net.Dial("unix", filepath.Join(s.dir, name))
			if err != nil {
				_ = from.Close() // as a server that is not there
				continue
			}
			there, back := after(), after()
			end := sync.OnceFunc(func() { _, _ = from.Close(), to.Close() }) // they are cut
			go func() { _, _ = io.CopyN(to, from, there); end() }()          // or ended by one of the two
			go func() { _, _ = io.CopyN(from, to, back); end() }()
		}
	}()
	return fmt.Sprintf("postgres://mnem@/postgres?host=%s&repository=%s", dir, repository)
}
