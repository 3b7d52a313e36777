package cases

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// failing is a test that is expected to fail: a failure ends it.
type failing struct{ testing.TB }

type stopped struct{}

func (failing) Helper()               {}
func (failing) Logf(string, ...any)   {}
func (failing) Errorf(string, ...any) { panic(stopped{}) }
func (failing) Fatal(...any)          { panic(stopped{}) }
func (failing) Fatalf(string, ...any) { panic(stopped{}) }

func fails(t *testing.T, fn func(t testing.TB)) (failed bool) {
	t.Helper()
	defer func() { _, failed = recover().(stopped) }()
	fn(failing{t})
	return false
}

// TestGolden checks that it fails if one of two cases is answered differently, and if there is no case.
func TestGolden(t *testing.T) {
	t.Setenv("MNEM_REWRITE", "")
	path := filepath.Join(t.TempDir(), "golden.jsonl")
	lines := `{"name":"a","title":"t","input":1,"expect":1}` + "\n" + `{"name":"b","title":"t","input":2,"expect":2}` + "\n"
	must.OK(t, os.WriteFile(path, []byte(lines), 0o644))
	same := func(t testing.TB, c Case) any { return c.Input }
	Golden(t, path, same)
	if !fails(t, func(t testing.TB) { Golden(t, path, func(testing.TB, Case) any { return 2 }) }) {
		t.Error("another answer is taken")
	}
	must.OK(t, os.WriteFile(path, nil, 0o644))
	must.True(t, fails(t, func(t testing.TB) { Golden(t, path, same) }), "a file without cases is taken")
}
