package clients

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// rulesText tells agents when to ask the memory and what to keep in it.
//
//go:embed rules.md
var rulesText string

// What a rules file has of ours.
const (
	RulesAbsent   = "absent"
	RulesThere    = "integrated"
	RulesOutdated = "outdated" // of another version
	RulesEdited   = "edited"   // by the user, so that it is left alone
	RulesForeign  = "foreign"  // a file of the user's own where ours would be
)

// rulesFile is where a client's rules go, and in which form.
type rulesFile struct {
	front string               // front matter of a file of our own, "" for a section of a file that the user writes too
	above func(Machine) string // of the user's file the directory that stays, nil for the client's own
	path  func(Machine, Level) string
}

const (
	skillFront = "---\nname: mnem\n" +
		"description: The long-term memory of this project. Use it before you ask the user or state something about " +
		"decisions, preferences, people, earlier faults or what was said before, and when the user decides, prefers, " +
		"corrects or says \"remember\".\n---\n"
	cursorFront = "---\ndescription: The long-term memory of this project, kept by the MCP server mnem\nglobs:\n" +
		"alwaysApply: true\n---\n"
	codeFront = "---\nname: mnem\ndescription: The long-term memory of this project, kept by the MCP server mnem\n" +
		"applyTo: \"**\"\n---\n"
	continueFront = "---\nname: mnem\ndescription: The long-term memory of this project, kept by the MCP server mnem\n" +
		"alwaysApply: true\n---\n"
)

// Marks are comments of Markdown, each a line of its own. The first of a section names the clients that it is
// for, since a file may be read by several, and begins with a hash of what was written, by which one that the
// user has edited since is known.
const (
	beginMark = "<!-- mnem:begin "
	endMark   = "<!-- mnem:end -->"
	fileMark  = "<!-- mnem:file "
	markTail  = " written by 'mnem integrate', taken away by 'mnem integrate --remove', left alone where it was edited -->"
)

var (
	beginLine = pattern.New(`^<!-- mnem:begin ([0-9a-f]{12})((?: [a-z-]+)+):`)
	fileLine  = pattern.New(`^<!-- mnem:file ([0-9a-f]{12}):`)
)

const byteOrderMark = "\xef\xbb\xbf"

// rulesHash is of a text whatever its lines end with: version control and editors change that.
func rulesHash(text string) string {
	sum := sha256.Sum256([]byte(unixLines(text)))
	return hex.EncodeToString(sum[:])[:12]
}

func unixLines(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, byteOrderMark), "\r\n", "\n")
}

// rulesBody is what rules say, with lines that end as given.
func rulesBody(eol string) string {
	return strings.ReplaceAll(unixLines(rulesText), "\n", eol)
}

// readable returns an error for what no rules can be added to.
func readable(text []byte) error {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("%w: not UTF-8 text", ErrDamaged)
	}
	return nil
}

// whole returns a file of our own.
func (f *rulesFile) whole(eol string) string {
	front := strings.ReplaceAll(f.front, "\n", eol)
	body := eol + rulesBody(eol)
	return front + fileMark + rulesHash(front+body) + ":" + markTail + eol + body
}

// wholeState says whose a file is that would be our own.
func (f *rulesFile) wholeState(text []byte) string {
	if text == nil {
		return RulesAbsent
	}
	rest, hash := "", ""
	for line := range strings.Lines(unixLines(string(text))) {
		if m := fileLine().FindStringSubmatch(line); m != nil && hash == "" {
			hash = m[1]
		} else {
			rest += line
		}
	}
	switch {
	case hash == "":
		return RulesForeign
	case hash != rulesHash(rest):
		return RulesEdited
	case unixLines(string(text)) != f.whole("\n"):
		return RulesOutdated
	}
	return RulesThere
}

// rulesSection is a section of ours in a file of the user's.
type rulesSection struct {
	start, end int      // of its lines, marks included
	body       string   // what is between the marks
	hash       string   // of what was written there
	hosts      []string // that read it
	eol        string   // how its first line ends
}

// sectionOf finds our section. It is nil if there is none, and odd where there are marks of ours that are not as
// they were written: who knows what is between them.
func sectionOf(text []byte) (s *rulesSection, odd bool) {
	at, open := 0, false
	for line := range strings.Lines(string(text)) {
		start := at
		at += len(line)
		bare := strings.TrimRight(strings.TrimPrefix(line, byteOrderMark), "\r\n")
		switch {
		case strings.HasPrefix(bare, beginMark):
			m := beginLine().FindStringSubmatch(bare)
			if m == nil || s != nil {
				return nil, true
			}
			if start == 0 && strings.HasPrefix(line, byteOrderMark) {
				start = len(byteOrderMark)
			}
			s = &rulesSection{start: start, end: at, hash: m[1], hosts: strings.Fields(m[2]), eol: "\n"}
			if strings.HasSuffix(line, "\r\n") {
				s.eol = "\r\n"
			}
			open = true
		case bare == endMark && !open:
			return nil, true
		case bare == endMark:
			s.end, open = at, false
		case open:
			s.body += line
		}
	}
	return s, open
}

// state says what a section has.
func (s *rulesSection) state(host string) string {
	switch {
	case s.hash != rulesHash(s.body):
		return RulesEdited
	case !slices.Contains(s.hosts, host):
		return RulesAbsent
	case unixLines(s.body) != unixLines(rulesText):
		return RulesOutdated
	}
	return RulesThere
}

