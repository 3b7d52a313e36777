package place

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
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
