package line

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// openFile opens a file in the browser of the user, and does not wait for that to end.
func openFile(ctx context.Context, path string) error {
	var name string
	var args []string
	switch runtime.GOOS {
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	case "darwin":
		name = "open"
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no display")
		}
		name = "xdg-open"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("there is no %s", name)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, path)...)
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	go func() { _ = cmd.Wait() }() // the user sees whether a browser came up
	return nil
}
