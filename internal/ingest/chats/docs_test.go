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
	data, err := os.ReadFile("../../../docs/reference/importers.md")
	must.OK(t, err)
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
	for _, c := range []struct {
		kinds kinds
		text  string
	}{
		{contexts, general}, {claudeCodeKinds, section("Claude Code")}, {codexKinds, section("Codex")},
		{contentKinds, section("Claude Code") + section("Codex") + section("Claude")},
		{geminiKinds, section("Gemini CLI")}, {chatGPTKinds, section("ChatGPT")},
		{openCodeKinds, section("OpenCode")}, {mem0Left, section("mem0")}, {cursorKinds, section("Cursor")},
		{cursorContexts, section("Cursor")}, {vscodeKinds, section("GitHub Copilot in VS Code")},
		{copilotKinds, section("Copilot CLI")}, {clineKinds, section("Cline")}, {clineParts, section("Cline")}, {cursorKeys, section("Cursor")},
	} {
		if len(c.kinds) == 0 {
			t.Error("a table without kinds")
		}
		for name, kind := range c.kinds {
			if !word(name).MatchString(c.text) {
				t.Errorf("%s is not in docs/reference/importers.md", name)
			}
			if !word(kind).MatchString(c.text + general) {
				t.Errorf("%s, the kind of %s, is not in docs/reference/importers.md", kind, name)
			}
		}
	}
	for _, c := range []struct {
		shape shape
		text  string
	}{
		{claudeCodeShape(), section("Claude Code")}, {codexShape(), section("Codex")}, {codexMetaShape(), section("Codex")},
		{geminiShape(), section("Gemini CLI")}, {geminiMessageShape(), section("Gemini CLI")}, {chatGPTShape(), section("ChatGPT")},
		{claudeShape(), section("Claude")}, {openCodeShape(), section("OpenCode")}, {cursorShape(), section("Cursor")},
		{vscodeShape(), section("GitHub Copilot in VS Code")}, {copilotShape(), section("Copilot CLI")},
		{cursorChatShape(), section("Cursor")}, {cursorBubbleShape(), section("Cursor")}, {clineShape(), section("Cline")},
		{clineSessionShape(), section("Cline")}, {clineSaidShape(), section("Cline")}, {serverMemoryShape(), section("MCP server memory")},
	} {
		for _, name := range c.shape.names() {
			if !word(name).MatchString(c.text) {
				t.Errorf("the field %s is not in %s of docs/reference/importers.md", name, strings.SplitN(c.text, "\n", 2)[0])
			}
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
	of := has("a", "b").with("c", has("d")).with("m", shape{anyName: has("e")})
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
