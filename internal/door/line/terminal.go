package line

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// hiddenInput returns what asks a terminal for a line without showing it, nil if standard input is none.
func hiddenInput() func(prompt string) ([]byte, error) {
	if !isTerminal(os.Stdin) {
		return nil
	}
	return func(prompt string) ([]byte, error) {
		fmt.Fprint(os.Stderr, prompt)
		line, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(os.Stderr)
		return line, err
	}
}

// systemUser returns the name the system knows its user by, "" if it knows none.
func systemUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(u.Name, ",") // the GECOS field may list more than the name
	if name = strings.TrimSpace(name); name != "" {
		return name
	}
	return u.Username
}

// systemDirs returns the directories of the user's configurations and data, "" if the system names none.
func systemDirs(home string) (config, data string) {
	switch config, _ := os.UserConfigDir(); {
	case runtime.GOOS == "windows":
		return config, os.Getenv("LocalAppData")
	case runtime.GOOS == "darwin":
		return config, config // Application Support is for both
	case home == "":
		return "", ""
	}
	return filepath.Join(home, ".config"), filepath.Join(home, ".local", "share")
}

// terminalKeys returns what waits for one key of the terminal of standard input, nil if that is none.
func terminalKeys() func() (rune, error) {
	if !isTerminal(os.Stdin) {
		return nil
	}
	return func() (r rune, err error) {
		fd := int(os.Stdin.Fd())
		old, err := term.MakeRaw(fd)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, term.Restore(fd, old)) }()
		b := make([]byte, 64) // other keys than letters say several bytes
		n, err := os.Stdin.Read(b)
		if err != nil {
			return 0, err
		}
		r, _ = utf8.DecodeRune(b[:n])
		return r, nil
	}
}

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
