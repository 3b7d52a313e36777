package ingest

import (
	"fmt"
	"regexp"
	"strings"
)

// maxPattern is the longest pattern of an ignore file, maxPatterns how many one file may have.
const (
	maxPattern  = 1000
	maxPatterns = 10_000
)

// Ignore are the patterns of the ignore files on the way to a directory, as git has them: of several that
// match the last one decides, one with ! takes in again.
type Ignore struct {
	up    *Ignore
	rules []ignoreRule
}

type ignoreRule struct {
	match    *regexp.Regexp
	dirsOnly bool
	takes    bool // in again
}

// Below returns the patterns that apply below dir, "." or a path with slashes, if an ignore file there has the given
// text. i may be nil. A file that is out of bounds is refused, because ignoring it would admit the files it excludes.
func (i *Ignore) Below(dir, text string) (*Ignore, error) {
	out := &Ignore{up: i}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.TrimSuffix(line, "\r")
		if len(line) > maxPattern {
			return nil, fmt.Errorf("line %d: a pattern of %d bytes, limit %d", number, len(line), maxPattern)
		}
		rule, ok := parseIgnore(dir, line)
		if !ok {
			continue
		}
		if len(out.rules) == maxPatterns {
			return nil, fmt.Errorf("line %d: more than %d patterns", number, maxPatterns)
		}
		out.rules = append(out.rules, rule)
	}
	if len(out.rules) == 0 {
		return i, nil
	}
	return out, nil
}

// Ignores reports whether a file or directory is left out.
func (i *Ignore) Ignores(path string, dir bool) bool {
	for ; i != nil; i = i.up {
		for n := len(i.rules) - 1; n >= 0; n-- {
			if r := &i.rules[n]; (dir || !r.dirsOnly) && r.match.MatchString(path) {
				return !r.takes
			}
		}
	}
	return false
}

func parseIgnore(dir, line string) (rule ignoreRule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return rule, false
	}
	line, rule.takes = strings.CutPrefix(line, "!")
	line, rule.dirsOnly = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule, false
	}
	var b strings.Builder
	b.WriteString("^")
	if dir != "." {
		b.WriteString(regexp.QuoteMeta(dir) + "/")
	}
	if !anchored {
		b.WriteString("(?:.*/)?")
	}
	writeGlob(&b, line)
	b.WriteString("$")
	var err error
	rule.match, err = regexp.Compile(b.String())
	return rule, err == nil
}

// writeGlob writes a pattern as a regular expression.
func writeGlob(b *strings.Builder, p string) {
	for i := 0; i < len(p); {
		rest := p[i:]
		switch {
		case strings.HasPrefix(rest, "**/") && (i == 0 || p[i-1] == '/'):
			b.WriteString("(?:.*/)?")
			i += 3
		case rest == "**" && i > 0 && p[i-1] == '/':
			b.WriteString(".*")
			i += 2
		case rest[0] == '*':
			b.WriteString("[^/]*")
			i++
		case rest[0] == '?':
			b.WriteString("[^/]")
			i++
		case rest[0] == '[':
			i += writeClass(b, rest)
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
}

// writeClass writes [a-z] or [!a-z], and a bracket that is not closed as itself.
func writeClass(b *strings.Builder, s string) int {
	end := strings.IndexByte(s[1:], ']')
	if end < 1 {
		b.WriteString(`\[`)
		return 1
	}
	inner := s[1 : 1+end]
	negated := ""
	if inner[0] == '!' || inner[0] == '^' {
		negated, inner = "^", inner[1:]
	}
	b.WriteString("[" + negated + strings.NewReplacer(`\`, `\\`, "[", `\[`, "^", `\^`).Replace(inner) + "]")
	return end + 2
}
