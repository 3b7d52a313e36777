package upkeep

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
)

// collection returns a request with its defaults and some fields given.
func collection(t *testing.T, given map[string]string) *GCRequest {
	t.Helper()
	q := &GCRequest{}
	var names []string
	for _, f := range GC.Fields() {
		err := f.SetDefault(q)
		if value, ok := given[f.Name]; ok {
			names, err = append(names, f.Name), f.Set(q, []string{value})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	verb.SetGiven(q, names)
	return q
}

// TestGCKeeps sees what a request says before what is configured, and that before the defaults.
func TestGCKeeps(t *testing.T) {
	none := func(string, string) (string, error) { return "", nil }
	configured := func(variable, _ string) (string, error) {
		return map[string]string{"MNEM_GC_KEEP_OPS": "7", "MNEM_GC_GRACE": "1m"}[variable], nil
	}
	for _, tt := range []struct {
		given   map[string]string
		setting func(string, string) (string, error)
		keep    int
		grace   time.Duration
	}{
		{nil, none, care.DefaultKeepOps, DefaultGrace},
		{nil, configured, 7, time.Minute},
		{map[string]string{"keep": "3", "grace": "2h"}, configured, 3, 2 * time.Hour},
		{map[string]string{"grace": "0s"}, configured, 7, 0},
	} {
		q := collection(t, tt.given)
		if err := q.Configure(tt.setting); err != nil || q.KeepOps != tt.keep || q.Grace != tt.grace {
			t.Errorf("%v: %d, %s, %v", tt.given, q.KeepOps, q.Grace, err)
		}
	}
}

func TestGCRefuses(t *testing.T) {
	for _, s := range []string{"", "00", "-0", "-1", "x"} {
		if _, err := ParseKeepOps(s); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("keep %q: %v", s, err)
		}
		if _, err := ParseGrace(s + "-h"); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("grace %q: %v", s, err)
		}
	}
	for _, given := range []map[string]string{{"keep": "0"}, {"grace": "-1s"}, {"grace": "900000h"}} {
		if err := collection(t, given).Check(); err == nil {
			t.Errorf("%v is taken", given)
		}
	}
	for _, f := range GC.Fields() {
		if err := f.Set(&GCRequest{}, []string{"soon"}); f.Name == "grace" && err == nil {
			t.Error("a grace of soon is taken")
		}
	}
}

// TestFsckInMemory checks a repository without damage, with and without repair.
func TestFsckInMemory(t *testing.T) {
	h := verbkit.NewHost(t)
	for _, repair := range []bool{false, true} {
		got := verbkit.Run(t, h, Fsck, &FsckRequest{Repair: repair})
		want := `"errors":[]`
		if repair {
			want = `"repaired":[]`
		}
		if !strings.HasPrefix(got, `{"ok":true,`) || !strings.Contains(got, want) {
			t.Errorf("repair %t: %s", repair, got)
		}
	}
	if h.Stamps != 1 || len(h.Opened) != 2 || h.Opened[0] || !h.Opened[1] {
		t.Errorf("%d stamps, opened %v", h.Stamps, h.Opened)
	}
	if _, err := verbkit.Try(t, h, Fsck, &FsckRequest{AcceptHead: true}); err == nil {
		t.Error("a head is accepted without repair")
	}
}
