package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// TestUnits runs the tests of the page's pure functions, if there is a Node to run them.
func TestUnits(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node")
	}
	files, err := filepath.Glob(filepath.Join("units", "*.ts"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir, err := filepath.Abs(".")
			if err != nil {
				t.Fatal(err)
			}
			result := api.Build(api.BuildOptions{
				EntryPoints: []string{file}, AbsWorkingDir: dir, Bundle: true, Format: api.FormatIIFE, Target: api.ES2022,
				Alias: libraries(filepath.Dir(dir)),
			})
			if len(result.Errors) > 0 {
				t.Fatalf("%+v", result.Errors)
			}
			path := filepath.Join(t.TempDir(), "unit.cjs")
			if err := os.WriteFile(path, result.OutputFiles[0].Contents, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), node, path).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
