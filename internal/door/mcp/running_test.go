package mcp_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// crowd is a runner that counts the calls at once.
type crowd struct {
	now, most atomic.Int64
}

func (r *crowd) Run(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
	n := r.now.Add(1)
	defer r.now.Add(-1)
	for most := r.most.Load(); n > most && !r.most.CompareAndSwap(most, n); most = r.most.Load() {
		continue
	}
	time.Sleep(20 * time.Millisecond)
	_, err := io.WriteString(out, "{}\n")
	return operation.OK, err
}

// TestCallsAreBounded sends many calls at once: all are answered, some of them at a time.
func TestCallsAreBounded(t *testing.T) {
	r := &crowd{}
	s := connect(t, mcp.New(verbs.Operations(), r, mcp.ServerOptions{Now: time.Now, Record: mcp.RecordNone}), nil)
	const calls = 100
	failed := make(chan error, calls)
	for range calls {
		go func() {
			_, err := s.CallTool(t.Context(), params("explore", map[string]any{"query": "a"}))
			failed <- err
		}()
	}
	for range calls {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if n := r.most.Load(); n < 2 || n > 32 {
		t.Errorf("%d calls at once", n)
	}
}
