package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// secret returns the secret whose seed is n in every byte.
func secret(t testing.TB, n byte) commit.Secret {
	t.Helper()
	return must.Get(commit.NewSecret(bytes.NewReader(bytes.Repeat([]byte{n}, commit.KeyLen))))(t)
}

// ring returns a ring in a directory that does not exist yet.
func ring(t testing.TB) *Ring {
	t.Helper()
	return New(filepath.Join(t.TempDir(), "a", "keys"))
}

func add(t testing.TB, r *Ring, name string, n byte) {
	t.Helper()
	must.OK(t, r.Add(name, secret(t, n)))
}

func unixOnly(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps no modes")
	}
}

func TestKeyFileGolden(t *testing.T) {
	want := `mnem key 1
public mnem-ed25519-5jfgyy7ctrjavpxvkb5rglwf7gkuo5vox27hxescd3vgsfcg2iwlpzyx
secret mnem-ed25519-secret-a4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4d2ulpn
`
	got := string(FormatKeyFile(secret(t, 7)))
	must.Equal(t, got, want, "key file is\n")
	s := must.Get(ParseKeyFile([]byte(want)))(t, "reading it gives another secret")
	must.Equal(t, s, secret(t, 7), "reading it gives another secret")
}

func TestAddAndRead(t *testing.T) {
	r := ring(t)
	if names, err := r.Names(); len(names) != 0 || err != nil {
		t.Errorf("names before the first: %q, %v", names, err)
	}
	add(t, r, "work", 1)
	add(t, r, "home-2_x", 2)
	names, err := r.Names()
	must.Same(t, names, []string{"home-2_x", "work"}, "names")
	must.OK(t, err, "names")
	if s, err := r.Secret("work"); s != secret(t, 1) || err != nil {
		t.Errorf("another secret, %v", err)
	}
	err = r.Add("work", secret(t, 3))
	must.Fail(t, err, fs.ErrExist)
	if s, err := r.Secret("work"); s != secret(t, 1) || err != nil {
		t.Errorf("it replaced the key: %v", err)
	}
	_, err = r.Secret("nobody")
	must.Fail(t, err, fs.ErrNotExist)
	must.OK(t, r.Remove("work"))
	must.Fail(t, r.Remove("work"), fs.ErrNotExist)
	left, err := os.ReadDir(r.Dir())
	must.True(t, len(left) == 1 && err == nil, "left behind: %v, %v", left, err)
}

func TestModes(t *testing.T) {
	unixOnly(t)
	r := ring(t)
	add(t, r, "k", 1)
	path := filepath.Join(r.Dir(), "k")
	mode := func(path string) fs.FileMode {
		info := must.Get(os.Stat(path))(t)
		return info.Mode().Perm()
	}
	must.Equal(t, mode(path), 0o600, "modes")
	must.Equal(t, mode(r.Dir()), 0o700, "modes")
	chmod := func(path string, mode fs.FileMode) {
		must.OK(t, os.Chmod(path, mode))
	}
	for _, m := range []fs.FileMode{0o640, 0o604, 0o660, 0o610, 0o601, 0o644, 0o666, 0o777} {
		chmod(path, m)
		_, err := r.Secret("k")
		must.True(t, errors.Is(err, ErrExposed) && strings.Contains(err.Error(), "chmod 600 "+path),
			"mode %#o: %v", m, err)
	}
	chmod(path, 0o400)
	must.Get(r.Secret("k"))(t, "mode 0400")
	for _, m := range []fs.FileMode{0o770, 0o707, 0o777, 0o722} {
		chmod(r.Dir(), m)
		_, err := r.Secret("k")
		must.Fail(t, err, ErrExposed, m)
		must.Fail(t, r.Add("l", secret(t, 2)), ErrExposed, m)
	}
	chmod(r.Dir(), 0o755)
	must.Get(r.Secret("k"))(t, "directory of mode 0755")
	trust(t, r, func(l *TrustList) error { return l.Add(secret(t, 1).Key(), "k", "", 1) })
	list := filepath.Join(r.Dir(), TrustFile)
	must.Equal(t, mode(list), 0o600, "trust list has mode")
	chmod(list, 0o644)
	must.Get(r.Trusted())(t, "trust list of mode 0644")
	chmod(list, 0o664)
	_, err := r.Trusted()
	must.Fail(t, err, ErrExposed)
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "0", "a-b_c", strings.Repeat("a", 64), "com", "com10", "lpt"} {
		must.OK(t, CheckName(name), name)
	}
	r := ring(t)
	for _, name := range []string{
		"", ".", "..", "a/b", `a\b`, "../a", "/etc/passwd", "A", "a.b", "-a", "_a", ".key", "a b", "a\n",
		"a\x00", "é", strings.Repeat("a", 65), "con", "nul", "aux", "prn", "com1", "lpt9", TrustFile,
		"mnem-ed25519-" + strings.Repeat("a", 56),
	} {
		for what, err := range map[string]error{
			"check": CheckName(name), "add": r.Add(name, secret(t, 1)), "remove": r.Remove(name),
			"read": func() error { return must.Err(r.Secret(name)) }(),
		} {
			must.Fail(t, err, graph.ErrInvalid, what, " of ", name)
		}
	}
	_, err := os.Stat(r.Dir())
	must.Fail(t, err, fs.ErrNotExist)
}

