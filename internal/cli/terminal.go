package cli

import (
	"os"
	"os/user"
	"strings"

	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// systemUser returns the name the system knows its user by, "" where it knows none.
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

// colour reports whether results may be coloured.
func (c *cli) colour() bool { return c.app.OutTTY && c.env("NO_COLOR") == "" && !c.global.json }

// Styles of results on a terminal, as SGR codes.
const (
	styleGreen  = "32"
	styleRed    = "31"
	styleYellow = "33"
	styleCyan   = "36"
	styleBold   = "1"
	styleDim    = "2"
)

// paint returns s in a style where results may be coloured.
func (c *cli) paint(style, s string) string {
	if !c.colour() || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}
