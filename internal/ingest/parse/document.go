package parse

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

const (
	// MaxSections is the largest number of headings of one document.
	MaxSections = 20_000
	// MaxBlocks is the largest number of blocks of one document.
	MaxBlocks = 200_000
	// MaxLines is the largest number of lines of one document.
	MaxLines = 1_000_000
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
	// maxGo is how many bytes of Go are parsed as a whole: a tree has some thirty times as many.
	maxGo = 1 << 20
	// maxFields is how many of its fields are kept.
	maxFields = 200
)

var (
	// ErrBinary is returned for bytes that are no text.
	ErrBinary = errors.New("a binary file")
	// ErrEncoding is returned for text in an encoding that is not read.
	ErrEncoding = errors.New("neither UTF-8 nor UTF-16 with a byte order mark")
	// ErrTooMany is returned for a document with more lines, headings or blocks than one may have.
	ErrTooMany = errors.New("too many lines, headings or blocks")
)

// Document is the parsed content of a file.
type Document struct {
	Title    string // "" if it names none
	About    string // a source file's description of its package: the first sentence of the package comment
	Aliases  []string
	Tags     []string
	Meta     []Field // the rest of the front matter
	Sections []Section
	Blocks   []Block
	Left     map[string]int // the parts of a notebook that are left out, by kind

	text string
}

// Field is one field of the front matter; a nested value is its source.
type Field struct {
	Name, Value string
	Kind        FieldKind
	Items       []string // of a list
}

// FieldKind is the type of a field's value.
type FieldKind int

// The kinds.
const (
	TextField FieldKind = iota
	NumberField
	TruthField
	ListField
)

// Section is a heading.
type Section struct {
	Title  string
	Parent int    // the index of the section that holds it, -1 for none
	ID     string // of a record, as its table has it; "" for none
	Time   string // of a record
	level  int
}

// Block is a part of the text.
type Block struct {
	Section     int // the index of the section it is in, -1 before the first
	First, Last int // its lines, from 1
	start, end  int
	whole       bool // whether to divide it only if it is very long: a fence or table
	prose       bool // whether it is Markdown in a format that also has other text
	front       bool // whether it is the front matter
	links       []string
}

// Decls is whether a format has declarations for sections, which its documents define.
func (f Format) Decls() bool { return f == Go || languages()[f] != nil }

// Format names a way to read files.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	Go       Format = "go"
	HTML     Format = "html"
	Notebook Format = "notebook"
	CSV      Format = "csv"
	JSONL    Format = "jsonl"
)

// formats are the formats of files by the endings of their names, or by whole names without one.
var formats = sync.OnceValue(func() map[string]Format {
	out := make(map[string]Format)
	for format, names := range map[Format]string{
		Markdown: ".md .markdown .mdx .mdc",
		Text: ".txt .text .rst .org .adoc " +
			"README LICENSE NOTICE CHANGELOG CHANGES AUTHORS CONTRIBUTING TODO NEWS",
		HTML:       ".html .htm .xhtml",
		Notebook:   ".ipynb",
		CSV:        ".csv .tsv",
		JSONL:      ".jsonl .ndjson",
		Go:         ".go",
		Python:     ".py .pyi",
		JavaScript: ".js .mjs .cjs .jsx .ts .mts .cts .tsx",
		Java:       ".java",
		Rust:       ".rs",
		C:          ".c .h .cc .cpp .cxx .hh .hpp .hxx",
		CSharp:     ".cs",
		Ruby:       ".rb",
		PHP:        ".php",
		Shell:      ".sh .bash .zsh",
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = format
		}
	}
	return out
})

// FormatOf returns the format of a file by its name, "" if none is known.
func FormatOf(name string) Format {
	base := path.Base(name)
	format := formats()[cmp.Or(strings.ToLower(path.Ext(base)), base)]
	if format == JavaScript && strings.Contains(base, ".min.") {
		return "" // no person wrote it
	}
	return format
}

// testDirs are directories of tests in any language.
var testDirs = []string{"test", "tests", "__tests__", "testdata", "spec"}

// IsTest reports whether a source file is a test by its path, as the tools of its language have it.
func IsTest(name string) bool {
	if !FormatOf(name).Decls() {
		return false
	}
	dir, base := path.Split(name)
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(testDirs, part) {
			return true
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	ends := []string{"_test", "_tests", "_spec", ".test", ".spec", "Test", "Tests"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(stem, end) }) ||
		strings.HasPrefix(stem, "test_") || stem == "conftest"
}

