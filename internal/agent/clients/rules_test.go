package clients

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// rulesFiles calls f with each client that has rules, and each file of them.
func rulesFiles(t *testing.T, f func(t *testing.T, c Client, root, path string)) {
	t.Helper()
	n := 0
	for _, c := range All() {
		for _, l := range []Level{User, Project} {
			dir := t.TempDir()
			m := Machine{
				OS: "linux", Home: filepath.Join(dir, "h"), XDG: filepath.Join(dir, "x"), Project: filepath.Join(dir, "p"),
			}
			if path := c.RulesPath(m, l); path != "" {
				n++
				t.Run(fmt.Sprintf("%s %s", c.Name, l), func(t *testing.T) { f(t, c, c.RulesRoot(m, l), path) })
			}
		}
	}
	must.Equal(t, n, 17, "files of rules")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// make does an edit and returns whether it changed something.
func makeChange(t *testing.T, root string, c *FileEdit, err error) bool {
	t.Helper()
	must.OK(t, err)
	c.Root = root
	must.OK(t, must.Err(c.Write(t.Context())))
	return c.Changed()
}

func setRules(t *testing.T, c Client, root, path string) bool {
	t.Helper()
	change, err := c.SetRules(path)
	return makeChange(t, root, change, err)
}

func removeRules(t *testing.T, c Client, root, path string) bool {
	t.Helper()
	change, err := c.RemoveRules(path)
	return makeChange(t, root, change, err)
}

func rulesState(t *testing.T, c Client, path, want string) {
	t.Helper()
	if got, err := c.Rules(path); err != nil || got != want {
		t.Errorf("%s: %q, %v, want %q", path, got, err, want)
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}

// TestRulesLeaveNoTrace: a file that was made goes, and the directories that were made for it.
func TestRulesLeaveNoTrace(t *testing.T) {
	rulesFiles(t, func(t *testing.T, c Client, root, path string) {
		must.OK(t, os.MkdirAll(root, 0o700))
		rulesState(t, c, path, RulesAbsent)
		must.True(t, setRules(t, c, root, path) && !setRules(t, c, root, path), "not changed once")
		rulesState(t, c, path, RulesThere)
		text := fileText(t, path)
		if n := strings.Count(text, "\n"); n > 60 || !strings.Contains(text, "recall") || text != c.RulesText() {
			t.Errorf("%d lines:\n%s", n, text)
		}
		must.True(t, removeRules(t, c, root, path) && !removeRules(t, c, root, path), "not taken away once")
		if in, err := os.ReadDir(root); err != nil || len(in) > 0 {
			t.Errorf("%v is left, %v", in, err)
		}
	})
}

// TestRulesKeepOtherDirectories: a directory goes only if nothing else is in it, and no link goes.
func TestRulesKeepOtherDirectories(t *testing.T) {
	c, _ := Find("claude-code")
	root := t.TempDir()
	path := filepath.Join(root, ".claude", "skills", "mnem", "SKILL.md")
	writeFile(t, filepath.Join(root, ".claude", "skills", "own", "SKILL.md"), "mine")
	setRules(t, c, root, path)
	removeRules(t, c, root, path)
	if _, err := os.Stat(filepath.Join(root, ".claude", "skills", "mnem")); err == nil {
		t.Error("the directory that was made is left")
	}
	must.Equal(t, fileText(t, filepath.Join(root, ".claude", "skills", "own", "SKILL.md")), "mine")
	elsewhere := t.TempDir()
	link := filepath.Join(root, "linked")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Skip("no symbolic links here")
	}
	path = filepath.Join(link, "mnem", "SKILL.md")
	setRules(t, c, root, path)
	removeRules(t, c, root, path)
	must.OK(t, must.Err(os.Lstat(link)), "the user's link is gone")
}

// ownTexts are files of users that sections are added to.
func ownTexts() map[string]string {
	return map[string]string{
		"empty": "", "line": "# Mine\n", "no last line break": "# Mine\n\nuse tabs", "blank lines": "\n\n# Mine\n\n\n",
		"crlf": "# Mine\r\n\r\nuse tabs\r\n", "crlf, no last": "# Mine\r\nuse tabs",
		"mixed": "a\r\nb\nc\n", "mark": byteOrderMark,
		"mark and text": byteOrderMark + "# Mine\n", "mark and crlf": byteOrderMark + "# Mine\r\n", "one break": "\n",
		"open fence": "```sh\nmnem integrate codex\n", "comment": "<!-- mine -->\n", "carriage return": "a\r", "braces": "{}",
	}
}

// TestRulesEdited checks that rules the user has edited, and the user's own files under our names, stay unchanged.
func TestRulesEdited(t *testing.T) {
	rulesFiles(t, func(t *testing.T, c Client, root, path string) {
		check := func(text, want string) {
			t.Helper()
			writeFile(t, path, text)
			rulesState(t, c, path, want)
			set, removed := setRules(t, c, root, path), removeRules(t, c, root, path)
			if set || removed || fileText(t, path) != text {
				t.Errorf("%s: set %t, removed %t: %q", want, set, removed, text)
			}
		}
		ours := c.RulesText()
		check(strings.Replace(ours, "Call `recall`", "Do not call `recall`", 1), RulesEdited)
		if c.rules.front != "" {
			check("# Mine\n", RulesForeign)
			check("", RulesForeign)
			check(ours+"mine\n", RulesEdited)
			check(strings.Replace(ours, "name: mnem", "name: own", 1)+"x", RulesEdited)
			check(strings.Replace(ours, fileMark, "<!-- ", 1), RulesForeign)
			return
		}
		check(strings.TrimSuffix(ours, endMark+"\n"), RulesEdited)
		check(ours+ours, RulesEdited)
		check(endMark+"\n"+ours, RulesEdited)
		check(strings.Replace(ours, ":", "!", 2), RulesEdited)
	})
}

// TestRulesOfAnotherVersion checks that rules of another version are rewritten whatever their line ends are.
func TestRulesOfAnotherVersion(t *testing.T) {
	now := rulesText
	defer func() { rulesText = now }()
	rulesFiles(t, func(t *testing.T, c Client, root, path string) {
		own := "# Mine\r\n"
		if c.rules.front != "" {
			own = ""
		} else {
			writeFile(t, path, own)
		}
		rulesText = "# Old\n\nAsk.\n"
		setRules(t, c, root, path)
		crlf := strings.ReplaceAll(unixLines(fileText(t, path)), "\n", "\r\n")
		writeFile(t, path, crlf)
		rulesState(t, c, path, RulesThere)
		rulesText = now
		rulesState(t, c, path, RulesOutdated)
		if !setRules(t, c, root, path) || strings.Contains(fileText(t, path), "Old") {
			t.Errorf("not rewritten: %s", fileText(t, path))
		}
		if text := fileText(t, path); strings.Count(text, "\n") != strings.Count(text, "\r\n") {
			t.Errorf("lines end in two ways: %q", text)
		}
		rulesState(t, c, path, RulesThere)
		removeRules(t, c, root, path)
		if text, err := os.ReadFile(path); own == "" && !errors.Is(err, os.ErrNotExist) || own != string(text) {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// TestRulesOfSeveralClients checks that two clients that read one file share a section until both are removed.
func TestRulesOfSeveralClients(t *testing.T) {
	codex, _ := Find("codex")
	gemini, _ := Find("gemini")
	dir := t.TempDir()
	path, link := filepath.Join(dir, "AGENTS.md"), filepath.Join(dir, "GEMINI.md")
	own := "# Mine"
	writeFile(t, path, own)
	if err := os.Symlink("AGENTS.md", link); err != nil {
		t.Skip("no symbolic links here")
	}
	setRules(t, codex, dir, path)
	rulesState(t, gemini, link, RulesAbsent)
	if !setRules(t, gemini, dir, link) || strings.Count(fileText(t, path), beginMark) != 1 {
		t.Errorf("%s", fileText(t, path))
	}
	rulesState(t, codex, path, RulesThere)
	rulesState(t, gemini, link, RulesThere)
	must.True(t, removeRules(t, codex, dir, path) && !removeRules(t, codex, dir, path), "not taken out once")
	rulesState(t, gemini, link, RulesThere)
	if !removeRules(t, gemini, dir, link) || fileText(t, path) != own {
		t.Errorf("%q", fileText(t, path))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if _, err := os.Stat(path + Backup); err == nil {
		t.Error("the backup is left")
	}
}

// TestRulesOfNoText are refused.
func TestRulesOfNoText(t *testing.T) {
	rulesFiles(t, func(t *testing.T, c Client, root, path string) {
		for _, text := range []string{"\xff\xfea\x00", "caf\xe9\n", "a\x00b\n"} {
			writeFile(t, path, text)
			_, err := c.SetRules(path)
			must.Fail(t, err, ErrDamaged, text)
			_, err = c.RemoveRules(path)
			must.Fail(t, err, ErrDamaged, text)
			_, err = c.Rules(path)
			must.Fail(t, err, ErrDamaged, text)
		}
		must.OK(t, os.Remove(path))
		must.OK(t, os.Mkdir(path, 0o700))
		must.Fail(t, must.Err(c.SetRules(path)), ErrDamaged)
	})
}

// TestUndo takes a change back, unless another program has written since.
func TestUndo(t *testing.T) {
	c, _ := Find("codex")
	dir := t.TempDir()
	path := filepath.Join(dir, "x", "AGENTS.md")
	change, err := c.SetRules(path)
	makeChange(t, dir, change, err)
	must.OK(t, change.Undo(t.Context()))
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory is left")
	}
	writeFile(t, path, "mine")
	change, err = c.SetRules(path)
	makeChange(t, dir, change, err)
	again, err := c.SetRules(path)
	makeChange(t, dir, again, err)
	if err := again.Undo(t.Context()); err != nil || again.Changed() {
		t.Fatal(err)
	}
	if err := change.Undo(t.Context()); err != nil || fileText(t, path) != "mine" {
		t.Errorf("%v, %q", err, fileText(t, path))
	}
	if _, err := os.Stat(path + Backup); err == nil {
		t.Error("the backup is left")
	}
	change, err = c.SetRules(path)
	makeChange(t, dir, change, err)
	writeFile(t, path, "another's")
	if err := change.Undo(t.Context()); err != nil || fileText(t, path) != "another's" {
		t.Errorf("%v, %q", err, fileText(t, path))
	}
}

// FuzzRules takes a section out of a user's own text to the byte, also if lines were added behind it.
func FuzzRules(f *testing.F) {
	codex, _ := Find("codex")
	f.Add([]byte("# Mine\n"), "")
	f.Add([]byte(byteOrderMark+codex.RulesText()+"\r\nx"), "")
	for _, text := range ownTexts() {
		for _, after := range []string{"", "\n## More\n", "more"} {
			f.Add([]byte(text), after)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, after string) {
		set, err := codex.rules.set(text, codex.Name)
		if err != nil || bytes.Equal(set, text) {
			return
		}
		if again, err := codex.rules.set(set, codex.Name); err != nil || !bytes.Equal(again, set) {
			t.Fatalf("not the same the second time: %v, %q", err, again)
		}
		if s, _ := sectionOf(text); s != nil || !utf8.ValidString(after) || strings.ContainsAny(after, "\x00<") {
			return // an older one, or no text
		}
		added, own := bytes.CutPrefix(set, text)
		if crlf := bytes.Contains(text, []byte("\r\n")); !own || crlf && bytes.Count(added, []byte("\n")) != bytes.Count(added, []byte("\r\n")) {
			t.Fatalf("%q became %q", text, set)
		}
		back, err := codex.rules.remove(append(set, after...), text, codex.Name)
		want := append(bytes.Clone(text), after...)
		joined := slices.Concat(text, []byte(eolOf(text)), []byte(after)) // a line of the user's is kept from joining another
		if err != nil || !bytes.Equal(back, want) && (after == "" || !bytes.Equal(back, joined)) {
			t.Fatalf("%q and %q became %q, %v", text, after, back, err)
		}
	})
}
