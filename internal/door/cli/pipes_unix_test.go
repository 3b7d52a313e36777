//go:build unix

package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	linepkg "github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// pathWords are the words by which help calls what a user gives as a path.
var pathWords = regexp.MustCompile(`\b(FILE|DIR|PATH)\b`)

// pathsOf returns the places of a command's line that take paths: names of flags, and "" for arguments.
func pathsOf(v *linepkg.Bound) (list []string) {
	if pathWords.MatchString(linepkg.FirstOf(v.Spec.Args, v.Spec.Usage)) || strings.Contains(v.Spec.Usage, "FILE…") {
		list = append(list, "")
	}
	for _, f := range v.Spec.Fields() {
		if !f.Arg && !f.RemoteOnly && !f.NoFlag && pathWords.MatchString(f.Doc+" "+f.Note) {
			list = append(list, "--"+f.Name)
		}
	}
	return list
}

// within runs a command line, which must end: in a test that fails it may wait for ever.
func (w *world) within(args ...string) (code int, said string) {
	w.t.Helper()
	w.out.Reset()
	w.err.Reset()
	ended := make(chan int, 1)
	go func() { ended <- Run(w.ctx, w.App, args) }()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	select {
	case code = <-ended:
	case <-ctx.Done():
		w.t.Fatalf("mnem %q waits", args)
	}
	return code, w.out.String() + w.err.String()
}

// notRead are places of command lines whose paths are not opened, with the reason.
var notRead = map[string]string{
	"remember --source": "a source is kept as a text",
	"ingest --name":     "what standard input is kept as",
	"init":              "a switch",
	// The path is kept, and read when an encrypted remote is asked.
	"remote add --identity": "kept", "remote add --force --identity": "kept", "clone --identity": "kept",
}

// pipeLines are the command lines for each place that takes a path. PIPE is a named pipe. Each has the message,
// if it is another than that it is one.
var pipeLines = map[string][]string{
	"remember --batch":      {"remember --batch PIPE"},
	"remember --file":       {"remember --file PIPE"},
	"remember --vector":     {"remember x --vector m=@PIPE"},
	"ingest":                {"ingest PIPE", "ingest PIPE --dry-run", "ingest --from codex PIPE", "ingest --watch PIPE"},
	"commit":                {"commit -m x PIPE", "commit -m x --dry-run PIPE"},
	"add":                   {"add PIPE"},
	"merge --take":          {"merge --resolve alice --take PIPE"},
	"retrieve --batch":      {"retrieve --batch PIPE"},
	"retrieve --vector":     {"retrieve x --vector m=@PIPE"},
	"recall --batch":        {"recall --batch PIPE"},
	"check --calibrate":     {"check --calibrate PIPE"},
	"review sources --root": {"review sources --root PIPE | not a directory", "review sources alice --accept --root p=PIPE | not a directory"},
	"pack send --output":    {"pack send --ref refs/heads/main -o PIPE | is a named pipe that nothing reads"},
	"pack take":             {"pack take PIPE --set refs/heads/x=" + someCID + ".." + someCID},
	"export --output":       {"export -o PIPE | is a named pipe that nothing reads"},
	"import":                {"import PIPE", "import PIPE --dry-run"},
	"demo --keep":           {"demo --keep PIPE | not a directory"},
	"init":                  {"init PIPE | not a directory"},
	"serve --root":          {"serve --root PIPE | no directory"},
	"serve --addr":          {"serve --addr unix:PIPE | is no socket"},
	"serve --token-file":    {"serve --addr 127.0.0.1:0 --token-file PIPE"},
	"config secrets":        {"config secrets PIPE"},
	"key import":            {"key import PIPE"},
	"clone":                 {"clone PIPE there"},
}

// TestPipesInPlaceOfFiles has a named pipe in place of each file that is read next to a repository or in the user's
// directories: commands end, whether they need it or not.
func TestPipesInPlaceOfFiles(t *testing.T) {
	for _, tt := range []struct{ file, line, says string }{
		{".mnem/config.json", "config list", "named pipe"},
		{".mnem/policy.json", "remember x --agent robot", "named pipe"},
		{".mnem/remotes.json", "remote list", "named pipe"},
		{".mnem/database", "status", "named pipe"},
		{"home/config/mnem/config.json", "config list", "named pipe"},
		{"home/data/mnem/keys/trust", "key list", ""},
		{"credentials", "fetch http://127.0.0.1:1/x", ""},
		{"model/config.json", "retrieve x --embed=static:model", "named pipe"},
		{"docs/.gitignore", "ingest docs", ""},
		{"docs/sub/.mnemignore", "ingest docs", ""},
		{"docs/a.md", "ingest docs", ""},
		{".gitignore", "ingest docs", ""},
		{"talk.jsonl", "ingest --from codex .", ""},
		{".git/HEAD", "git follow", ""},
		{".git", "git follow", "not a file"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			w := newWorld(t)
			w.init()
			w.env["MNEM_CREDENTIALS"] = filepath.Join(w.Dir, "credentials")
			w.Stdin = strings.NewReader("")
			path := filepath.Join(w.Dir, filepath.FromSlash(tt.file))
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			must.OK(t, syscall.Mkfifo(path, 0o600))
			code, said := w.within(strings.Fields(tt.line)...)
			if tt.says != "" && (code == 0 || !strings.Contains(said, tt.says) || !strings.Contains(said, filepath.Base(path))) {
				t.Errorf("mnem %s: exit code %d: %s", tt.line, code, said)
			}
			must.OK(t, os.Remove(path))
			w.run(0, "status", "--wait", "0s")
		})
	}
}

// TestPipesAreRefused gives a named pipe for each path that a command line takes: the command ends and names it, and
// the next one finds the repository free.
func TestPipesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.Stdin = strings.NewReader(aliceLine)
	w.run(0, "commit", "-m", "x", "-")
	w.run(0, "switch", "-c", "other")
	for _, branch := range []string{"other", "main"} { // a conflict, for merge --take
		w.run(0, "switch", branch)
		w.Stdin = strings.NewReader(`{"node":{"key":"alice","type":"Person","summary":"of ` + branch + `"}}`)
		w.run(0, "commit", "-m", branch, "-")
	}
	w.run(5, "merge", "other")
	w.Stdin = strings.NewReader("")
	pipe := filepath.Join(w.Dir, "pipe.md")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	found := 0
	for _, v := range all((&linepkg.Line{})) {
		for _, place := range pathsOf(v) {
			name := strings.TrimSpace(v.Spec.Command + " " + place)
			found++
			if notRead[name] != "" {
				continue
			}
			lines := pipeLines[name]
			must.True(t, len(lines) > 0, "%s takes a path (%s): say how it is given a pipe", name, v.Spec.Usage)
			for _, text := range lines {
				line, says, _ := strings.Cut(text, " | ")
				code, said := w.within(strings.Fields(strings.ReplaceAll(line, "PIPE", pipe))...)
				if code == 0 || !strings.Contains(said, linepkg.FirstOf(says, "pipe.md is a named pipe, not a regular file")) {
					t.Errorf("mnem %s: exit code %d: %s", line, code, said)
				}
				if code, said := w.within("status", "--wait", "0s"); code != 0 {
					t.Errorf("after mnem %s: exit code %d: %s", line, code, said)
				}
			}
		}
	}
	must.True(t, found >= 15, "only %d places take paths", found)
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v", err)
	}
}
