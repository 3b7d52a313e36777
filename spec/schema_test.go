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

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// schemaTypes parses and compiles mnem.ipldsch.
func schemaTypes(t *testing.T) *schema.TypeSystem {
	t.Helper()
	parsed := must.Get(schemadsl.ParseFile("mnem.ipldsch"))(t)
	ts := new(schema.TypeSystem)
	ts.Init()
	must.OK(t, schemadmt.Compile(ts, parsed))
	errs := ts.ValidateGraph()
	must.Require(t, len(errs) == 0, "%v", errs)
	return ts
}

// tables are the clauses of the specification whose table lists the fields of a type of the schema.
var tables = map[string]string{
	"2.4": "Tree", "3.2": "Node", "3.3": "Content", "3.4": "Edge", "3.5": "Mark",
	"3.6": "Embedding", "3.7": "Graph", "3.8": "Commit", "3.9": "Operation", "3.10": "Stage",
	"13.1": "Receipt", "13.2": "Session", "14.8": "Merge", "14.8, second": "Conflict",
	"15.1": "Tag", "18.2": "Export",
	"19.3": "Redaction", "23.1": "Profiles",
}

var (
	fieldRow  = regexp.MustCompile("^\\| (`[^|]*`) \\|([^|]*)\\|")
	fieldName = regexp.MustCompile("`(\\w+)`")
	// unionMember is a kind of the union Record, whose discriminants the package of schemas hides.
	unionMember = regexp.MustCompile(`(?m)^  \| (\w+) "(\w+)"$`)
)

// fieldTables reads the fields of each clause's table of fields; true if one is optional.
func fieldTables(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	clause, table, inTable := "", "", false
	for line := range strings.Lines(specText(t)) {
		if m := clauseHead.FindStringSubmatch(line); m != nil {
			clause = m[1]
		}
		if strings.HasPrefix(line, "| field |") {
			inTable, table = true, clause
			if out[table] != nil {
				table += ", second"
			}
			out[table] = map[string]bool{}
		}
		m := fieldRow.FindStringSubmatch(line)
		if !strings.HasPrefix(line, "|") {
			inTable = false
		}
		if !inTable || m == nil {
			continue
		}
		for _, name := range fieldName.FindAllStringSubmatch(m[1], -1) {
			out[table][name[1]] = strings.Contains(m[2], "optional")
		}
	}
	return out
}

// conditional are fields that the tables describe in words other than "optional".
var conditional = []string{"Tree.counts", "Content.text", "Content.chunks", "Edge.key",
	"Edge.validFrom", "Edge.validTo", "Edge.sources", "Merge.graph"}

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
				t.Errorf("%s: optional is %v in the schema, %v in clause %s", id, f.IsOptional(), optional, clause)
			}
		}
		for missing := range fields {
			t.Errorf("the schema lacks %s.%s of clause %s", name, missing, clause)
		}
	}
}

// misfit returns the path of a value that does not match a type of the schema, "" if all match. A record's kind is the
// discriminant of the union and in no struct.
func misfit(at string, typ schema.Type, v ipld.Value, seen map[string]bool) string {
	switch typ := typ.(type) {
	case *schema.TypeAny:
		return ""
	case *schema.TypeStruct:
		return misfitStruct(at, typ, v, seen)
	case *schema.TypeMap:
		if v.Kind() != ipld.Map {
			return at
		}
		for _, e := range v.Entries() {
			null := typ.ValueIsNullable() && e.Value.Kind() == ipld.Null
			if bad := misfit(at+"."+e.Key, typ.ValueType(), e.Value, seen); bad != "" && !null {
				return bad
			}
		}
		return ""
	case *schema.TypeList:
		if v.Kind() != ipld.List {
			return at
		}
		for _, item := range v.List() {
			if bad := misfit(at+"[]", typ.ValueType(), item, seen); bad != "" {
				return bad
			}
		}
		return ""
	case *schema.TypeUnion: // by kind: the value belongs to one of its members
		for _, member := range typ.Members() {
			if misfit(at, member, v, seen) == "" {
				return ""
			}
		}
		return at
	case *schema.TypeEnum:
		if v.Kind() != ipld.String || !slices.Contains(typ.Members(), v.Text()) {
			return at
		}
		return ""
	}
	kinds := map[schema.TypeKind]ipld.Kind{
		schema.TypeKind_Int: ipld.Int, schema.TypeKind_String: ipld.String,
		schema.TypeKind_Bytes: ipld.Bytes, schema.TypeKind_Bool: ipld.Bool,
		schema.TypeKind_Link: ipld.Link,
	}
	if want, known := kinds[typ.TypeKind()]; !known || v.Kind() != want {
		return at
	}
	return ""
}

func misfitStruct(at string, typ *schema.TypeStruct, v ipld.Value, seen map[string]bool) string {
	if v.Kind() != ipld.Map {
		return at
	}
	for _, e := range v.Entries() {
		if typ.Field(e.Key) == nil && e.Key != "kind" {
			return at + "." + e.Key
		}
	}
	for _, f := range typ.Fields() {
		item, given := v.Get(f.Name())
		field := typ.Name() + "." + f.Name()
		switch {
		case given:
			seen[field] = true
			if bad := misfit(at+"."+f.Name(), f.Type(), item, seen); bad != "" {
				return bad
			}
		case !f.IsOptional():
			return at + "." + f.Name()
		}
	}
	return ""
}

// TestSchemaFitsTheVectors reads every record among the vectors by the schema: its kind is a member of the union, and
// it has no field that the schema lacks. Each member of the union and each field of a request is in some vector.
func TestSchemaFitsTheVectors(t *testing.T) {
	ts := schemaTypes(t)
	data := must.Get(os.ReadFile("mnem.ipldsch"))(t)
	seen := map[string]bool{}
	kinds := map[string]schema.Type{}
	for _, m := range unionMember.FindAllStringSubmatch(string(data), -1) {
		kinds[m[2]] = ts.TypeByName(m[1])
	}
	recordVectors(t, func(v vector, record ipld.Value) {
		if strings.Contains(v.Path(), "/unknown-") || strings.HasSuffix(v.Path(), "/other-engine") {
			return // a field that no schema has
		}
		kind, _ := record.Get("kind")
		typ := kinds[kind.Text()]
		if typ == nil {
			t.Errorf("%s: the schema has no kind %q", v.Path(), kind.Text())
			return
		}
		seen[kind.Text()] = true
		must.Equal(t, misfit(kind.Text(), typ, record, seen), "", v.Path())
	})
	for kind := range kinds {
		if !seen[kind] && kind != "tree" { // chunks are held by the vectors of trees
			t.Errorf("no vector of a record of kind %s", kind)
		}
	}
	for _, f := range ts.TypeByName("Request").(*schema.TypeStruct).Fields() {
		must.True(t, seen["Request."+f.Name()],
			"no vector of a receipt has the parameter %s: add it to full in conformance/cases_receipt.go", f.Name())
	}
}
