package chats

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestKindsAreDocumented finds every record type that is left out, and the kind that it is counted as, in the section of
// its format in docs/reference/importers.md.
func TestKindsAreDocumented(t *testing.T) {
	data := must.Get(os.ReadFile("../../../docs/reference/importers.md"))(t)
	sections := strings.Split(string(data), "\n## ")
	general := sections[0]
	section := func(title string) string {
		for _, s := range sections[1:] {
			if strings.HasPrefix(s, title+"\n") {
				return s
			}
		}
		t.Fatalf("no section %q", title)
		return ""
	}
	word := func(s string) *regexp.Regexp {
		return regexp.MustCompile("(?:^|[^A-Za-z_-])" + regexp.QuoteMeta(s) + "(?:[^A-Za-z_-]|$)")
	}
	sectionOf := map[string]string{
		"contexts": general, "content": section("Claude Code") + section("Codex") + section("Claude"),
		"claude-code": section("Claude Code"), "block": section("Claude Code"), "codex": section("Codex"),
		"gemini": section("Gemini CLI"), "opencode": section("OpenCode"), "cursor": section("Cursor"),
		"copilot": section("GitHub Copilot in VS Code"), "copilot-cli": section("Copilot CLI"), "cline": section("Cline"),
		"chatgpt": section("ChatGPT"), "claude": section("Claude"), "mem0": section("mem0"),
		"server-memory": section("MCP server memory"),
	}
	textOf := func(table string) string {
		text, ok := sectionOf[table]
		if !ok {
			format, _, _ := strings.Cut(table, " ")
			text, ok = sectionOf[format]
		}
		must.Require(t, ok, "no section for the table %q", table)
		return text
	}
	if len(tables().kinds) < 10 || len(tables().fields) < 10 {
		t.Fatalf("%d tables of kinds, %d of fields", len(tables().kinds), len(tables().fields))
	}
	for table, kinds := range tables().kinds {
		text := textOf(table)
		for name, kind := range kinds {
			must.Check(t, word(name).MatchString(text), "%s is not in docs/reference/importers.md", name)
			must.Check(t, word(kind).MatchString(text+general),
				"%s, the kind of %s, is not in docs/reference/importers.md", kind, name)
		}
	}
	for table, shape := range tables().fields {
		for _, name := range shape.names() {
			must.Check(t, word(name).MatchString(textOf(table)),
				"the field %s is not in the section of %s of docs/reference/importers.md", name, table)
		}
	}
}

// names are the names of a shape and of those in it.
func (s shape) names() (out []string) {
	for name, of := range s {
		if name != anyName {
			out = append(out, name)
		}
		out = append(out, of.names()...)
	}
	return out
}

// TestUnknownFields counts the members that no shape has, at any depth, and no others.
func TestUnknownFields(t *testing.T) {
	of := parseShape("a b\nc: d\nm:\n\t*: e", nil)
	for _, c := range []struct {
		json string
		want []string
	}{
		{`{"a":{"x":1},"b":"{\"x\":1}"}`, nil},
		{` { "z" : [ 1 , { "y" : 2 } ] , "a" : null } `, []string{"z"}},
		{`{"c":[{"d":1,"q\"\u0041":"\\"},{"r":{}},[{"s":[]}]]}`, []string{"q\"A", "r", "s"}},
		{`{"m":{"1":{"e":1},"2":{"f":"}"}},"c":7,"":1}`, []string{"f", ""}},
		{`[]`, nil}, {`"x"`, nil}, {`{}`, nil}, {`{"c":{}}`, nil}, {`[{"w":1},{"w":2}]`, []string{"w", "w"}},
	} {
		r := &recorder{}
		of.tell(r, []byte(c.json))
		want := make(map[string]int)
		for _, name := range c.want {
			want[unknownField+name]++
		}
		must.Equal(t, cmp.Diff(want, r.skipped, cmpopts.EquateEmpty()), "", c.json)
		for n := range c.json { // no prefix stops it
			of.tell(&recorder{}, []byte(c.json[:n]))
		}
	}
}
