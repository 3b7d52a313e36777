package sharing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/exchange/remote/s3"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
)

// carrier is a way to another repository.
type carrier struct {
	name string
	// url makes the repository in a directory reachable and returns where it is then.
	url func(w *team, dir string) string
	// apart is set if something else than hub has what is shared: what the scenarios do at hub is done by a clone of
	// that, which pushes what it changed. It returns a text that changes with what is kept there.
	apart func(w *team) string
	// encrypted is whether all that is kept there is encrypted, for the identity that team.identity makes.
	encrypted bool
}

// carriers returns the ways to other repositories of these names, all without any. Those whose programs are missing
// here are left out with a text.
func carriers(t *testing.T, names ...string) []carrier {
	t.Helper()
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	missing := make(map[string]string)
	if runtime.GOOS == "windows" {
		missing["held"] = "there are no signals between processes"
	}
	login := &sshd{}
	if wanted("sshd") || wanted("git-ssh") {
		s, why := startSSHD(t)
		if s != nil {
			login = s
			t.Setenv("GIT_SSH_COMMAND", s.client)
		}
		missing["sshd"], missing["git-ssh"] = why, why
	}
	other := &gateway{}
	if wanted("gateway") || wanted("encrypted-gateway") {
		g, why := startGateway(t)
		if g != nil {
			other = g
		}
		missing["gateway"] = why
	}
	backend := gitBackend()
	if backend == "" {
		missing["git-http"] = "git http-backend is not installed"
	}
	if _, err := exec.LookPath("git"); err != nil {
		missing["git"], missing["git-http"], missing["git-ssh"] = err.Error(), err.Error(), err.Error()
	}
	list := []carrier{
		{name: "path", url: func(_ *team, dir string) string { return dir }},
		{name: "file", url: func(_ *team, dir string) string { return fileURL(dir) }},
		{name: "held", url: func(w *team, dir string) string { // by another process
			_, out := program.Hold(w.T, dir)
			must.Require(w, program.Owns(w.T, out), "it is open elsewhere")
			return dir
		}},
		{name: "http", url: func(w *team, dir string) string { return served(w.T, dir) }},
		{name: "many", url: func(w *team, dir string) string { // one of several repositories under a server
			return served(w.T, filepath.Dir(dir), "--root", ".") + "/" + filepath.Base(dir)
		}},
		{name: "ssh", url: func(_ *team, dir string) string { return "ssh://hub.example" + fileURL(dir)[len("file://"):] }},
		gitCarrier("git", func(_ *team, dir string) string { return "git+" + fileURL(dir) }),
		gitCarrier("git-http", func(w *team, dir string) string { return gitOverHTTP(w.T, backend, dir) }),
		{name: "sshd", url: login.url},
		gitCarrier("git-ssh", func(_ *team, dir string) string { return "git+ssh://" + login.host + dir }),
		{name: "s3", url: func(w *team, _ string) string {
			w.store = s3test.New(w.T, 1)
			return w.inStore(w.store.URL, s3test.AccessKey, s3test.SecretKey, "team")
		}, apart: (*team).storeKeeps},
		{name: "gateway", url: other.url, apart: (*team).storeKeeps},
	}
	for _, by := range list { // the same with all encrypted
		if by.name == "git" || by.name == "s3" || by.name == "gateway" {
			by.name, by.encrypted = "encrypted-"+by.name, true
			missing[by.name] = missing[strings.TrimPrefix(by.name, "encrypted-")]
			list = append(list, by)
		}
	}
	list = append(list, carrier{name: "encrypted", encrypted: true, url: func(w *team, _ string) string {
		return filepath.Join(w.dir, storeDir)
	}, apart: func(w *team) string {
		data, err := os.ReadFile(filepath.Join(w.dir, storeDir, "memory"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.Fatal(err)
		}
		return string(data)
	}})
	for _, name := range names {
		if !slices.ContainsFunc(list, func(by carrier) bool { return by.name == name }) {
			t.Fatalf("no carrier has the name %s", name)
		}
	}
	return slices.DeleteFunc(list, func(by carrier) bool {
		why := missing[by.name]
		if why != "" && wanted(by.name) {
			t.Logf("%s is not tried: %s", by.name, why)
		}
		return why != "" || !wanted(by.name)
	})
}

// over returns the carrier of a name. The test is skipped if a program for it is missing here.
func over(t *testing.T, name string) carrier {
	t.Helper()
	list := carriers(t, name)
	if len(list) == 0 {
		t.SkipNow()
	}
	return list[0]
}

// gitCarrier is a carrier by a git repository next to hub.
func gitCarrier(name string, url func(w *team, dir string) string) carrier {
	return carrier{name: name, url: func(w *team, dir string) string {
		dir = filepath.Join(filepath.Dir(dir), codeDir)
		git(w.T, dir, "init", "--quiet", "--bare", dir)
		return url(w, dir)
	}, apart: func(w *team) string { return git(w.T, filepath.Join(w.dir, codeDir), "for-each-ref") }}
}

// storeDir is the directory that a team shares as a store.
const storeDir = "store"

// codeDir is the git repository that a team shares.
const codeDir = "code.git"

// inStore has a team use an object store and returns the URL of a memory in it.
func (w *team) inStore(endpoint, key, secret, prefix string) string {
	maps.Copy(w.env, map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret,
	})
	return "s3://" + s3test.Bucket + "/" + prefix
}

