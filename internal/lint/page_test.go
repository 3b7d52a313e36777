package lint

import (
	"os"
	"strings"
	"testing"
)

// TestArchitecturePage holds the table of floors in docs/architecture.md to those that imports are held to.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); strings.HasPrefix(line, "| ") && len(cells) == 3 {
			rows = append(rows, cells[0]+": "+cells[2])
		}
	}
	all := strings.Join(rows, "\n") + "\n"
	for _, f := range floors {
		if f.why != "" && !strings.Contains(all, f.name+": "+f.why+"\n") {
			t.Errorf("docs/architecture.md lacks the floor %s, with %q", f.name, f.why)
		}
	}
	for _, f := range floors {
		for name := range strings.FieldsSeq(f.rooms) {
			if family, _, _ := strings.Cut(name, "/"); !strings.Contains(string(page), family) {
				t.Errorf("docs/architecture.md names nothing of %s", family)
			}
		}
	}
}
