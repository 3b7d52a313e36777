package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSurfacesOfClients compares the methods and answers of the clients for Python and TypeScript, and the types of the web
// view, with the verbs; -rewrite writes them.
func TestSurfacesOfClients(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	doc := must.Get(serve.Document(verbs.Operations(), "devel"))(t)
	file := filepath.Join(t.TempDir(), "openapi.json")
	must.OK(t, os.WriteFile(file, doc, 0o600))
	args := []string{"../../../clients/generate.py", "--document", file}
	if !*rewrite {
		args = append(args, "--check")
	}
	if out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
		t.Errorf("%v: go test ./internal/door/cli -run SurfacesOfClients -rewrite\n%s", err, out)
	}
}