// storeKeeps returns what an object store has of the refs of a memory.
func (w *team) storeKeeps() string {
	c, err := s3.New(s3.ClientOptions{
		Endpoint: w.env["AWS_ENDPOINT_URL"], Bucket: s3test.Bucket, Prefix: path.Base(w.url), PathStyle: true, Now: time.Now,
		AccessKey: w.env["AWS_ACCESS_KEY_ID"], SecretKey: w.env["AWS_SECRET_ACCESS_KEY"],
		Sleep: func(_ context.Context, d time.Duration) error { time.Sleep(d); return nil },
	})
	must.OK(w, err)
	data, _, err := c.Bytes(w.Context(), "memory", "", 1<<20)
	if err != nil && !errors.Is(err, s3.ErrNotFound) {
		w.Fatal(err)
	}
	return string(data)
}

// gitBackend returns the path of git http-backend, "" if it is not installed.
func gitBackend() string {
	out, err := exec.Command("git", "--exec-path").Output()
	path := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, statErr := os.Stat(path); err != nil || statErr != nil || runtime.GOOS == "windows" {
		return ""
	}
	return path
}

// gitOverHTTP serves a git repository until the test ends.
func gitOverHTTP(t *testing.T, backend, dir string) string {
	t.Helper()
	git(t, dir, "config", "http.receivepack", "true")
	program := &cgi.Handler{Path: backend, Dir: dir, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1",
	}}
	s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body) // CGI is told how long a body is
		if err != nil {
			http.Error(to, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
		program.ServeHTTP(to, r)
	}))
	t.Cleanup(s.Close)
	return "git+" + s.URL + "/" + filepath.Base(dir)
}

// sshd is a server of ssh on this machine, for the user of the tests.
type sshd struct {
	host, client string
	dir          string // where each server that runs has a file, server-PID
}

// url returns the URL of the repository in a directory, for a team whose ssh gets in.
func (s *sshd) url(w *team, dir string) string {
	w.env["MNEM_SSH"] = s.client
	return "ssh://" + s.host + dir
}

// startSSHD starts sshd until the test ends, or says why not. What it is asked to run is run by this test binary.
func startSSHD(t *testing.T) (*sshd, string) {
	t.Helper()
	var paths [3]string
	for i, name := range []string{"sshd", "ssh", "ssh-keygen"} {
		var err error
		if paths[i], err = exec.LookPath(name); err != nil {
			if paths[i] = "/usr/sbin/" + name; i > 0 {
				return nil, name + " is not installed"
			}
			if _, err := os.Stat(paths[i]); err != nil {
				return nil, name + " is not installed"
			}
		}
	}
	me, err := user.Current()
	if err != nil || runtime.GOOS == "windows" {
		return nil, "this user has no name"
	}
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return nil, err.Error()
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"host", "key"} {
		args := []string{"-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)}
		if out, err := exec.Command(paths[2], args...).CombinedOutput(); err != nil {
			return nil, fmt.Sprintf("ssh-keygen: %v: %s", err, out)
		}
	}
	public := must.Get(os.ReadFile(filepath.Join(dir, "key.pub")))(t)
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close() // for sshd
	files := map[string]string{
		"keys": fmt.Sprintf("restrict,command=\"%s %s forced %s\" %s", os.Args[0], program.AsShell, dir, public),
		"config": fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\n"+
			"StrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\nMaxStartups 200\nMaxSessions 200\n"+
			"SetEnv HOME=%s\n", // if no shell finds what the user has it do at each login
			port, filepath.Join(dir, "host"), filepath.Join(dir, "keys"), dir),
	}
	for name, text := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, paths[0], "-D", "-e", "-f", filepath.Join(dir, "config"))
	log := must.Get(os.Create(filepath.Join(dir, "log")))(t)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err.Error()
	}
	t.Cleanup(func() {
		cancel()
		_, _ = cmd.Wait(), log.Close() // it was killed
	})
	s := &sshd{host: fmt.Sprintf("%s@127.0.0.1:%d", me.Username, port), dir: dir}
	s.client = strings.Join([]string{paths[1], "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "IdentitiesOnly=yes", "-i", filepath.Join(dir, "key"),
		"-o", "KexAlgorithms=curve25519-sha256"}, " ") // the cheapest: a seventh of what is used unasked
	words := strings.Fields(s.client)
	for range 50 {
		try := append(slices.Clone(words[1:]), "-p", fmt.Sprint(port), me.Username+"@127.0.0.1", "true")
		if exec.Command(words[0], try...).Run() == nil {
			return s, ""
		}
		time.Sleep(50 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name()) // what there is of it
	return nil, fmt.Sprintf("sshd lets nobody in: %s", said)
}

