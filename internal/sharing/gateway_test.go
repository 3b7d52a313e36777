package sharing_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

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
