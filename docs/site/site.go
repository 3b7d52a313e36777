package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

const source = "https://github.com/mnem-project/mnem/blob/main/"

// shelves are the parts of the site, in the order of its navigation. Guides has the order of the guides.
var (
	shelves = []struct{ dir, title string }{{"docs", "Guides"}, {"docs/reference", "Reference"}, {"docs/internals", "Internals"}}
	guides  = []string{"start", "agents", "asking", "updates", "history", "branches", "sharing", "git", "files", "servers",
		"policies", "python", "typescript", "go"}
)

// A page is a file of Markdown with what others need to know of it.
type page struct {
	file, Title string // file is relative to the root, with slashes
	shelf       int
	body        []byte
	tree        ast.Node
	ids         map[string]bool
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// Href is the address of the page in the site, relative to its top.
func (p *page) Href() string {
	return strings.TrimSuffix(strings.TrimPrefix(p.file, "docs/"), ".md") + ".html"
}

// read parses the pages of all shelves.
func read() ([]*page, error) {
	var all []*page
	for shelf, s := range shelves {
		files, err := filepath.Glob(filepath.Join(root, s.dir, "*.md"))
		if err != nil {
			return nil, err
		}
		if shelf == 0 {
			if len(files) != len(guides) {
				return nil, fmt.Errorf("%d guides, the site knows %d", len(files), len(guides))
			}
			for i, name := range guides {
				files[i] = filepath.Join(root, "docs", name+".md")
			}
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, parse(path.Join(s.dir, filepath.Base(file)), shelf, body))
		}
	}
	return all, nil
}

func parse(file string, shelf int, body []byte) *page {
	p := &page{file: file, shelf: shelf, body: body, ids: map[string]bool{}}
	p.tree = markdown.Parser().Parse(text.NewReader(body))
	ast.Walk(p.tree, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && enter {
			id, _ := h.AttributeString("id")
			p.ids[string(id.([]byte))] = true
			if h.Level == 1 {
				p.Title = string(h.Lines().Value(body))
			}
		}
		return ast.WalkContinue, nil
	})
	return p
}

// link checks a link and returns its address in the site. Files that are no pages lead to the source.
func (p *page) link(to string, pages map[string]*page) (string, error) {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() {
		return to, err
	}
	file := p.file
	if u.Path != "" {
		file = path.Join(path.Dir(p.file), u.Path)
	}
	target := pages[file]
	if target == nil {
		_, err := os.Stat(filepath.Join(root, file))
		return source + file, err
	}
	if u.Fragment != "" && !target.ids[u.Fragment] {
		return "", fmt.Errorf("%s has no heading #%s", file, u.Fragment)
	}
	rel, err := filepath.Rel(path.Dir(p.Href()), target.Href())
	if u.Fragment != "" {
		rel += "#" + u.Fragment
	}
	return filepath.ToSlash(rel), err
}

// render checks the links of a page and returns its text as HTML.
func (p *page) render(pages map[string]*page) (template.HTML, error) {
	var problems []error
	resolve := func(to []byte) []byte {
		address, err := p.link(string(to), pages)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", p.file, to, err))
		}
		return []byte(address)
	}
	ast.Walk(p.tree, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if enter {
				n.Destination = resolve(n.Destination)
			}
		case *ast.Image:
			if _, err := os.Stat(filepath.Join(root, path.Dir(p.file), string(n.Destination))); err != nil {
				problems = append(problems, err)
			}
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.body, p.tree); err != nil {
		return "", err
	}
	return template.HTML(regexp.MustCompile(`<!--.*?-->\n?`).ReplaceAllString(b.String(), "")), errors.Join(problems...)
}

// site checks the links of all pages and writes them, if there is a directory to write to.
func site(out string) error {
	all, err := read()
	if err != nil {
		return err
	}
	pages := make(map[string]*page)
	for _, p := range all {
		pages[p.file] = p
	}
	var problems []error
	for _, p := range all {
		body, err := p.render(pages)
		if err == nil && out != "" {
			err = p.write(out, body, all)
		}
		problems = append(problems, err)
	}
	fmt.Printf("%d pages\n", len(all))
	if err := errors.Join(problems...); err != nil || out == "" {
		return err
	}
	picture, err := os.ReadFile(filepath.Join(root, "docs", "page.png"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "page.png"), picture, 0o644); err != nil {
		return err
	}
	index := []byte(`<!doctype html><meta http-equiv="refresh" content="0; url=start.html"><a href="start.html">mnem</a>` + "\n")
	return os.WriteFile(filepath.Join(out, "index.html"), index, 0o644)
}

func (p *page) write(out string, body template.HTML, all []*page) error {
	type shelf struct {
		Title string
		Pages []*page
	}
	nav := make([]shelf, len(shelves))
	for _, q := range all {
		nav[q.shelf].Title = shelves[q.shelf].title
		nav[q.shelf].Pages = append(nav[q.shelf].Pages, q)
	}
	file := filepath.Join(out, filepath.FromSlash(p.Href()))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	err := layout.Execute(&b, map[string]any{"Page": p, "Body": body, "Nav": nav, "Top": strings.Repeat("../", strings.Count(p.Href(), "/"))})
	if err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

var layout = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Page.Title}} – mnem</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; display: flex; flex-wrap: wrap; }
nav { flex: 1 1 12rem; padding: 1rem; } main { flex: 4 1 30rem; min-width: 0; padding: 1rem; }
nav p { font-weight: bold; margin: 1rem 0 .2rem; } nav a { display: block; text-decoration: none; }
nav a[aria-current] { font-weight: bold; }
@media (max-width: 44rem) { body { flex-direction: column; } nav { order: 1; } main { flex: none; } }
pre { overflow-x: auto; padding: .8rem; background: #8881; font-size: .85rem; line-height: 1.4; }
table { display: block; overflow-x: auto; border-collapse: collapse; } td, th { padding: .3rem .6rem; border: 1px solid #8884; text-align: left; vertical-align: top; }
</style>
<nav>{{range .Nav}}<p>{{.Title}}</p>{{range .Pages}}<a href="{{$.Top}}{{.Href}}"{{if eq .Href $.Page.Href}} aria-current="page"{{end}}>{{.Title}}</a>{{end}}{{end}}</nav>
<main>{{.Body}}</main>
</html>
`))
