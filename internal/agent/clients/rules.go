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

// rulesText tells agents when to ask the memory and what to store in it.
//
//go:embed rules.md
var rulesText string

// The states of a client's rules in a file.
const (
	RulesAbsent   = "absent"
	RulesThere    = "integrated"
	RulesOutdated = "outdated" // written by another version
	RulesEdited   = "edited"   // by the user, so that it is left alone
	RulesForeign  = "foreign"  // a file of the user's own where ours would be
)

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

// Marks are Markdown comments, each on a line of its own. The mark that opens a section starts with a hash of the
// written text, which shows whether the user has edited the section, and lists its clients, since several may read the
// file.
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

// rulesHash hashes a text with normalised line ends, since version control and editors change them.
func rulesHash(text string) string {
	sum := sha256.Sum256([]byte(unixLines(text)))
	return hex.EncodeToString(sum[:])[:12]
}

func unixLines(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, byteOrderMark), "\r\n", "\n")
}

func rulesBody(eol string) string {
	return strings.ReplaceAll(unixLines(rulesText), "\n", eol)
}

func readable(text []byte) error {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("%w: not UTF-8 text", ErrDamaged)
	}
	return nil
}

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

type rulesSection struct {
	start, end int      // of its lines, marks included
	body       string   // the lines between the marks
	hash       string   // of the body that was written
	hosts      []string // that read it
	eol        string   // how its first line ends
}

// sectionOf finds our section, nil if there is none. odd reports marks in an unexpected form; the text between them may
// be anything.
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

func sectionText(hosts []string, eol string) string {
	body := rulesBody(eol)
	return beginMark + rulesHash(body) + " " + strings.Join(hosts, " ") + ":" + markTail + eol + body + endMark + eol
}

// state returns the state of a client's rules in a text.
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

// set returns a text with the current rules. It returns the text unchanged if the user has edited the rules or wrote
// rules of their own.
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

// remove returns a text without the rules that set wrote for a client, or the text unchanged if the user has edited
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

// SetRules returns the edit that adds the rules for the client's agents, as Set does. It leaves edited rules unchanged;
// Rules reports them.
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

// Rules returns the state of the client's rules in a file: RulesAbsent or another of these constants.
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

// RulesInstead returns the file that the client reads in place of its rules file in the same directory, "" if there is
// none.
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

// insteads lists the files that a client prefers to AGENTS.md; the client reads the first that exists.
var insteads = map[string][]string{
	"codex": {"AGENTS.override.md"},
	"zed": {
		".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
	},
}
