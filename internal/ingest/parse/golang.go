package parse

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// ImportLink begins a link that is the path of a package which a source file imports.
const ImportLink = "import:"

// golang reads a Go source file: each declaration at the top level is a section with its comment, titled with its name.
// If the file does not parse, golang uses the part that does. It returns the imports, as links.
func (s *scanner) golang() (imports []string) {
	d := s.doc
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", d.text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || file.Name == nil || !file.Name.Pos().IsValid() {
		s.plain(0)
		return nil
	}
	d.About = sentence(file.Doc.Text())
	tok := fset.File(file.Package)
	line := func(p token.Pos) int { return min(tok.PositionFor(p, false).Line, len(s.lines)) } // whatever //line says
	next := 0                                                                                  // the first line that is in no block
	for _, decl := range file.Decls {
		name := declared(decl)
		if name == "" {
			continue
		}
		first := line(decl.Pos())
		if doc := comment(decl); doc != nil {
			first = line(doc.Pos())
		}
		if first-1 < next {
			continue // two in one line
		}
		s.stack = nil
		if len(d.Sections) > 0 {
			s.stack = []int{len(d.Sections) - 1} // text between two declarations belongs to the first
		}
		s.block(next, first-1, false)
		if s.full = s.full || len(d.Sections) == MaxSections; s.full {
			return nil
		}
		d.Sections = append(d.Sections, Section{Title: name, Parent: -1, level: 1})
		s.stack = []int{len(d.Sections) - 1}
		next = max(first, line(decl.End()))
		s.block(first-1, next, false)
	}
	s.block(next, len(s.lines), false)
	for _, i := range file.Imports[:min(len(file.Imports), maxLinks)] {
		if path, err := strconv.Unquote(i.Path.Value); err == nil && len(path) < maxLink {
			imports = append(imports, ImportLink+path)
		}
	}
	return imports
}

// maxAbout bounds the description taken from a package comment, in bytes.
const maxAbout = 300

// sentence returns the first sentence of a comment, in one line.
func sentence(s string) string {
	s, _, _ = strings.Cut(s, "\n\n")
	s, _, _ = strings.Cut(strings.Join(strings.Fields(text.FirstBytes(s, maxAbout)), " "), ". ")
	return strings.TrimSuffix(s, ".")
}

// declared returns the name of a declaration, "" for imports.
func declared(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return "func " + d.Name.Name
		}
		return "func (" + receiver(d.Recv.List[0].Type) + ") " + d.Name.Name
	case *ast.GenDecl:
		var names []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
		if len(names) > 0 {
			return clipTitle(d.Tok.String() + " " + strings.Join(names, ", "))
		}
	}
	return ""
}

// clipTitle cuts a title at a word.
func clipTitle(s string) string {
	if len(s) <= 200 {
		return s
	}
	return s[:strings.LastIndexByte(s[:200], ',')+1] + " …"
}

func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return "*" + receiver(t.X)
	case *ast.Ident:
		return t.Name
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	}
	return "?"
}

func comment(decl ast.Decl) *ast.CommentGroup {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}
