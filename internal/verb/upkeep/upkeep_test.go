package upkeep

import (
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
		must.OK(t, err)
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
