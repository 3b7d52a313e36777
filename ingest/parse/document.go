package parse

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// MaxSections is the largest number of headings of one document.
	MaxSections = 20_000
	// MaxBlocks is the largest number of blocks of one document.
	MaxBlocks = 200_000
	// sniffed is how many bytes are searched for the NUL that binary files have, as git does.
	sniffed = 8000
	// maxTitle is the longest line, in bytes, that is taken for a heading.
	maxTitle = 1000
	// maxLink is the longest target of a link, maxLinks how many of one block are read, maxTags how many
	// tags and aliases, maxMeta how many bytes of the rest of the front matter.
	maxLink  = 512
	maxLinks = 200
	maxTags  = 100
	maxName  = 200 // bytes of a tag or alias
	maxMeta  = 32 << 10
	// maxFields is how many of its fields are kept.
	maxFields = 200
)

var (
	// ErrBinary is returned for bytes that are no text.
	ErrBinary = errors.New("a binary file")
	// ErrEncoding is returned for text in an encoding that is not read.
	ErrEncoding = errors.New("neither UTF-8 nor UTF-16 with a byte order mark")
	// ErrTooMany is returned for a document with more headings or blocks than one may have.
	ErrTooMany = errors.New("too many headings or blocks")
)

// Document is what a file says.
type Document struct {
	Title    string // "" where it names none
	Aliases  []string
	Tags     []string
	Meta     []Field // the rest of the front matter
	Sections []Section
	Blocks   []Block

	text string
}

// Field is one field of the front matter; a nested value is its source.
type Field struct{ Name, Value string }

// Section is a heading.
type Section struct {
	Title  string
	Parent int // the index of the section that holds it, -1 for none
	level  int
}

// Block is a part of the text.
type Block struct {
	Section     int // the index of the section it is in, -1 before the first
	First, Last int // its lines, from 1
	start, end  int
	whole       bool // whether it is divided only where it is very long: a fence or table
	links       []string
}

// Decls is whether a format has declarations for sections, which its documents define.
func (f Format) Decls() bool { return f == Go }

// Format names a way to read files.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	Go       Format = "go"
)

// FormatOf returns the format of a file by its name, "" where none is known.
func FormatOf(name string) Format {
	base := path.Base(name)
	switch strings.ToLower(path.Ext(base)) {
	case ".md", ".markdown", ".mdx", ".mdc":
		return Markdown
	case ".go":
		return Go
	case ".txt", ".text", ".rst", ".org", ".adoc":
		return Text
	}
	switch base {
	case "README", "LICENSE", "NOTICE", "CHANGELOG", "CHANGES", "AUTHORS", "CONTRIBUTING", "TODO", "NEWS":
		return Text
	}
	return ""
}

// Decode returns the text of a file with LF between its lines. It returns ErrBinary or ErrEncoding for
// what is no text.
func Decode(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return decodeUTF16(data)
	case bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0:
		return "", ErrBinary
	case !utf8.Valid(data):
		return "", ErrEncoding
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

func decodeUTF16(data []byte) (string, error) {
	if len(data)%2 != 0 {
		return "", ErrEncoding
	}
	little := data[0] == 0xff
	units := make([]uint16, 0, len(data)/2-1)
	for i := 2; i < len(data); i += 2 {
		lo, hi := data[i], data[i+1]
		if !little {
			lo, hi = hi, lo
		}
		units = append(units, uint16(hi)<<8|uint16(lo))
	}
	text := string(utf16.Decode(units))
	if strings.ContainsRune(text[:min(len(text), sniffed)], 0) {
		return "", ErrBinary
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

// Parse reads a text in a format. It returns ErrTooMany for one that is out of bounds.
func Parse(format Format, text string) (*Document, error) {
	d := &Document{text: text}
	s := newScanner(d)
	var err error
	var imports []string
	switch format {
	case Markdown:
		err = s.markdown()
	case Text:
		err = s.plain()
	case Go:
		imports = d.golang()
		err = s.bounded()
	default:
		return nil, fmt.Errorf("no format %q", format)
	}
	if err != nil {
		return nil, err
	}
	d.divide()
	if len(d.Blocks) > 0 {
		d.Blocks[0].links = imports
	}
	if format == Markdown {
		d.findLinks()
		d.promote()
	}
	return d, nil
}

// promote makes the one heading of the first level the title of the document, where that begins with it:
// else every section would be inside that one.
func (d *Document) promote() {
	if len(d.Sections) == 0 || d.Sections[0].level != 1 {
		return
	}
	for _, s := range d.Sections[1:] {
		if s.level == 1 {
			return
		}
	}
	for _, b := range d.Blocks {
		if b.Section < 0 { // something stands before it
			return
		}
	}
	if d.Title == "" {
		d.Title = d.Sections[0].Title
	}
	d.Sections = d.Sections[1:]
	for i := range d.Sections {
		d.Sections[i].Parent = max(-1, d.Sections[i].Parent-1)
	}
	for i := range d.Blocks {
		d.Blocks[i].Section--
	}
}

// Path returns the titles of the sections around a section and its own, the outermost first.
func (d *Document) Path(section int) []string {
	var path []string
	for ; section >= 0; section = d.Sections[section].Parent {
		path = append(path, d.Sections[section].Title)
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}
