package cli_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repofiles"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// scriptTime is when every script runs: 2026-01-02T03:04:05Z.
const scriptTime = 1767323045

// TestScripts runs testdata/script. A script has the usual commands and
//
//	mnem ARG… [<FILE]       the program, in this process, with FILE as standard input
//	exit CODE mnem ARG…     the same, which must end with that exit code
//	capture NAME REGEXP     sets a variable to what the group in the expression matches in stdout
//	keys LIST [KEY…]        compares the keys of the objects of a list in stdout, which is JSON; - for none
//	members NAME…           compares the members of the first line of stdout, in their order
//	equal A B               compares two texts
//	as-before               compares commit, nodes and half-lives with the files was.1 to was.3
//	damage DIR              changes one byte of a repository, which is then not checked
//
// Every repository that a script leaves behind is checked from end to end.
func TestScripts(t *testing.T) {
	if effort.Race {
		t.Skip("TestScriptsHeld runs such commands beside one another")
	}
	runScripts(t, nil, "*")
}

// runScripts runs the scripts of some names.
func runScripts(t *testing.T, by *holding, names ...string) {
	var files []string
	for _, name := range names {
		found, err := filepath.Glob("testdata/script/" + name + ".txtar")
		must.Require(t, err == nil && len(found) > 0, "no script %s: %v", name, err)
		files = append(files, found...)
	}
	testscript.Run(t, testscript.Params{
		Files: files, UpdateScripts: *rewrite, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error { return setupScript(env, by) },
		Cmds:  scriptCommands(),
	})
}

func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"mnem": mnemInScript, "exit": exitInScript, "damage": damageInScript, "capture": captureInScript,
		"keys": keysInScript, "members": membersInScript,
		"as-before": func(ts *testscript.TestScript, neg bool, _ []string) {
			same := true
			for i, words := range []string{
				"show HEAD --json", "ls --json --limit 1000 --include forgotten,superseded,expired,retired", "config half-life --json",
			} {
				var out strings.Builder
				cli.Run(context.Background(), scriptApp(ts, strings.NewReader(""), &out, io.Discard), strings.Fields(words))
				same = same && out.String() == ts.ReadFile(fmt.Sprintf("was.%d", i+1))
			}
			if same == neg {
				ts.Fatalf("the same: %t", same)
			}
		},
		"equal": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || args[0] != args[1] {
				ts.Fatalf("%s\nis not\n%s", args[0], args[1])
			}
		},
	}
}

// scriptState holds the variables of one script.
type scriptState struct {
	damaged bool
	rand    io.Reader
	by      *holding // nil if each command opens the repository itself
	world   *world   // of the scripts in testdata/world, else nil
}

type stateKey struct{}

func setupScript(env *testscript.Env, by *holding) error {
	env.Setenv("SOURCE_DATE_EPOCH", strconv.Itoa(scriptTime))
	demo, err := filepath.Abs("../../../testdata/demo")
	if err != nil {
		return err
	}
	env.Setenv("DEMO", demo)
	env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
	env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, ".data"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".xdg"))
	s := &scriptState{rand: mathrand.NewChaCha8([32]byte{}), by: by}
	env.Values[stateKey{}] = s
	env.Defer(func() {
		if err := checkRepos(env.WorkDir); err != nil && !s.damaged {
			env.T().Fatal(err)
		}
	})
	return nil
}

// checkRepos checks every repository under a directory.
func checkRepos(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != core.DirName {
			return err
		}
		if unknown, err := repofiles.Unknown(path); err != nil || len(unknown) > 0 {
			return fmt.Errorf("package layout does not name %q in %s: %w", unknown, path, err)
		}
		if _, err := os.Stat(filepath.Join(path, "db")); err != nil {
			return fs.SkipDir
		}
		r, err := care.Open(filepath.Dir(path), core.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
		for _, e := range report.Errors {
			err = fmt.Errorf("fsck %s: %s %s: %s", path, e.Kind, e.CID, e.Message)
		}
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
		if err == nil {
			err = fs.SkipDir
		}
		return err
	})
}

func mnemInScript(ts *testscript.TestScript, neg bool, args []string) {
	code := runInScript(ts, args)
	if (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

func exitInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "mnem" {
		ts.Fatalf("usage: exit CODE mnem ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if code := runInScript(ts, args[2:]); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func runInScript(ts *testscript.TestScript, args []string) int {
	var in io.Reader = strings.NewReader("")
	if n := len(args); n > 0 && strings.HasPrefix(args[n-1], "<") {
		in = strings.NewReader(ts.ReadFile(args[n-1][1:]))
		args = args[:n-1]
	}
	app := scriptApp(ts, in, ts.Stdout(), ts.Stderr())
	if by := ts.Value(stateKey{}).(*scriptState).by; by != nil {
		release := by.hold(ts, app)
		defer release()
	}
	return cli.Run(context.Background(), app, args)
}

// scriptApp returns the circumstances of a command line of a script.
func scriptApp(ts *testscript.TestScript, in io.Reader, out, errs io.Writer) *line.App {
	state := ts.Value(stateKey{}).(*scriptState)
	app := &line.App{
		Stdin: in, Stdout: out, Stderr: errs, Getenv: ts.Getenv,
		Now:  func() time.Time { return time.Unix(scriptTime, 0) },
		Rand: state.rand,
		Dir:  ts.MkAbs("."), User: "Sys Tem", Home: ts.Getenv("HOME"), Executable: "/opt/bin/mnem",
		PID: os.Getpid(),
	}
	if state.world != nil {
		state.world.set(app)
	}
	return app
}

// damageInScript flips a bit in the middle of what a repository stores.
func damageInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage DIR")
	}
	ts.Value(stateKey{}).(*scriptState).damaged = true
	tables, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "db", "*.sst"))
	ts.Check(err)
	var largest []byte
	var path string
	for _, name := range tables {
		data, err := os.ReadFile(name)
		ts.Check(err)
		if len(data) > len(largest) {
			largest, path = data, name
		}
	}
	if path == "" {
		ts.Fatalf("no table in %s", args[0])
	}
	largest[len(largest)/4] ^= 1
	ts.Check(os.WriteFile(path, largest, 0o600))
}

func membersInScript(ts *testscript.TestScript, neg bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	_, err := dec.Token()
	ts.Check(err)
	var names []string
	for dec.More() {
		name, err := dec.Token()
		ts.Check(err)
		names = append(names, name.(string))
		var skip json.RawMessage
		ts.Check(dec.Decode(&skip))
	}
	if neg || strings.Join(names, " ") != strings.Join(args, " ") {
		ts.Fatalf("members %q", names)
	}
}

func keysInScript(ts *testscript.TestScript, neg bool, args []string) {
	var all map[string]json.RawMessage
	var list []struct{ Key *string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &all))
	ts.Check(json.Unmarshal(all[args[0]], &list))
	var got []string
	for _, o := range list {
		if o.Key == nil {
			o.Key = new("-")
		}
		got = append(got, *o.Key)
	}
	if neg || strings.Join(got, " ") != strings.Join(args[1:], " ") {
		ts.Fatalf("keys %q", got)
	}
}

func captureInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	found := re.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no match for %s", re)
	}
	ts.Setenv(args[0], found[1])
}
