package place

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/gitrun"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// HelperKey and HelperVariable name the program that prints tokens.
	HelperKey      = "credential-helper"
	HelperVariable = "MNEM_CREDENTIAL_HELPER"
	// helperTime is its time limit: it may ask a person.
	helperTime = 2 * time.Minute
	// maxHelped bounds its output, in bytes.
	maxHelped = 64 << 10
)

// CheckHelper refuses an invalid program name.
func CheckHelper(v string) error { return graph.CheckLine("program", v, 1, maxTokenText) }

// helpedToken asks the configured program for a server's token, "" if there is no program or it knows none. It uses
// the protocol of git's helpers: the argument get, lines of known fields on standard input, and the token as the
// password in its output. A repository's configuration cannot name a program: it may be someone else's.
func helpedToken(ctx context.Context, h *Host, at *url.URL) (string, error) {
	program := h.Env(HelperVariable)
	if program == "" {
		var err error
		if program, err = h.Helper(); err != nil {
			return "", err
		}
	}
	words := append(strings.Fields(program), "get")
	if len(words) == 1 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // it is the user who names it
	var ask strings.Builder
	fmt.Fprintf(&ask, "protocol=%s\nhost=%s\n", at.Scheme, at.Host)
	if path := strings.Trim(at.Path, "/"); path != "" && !strings.ContainsAny(path, "\n\r\x00") {
		fmt.Fprintf(&ask, "path=%s\n", path)
	}
	ask.WriteString("\n")
	out := &gitrun.Buffer{Limit: maxHelped}
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = strings.NewReader(ask.String()), out, time.Second
	if h.Terminal {
		cmd.Stderr = h.Stderr
	}
	err := cmd.Run()
	if out.Over {
		return "", fmt.Errorf("%w: %s prints more than %d bytes", state.ErrInvalid, text.EscapeLine(words[0]), maxHelped)
	}
	if err != nil {
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", ctx.Err()
		}
		return "", verb.Hintf(fmt.Errorf("ask %s for a token of %s: %w", text.EscapeLine(words[0]), at.Host, err),
			"%s and the setting %s name the program", HelperVariable, HelperKey)
	}
	for row := range strings.Lines(out.String()) {
		token, found := strings.CutPrefix(strings.TrimRight(row, "\r\n"), "password=")
		if !found {
			continue
		}
		if !isToken(token) {
			return "", fmt.Errorf("%w: the token of %s has other characters than tokens have, or too many", state.ErrInvalid,
				text.EscapeLine(words[0]))
		}
		return token, nil
	}
	return "", nil
}

// isToken reports whether a text can be a token.
func isToken(text string) bool {
	return len(text) <= maxTokenText && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}
