package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/ingest/parse"
)

// ignoreFiles are the names of ignore files; the later one takes precedence.
var ignoreFiles = []string{".gitignore", ".mnemignore"}

// maxIgnoreFile is the longest ignore file that is read.
const maxIgnoreFile = 1 << 20

// passedDirs are directories that are never entered unless they are named: of version control, and what
// others made. A directory with a dot before its name is passed too, unless it has what agents read.
var (
	passedDirs = []string{"node_modules", "__pycache__", "CVS"}
	dotDirs    = []string{".cursor", ".claude", ".github"}
)

// ExportFile marks a directory of Markdown that an export wrote. Its content is in a memory already, so no walk enters
// it.
const ExportFile = ".mnem-export/manifest.json"

// Found is a file that a walk found.
type Found struct {
	Name   string // from the root, with slashes
	Format parse.Format
	Info   fs.FileInfo
}

// Walked lists the files and directories of a walk.
type Walked struct {
	Files  []Found
	Dirs   []string // that were read
	Unread []Unread
	Others int // files that were passed since no format is known for them
}

// Unread is a directory that could not be read, or whose ignore file could not.
type Unread struct {
	Name string
	Err  error
}

// Walk finds the files below a directory, "." for the root, that no ignore file from the root on leaves out.
// Symbolic links are not followed. Names come in order, directory by directory.
func Walk(ctx context.Context, fsys fs.FS, start string) (*Walked, error) {
	w := &walker{ctx: ctx, fsys: fsys}
	if _, err := fs.Stat(fsys, start); err != nil {
		return nil, err
	}
	var ignore *Ignore
	dirs := []string{"."} // on the way to start
	for i, c := range start + "/" {
		if c == '/' && start != "." {
			dirs = append(dirs, start[:i])
		}
	}
	for _, dir := range dirs {
		var err error
		if ignore, err = w.ignoreIn(ignore, dir); err != nil {
			w.found.Unread = append(w.found.Unread, Unread{start, err})
			return &w.found, nil
		}
	}
	if err := w.dir(start, ignore); err != nil {
		return nil, err
	}
	return &w.found, nil
}

type walker struct {
	ctx   context.Context
	fsys  fs.FS
	found Walked
}

// ignoreIn adds the ignore files of a directory. Reading only a part of one would admit files that the rest excludes.
func (w *walker) ignoreIn(up *Ignore, dir string) (*Ignore, error) {
	for _, name := range ignoreFiles {
		name = path.Join(dir, name)
		info, err := fs.Stat(w.fsys, name)
		if err != nil || !info.Mode().IsRegular() {
			continue // mostly there is none
		}
		if info.Size() > maxIgnoreFile {
			return nil, fmt.Errorf("%s has %d bytes, limit %d", name, info.Size(), maxIgnoreFile)
		}
		data, err := fs.ReadFile(w.fsys, name)
		if err == nil {
			up, err = up.Below(dir, string(data))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return up, nil
}

// dir reads a directory. What cannot be read below it is noted, and the rest read.
func (w *walker) dir(dir string, ignore *Ignore) error {
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // removed since the listing
			w.found.Unread = append(w.found.Unread, Unread{dir, err})
		}
		return nil
	}
	w.found.Dirs = append(w.found.Dirs, dir)
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		if ignore.Ignores(name, e.IsDir()) {
			continue
		}
		switch {
		case e.IsDir():
			if passed(e.Name()) || w.isExport(name) {
				continue
			}
			below, err := w.ignoreIn(ignore, name)
			if err != nil {
				w.found.Unread = append(w.found.Unread, Unread{name, err})
				continue
			}
			if err := w.dir(name, below); err != nil {
				return err
			}
		case !e.Type().IsRegular():
		case parse.FormatOf(name) == "":
			if e.Name()[0] != '.' { // settings
				w.found.Others++
			}
		default:
			info, err := e.Info()
			switch {
			case errors.Is(err, fs.ErrNotExist): // removed since the listing
			case err != nil:
				w.found.Unread = append(w.found.Unread, Unread{name, err})
			default:
				w.found.Files = append(w.found.Files, Found{name, parse.FormatOf(name), info})
			}
		}
	}
	return nil
}

func (w *walker) isExport(dir string) bool {
	info, err := fs.Stat(w.fsys, path.Join(dir, ExportFile))
	return err == nil && info.Mode().IsRegular()
}

func passed(name string) bool {
	return slices.Contains(passedDirs, name) || strings.HasPrefix(name, ".") && !slices.Contains(dotDirs, name)
}

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
		for _, r := range slices.Backward(i.rules) {
			if (dir || !r.dirsOnly) && r.match.MatchString(path) {
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
