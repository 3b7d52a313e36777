package place

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/gitrun"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// CredentialsVariable and CredentialsFile hold tokens for servers, one a line: URL TOKEN.
	CredentialsVariable = "MNEM_CREDENTIALS"
	CredentialsFile     = "credentials"
	// maxCredentials bounds the file in bytes.
	maxCredentials = 64 << 10
	// maxTokenText is the longest token in bytes.
	maxTokenText = 4096
)

// TokenFor returns the token for a server, "" for none: that of the longest matching URL prefix. The environment
// takes precedence over the file, and the file over a helper.
func TokenFor(ctx context.Context, h *Host, at *url.URL) (string, error) {
	token, err := keptToken(h, at)
	if token != "" || err != nil {
		return token, err
	}
	return helpedToken(ctx, h, at)
}

// keptToken returns a server's token from the environment or the file.
func keptToken(h *Host, at *url.URL) (string, error) {
	if token, err := findToken(h.Env(CredentialsVariable), at); token != "" || err != nil {
		return token, wrapCredentials(CredentialsVariable, err)
	}
	if h.Config == "" {
		return "", nil
	}
	path := filepath.Join(filepath.Dir(h.Config), CredentialsFile)
	data, err := filestate.Read(path, maxCredentials)
	if err != nil || data == nil {
		return "", wrapCredentials(path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", wrapCredentials(path, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", verb.Hintf(fmt.Errorf("%w: %s has tokens", history.ErrOthers, path), "chmod 600 %s", plain.Shell(path))
	}
	token, err := findToken(string(data), at)
	return token, wrapCredentials(path, err)
}

func wrapCredentials(where string, err error) error {
	if err != nil {
		err = fmt.Errorf("read the credentials of %s: %w", where, err)
	}
	return err
}

// findToken looks up a server in lines of URLs and tokens. Errors never repeat a line.
func findToken(text string, at *url.URL) (token string, err error) {
	best := -1
	n := 0
	for row := range strings.Lines(text) {
		n++
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' {
			continue
		}
		words := strings.Fields(row)
		bad := func(what string) (string, error) {
			return "", fmt.Errorf("%w: line %d: %s", state.ErrInvalid, n, what)
		}
		if len(words) != 2 {
			return bad("want URL TOKEN")
		}
		u, err := url.Parse(words[0])
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
			return bad("want an http:// or https:// URL without a user")
		case !isToken(words[1]):
			return bad("the token has other characters than tokens have, or too many")
		}
		if len(u.Path) > best && covers(u, at) {
			best, token = len(u.Path), words[1]
		}
	}
	return token, nil
}

// covers reports whether u has the same server as at, and a path that is a prefix.
func covers(u, at *url.URL) bool {
	prefix := strings.TrimRight(u.Path, "/")
	return u.Scheme == at.Scheme && strings.EqualFold(hostPort(u), hostPort(at)) &&
		(at.Path == prefix || strings.HasPrefix(at.Path, prefix+"/"))
}

// hostPort returns the host of a URL with its port.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// IsLoopback reports whether a URL's host is this machine.
func IsLoopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

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

func isToken(text string) bool {
	return len(text) <= maxTokenText && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}
