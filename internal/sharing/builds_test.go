package sharing_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// otherBuild builds a program whose verbs differ from those here: show has one field more, and there is no verb
// blame.
func otherBuild(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go here to build another program with")
	}
	root := must.Get(filepath.Abs("../.."))(t)
	dir, replaced := t.TempDir(), map[string]string{}
	for file, change := range map[string][2]string{
		"internal/verb/branching/show.go": {"type ShowRequest struct {", "type ShowRequest struct {\n\tMore string `op:\",remote\" doc:\"a {WORD} more\"`"},
		"internal/verb/table/table.go":    {"\t&branching.Blame.Spec,\n", ""},
		"internal/door/verbs/verbs.go":    {"reach.Bind(branching.Blame, answers.Blame),", ""},
	} {
		path := filepath.Join(root, filepath.FromSlash(file))
		data := must.Get(os.ReadFile(path))(t)
		text := strings.Replace(string(data), change[0], change[1], 1)
		must.Require(t, text != string(data), "%s has no %q", file, change[0])
		replaced[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		must.OK(t, os.WriteFile(replaced[path], []byte(text), 0o600))
	}
	overlay := must.Get(json.Marshal(map[string]any{"Replace": replaced}))(t)
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mnem")
	must.OK(t, os.WriteFile(file, overlay, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-overlay", file, "-o", program, "./cmd/mnem")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return program
}

// TestTwoBuilds has two builds whose tables of verbs differ sync with each other, and ask each other over the socket:
// what both know works, and what one does not know is named.
func TestTwoBuilds(t *testing.T) {
	effort.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("the other build is started by a script of sh")
	}
	t.Parallel()
	program := otherBuild(t)
	w := newTeam(t, over(t, "path"))
	other := func(code int, machine, stdin string, args ...string) string {
		t.Helper()
		cmd := w.process(machine, stdin, args...)
		cmd.Path, cmd.Args[0] = program, program
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the exit code is looked at
		must.Equal(t, cmd.ProcessState.ExitCode(), code, "the other build: ", args, ": exit code: ", &out)
		return out.String()
	}
	script := filepath.Join(w.dir, "ssh")
	text := "#!/bin/sh\nshift 2\neval exec " + program + " \"${1#mnem }\"\n"
	must.OK(t, os.WriteFile(script, []byte(text), 0o700))
	w.env["MNEM_SSH"] = script
	w.add("hub", "one", "x")
	// The other build answers by ssh, and asks this one's server and directories.
	w.ok("a", "clone", "ssh://hub.example"+filepath.ToSlash(filepath.Join(w.dir, "hub")), ".")
	w.add("a", "two", "of a")
	w.ok("a", "sync")
	url := served(t, filepath.Join(w.dir, "hub"))
	_ = w.app("b", "", nil, nil) // makes the directory
	other(0, "b", "", "clone", url, ".")
	other(0, "b", `{"node":{"key":"three","type":"N","summary":"of b"}}`, "commit", "-m", "x", "-")
	other(0, "b", "", "sync")
	w.ok("a", "sync")
	w.same("main", "a", "b", "hub")
	// This build has the repository of hub open for the other one.
	must.Contain(t, other(0, "hub", "", "show", "three"), "of b")
	other(0, "hub", `{"node":{"key":"four","type":"N","summary":"of the other"}}`, "commit", "-m", "x", "-")
	must.Contain(t, other(6, "hub", "", "show", "three", "--more", "x"), "more of show")
	// And the other one that of a for this.
	hold := w.process("a", "", "hold", "--json")
	hold.Path, hold.Args[0] = program, program
	out, err := hold.StdoutPipe()
	if err == nil {
		err = hold.Start()
	}
	must.OK(t, err)
	t.Cleanup(func() { _, _ = hold.Process.Kill(), hold.Wait() })
	must.OK(t, must.Err(out.Read(make([]byte, 4096))))
	must.Equal(t, w.summary("a", "three"), "of b")
	w.add("a", "five", "x")
	w.ok("a", "sync")
	w.refused(6, "blame", "a", "blame", "five")
}
