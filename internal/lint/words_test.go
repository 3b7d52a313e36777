package lint

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

var rewrite = flag.Bool("rewrite", false, "write the table of words instead of comparing with it")

// wordsTable lists the packages that still use wordings below, with the number of hits in each. A package without a
// row has none. Counts may only fall: -rewrite refuses a table whose total is higher.
const wordsTable = "testdata/words.txt"

// A wording reads as translated. Most have few legitimate uses, which the table's counts leave room for.
type wording struct {
	pattern *regexp.Regexp
	instead string
}

var wordings = []wording{
	{regexp.MustCompile(`, where\b|(^|[.;:] +)Where\b`), `"if" or "when"`},
	{regexp.MustCompile(`(?i)\b(is|are|was|were) what\b`), "a verb: say what it does"},
	{regexp.MustCompile(`(?i)\b(is|are|was|were) (those|that|the one|the ones) (that|which|who|whose|of)\b`), "a verb: say what it does"},
	{regexp.MustCompile(`(?i)\bof which\b`), "a sentence of its own"},
	{regexp.MustCompile(`(?i)\b(is|are) of (a|an|the|one|another|this|that|its|no)\b`), `"belongs to" or "comes from"`},
	{regexp.MustCompile(`(?i)\b(is|are|was|were) to be\b`), `"must be" or the verb`},
	{regexp.MustCompile(`(?i)\banew\b`), `"again"`},
	{regexp.MustCompile(`(?i)\bbeside\b`), `"next to", "with" or "at the same time as"`},
	{regexp.MustCompile(`(?i)\bwho(so)?ever\b`), `"callers that"`},
	{regexp.MustCompile(`(?i)\bnobody\b`), `"no caller" or "no process"`},
	{regexp.MustCompile(`(?i)\bmeanwhile\b`), `"concurrently" or "in the meantime"`},
	{regexp.MustCompile(`(?i)\bno more($|[.,;:)])`), `"no longer"`},
	{regexp.MustCompile(`(?i)\btold of\b`), `"reported"`},
	{regexp.MustCompile(`(?i)\bas far as\b`), `"up to" or "if"`},
	{regexp.MustCompile(`(?i)\b(at hand|in vain|tidings|sieves?|gifts?|lends?|lent|therein|thereof|household)\b`), "the technical term"},
}

// A passage is text that people read in the source, with its place.
type passage struct {
	at   token.Pos
	text string
}

// passages returns the comments of a file, the names of its tests, and the texts of its errors and subtests.
func passages(file *ast.File) []passage {
	var all []passage
	for _, group := range file.Comments {
		all = append(all, passage{group.Pos(), strings.ReplaceAll(group.Text(), "\n", " ")})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if strings.HasPrefix(n.Name.Name, "Test") {
				all = append(all, passage{n.Pos(), spaced(n.Name.Name)})
			}
		case *ast.CallExpr:
			if text, ok := message(n); ok {
				all = append(all, passage{n.Pos(), text})
			}
		}
		return true
	})
	return all
}

// message returns the first argument of fmt.Errorf, errors.New or t.Run, if it is a literal.
func message(call *ast.CallExpr) (string, bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING || !slices.Contains([]string{"Errorf", "New", "Run"}, sel.Sel.Name) {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// spaced puts a space before each capital letter of a name.
func spaced(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A hit is a wording found in a file.
type hit struct {
	place, text, instead string
}

func hits(fset *token.FileSet, file *ast.File) []hit {
	var found []hit
	for _, p := range passages(file) {
		for _, w := range wordings {
			for _, text := range w.pattern.FindAllString(p.text, -1) {
				found = append(found, hit{fset.Position(p.at).String(), strings.TrimSpace(text), w.instead})
			}
		}
	}
	return found
}

// TestWords fails for a package that has more hits than the table grants it.
func TestWords(t *testing.T) {
	found := map[string][]hit{}
	for _, s := range sources(t) {
		if h := hits(s.fset, s.file); len(h) > 0 && !ast.IsGenerated(s.file) && s.path != "internal/lint/words_test.go" {
			found[path.Dir(s.path)] = append(found[path.Dir(s.path)], h...)
		}
	}
	granted := readWords(t)
	if *rewrite {
		writeWords(t, found, granted)
		return
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if len(found[dir]) <= granted[dir] {
			continue
		}
		t.Errorf("%s has %d wordings, limit %d: reword these (if code moved here, go test ./internal/lint -run Words -rewrite)",
			dir, len(found[dir]), granted[dir])
		for _, h := range found[dir] {
			t.Errorf("%s: %q: write %s", strings.TrimPrefix(h.place, root+"/"), h.text, h.instead)
		}
	}
}

// readWords returns the table's count of each package. A table that does not exist yet is empty.
func readWords(t *testing.T) map[string]int {
	t.Helper()
	file, err := os.Open(wordsTable)
	if errors.Is(err, fs.ErrNotExist) && *rewrite {
		return nil
	}
	must.OK(t, err)
	defer file.Close()
	counts := map[string]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		dir, count, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || counts[dir] > 0 {
			t.Fatalf("%s: bad row %q", wordsTable, lines.Text())
		}
		counts[dir] = n
	}
	must.OK(t, lines.Err())
	return counts
}

func writeWords(t *testing.T, found map[string][]hit, granted map[string]int) {
	t.Helper()
	before, after := 0, 0
	for _, n := range granted {
		before += n
	}
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		after += len(found[dir])
		fmt.Fprintln(&b, dir, len(found[dir]))
	}
	must.Require(t, granted == nil || after <= before,
		"%d hits, the table has %d: reword the new ones", after, before)
	must.OK(t, os.WriteFile(wordsTable, []byte(b.String()), 0o666))
}