// Decode returns the text of a file with LF between its lines. It returns ErrBinary or ErrEncoding if the data is not
// text.
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
	order := binary.ByteOrder(binary.BigEndian)
	if data[0] == 0xff {
		order = binary.LittleEndian
	}
	units := make([]uint16, 0, len(data)/2-1)
	for i := 2; i < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	text := string(utf16.Decode(units))
	if strings.ContainsRune(text[:min(len(text), sniffed)], 0) {
		return "", ErrBinary
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

// Parse reads a text in a format. It returns ErrTooMany for one that is out of bounds.
func Parse(format Format, text string, o *ReadOptions) (*Document, error) {
	if o == nil {
		o = new(ReadOptions)
	}
	d := &Document{text: text}
	switch format {
	case HTML:
		return d, d.html(o)
	case Notebook:
		return d, d.notebook(o)
	case CSV:
		return d, d.csv(o)
	case JSONL:
		return d, d.jsonl(o)
	}
	if o.Clean != nil {
		var err error
		if d.text, err = o.Clean(text); err != nil {
			return nil, err
		}
	}
	s := newScanner(d)
	var imports []string
	switch {
	case format == Markdown:
		s.markdown(s.frontMatter())
	case format == Text:
		s.plain(0)
	case format == Go && len(text) <= maxGo:
		imports = s.golang()
	case format == Go:
		imports = s.source(languages()[longGo])
	case format.Decls():
		imports = s.source(languages()[format])
	default:
		return nil, fmt.Errorf("no format %q", format)
	}
	if err := s.bounded(); err != nil {
		return nil, err
	}
	d.divide()
	if len(d.Blocks) > 0 {
		d.Blocks[0].links = imports
	}
	if format == Markdown {
		d.findLinks(func(*Block) bool { return true })
		d.promote()
	}
	return d, nil
}

// promote turns the only heading of the first level into the title if the document begins with it; otherwise every
// section would be inside that one.
func (d *Document) promote() {
	isFirst := func(s Section) bool { return s.level == 1 }
	isBefore := func(b Block) bool { return b.Section < 0 && !b.front } // the heading
	if len(d.Sections) == 0 || !isFirst(d.Sections[0]) || slices.ContainsFunc(d.Sections[1:], isFirst) ||
		slices.ContainsFunc(d.Blocks, isBefore) {
		return
	}
	d.Title = cmp.Or(d.Title, d.Sections[0].Title)
	d.Sections = d.Sections[1:]
	for i := range d.Sections {
		d.Sections[i].Parent = max(-1, d.Sections[i].Parent-1)
	}
	for i := range d.Blocks {
		d.Blocks[i].Section = max(-1, d.Blocks[i].Section-1)
	}
}

// Rewrite passes the title, the front matter, headings and links through f. A front matter field is passed with its
// name, and left out if f changes the name.
func (d *Document) Rewrite(f func(string) (string, error)) error {
	texts := []*string{&d.Title, &d.About}
	for i := range d.Aliases {
		texts = append(texts, &d.Aliases[i])
	}
	for i := range d.Tags {
		texts = append(texts, &d.Tags[i])
	}
	for i := range d.Sections {
		texts = append(texts, &d.Sections[i].Title, &d.Sections[i].ID)
	}
	for i := range d.Blocks {
		for j := range d.Blocks[i].links {
			texts = append(texts, &d.Blocks[i].links[j])
		}
	}
	var err error
	for _, s := range texts {
		if *s, err = f(*s); err != nil {
			return err
		}
	}
	var meta []Field
	for _, m := range d.Meta {
		text, err := f(m.Name + ": " + m.Value)
		if err != nil {
			return err
		}
		if value, same := strings.CutPrefix(text, m.Name+": "); same {
			m.Value = value
			meta = append(meta, m)
		}
	}
	d.Meta = meta
	return nil
}

// Path returns the titles of a section and the sections around it, the outermost first.
func (d *Document) Path(section int) []string {
	var path []string
	for ; section >= 0; section = d.Sections[section].Parent {
		path = append(path, d.Sections[section].Title)
	}
	slices.Reverse(path)
	return path
}

// maxSlug is the longest slug in bytes: six of them, with what is around, are far from the longest key.
const maxSlug = 60

// Slug is a heading as part of a name: letters and digits folded by the tables of the analyser, with hyphens
// for blanks, as anchors have it elsewhere but for accents. It is not empty.
func Slug(title string) string {
	var b strings.Builder
	text.EachFolded(strings.TrimSpace(title), func(_, _ int, kind text.CharClass, fold string) bool {
		switch {
		case kind != text.KindOther || fold == "_":
		case fold == " " || fold == "-" || fold == "\t":
			fold = "-"
		default:
			return true
		}
		if b.Len()+len(fold) > maxSlug {
			return false
		}
		b.WriteString(fold)
		return true
	})
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "section"
}

// Fold returns a name as links compare it: letters and digits folded, all else as it is.
func Fold(name string) string {
	var b strings.Builder
	text.EachFolded(name, func(_, _ int, _ text.CharClass, fold string) bool {
		b.WriteString(fold)
		return true
	})
	return b.String()
}
