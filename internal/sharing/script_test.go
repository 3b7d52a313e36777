package sharing_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// inline runs a script within the test that calls it.
type inline struct{ *testing.T }

func (inline) Parallel()                               {}
func (t inline) Run(_ string, do func(t testscript.T)) { do(t) }
func (inline) Verbose() bool                           { return testing.Verbose() }

// scripts returns the scenarios of a directory: scripts, which have the usual commands and
//
//	MACHINE ARG… [<FILE]     the program on a machine: hub, one letter, or a name that begins with root/
//	exit CODE MACHINE ARG…   the same, which must end with that exit code
//	add MACHINE KEY SUMMARY ARG…  commits a node
//	clones MACHINE…          makes a repository of the hub's on each machine
//	conflict                 two machines change one thing differently, after a has pushed
//	same BRANCH MACHINE…     the branch is at one commit on all
//	at MACHINE REF WANT      a ref is there, "" for nowhere; ! at: it is elsewhere
//	get NAME MACHINE REF     sets a variable to that; operations NAME MACHINE: to how many there are
//	summary MACHINE KEY WANT [AT]
//	capture NAME REGEXP      sets a variable to what the group matches in stdout
//	identity NAME            makes an identity with the recipient $NAME; use NAME: has the team use it
//	admin                    has all go with a token of scope admin
//	hold MACHINE             another process opens the repository of a machine
//	write FILE TEXT, flip FILE, damage DIR  write a file, change a bit of one, or bytes of a store
//	any MACHINE ARG…         the program with any exit code
//	copy FROM TO             copies a directory, which it replaces
//
// $URL is where the hub is. ENCRYPT in a command line is the flags that encrypt.
func scripts(t *testing.T, dir string) (list []scenario) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	must.Require(t, err == nil && len(files) > 0, "no scripts in %s: %v", dir, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		list = append(list, scenario{strings.ReplaceAll(name, "_", " "), func(w *team) { w.play(file) }})
	}
	return list
}

// TestAlone runs the scripts that are played over one carrier, which their names end with.
func TestAlone(t *testing.T) {
	for _, s := range scripts(t, "alone") {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			name := s.name[strings.LastIndexByte(s.name, '.')+1:]
			by := carrier{name: "http", url: func(_ *team, dir string) string { return served(t, dir, "--need-token") }}
			if name != "needing" {
				by = over(t, name)
			}
			s.do(newTeam(t, by))
		})
	}
}

// play runs a script.
func (w *team) play(file string) {
	w.Helper()
	var script *testscript.TestScript
	w.getenv = func(name string) string {
		if value, ok := w.env[name]; ok {
			return value
		}
		switch {
		case script == nil || name == "HOME" || name == "TMPDIR" || name == "PATH":
			return ""
		}
		return script.Getenv(name)
	}
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, do := range w.commands() {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) { script = ts; do(ts, neg, args) }
	}
	testscript.RunT(inline{w.T}, testscript.Params{
		Files: []string{file}, Cmds: cmds,
		Setup: func(env *testscript.Env) error {
			env.Setenv("URL", w.url)
			env.Setenv("DIR", w.dir)
			for _, name := range []string{"MNEM_SSH"} {
				env.Setenv(name, w.env[name])
			}
			return nil
		},
	})
}

