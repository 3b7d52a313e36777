package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// FuzzResolve reads any text as a revision, a range and the name of an operation: it is one, or the
// refusal says of what kind it is and is one line that a name cannot break.
func FuzzResolve(f *testing.F) {
	ctx := context.Background()
	r := must.Get(care.New(ctx, mem.New(), repokit.By, core.Options{}))(f)
	for _, text := range []string{"a", "b", "c"} {
		repokit.Fact(f, r, "", text)
	}
	for _, seed := range []string{
		"HEAD", "@", "main~1^2", "main@{1}", "@{2026-01-01T10:00Z}", "op:2", "main@{op:@~1}", "a..b",
		"..", "main^{}", "bafyreia", "@{", "}", "~", "^{", "HEAD@{99999999999999999999}", "op:op:1",
		"refs/heads/main", "refs/stage/x@{1}", "@{}~", "\x00", "~9999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := r.Revisions().Resolve(ctx, text)
		checkRefusal(t, text, err)
		must.Check(t, err != nil || c.Defined(), "%q is no commit and no error", text)
		_, _, err = r.Revisions().Range(ctx, text)
		checkRefusal(t, text, err)
		_, err = r.OpLog().Find(ctx, text)
		checkRefusal(t, text, err)
	})
}

func checkRefusal(t *testing.T, text string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, state.ErrInvalid) &&
		!errors.Is(err, graph.ErrInvalid) || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%q: error of no kind: %v", text, err)
	}
	must.Check(t, !strings.ContainsAny(err.Error(), "\n\x00"),
		"%q: the message has more than a line: %q", text, err)
}
