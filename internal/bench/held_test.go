package bench

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestHeldRepository says that another process has the repository whose profiles are wanted: that
// one does not know these commands, so nothing is handed to it.
func TestHeldRepository(t *testing.T) {
	w := benchWorld(t)
	w.run(0, "init")
	ctx, stop := context.WithCancel(t.Context())
	ready, out := io.Pipe()
	holder := *w.App
	holder.Stdout, holder.Stderr = out, &bytes.Buffer{}
	ended := make(chan int)
	go func() {
		ended <- cli.Run(ctx, &holder, []string{"hold", "--json"})
		_ = out.Close()
	}()
	if _, err := ready.Read(make([]byte, 1)); err != nil { // it says where it listens
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, ready) }()
	_, stderr := w.bench(operation.Busy.Exit, "eval", ".", "--profile", "docs")
	must.Contain(t, stderr, "another process has it open", "stderr")
	w.bench(0, "eval", ".")
	stop()
	<-ended
}
