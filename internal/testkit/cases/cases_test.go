package cases

import (
	"os"
	"path/filepath"
	"strings"
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

func TestReadRefuses(t *testing.T) {
	const good = `{"name":"a","clause":"1.1","title":"t","fails":"cid","input":{},"expect":{}}` + "\n"
	for name, c := range map[string]struct {
		text string
		bad  bool
	}{
		"a case":            {good, false},
		"no case":           {"", true},
		"a blank line":      {good + "\n", true},
		"a name twice":      {good + good, true},
		"no name":           {`{"input":{},"expect":{}}` + "\n", true},
		"no input":          {`{"name":"a","expect":{}}` + "\n", true},
		"an unknown member": {`{"name":"a","input":{},"expect":{},"x":1}` + "\n", true},
	} {
		path := filepath.Join(t.TempDir(), "layer.jsonl")
		must.OK(t, os.WriteFile(path, []byte(c.text), 0o644))
		for _, dir := range []bool{false, true} {
			got := fails(t, func(t testing.TB) {
				list := []Case(nil)
				if dir {
					list = ReadDir(t, filepath.Dir(path))
				} else {
					list = Read(t, path)
				}
				if len(list) != 1 || list[0].Path() != "layer/a" || list[0].Fails != "cid" {
					t.Errorf("read %+v", list)
				}
			})
			if got != c.bad {
				t.Errorf("%s: refused %v, want %v", name, got, c.bad)
			}
		}
	}
	empty := t.TempDir()
	if !fails(t, func(t testing.TB) { ReadDir(t, empty) }) {
		t.Error("a folder without cases is taken")
	}
}

func TestBytes(t *testing.T) {
	if got := string(Bytes(t, "61*3 62 6364*2")); got != "aaabcdcd" {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{"6", "61*x", "61*-1", "zz"} {
		if !fails(t, func(t testing.TB) { Bytes(t, bad) }) {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestGold scores two cases, one of them answered as expected, and takes the answers over.
func TestGold(t *testing.T) {
	t.Setenv("MNEM_REWRITE", "")
	path := filepath.Join(t.TempDir(), "set.jsonl")
	lines := `{"name":"a","title":"t","input":{"n":1},"expect":{"<n>":1,"m":[]}}` + "\n" +
		`{"name":"b","title":"t","input":{"n":2},"expect":{"<n>":1,"m":[]}}` + "\n"
	must.OK(t, os.WriteFile(path, []byte(lines), 0o644))
	answer := func(t testing.TB, c Case) any {
		var in struct{ N int64 }
		Parse(t, c.Input, &in)
		return map[string]any{"m": []int{}, "<n>": in.N}
	}
	for least := range 3 {
		failed := fails(t, func(t testing.TB) { Gold(t, path, least, answer) })
		if failed != (least > 1) {
			t.Errorf("1 of 2 where %d are wanted: failed %v", least, failed)
		}
	}
	t.Setenv("MNEM_REWRITE", "1")
	Gold(t, path, 0, answer)
	t.Setenv("MNEM_REWRITE", "")
	Gold(t, path, 2, answer)
	if got, err := os.ReadFile(path); err != nil ||
		string(got) != strings.Replace(lines, `"input":{"n":2},"expect":{"<n>":1`, `"input":{"n":2},"expect":{"<n>":2`, 1) {
		t.Errorf("written as %s, %v", got, err)
	}
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
	if !fails(t, func(t testing.TB) { Golden(t, path, same) }) {
		t.Error("a file without cases is taken")
	}
}

func TestBatchLines(t *testing.T) {
	b := Batch{Lines: []string{"last"}, Forest: &Forest{Count: 3, Fanout: 2, State: "stale"}, Pad: 6}
	all := b.All()
	want := []string{`{"node":{"key":"n0","type":"T"}}`, `{"edge":{"type":"t","src":"n0","dst":"n2"}}`,
		`{"mark":{"node":"n2","state":"stale"}}`, "last  "}
	if len(all) != 8 || all[0] != want[0] || all[4] != want[1] || all[6] != want[2] || all[7] != want[3] {
		t.Errorf("%q", all)
	}
}
