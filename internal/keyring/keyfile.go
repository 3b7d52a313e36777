package keyring

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
)

const (
	keyFileHead  = "mnem key 1\n"
	publicPrefix = "public "
	secretPrefix = "secret "
	// MaxKeyFile bounds a key file in bytes; a valid one has 175.
	MaxKeyFile = 1 << 10
	// MaxName is the longest name of a key in bytes.
	MaxName = 64
)

// FormatKeyFile returns the key file of a secret.
func FormatKeyFile(s commit.Secret) []byte {
	return fmt.Appendf(nil, "%s%s%s\n%s%s\n", keyFileHead, publicPrefix, s.Key(), secretPrefix, s.Reveal())
}

// ParseKeyFile parses a key file. It returns a *graph.FieldError, which shows nothing of the input, for everything
// that FormatKeyFile cannot have written.
func ParseKeyFile(data []byte) (commit.Secret, error) {
	if len(data) > MaxKeyFile {
		return commit.Secret{}, graph.Fieldf("key file", "has more than %d bytes", MaxKeyFile)
	}
	rest, ok := strings.CutPrefix(string(data), keyFileHead)
	if !ok {
		return commit.Secret{}, graph.Fieldf("key file", "does not begin with the line %q",
			strings.TrimSuffix(keyFileHead, "\n"))
	}
	lines := strings.SplitAfter(rest, "\n")
	if len(lines) != 3 || lines[2] != "" {
		return commit.Secret{}, graph.Fieldf("key file", "has not exactly three lines")
	}
	key, err := parseLine(lines[0], publicPrefix, commit.ParseKey)
	if err != nil {
		return commit.Secret{}, err
	}
	secret, err := parseLine(lines[1], secretPrefix, commit.ParseSecret)
	if err != nil {
		return commit.Secret{}, err
	}
	if secret.Key() != key {
		return commit.Secret{}, graph.Fieldf("key file", "holds a secret of another key")
	}
	return secret, nil
}

func parseLine[T any](line, prefix string, parse func(string) (T, error)) (T, error) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix)
	if !ok {
		var none T
		return none, graph.Fieldf("key file", "a line does not begin with %q", prefix)
	}
	return parse(text)
}

// CheckName returns a *graph.FieldError unless name may be the name of a key.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName {
		return graph.Fieldf("key name", "%d bytes, want 1 to %d", len(name), MaxName)
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		word := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !word && (i == 0 || c != '-' && c != '_') {
			return graph.Fieldf("key name", "%q: want a to z, 0 to 9, - and _, a letter or digit first", name)
		}
	}
	if isDevice(name) {
		return graph.Fieldf("key name", "%q is a device on some systems", name)
	}
	return nil
}

// isDevice reports whether Windows treats a file name as a device.
func isDevice(name string) bool {
	switch name {
	case "aux", "con", "nul", "prn":
		return true
	}
	rest, com := strings.CutPrefix(name, "com")
	if !com {
		var lpt bool
		if rest, lpt = strings.CutPrefix(name, "lpt"); !lpt {
			return false
		}
	}
	return len(rest) == 1 && rest[0] >= '0' && rest[0] <= '9'
}
