package line

import (
	"errors"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

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
