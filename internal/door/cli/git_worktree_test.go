package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinkedWorkTree: a git work tree next to the project has the project's memory, which 'doctor' and the hook of a
// session name; a directory that only claims to be one has none.
func TestLinkedWorkTree(t *testing.T) {
	h := newHostProgram(t)
	main := h.Dir
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	git(main, "init", "-q", ".")
	git(main, "commit", "-q", "--allow-empty", "-m", "x")
	h.run(0, "remember", "The crane of the harbour is green")
	beside := filepath.Join(t.TempDir(), "beside")
	git(main, "worktree", "add", "-q", beside)
	below := filepath.Join(beside, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{beside, below} {
		h.Dir = dir
		if out, _ := h.run(0, "recall", "what colour is the crane"); !strings.Contains(out, "green") {
			t.Errorf("%s: another memory: %s", dir, out)
		}
		out, _ := h.run(0, "doctor", "--json")
		if !strings.Contains(out, "memory of the main one, in "+main) {
			t.Errorf("%s: doctor does not say which memory it is: %s", dir, out)
		}
		if text := h.told("session-start", ""); !strings.Contains(text, "that of the main git work tree, in "+main) {
			t.Errorf("%s: the hook does not say which memory it is: %q", dir, text)
		}
	}
	h.run(0, "remember", "The crane is serviced in May")
	h.Dir = main
	if out, _ := h.run(0, "recall", "when is the crane serviced"); !strings.Contains(out, "May") {
		t.Errorf("written elsewhere: %s", out)
	}
	if out, _ := h.run(0, "doctor", "--json"); strings.Contains(out, "main one") {
		t.Errorf("the main work tree is called a linked one: %s", out)
	}

	claims := filepath.Join(t.TempDir(), "claims")
	if err := os.Mkdir(claims, 0o700); err != nil {
		t.Fatal(err)
	}
	link, err := os.ReadFile(filepath.Join(beside, ".git"))
	if err == nil {
		err = os.WriteFile(filepath.Join(claims, ".git"), link, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Dir = claims
	if _, errs := h.run(3, "recall", "what colour is the crane"); !strings.Contains(errs, "no repository") {
		t.Errorf("a file that names a git directory opens its memory: %s", errs)
	}
	h.Dir = beside
	h.run(0, "init")
	h.run(0, "remember", "The boat is red")
	var got struct{ Nodes []any }
	out, _ := h.run(0, "ls", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Nodes) != 1 {
		t.Errorf("a work tree with a memory of its own has another one: %s", out)
	}
}
