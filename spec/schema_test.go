package spec_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ipld/go-ipld-prime/schema"
	schemadmt "github.com/ipld/go-ipld-prime/schema/dmt"
	schemadsl "github.com/ipld/go-ipld-prime/schema/dsl"
)

// schemaTypes parses and compiles mnem.ipldsch.
func schemaTypes(t *testing.T) *schema.TypeSystem {
	t.Helper()
	parsed, err := schemadsl.ParseFile("mnem.ipldsch")
	if err != nil {
		t.Fatal(err)
	}
	ts := new(schema.TypeSystem)
	ts.Init()
	if err := schemadmt.Compile(ts, parsed); err != nil {
		t.Fatal(err)
	}
	if errs := ts.ValidateGraph(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return ts
}

// tables are the clauses of SPEC.md whose table lists the fields of a type of the schema.
var tables = map[string]string{
	"2.4": "Tree", "3.2": "Node", "3.3": "Content", "3.4": "Edge", "3.5": "Mark",
	"3.6": "Embedding", "3.7": "Graph", "3.8": "Commit", "3.9": "Operation", "3.10": "Stage",
	"13.1": "Receipt", "13.2": "Session", "15.1": "Tag", "18.2": "Export",
	"19.3": "Redaction", "23.1": "Profiles",
}

var (
	fieldRow  = regexp.MustCompile("^\\| (`[^|]*`) \\|([^|]*)\\|")
	fieldName = regexp.MustCompile("`(\\w+)`")
)

// fieldTables reads the fields of each clause's table of fields; true where one is optional.
func fieldTables(t *testing.T) map[string]map[string]bool {
	t.Helper()
	data, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	clause, inTable := "", false
	for line := range strings.Lines(string(data)) {
		if m := clauseHead.FindStringSubmatch(line); m != nil {
			clause = m[1]
		}
		if strings.HasPrefix(line, "| field |") {
			inTable = true
			out[clause] = map[string]bool{}
		}
		m := fieldRow.FindStringSubmatch(line)
		if !strings.HasPrefix(line, "|") {
			inTable = false
		}
		if !inTable || m == nil {
			continue
		}
		for _, name := range fieldName.FindAllStringSubmatch(m[1], -1) {
			out[clause][name[1]] = strings.Contains(m[2], "optional")
		}
	}
	return out
}

// conditional are fields that the tables describe in words other than "optional".
var conditional = []string{"Tree.counts", "Content.text", "Content.chunks", "Edge.key",
	"Edge.validFrom", "Edge.validTo", "Edge.sources"}

func TestSchemaHasTheFieldsOfTheTables(t *testing.T) {
	ts := schemaTypes(t)
	found := fieldTables(t)
	for clause, name := range tables {
		fields := found[clause]
		if len(fields) == 0 {
			t.Errorf("clause %s has no table of fields", clause)
			continue
		}
		typ, ok := ts.TypeByName(name).(*schema.TypeStruct)
		if !ok {
			t.Errorf("the schema has no struct %s", name)
			continue
		}
		delete(fields, "kind") // the discriminant of the union Record
		for _, f := range typ.Fields() {
			optional, listed := fields[f.Name()]
			delete(fields, f.Name())
			id := name + "." + f.Name()
			switch {
			case f.Name() == "v":
			case !listed:
				t.Errorf("%s is not in the table of clause %s", id, clause)
			case optional != f.IsOptional() && !slices.Contains(conditional, id):
				t.Errorf("%s: optional is %v in the schema, %v in clause %s", id, f.IsOptional(),
					optional, clause)
			}
		}
		for missing := range fields {
			t.Errorf("the schema lacks %s.%s of clause %s", name, missing, clause)
		}
	}
}
