package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}
