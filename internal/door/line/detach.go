package line

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ofCaller lists variables that say who runs a command, and on what. A background process acts for the user alone.
var ofCaller = []string{
	"MNEM_AUTHOR", "MNEM_AGENT", "MNEM_TASK", "MNEM_REPO", "MNEM_BRANCH", "MNEM_STAGE", "MNEM_SESSION", "SOURCE_DATE_EPOCH",
}

// detach starts this program in the background, with no input and output.
func detach(args ...string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args...) //nolint:gosec // it is this program
	cmd.SysProcAttr = detached()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(ofCaller, name)
	})
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // a server keeps no record of processes that ended
	return nil
}
