package line

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// hiddenInput returns what asks the terminal of standard input for a line without showing it, nil if
// standard input is none.
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

// configHome returns the directory of the user's configurations, "" if the system names none.
func configHome() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, _ := os.UserConfigDir()
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config")
}

// userHome returns the user's own directory, "" if the system names none.
func userHome() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

// executable returns the path of this program, "" if the system does not tell.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// dataHome returns the directory of the user's data, "" if the system names none.
func dataHome() string {
	switch runtime.GOOS {
	case "windows":
		return os.Getenv("LocalAppData")
	case "darwin":
		dir, _ := os.UserConfigDir() // Application Support is for both
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share")
}
