package settings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func writeConfig(path string, list []Setting) error {
	return Edit(context.Background(), path, func([]Setting) ([]Setting, error) { return list, nil })
}

func TestConfigIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "below", File)
	want := []Setting{{"author", "Ada <ada@example.org> \"A\""}, {"wait", "1s"}}
	for range 2 {
		must.OK(t, writeConfig(path, []Setting{want[1], want[0]}))
	}
	got, err := Read(path)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +have):\n%s", err, diff)
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, File), 0o700))
	if err := writeConfig(filepath.Join(dir, File), want); err == nil {
		t.Error("a directory was replaced")
	}
	for _, at := range []string{dir, filepath.Dir(path)} {
		if left, err := filepath.Glob(filepath.Join(at, "*mnem-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
}

func TestConfigIsBounded(t *testing.T) {
	long := `{"author":"` + strings.Repeat(" ", MaxFile) + `"}`
	path := filepath.Join(t.TempDir(), File)
	must.OK(t, os.WriteFile(path, []byte(long), 0o600))
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "more than 65536") {
		t.Errorf("error %v, want one about the length", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"author":"Ada","wait":"5s"}`))
	f.Add([]byte(`{"wait":"-1s"}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Parse(data)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), File)
		must.OK(t, writeConfig(path, list))
		again, err := Read(path)
		if diff := cmp.Diff(list, again); err != nil || diff != "" {
			t.Errorf("%v (-read +written and read):\n%s", err, diff)
		}
	})
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"1MiB": 1 << 20, "1048576": 1 << 20, "1024KiB": 1 << 20, "3GiB": 3 << 30, "1024GiB": 1 << 40,
	} {
		if got, err := ParseSize(s); got != want || err != nil {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", "MiB", "1", "1023KiB", "1025GiB", "9223372036854775807GiB", "-1MiB", "1.5GiB", "1MB", "1 MiB",
	} {
		if got, err := ParseSize(s); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
}

// TestRemovedKeys: no removed name is one of a key in use, and what replaces it exists.
func TestRemovedKeys(t *testing.T) {
	for _, g := range Removed() {
		if _, err := KeyOf(g.Key); !errors.Is(err, state.ErrInvalid) || !strings.Contains(err.Error(), "was removed") {
			t.Errorf("%s: %v", g.Key, err)
		}
		for _, k := range Keys() {
			must.True(t, k.Env != g.Env, "%s is in use", g.Env)
		}
		now, _, _ := strings.Cut(g.Now, " ")
		if _, err := KeyOf(strings.Trim(now, ",")); err != nil && g.Now != "" && now != "mnem" {
			t.Errorf("%s is now %s: %v", g.Key, g.Now, err)
		}
		env := func(names ...string) string { return map[string]string{g.Env: "x"}[names[0]] }
		if err := CheckVariables(env); err == nil || !strings.Contains(err.Error(), g.Env) {
			t.Errorf("%s: %v", g.Env, err)
		}
	}
}
