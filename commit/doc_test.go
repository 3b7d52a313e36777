package commit

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestTablesOfFields compares the fields in the package comment with those in the schema of the specification.
func TestTablesOfFields(t *testing.T) {
	schema := must.Get(os.ReadFile("../spec/mnem.ipldsch"))(t)
	doc := must.Get(os.ReadFile("doc.go"))(t)
	for _, name := range []string{
		"Commit", "Operation", "Stage", "Tag", "Redaction", "Conflict", "Merge", "Export",
	} {
		want, have := schemaFields(string(schema), name), docFields(string(doc), strings.ToLower(name))
		must.Check(t, len(want) != 0 && slices.Equal(want, have),
			"%s: the comment has %q, the schema %q", name, have, want)
	}
}

// schemaFields returns the fields of a record, sorted, with a question mark if they are optional.
func schemaFields(schema, name string) (fields []string) {
	_, body, _ := strings.Cut(schema, "\ntype "+name+" struct {\n")
	body, _, _ = strings.Cut(body, "\n}")
	for line := range strings.Lines(body) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] == "v" || strings.HasPrefix(f[0], "#") {
			continue
		}
		if f[1] == "optional" {
			f[0] += "?"
		}
		fields = append(fields, f[0])
	}
	slices.Sort(fields)
	return fields
}

var docField = regexp.MustCompile(`^//\t(\w*) +(\w+\??) +(?:type|int|link|bytes|string|list|map)\b`)

// docFields returns the fields in the table of a record, sorted.
func docFields(doc, name string) (fields []string) {
	inside := false
	for line := range strings.Lines(doc) {
		m := docField.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[1] != "" {
			inside = m[1] == name
		}
		if inside && m[2] != "field" {
			fields = append(fields, m[2])
		}
	}
	slices.Sort(fields)
	return fields
}
