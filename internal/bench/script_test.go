package bench

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// scriptTime is when every script runs: 2026-01-02T03:04:05Z.
const scriptTime = 1767323045

// TestScripts runs testdata/script. A script has the usual commands and
//
//	mnem ARG…             mnem, in this process
//	mnem-bench ARG…       mnem-bench, in this process
//	exit CODE PROGRAM …   one of the two, which must end with that exit code
func TestScripts(t *testing.T) {
	effort.Alone(t)
	files, err := filepath.Glob("testdata/script/*.txtar")
	must.Require(t, err == nil && len(files) >= 3, "%d scripts, %v", len(files), err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *rewrite, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SOURCE_DATE_EPOCH", strconv.Itoa(scriptTime))
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, ".data"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".xdg"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mnem":       func(ts *testscript.TestScript, neg bool, args []string) { inScript(ts, neg, "mnem", args) },
			"mnem-bench": func(ts *testscript.TestScript, neg bool, args []string) { inScript(ts, neg, "mnem-bench", args) },
			"exit":       exitInScript,
		},
	})
}

func inScript(ts *testscript.TestScript, neg bool, program string, args []string) {
	if code := runInScript(ts, program, args); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

func exitInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "mnem" && args[1] != "mnem-bench" {
		ts.Fatalf("usage: exit CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if code := runInScript(ts, args[1], args[2:]); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func runInScript(ts *testscript.TestScript, program string, args []string) int {
	app := &line.App{
		Stdin: strings.NewReader(""), Stdout: ts.Stdout(), Stderr: ts.Stderr(), Getenv: ts.Getenv,
		Now: func() time.Time { return time.Unix(scriptTime, 0) }, Dir: ts.MkAbs("."), User: "Sys Tem",
		PID: os.Getpid(),
	}
	if program == "mnem" {
		return cli.Run(context.Background(), app, args)
	}
	return Run(context.Background(), app, args)
}
