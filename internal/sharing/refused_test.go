package sharing_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// damageStore changes bytes in the middle of every file of a store.
func damageStore(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, ".mnem"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "config.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) > 8 {
			for i := len(data) / 3; i < len(data); i += 7 {
				data[i] ^= 0x55
			}
			err = os.WriteFile(path, data, 0o600)
		}
		return err
	})
	must.OK(t, err)
}
