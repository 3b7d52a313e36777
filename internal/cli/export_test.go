package cli

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/owner"
)

// Live runs body in the circumstances of app as a process that lives long: with a share in the
// repository that its working directory is in.
func Live(ctx context.Context, app *App, body func(*Holder)) error {
	c := &cli{app: app, global: globalFlags{wait: defaultWait}}
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	h, err := c.newHolder(cmd)
	if err != nil {
		return err
	}
	body(h)
	return h.Close()
}

// Fail has the repository closed as one that cannot be written any more.
func (h *Holder) Fail() {
	h.mu.Lock()
	own := h.held
	h.mu.Unlock()
	h.drop(own)
}

// Owns reports whether the repository is open in this process.
func (h *Holder) Owns() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held != nil
}

// Elsewhere is what Forwarded returns for a command line that is not for this process.
const Elsewhere = owner.Elsewhere

// Forwarded runs a command line in dir as one that another process handed on.
func (h *Holder) Forwarded(
	ctx context.Context, dir string, args ...string,
) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = h.serve(ctx, &owner.Call{
		Request: owner.Request{Args: args, Dir: dir, User: "Tess", PID: 1},
		Stdin:   strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Writes: func() error { return nil },
	})
	return code, stdout.String(), stderr.String()
}
