// Package sources reads the names of what memories come from, compares memories with their source files,
// and marks those whose sources changed or are gone.
package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/pattern"
)

// SourceKind says what kind of thing a memory comes from.
type SourceKind string

// The kinds of sources. Others are free text that no verb looks into.
const (
	FileSource         SourceKind = "file"
	URLSource          SourceKind = "url"
	ConversationSource SourceKind = "conversation"
	ManualSource       SourceKind = "manual"
)

const (
	maxPlace = 1_000_000_000 // the largest number of a line or turn
	hashMark = "?sha256="
)

// Source is the origin of a memory: docs/internals/memories.md, "Sources".
//
//	file:PATH   file://PROJECT/PATH   then ?sha256=HEX and #L10 or #L10-L20, each if known
//	url:https://…
//	conversation:ID   conversation:ID#TURN
//	manual:   manual:WHO
//
// A path is relative to its project, with "/" between its parts, none of them empty, "." or ".."; "%", "?" and "#" in
// it are written %25, %3F and %23, and nothing else is escaped. Each source has one text form.
type Source struct {
	Kind        SourceKind
	Project     string // of a file, "" for none
	Path        string // of a file
	First, Last int    // lines of a file, from 1, both included; 0 for the whole file
	// Hash is the sha2-256 of the whole file, or of the lines with LF between them and none behind the
	// last one; nil if it is not known.
	Hash *[sha256.Size]byte
	Text string // the URL, the conversation's id, or the person's name; may be "" for manual
	Turn int    // of a conversation, from 1; 0 for none
}

// Parse reads a source. It returns a *graph.FieldError for any text that Source.String does not return.
func Parse(s string) (Source, error) {
	bad := func(format string, args ...any) (Source, error) {
		return Source{}, graph.Fieldf("source", format, args...)
	}
	if err := graph.CheckText("source", s, 1, graph.MaxSource); err != nil {
		return Source{}, err
	}
	kind, rest, ok := strings.Cut(s, ":")
	if !ok {
		kind = ""
	}
	var src Source
	var problem string
	switch SourceKind(kind) {
	case FileSource:
		src, problem = parseFile(rest)
	case URLSource:
		src, problem = parseURL(rest)
	case ConversationSource:
		src, problem = parseConversation(rest)
	case ManualSource:
		src, problem = Source{Kind: ManualSource, Text: rest}, badLine(rest, true)
	default:
		return bad("%.80q begins with none of file:, url:, conversation: and manual:", s)
	}
	if problem != "" {
		return bad("%.80q: %s", s, problem)
	}
	return src, nil
}

func parseFile(s string) (src Source, problem string) {
	src.Kind = FileSource
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		if src.Project, s, ok = strings.Cut(rest, "/"); !ok || !isProject().MatchString(src.Project) {
			return src, "want file://PROJECT/PATH, PROJECT 1 to 64 of a-z, 0-9, ., _, -, the first a " +
				"letter or digit"
		}
	}
	s, lines, spanned := strings.Cut(s, "#")
	if spanned {
		var ok bool
		if src.First, src.Last, ok = parseLines(lines); !ok {
			return src, "want #L10 or #L10-L20 for lines"
		}
	}
	s, query, asked := strings.Cut(s, "?")
	if asked {
		digits, ok := strings.CutPrefix("?"+query, hashMark)
		sum, err := hex.DecodeString(digits)
		if !ok || err != nil || len(sum) != sha256.Size || strings.ToLower(digits) != digits {
			return src, "want ?sha256= and 64 lower-case hex digits"
		}
		src.Hash = (*[sha256.Size]byte)(sum)
	}
	path, ok := unescapePath(s)
	if !ok {
		return src, "% begins only %25, %3F and %23 in a path"
	}
	src.Path = path
	if problem := badLine(path, false); problem != "" {
		return src, problem
	}
	if !fs.ValidPath(path) || path == "." || strings.Contains(path, `\`) {
		return src, `want a relative path without empty parts, ".", ".." and "\"`
	}
	return src, ""
}

var isProject = pattern.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)

var pathEscapes = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23")

func unescapePath(s string) (path string, ok bool) {
	path = strings.NewReplacer("%25", "%", "%3F", "?", "%23", "#").Replace(s)
	return path, pathEscapes.Replace(path) == s
}

func parseLines(s string) (first, last int, ok bool) {
	from, to, ranged := strings.Cut(s, "-")
	if first, ok = parsePlace(from, "L"); !ok || !ranged {
		return first, first, ok
	}
	last, ok = parsePlace(to, "L")
	return first, last, ok && first < last
}

// parsePlace reads a number from 1 without leading zeros, behind a prefix.
func parsePlace(s, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(s, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1 && n <= maxPlace && strconv.Itoa(n) == digits
}

func parseURL(s string) (src Source, problem string) {
	src = Source{Kind: URLSource, Text: s}
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	if !ok || host == "" {
		return src, "want http:// or https:// and a host"
	}
	if strings.Contains(s, " ") {
		return src, "a URL has no blanks"
	}
	return src, badLine(s, false)
}

func parseConversation(s string) (src Source, problem string) {
	src.Kind = ConversationSource
	id, turn, numbered := strings.Cut(s, "#")
	src.Text = id
	if numbered {
		var ok bool
		if src.Turn, ok = parsePlace(turn, ""); !ok {
			return src, "want the number of a turn after #"
		}
	}
	return src, badLine(id, false)
}

// badLine describes the problem of a text that must be one line without blanks around it, "" for none.
func badLine(s string, mayBeEmpty bool) string {
	switch {
	case s == "" && !mayBeEmpty:
		return "nothing is named"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, isControl):
		return "control characters"
	case strings.Trim(s, " ") != s:
		return "blanks around it"
	}
	return ""
}

// isControl reports whether c is one of U+0000 to U+001F and U+007F to U+009F.
func isControl(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 }

// String returns the one text of a source.
func (s Source) String() string {
	switch s.Kind {
	case FileSource:
		text := "file:"
		if s.Project != "" {
			text += "//" + s.Project + "/"
		}
		text += pathEscapes.Replace(s.Path)
		if s.Hash != nil {
			text += hashMark + hex.EncodeToString(s.Hash[:])
		}
		if s.First > 0 {
			text += "#L" + strconv.Itoa(s.First)
			if s.Last > s.First {
				text += "-L" + strconv.Itoa(s.Last)
			}
		}
		return text
	case ConversationSource:
		text := "conversation:" + s.Text
		if s.Turn > 0 {
			text += "#" + strconv.Itoa(s.Turn)
		}
		return text
	}
	return string(s.Kind) + ":" + s.Text
}

// Place is a source without its hash, for people.
func (s Source) Place() string {
	s.Hash = nil
	return s.String()
}