// commands returns the commands of scripts.
func (w *team) commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	run := func(ts *testscript.TestScript, code int, machine string, args []string) {
		in := ""
		if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
			in, args = ts.ReadFile(args[last][1:]), args[:last]
		}
		if i := slices.Index(args, "ENCRYPT"); i >= 0 {
			args = slices.Concat(args[:i], w.encrypt, args[i+1:])
		}
		out, errs := w.run(code, machine, in, args...)
		_, _ = ts.Stdout().Write([]byte(out))
		_, _ = ts.Stderr().Write([]byte(errs))
	}
	all := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"exit": func(ts *testscript.TestScript, _ bool, args []string) {
			code, err := strconv.Atoi(args[0])
			ts.Check(err)
			run(ts, code, args[1], args[2:])
		},
		"add":      func(_ *testscript.TestScript, _ bool, args []string) { w.add(args[0], args[1], args[2], args[3:]...) },
		"clones":   func(_ *testscript.TestScript, _ bool, args []string) { w.clones(args...) },
		"conflict": func(*testscript.TestScript, bool, []string) { w.conflict() },
		"same":     func(_ *testscript.TestScript, _ bool, args []string) { w.same(args[0], args[1:]...) },
		"at": func(ts *testscript.TestScript, neg bool, args []string) {
			if got := w.at(args[0], args[1]); (got == args[2]) == neg {
				ts.Fatalf("%s of %s is at %q", args[1], args[0], got)
			}
		},
		"get": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], w.at(args[1], args[2])) },
		"operations": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], strconv.Itoa(w.operations(args[1])))
		},
		"equal": func(ts *testscript.TestScript, neg bool, args []string) {
			if (args[0] == args[1]) == neg {
				ts.Fatalf("%q and %q", args[0], args[1])
			}
		},
		"summary": func(ts *testscript.TestScript, _ bool, args []string) {
			at := []string{}
			if len(args) > 3 {
				at = []string{"--at", args[3]}
			}
			if got := w.summary(args[0], args[1], at...); got != args[2] {
				ts.Fatalf("%s has %q", args[0], got)
			}
		},
		"capture":  func(ts *testscript.TestScript, _ bool, args []string) { captured(ts, args[0], args[1]) },
		"identity": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], w.identity(args[0])) },
		"use":      func(_ *testscript.TestScript, _ bool, args []string) { w.use(args[0]) },
		"admin":    func(*testscript.TestScript, bool, []string) { w.admin() },
		"copy": func(ts *testscript.TestScript, _ bool, args []string) {
			copyStore(w.T, ts.MkAbs(args[0]), ts.MkAbs(args[1]))
		},
		"purged": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], w.purged()) },
		"reads":  func(_ *testscript.TestScript, _ bool, args []string) { w.reads(args[0], args[1], args[2]) },
		"damage": func(ts *testscript.TestScript, _ bool, args []string) { damageStore(w.T, ts.MkAbs(args[0])) },
		"any": func(ts *testscript.TestScript, _ bool, args []string) {
			_ = cli.Run(w.Context(), w.app(args[0], "", ts.Stdout(), ts.Stderr()), args[1:]) // its exit code may be any
		},
		"hold": func(ts *testscript.TestScript, _ bool, args []string) {
			if _, out := program.Hold(w.T, filepath.Join(w.dir, args[0])); !program.Owns(w.T, out) {
				ts.Fatalf("it is open elsewhere")
			}
		},
		"flip": func(ts *testscript.TestScript, _ bool, args []string) {
			data, err := os.ReadFile(ts.MkAbs(args[0]))
			ts.Check(err)
			data[len(data)/2] ^= 1
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
		},
		"write": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[1]), 0o600))
		},
	}
	for _, machine := range []string{"a", "b", "c", "d", "m", "good", "user", "hub", "a/memory", "root/x"} {
		all[machine] = func(ts *testscript.TestScript, _ bool, args []string) { run(ts, 0, machine, args) }
	}
	return all
}

// damageStore changes bytes in the middle of every file of a store.
func damageStore(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, ".mnem"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "config.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) > 8 {
			for i := len(data) / 3; i < len(data); i += 7 {
				data[i] ^= 0x55
			}
			err = os.WriteFile(path, data, 0o600)
		}
		return err
	})
	must.OK(t, err)
}

func captured(ts *testscript.TestScript, name, expr string) {
	found := regexp.MustCompile(expr).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no match for %s", expr)
	}
	ts.Setenv(name, found[1])
}
