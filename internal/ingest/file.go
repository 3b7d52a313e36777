package ingest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/memory/sources"
)

// MaxFile is the longest file that is read: 'mnem review sources' looks into no longer one either.
const MaxFile = sources.MaxSourceFile

// ErrEmpty is returned for a file that says nothing.
var ErrEmpty = errors.New("nothing in it")

// ErrName is returned for a file whose path looks like a credential: it would be in sources and messages.
var ErrName = errors.New("its name looks like a credential")

// Sum is the sha2-256 of a file.
type Sum = [sha256.Size]byte

// Path names a file by its path in the directory that holds the repository, or in a project's directory.
type Path struct {
	Project string // "" for the directory that holds the repository
	Name    string // with slashes, relative
}

// String returns the path as messages show it.
func (p Path) String() string {
	if p.Project == "" {
		return p.Name
	}
	return p.Project + "/" + p.Name
}

func (p Path) source() sources.Source {
	return sources.Source{Kind: sources.FileSource, Project: p.Project, Path: p.Name}
}

// Check returns an error for a path that no source can have.
func (p Path) Check() error {
	longest := p.source()
	longest.Hash, longest.First, longest.Last = new(Sum), 1, 2*MaxFile
	if _, err := sources.Parse(longest.String()); err != nil {
		return fmt.Errorf("a name that no source can have: %w", err)
	}
	return nil
}

// File is one version of a file.
type File struct {
	Path     Path
	Sum      Sum
	Format   parse.Format
	Redacted int            // credentials that were taken out
	Columns  *parse.Columns // of a table

	doc   *parse.Document
	keyed []byte // the sum by the key of the repository, of a file with credentials
	lines [][]byte
	last  lineSum
}

// lineSum is the sum of some lines of a file: a long line is hashed once, and not for each of its chunks.
type lineSum struct {
	first, last int
	sum         Sum
}

// Read reads one version of a file, of a table by its columns. It returns ErrEmpty and the errors of package parse
// for what cannot be kept.
func Read(p Path, format parse.Format, data []byte, columns *parse.Columns, r *Redactor) (*File, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if len(r.find(p.String())) > 0 {
		return nil, ErrName
	}
	decoded, err := parse.Decode(data)
	if err != nil {
		return nil, err
	}
	f := &File{Path: p, Sum: sha256.Sum256(data), Format: format, Columns: columns}
	clean := func(s string) (string, error) {
		out, n, err := r.Redact(s)
		f.Redacted += n
		return out, err
	}
	f.doc, err = parse.Parse(format, decoded, &parse.ReadOptions{
		Clean: clean, Columns: columns, Time: func(s string) error { _, err := graph.ParseTime(s); return err },
	})
	if err != nil {
		return nil, err
	}
	// A note is one by its name, whatever it says.
	if format != parse.Markdown && len(f.doc.Blocks) == 0 && len(f.doc.Sections) == 0 && f.doc.Title == "" {
		return nil, ErrEmpty
	}
	switch {
	case f.doc.Title != "":
	case format.Decls():
		f.doc.Title = p.Name // source files are named by their paths
	default:
		f.doc.Title = stem(p.Name)
	}
	// Markup that is taken away may leave a credential that the text did not show.
	if err = f.doc.Rewrite(clean); err != nil {
		return nil, err
	}
	f.doc.Title = text.FirstBytes(f.doc.Title, maxTitle)
	if f.Redacted > 0 || format.Derived() && len(r.find(decoded)) > 0 { // perhaps in a part that is left out
		// A plain hash would let anyone who knows the rest of the file guess the credential.
		f.keyed, err = r.Keyed(f.Sum)
	} else if utf8.Valid(data) { // in UTF-16 a byte of a character may look like the end of a line
		f.lines = bytes.Split(data, []byte("\n"))
	}
	return f, err
}

// Keyed returns the keyed hash that is stored for a file with credentials.
func (r *Redactor) Keyed(sum Sum) ([]byte, error) {
	key, err := r.Key()
	if err != nil {
		return nil, err
	}
	return keyed(key, string(sum[:])), nil
}

// Left counts the parts of the file that are left out, by kind.
func (f *File) Left() map[string]int { return f.doc.Left }

// source returns the source of a chunk.
func (f *File) source(c *parse.Chunk) string {
	s := f.Path.source()
	s.First, s.Last = c.First, c.Last
	if f.keyed == nil && c.Last <= len(f.lines) {
		if f.last.first != c.First || f.last.last != c.Last {
			f.last = lineSum{c.First, c.Last, sha256.Sum256(bytes.Join(f.lines[c.First-1:c.Last], []byte("\n")))}
		}
		sum := f.last.sum
		s.Hash = &sum
	}
	return s.String()
}

// maxTitle is the longest title in bytes.
const maxTitle = 500
