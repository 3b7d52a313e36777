package sharing_test

import (
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestGateway shares a memory through an object store that is none of ours, versitygw, where that is installed.
func TestGateway(t *testing.T) {
	gateway, err := exec.LookPath("versitygw")
	if err != nil {
		t.Skip("not run: versitygw is not installed (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)")
	}
	dir, at := t.TempDir(), program.FreeAddr(t)
	for _, name := range []string{"objects/memories", "about"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), gateway, "--port", at, "--access", "key", "--secret", "a secret", "--quiet",
		"posix", "--sidecar", filepath.Join(dir, "about"), filepath.Join(dir, "objects"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // what it has is temporary
		_ = cmd.Wait()
	})
	for range 200 {
		if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", at); err == nil {
			_ = c.Close() // nothing was said
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	w := newTeam(t, over(t, "path"))
	maps.Copy(w.env, map[string]string{
		"AWS_ENDPOINT_URL": "http://" + at, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "a secret",
		"AWS_REGION": "us-east-1",
	})
	const url = "s3://memories/team"
	w.add("hub", "first", "said by the hub")
	w.ok("hub", "remote", "add", "origin", url) // which has eight writers race
	w.ok("hub", "push")
	for _, m := range []string{"a", "b"} {
		w.ok(".", "clone", url, m)
		w.add(m, "of "+m, "said by "+m)
	}
	for _, m := range []string{"a", "b", "hub", "a"} {
		w.ok(m, "sync")
	}
	w.same("main", "a", "b", "hub")
	for _, key := range []string{"first", "of a", "of b"} {
		w.ok("hub", "get", key)
	}
	w.ok("hub", "purge", "of a", "--yes", "--reason", "test")
	w.ok("hub", "push", "--redactions")
	w.env["AWS_SECRET_ACCESS_KEY"] = "another"
	if _, errs := w.run(1, "a", "", "fetch"); errs == "" {
		t.Error("a wrong key says nothing")
	}
}