// hostileKeyFiles are key files that must be refused.
func hostileKeyFiles(t testing.TB) map[string]string {
	good := string(FormatKeyFile(secret(t, 1)))
	other := strings.Split(string(FormatKeyFile(secret(t, 2))), "\n")
	lines := strings.Split(good, "\n")
	return map[string]string{
		"empty": "", "no last line end": strings.TrimSuffix(good, "\n"), "CR LF": strings.ReplaceAll(
			good, "\n", "\r\n"),
		"blank line": good + "\n", "more": good + "x", "BOM": "\ufeff" + good, "NUL": good + "\x00",
		"version 2": strings.Replace(good, "key 1", "key 2", 1), "cut": good[:len(good)/2],
		"order":      strings.Join([]string{lines[0], lines[2], lines[1], ""}, "\n"),
		"no secret":  strings.Join([]string{lines[0], lines[1], ""}, "\n"),
		"twice":      good + good,
		"other key":  strings.Join([]string{lines[0], other[1], lines[2], ""}, "\n"),
		"space":      strings.Replace(good, "public ", "public  ", 1),
		"upper case": strings.Replace(good, "secret mnem", "secret MNEM", 1),
		"huge":       good + strings.Repeat("\n", MaxKeyFile),
		"PEM":        "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n",
	}
}

func TestHostileKeyFiles(t *testing.T) {
	r := ring(t)
	add(t, r, "good", 1)
	hidden := secret(t, 1).Reveal()[30:]
	for name, data := range hostileKeyFiles(t) {
		_, err := ParseKeyFile([]byte(data))
		must.Fail(t, err, graph.ErrInvalid, name)
		must.OK(t, os.WriteFile(filepath.Join(r.Dir(), "k"), []byte(data), 0o600))
		_, err = r.Secret("k")
		must.True(t, errors.Is(err, graph.ErrInvalid) && !strings.Contains(fmt.Sprint(err), hidden),
			"%s: read gives %v", name, err)
	}
}

func TestOddFiles(t *testing.T) {
	r := ring(t)
	add(t, r, "good", 1)
	must.OK(t, os.Mkdir(filepath.Join(r.Dir(), "dir"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(r.Dir(), "Not.Ours"), nil, 0o600))
	names, err := r.Names()
	must.Same(t, names, []string{"good"}, "names")
	must.OK(t, err, "names")
	if _, err := r.Secret("dir"); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("a directory: %v", err)
	}
}

// TestAddRace lets many make a key of one name: one does.
func TestAddRace(t *testing.T) {
	r := ring(t)
	var wg sync.WaitGroup
	made := make([]error, 8)
	for i := range made {
		wg.Go(func() { made[i] = r.Add("k", secret(t, byte(i))) })
	}
	wg.Wait()
	winner := -1
	for i, err := range made {
		switch {
		case err == nil && winner < 0:
			winner = i
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("writer %d: %v, after %d", i, err, winner)
		}
	}
	if s, err := r.Secret("k"); winner < 0 || s != secret(t, byte(winner)) || err != nil {
		t.Errorf("the key is not that of writer %d: %v", winner, err)
	}
}

func FuzzParseKeyFile(f *testing.F) {
	f.Add(FormatKeyFile(secret(f, 1)))
	for _, data := range hostileKeyFiles(f) {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseKeyFile(data)
		must.True(t, err != nil || bytes.Equal(FormatKeyFile(s), data), "%q reads as another file", data)
		must.True(t, err == nil || errors.Is(err, graph.ErrInvalid), "%q: %v", data, err)
	})
}

func trust(t testing.TB, r *Ring, fn func(*TrustList) error) {
	t.Helper()
	must.OK(t, r.EditTrust(context.Background(), fn))
}