// asHub does on the clone that stands for hub what a scenario does there, after it has what the others pushed.
func (w *team) asHub(code int, stdin string, args ...string) (stdout, stderr string) {
	w.Helper()
	pull := func() {
		if _, there := w.targets("refs/remotes/origin/")["refs/remotes/origin/heads/main"]; there {
			w.raw(0, "hub", "", "sync")
		}
	}
	changes := slices.Contains([]string{"commit", "tag", "branch", "purge"}, args[0])
	switch {
	case changes:
		w.raw(0, "hub", "", "fetch", "--prune")
		pull()
	case args[0] == "show" || args[0] == "ls" || args[0] == "log":
		w.raw(0, "hub", "", "fetch", "--prune")
		pull()
	}
	stdout, stderr = w.raw(code, "hub", stdin, args...)
	if changes && code == 0 {
		push := []string{"push", "--all", "--tags"}
		if args[0] == "purge" {
			push = append(push, "--redactions")
		}
		w.raw(0, "hub", "", push...)
	}
	return stdout, stderr
}

// hubAt returns what a ref of the git repository is at.
func (w *team) hubAt(ref string) string {
	w.Helper()
	w.raw(0, "hub", "", "fetch", "--prune")
	return w.targets("refs/remotes/origin/")["refs/remotes/origin"+strings.TrimPrefix(ref, "refs")]
}

// targets returns the refs of hub that begin with a prefix.
func (w *team) targets(prefix string) map[string]string {
	w.Helper()
	out := make(map[string]string)
	text, _ := w.raw(0, "hub", "", "pack", "refs", "--tracking", "--json")
	var answer struct {
		Refs []struct{ Ref, Target string }
	}
	must.OK(w, json.Unmarshal([]byte(text), &answer))
	for _, r := range answer.Refs {
		if strings.HasPrefix(r.Ref, prefix) {
			out[r.Ref] = r.Target
		}
	}
	return out
}

// gateway is an object store that is none of ours, versitygw.
type gateway struct {
	addr  string
	teams atomic.Int64 // each has a memory of its own
}

// url returns the URL of a memory of a team.
func (g *gateway) url(w *team, _ string) string {
	return w.inStore("http://"+g.addr, "key", "a secret", fmt.Sprint("team", g.teams.Add(1)))
}

// TestGatewayDenies fetches with a key that is none.
func TestGatewayDenies(t *testing.T) {
	w := newTeam(t, over(t, "gateway"))
	w.clones("a")
	w.env["AWS_SECRET_ACCESS_KEY"] = "another"
	w.refused(1, "denied", "a", "fetch")
}

// startGateway starts one until the test ends, or says why not.
func startGateway(t *testing.T) (*gateway, string) {
	t.Helper()
	path, err := exec.LookPath("versitygw")
	if err != nil {
		return nil, "versitygw is not installed (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)"
	}
	dir, at := t.TempDir(), program.FreeAddr(t)
	for _, name := range []string{"objects/memories", "about"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	cmd := exec.Command(path, "--port", at, "--access", "key", "--secret", "a secret", "--quiet",
		"posix", "--sidecar", filepath.Join(dir, "about"), filepath.Join(dir, "objects"))
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // what it has is temporary
		_ = cmd.Wait()
	})
	for range 200 {
		if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", at); err == nil {
			_ = c.Close() // nothing was said
			return &gateway{addr: at}, ""
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, "versitygw does not answer"
}
