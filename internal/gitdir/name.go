package gitdir

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const hexDigits = "0123456789ABCDEF"

// Branch returns the name of the memory branch for a git branch: the same name, with each byte that is invalid
// there in a memory branch, and each %, written as % and two digits. It is injective; GitBranch is its inverse. It
// returns an error for a name that is too long, or that git does not allow.
func Branch(name string) (string, error) {
	if err := check(name); err != nil {
		return "", err
	}
	if !strings.Contains(name, "%") && valid(name) {
		return name, nil
	}
	var b strings.Builder
	escape := func(part string) {
		for i := range len(part) {
			b.WriteByte('%')
			b.WriteByte(hexDigits[part[i]>>4])
			b.WriteByte(hexDigits[part[i]&15])
		}
	}
	whole := name == "HEAD" || name == "@" || isCID(name)
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		part := name[i : i+n]
		last := i+n == len(name) || name[i+n] == '/'
		switch {
		case r == utf8.RuneError && n == 1, r == '%', r < 0x20, r >= 0x7f && r < 0xa0,
			i == 0 && (r == '-' || whole), r == '.' && last:
			escape(part)
		default:
			b.WriteString(part)
		}
		i += n
	}
	if err := graph.ValidateName(b.String()); err != nil {
		return "", fmt.Errorf("git branch %q has no memory branch: %w", name, err)
	}
	return b.String(), nil
}

// GitBranch returns the git branch for a memory branch, and false if there is none.
func GitBranch(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		high, low := strings.IndexByte(hexDigits, name[i+1]), strings.IndexByte(hexDigits, name[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	again, err := Branch(b.String())
	return b.String(), err == nil && again == name
}

// valid reports whether a memory branch may have a name.
func valid(name string) bool { return graph.ValidateName(name) == nil && !isCID(name) }

func isCID(name string) bool {
	_, err := ipld.ParseCID(name)
	return err == nil
}