// sectionText returns a section as it is written.
func sectionText(hosts []string, eol string) string {
	body := rulesBody(eol)
	return beginMark + rulesHash(body) + " " + strings.Join(hosts, " ") + ":" + markTail + eol + body + endMark + eol
}

// state says what a text has of rules for a client.
func (f *rulesFile) state(text []byte, host string) string {
	if f.front != "" {
		return f.wholeState(text)
	}
	switch s, odd := sectionOf(text); {
	case odd:
		return RulesEdited
	case s == nil:
		return RulesAbsent
	default:
		return s.state(host)
	}
}

// set returns a text with the rules of now, and as it is if the user has edited them or has own ones.
func (f *rulesFile) set(text []byte, host string) ([]byte, error) {
	if err := readable(text); err != nil {
		return nil, err
	}
	state := f.state(text, host)
	switch {
	case state != RulesAbsent && state != RulesOutdated:
		return text, nil
	case f.front != "":
		head := ""
		if bytes.HasPrefix(text, []byte(byteOrderMark)) {
			head = byteOrderMark
		}
		return []byte(head + f.whole(eolOf(text))), nil
	}
	if s, _ := sectionOf(text); s != nil {
		if !slices.Contains(s.hosts, host) {
			s.hosts = append(s.hosts, host)
		}
		return apply(text, edit{s.start, s.end, sectionText(s.hosts, s.eol)}), nil
	}
	eol := eolOf(text)
	gap := eol // one end of a line before the section, whatever comes before: it is taken out again
	if len(bytes.TrimPrefix(text, []byte(byteOrderMark))) == 0 {
		gap = ""
	}
	return slices.Concat(text, []byte(gap+sectionText([]string{host}, eol))), nil
}

// remove returns a text without the rules that set wrote for a client, and as it is if the user has edited
// them. before is the file before the first edit, nil for none.
func (f *rulesFile) remove(text, before []byte, host string) ([]byte, error) {
	if err := readable(text); err != nil {
		return nil, err
	}
	state := f.state(text, host)
	if state != RulesThere && state != RulesOutdated {
		return text, nil
	}
	if f.front != "" {
		return nil, nil
	}
	s, _ := sectionOf(text)
	if s.hosts = slices.DeleteFunc(s.hosts, func(h string) bool { return h == host }); len(s.hosts) > 0 {
		line := bytes.IndexByte(text[s.start:], '\n') + s.start
		mark := beginMark + s.hash + " " + strings.Join(s.hosts, " ") + ":" + markTail
		return apply(text, edit{s.start, line - len(s.eol) + 1, mark}), nil
	}
	start := s.start
	if kept := bytes.TrimSuffix(text[:start], []byte(s.eol)); s.end == len(text) || bytes.HasSuffix(kept, []byte("\n")) {
		start = len(kept) // else the user's lines before and after would become one
	}
	out := apply(text, edit{start, s.end, ""})
	if len(out) == 0 && before == nil {
		return nil, nil // the file was made for the section
	}
	return out, nil
}

// RulesPath returns the file of a level that rules go into, "" if the client has none that are written.
func (c Client) RulesPath(m Machine, l Level) string {
	if c.rules == nil {
		return ""
	}
	return c.rules.path(m, l)
}

// SetRules returns the edit that tells the client's agents how to use the memory, as Set does. What the user has
// edited stays as it is: Rules tells.
func (c Client) SetRules(path string) (*FileEdit, error) {
	return c.rulesEdit(path, func(text []byte) ([]byte, error) { return c.rules.set(text, c.Name) })
}

// RemoveRules returns the edit that takes away what SetRules wrote, unless the user has edited it.
func (c Client) RemoveRules(path string) (*FileEdit, error) {
	return c.rulesEdit(path, func(text []byte) ([]byte, error) {
		before, err := read(linked(path) + Backup)
		if err != nil {
			return nil, err
		}
		return c.rules.remove(text, before, c.Name)
	})
}

func (c Client) rulesEdit(path string, change func([]byte) ([]byte, error)) (*FileEdit, error) {
	out, err := c.edit(path, Setup{}, change)
	if out != nil {
		out.ours = func(text []byte) bool {
			state := c.rules.state(text, c.Name)
			return text != nil && state != RulesAbsent && state != RulesForeign
		}
	}
	return out, err
}

// Rules says what a file has of the client's rules, as one of RulesAbsent and its like.
func (c Client) Rules(path string) (string, error) {
	text, err := read(path)
	if err == nil {
		err = readable(text)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return c.rules.state(text, c.Name), nil
}

// RulesText returns the rules as a file of their own would have them.
func (c Client) RulesText() string {
	if c.rules.front != "" {
		return c.rules.whole("\n")
	}
	return sectionText([]string{c.Name}, "\n")
}

// RulesInstead returns the file beside that of rules which the client reads in place of it, "" if there is none.
func (c Client) RulesInstead(path string) string {
	if path == "" {
		return ""
	}
	for _, name := range insteads[c.Name] {
		other := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		if info, err := os.Stat(other); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return other
		}
	}
	return ""
}

// insteads are the files that clients read in place of AGENTS.md, the first that is there.
var insteads = map[string][]string{
	"codex": {"AGENTS.override.md"},
	"zed": {
		".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
	},
}
