package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestArchitecturePage holds the table of floors in docs/internals/architecture.md to those that imports are held to.
func TestArchitecturePage(t *testing.T) {
	page := must.Get(os.ReadFile(root + "/docs/internals/architecture.md"))(t)
	var rows []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); strings.HasPrefix(line, "| ") && len(cells) == 3 {
			rows = append(rows, cells[0]+": "+cells[2])
		}
	}
	all := strings.Join(rows, "\n") + "\n"
	for _, f := range floors {
		must.Check(t, f.why == "" || strings.Contains(all, f.name+": "+f.why+"\n"),
			"docs/internals/architecture.md lacks the floor %s, with %q", f.name, f.why)
	}
	for _, f := range floors {
		for name := range strings.FieldsSeq(f.rooms) {
			if family, _, _ := strings.Cut(name, "/"); !strings.Contains(string(page), family) {
				t.Errorf("docs/internals/architecture.md names nothing of %s", family)
			}
		}
	}
}

// pages returns the pages of all shelves of the docs.
func pages(t *testing.T) []string {
	var all []string
	for _, shelf := range []string{"", "reference", "internals"} {
		found, err := filepath.Glob(filepath.Join(root, "docs", shelf, "*.md"))
		must.Require(t, err == nil && len(found) != 0, "%v %v %v", shelf, found, err)
		all = append(all, found...)
	}
	return all
}

// link is the target of a link to a file of this tree.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)[^)]*\)`)

// TestLinksLead follows the links of the pages.
func TestLinksLead(t *testing.T) {
	links := 0
	for _, page := range append(pages(t), root+"/README.md") {
		text := must.Get(os.ReadFile(page))(t)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[0], "://") {
				continue
			}
			links++
			must.Get(os.Stat(filepath.Join(filepath.Dir(page), m[1])))(t, page, ": ", m[0], " leads nowhere")
		}
	}
	must.Check(t, links >= 20, "%d links", links)
}

// treePath is the path of a file or folder of this tree, as pages name it.
var treePath = regexp.MustCompile(`(?m)(?:^|[^\w/.-])((?:internal|cmd|web|testdata|spec|conformance|deploy)/[\w./-]*\w)`)

// TestPathsExist looks up every path of this tree that the pages and NOTICE name.
func TestPathsExist(t *testing.T) {
	found := 0
	for _, page := range append(pages(t), root+"/README.md", root+"/NOTICE", root+"/spec/SPEC.md") {
		text := must.Get(os.ReadFile(page))(t)
		for _, m := range treePath.FindAllStringSubmatch(string(text), -1) {
			found++
			name := m[1]
			must.Check(t, must.Err(os.Stat(filepath.Join(root, filepath.FromSlash(name)))) == nil,
				"%s names %s, which does not exist", page, name)
		}
	}
	must.Check(t, found >= 50, "%d paths", found)
}

// shortPath is the path of a file that docs/internals/architecture.md names without its first folder.
var shortPath = regexp.MustCompile("`([a-z_0-9]+(?:/[a-z_0-9]+)+\\.(?:go|tsx?))`")

// TestShortPathsExist looks up the files that the last table of docs/internals/architecture.md names.
func TestShortPathsExist(t *testing.T) {
	page := must.Get(os.ReadFile(root + "/docs/internals/architecture.md"))(t)
	found := 0
	for _, m := range shortPath.FindAllStringSubmatch(string(page), -1) {
		found++
		exists := false
		for _, under := range []string{"", "internal"} {
			_, err := os.Stat(filepath.Join(root, under, filepath.FromSlash(m[1])))
			exists = exists || err == nil
		}
		if !exists {
			t.Errorf("docs/internals/architecture.md names %s, which does not exist", m[1])
		}
	}
	must.Check(t, found >= 30, "%d paths", found)
}
