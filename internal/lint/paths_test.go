package lint

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// opening are calls that wait if a path leads to a named pipe.
var opening = map[string]bool{
	"os.Open": true, "os.ReadFile": true, "os.OpenRoot": true, "os.DirFS": true, "os.OpenFile": true, "os.WriteFile": true,
}

// mayOpen are files and directories that may call them, with the reason. Others open with base/regular.
var mayOpen = map[string]string{
	"internal/base/regular/":               "the one place",
	"internal/testkit/":                    "tests alone",
	"internal/base/text/gen/":              "a generator, for files of this module",
	"internal/base/zones/gen/":             "a generator, for files of this module",
	"internal/lint/house/":                 "a program for files of this module",
	"web/build/":                           "a generator, for files of this module",
	"docs/site/":                           "a program for files of this module",
	"conformance/":                         "a program for files of this module",
	"release/":                             "a program for files of this module",
	"internal/door/cli/man/":               "a generator, which writes a new directory",
	"internal/bench/":                      "a program of its own, which holds no memory of a user",
	"internal/block/store/pebble/":         "files of the store, which it makes",
	"internal/base/queue/":                 "a file of the store's lock",
	"internal/base/filestate/":             "locks, directories and new files of its own, made exclusively",
	"internal/owner/":                      "a new file of its own, made exclusively",
	"internal/exchange/remote/transfer.go": "a file of its own, of what came so far",
	"internal/door/serve/upload.go":        "files of its own, under random names",
	"internal/agent/capture/spool.go":      "its own directory, to sync it",
	"internal/agent/capture/told.go":       "opened with regular.NoWait",
	"internal/door/line/input.go":          "descriptors, opened with regular.NoWait",
	"internal/door/line/out.go":            "an output, opened with regular.NoWait",
	"internal/door/serving/view.go":        "a new file of its own",
	"internal/door/cli/demo.go":            "new files, in a directory that is empty",
}

// TestPathsOfUsersAreOpenedWithoutWaiting finds calls that could wait for another program, and exceptions that none needs.
func TestPathsOfUsersAreOpenedWithoutWaiting(t *testing.T) {
	used := make(map[string]bool)
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || !opening[pkg.Name+"."+sel.Sel.Name] {
				return true
			}
			for at := range mayOpen {
				if strings.HasPrefix(s.path, at) {
					used[at] = true
					return true
				}
			}
			t.Errorf("%s: %s.%s waits for the other end of a named pipe: open with internal/base/regular", s.fset.Position(sel.Pos()),
				pkg.Name, sel.Sel.Name)
			return true
		})
	}
	for at := range mayOpen {
		must.Check(t, used[at], "%s needs no exception", at)
	}
}
