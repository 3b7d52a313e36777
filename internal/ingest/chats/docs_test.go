package chats

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestKindsAreDocumented finds every record type that is left out, and the kind that it is counted as, in the section of
// its format in docs/importers.md.
func TestKindsAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../../docs/importers.md")
	if err != nil {
		t.Fatal(err)
	}
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
		{openCodeKinds, section("OpenCode")}, {mem0Left, section("mem0")},
	} {
		if len(c.kinds) == 0 {
			t.Error("a table without kinds")
		}
		for name, kind := range c.kinds {
			if !word(name).MatchString(c.text) {
				t.Errorf("%s is not in docs/importers.md", name)
			}
			if !word(kind).MatchString(c.text + general) {
				t.Errorf("%s, the kind of %s, is not in docs/importers.md", kind, name)
			}
		}
	}
}
