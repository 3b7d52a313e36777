package journeys

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// journey is one journey of a script.
type journey struct {
	*tab
	t    *testing.T
	m    *memory
	tabs []*tab
	vars map[string]string
	said string // by the last command of mnem
	line string
}

// TestJourneys goes the journeys of testdata. Each begins with "= NAME" and has lines of a command and its words, which
// single quotes hold together, or an expression of the page. A line that begins with | belongs to the one before it.
// $NAME and $(NAME) stand for a value: PAGE for the address of the server, URL for that with the code, SAID for the first
// line that the last command of mnem printed, COUNT for the memories of the graph at rest.
//
//	memory demo|empty|NAME   makes a memory; that of NAME by testdata/memories
//	mnem ARG…                runs mnem there, which must fail after !
//	says TEXT…               it printed all these, or none of them after !; counts N TEXT: it printed this so often
//	write FILE [TEXT]        writes a file; document KEY: commits a part of a document
//	named NAME SUMMARY       sets a variable to the id of a memory
//	start ARG…, stop         starts mnem as a server, and ends it
//	open, visit URL          opens a browser, and goes to an address; view ARG…: does both with 'mnem view'
//	other, tab N             opens another tab of the browser, and goes to the tab of a number, from 1
//	okay TEXT…               the page may complain of these
//	at FRAGMENT, reload, size WIDTH HEIGHT, dark
//	reads TEXT…, wait JS     waits until the page has these, or until an expression is true
//	is JS, run JS, keep NAME JS   an expression is true now; runs one; sets a variable to its value
//	click SELECTOR [TEXT]    clicks on the first element with a text; press ITEM BUTTON: a button in an item of a list
//	type SELECTOR TEXT, key KEY…
//	rest N                   waits until the graph shows more than N memories and rests
//	files, file N, xml       has the page keep the files that it makes; the Nth is in text then; text is XML
//	shot NAME                keeps a picture, if SHOTS names a directory
func TestJourneys(t *testing.T) {
	files := mustGet(filepath.Glob("testdata/*.txt"))(t)
	n := 0
	for _, file := range files {
		data := mustGet(os.ReadFile(file))(t)
		for _, text := range strings.Split("\n"+string(data), "\n= ")[1:] {
			n++
			name, lines, _ := strings.Cut(text, "\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				j := &journey{t: t, vars: map[string]string{"MEMORIES": memories}}
				defer func() {
					if t.Failed() {
						t.Logf("at: %s", j.line)
					}
				}()
				j.play(lines)
			})
		}
	}
	if n < 55 {
		t.Errorf("%d journeys", n)
	}
}

func (j *journey) play(lines string) {
	j.t.Helper()
	for line := range strings.SplitSeq(strings.ReplaceAll(lines, "\n|", "\x00"), "\n") {
		if line = strings.ReplaceAll(line, "\x00", "\n"); line != "" && line[0] != '#' {
			j.line = line
			j.step(line)
		}
	}
}

var (
	variable = regexp.MustCompile(`\$([A-Z]+)|\$\(([A-Z]+)\)`)
	escape   = regexp.MustCompile(`\\(u[0-9a-f]{4}|[rt])`)
	quotedIn = regexp.MustCompile(`'(?:[^']|'')*'|[^\s']+`)
	keys     = map[string]string{
		"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowDown": kb.ArrowDown,
	}
)

// filled puts values in the place of variables.
func (j *journey) filled(s string) string {
	return variable.ReplaceAllStringFunc(s, func(name string) string {
		v, ok := j.vars[strings.Trim(name, "$()")]
		if !ok {
			j.t.Fatalf("no %s", name)
		}
		return v
	})
}

// words returns the words of a line.
func (j *journey) words(s string) (out []string) {
	for _, w := range quotedIn.FindAllString(s, -1) {
		if w[0] == '\'' {
			w = strings.ReplaceAll(w[1:len(w)-1], "''", "'")
		}
		out = append(out, j.filled(unescaped(w)))
	}
	return out
}

func unescaped(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1] {
		case 'r':
			return "\r"
		case 't':
			return "\t"
		}
		var r rune
		_, _ = fmt.Sscanf(e[2:], "%x", &r) // four digits
		return string(r)
	})
}

func (j *journey) step(line string) {
	j.t.Helper()
	line, not := strings.CutPrefix(line, "! ")
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "wait", "is", "run", "keep":
		j.evaluates(verb, j.filled(rest))
		return
	case "write", "document":
		rest, text, more := strings.Cut(rest, "\n")
		w := append(j.words(rest), unescaped(text))
		if verb == "document" {
			j.m.document(w[0], w[1]+"\n")
			return
		}
		if more {
			w[1] += "\n"
		}
		mustOK(j.t, os.WriteFile(filepath.Join(j.m.dir, w[0]), []byte(w[1]), 0o600))
		return
	}
	if !j.ofMemory(verb, j.words(rest), not) {
		j.ofPage(verb, j.words(rest))
	}
}

// evaluates does what has an expression of the page.
func (j *journey) evaluates(verb, js string) {
	j.t.Helper()
	switch verb {
	case "wait":
		j.wait(js)
	case "is":
		if !get[bool](j.tab, "!!("+js+")") {
			j.t.Errorf("it is not so that %s\npage: %.2000s", js, j.textNow())
		}
	case "run":
		j.run(js)
	case "keep":
		name, js, _ := strings.Cut(js, " ")
		j.vars[name] = get[string](j.tab, "String("+js+")")
	}
}

// ofMemory does what concerns the memory and its server, and reports whether it knows that.
func (j *journey) ofMemory(verb string, words []string, not bool) bool {
	j.t.Helper()
	switch verb {
	case "memory":
		switch words[0] {
		case "demo":
			j.m = demo(j.t)
		case "empty":
			j.m = empty(j.t)
		default:
			data := mustGet(os.ReadFile(filepath.Join("testdata", "memories", words[0]+".txt")))(j.t)
			j.play(string(data))
		}
	case "mnem":
		if not {
			cmd := exec.CommandContext(j.t.Context(), program, words...)
			cmd.Dir = j.m.dir
			if out, err := cmd.CombinedOutput(); err == nil {
				j.t.Fatalf("it does not fail: %s", out)
			}
			return true
		}
		j.said = j.m.mnem(words...)
		first, _, _ := strings.Cut(j.said, "\n")
		j.vars["SAID"] = strings.TrimSpace(first)
	case "says":
		for _, text := range words {
			if strings.Contains(j.said, text) == not {
				j.t.Errorf("%q: %s", text, j.said)
			}
		}
	case "counts":
		if fmt.Sprint(strings.Count(j.said, words[1])) != words[0] {
			j.t.Errorf("not %s times %q: %s", words[0], words[1], j.said)
		}
	case "named":
		j.vars[words[0]] = j.m.named(words[1])
	case "start":
		j.start(words...)
	case "stop":
		j.m.stop()
	case "view":
		j.start(append([]string{"view", "--print"}, words...)...)
		j.goes(open(j.t))
		j.visit(j.m.url)
		j.wait("document.querySelector('#main')")
	default:
		return false
	}
	return true
}

func (j *journey) start(args ...string) {
	j.t.Helper()
	j.m.serve(args...)
	j.vars["URL"] = j.m.url
	j.vars["PAGE"], _, _ = strings.Cut(j.m.url, "#")
	j.vars["ADDR"] = strings.TrimPrefix(j.m.url, "http://")
}

func (j *journey) goes(to *tab) { j.tab, j.tabs = to, append(j.tabs, to) }

// ofPage does what a person does with a page.
func (j *journey) ofPage(verb string, words []string) {
	j.t.Helper()
	number := func(i int) (n int) {
		if _, err := fmt.Sscan(words[i], &n); err != nil {
			j.t.Fatal(err)
		}
		return n
	}
	switch verb {
	case "open":
		j.goes(open(j.t))
	case "other":
		j.goes(j.other())
	case "tab":
		j.tab = j.tabs[number(0)-1]
	case "okay":
		j.okay = append(j.okay, words...)
	case "visit":
		j.visit(words[0])
	case "at":
		j.at(words[0])
	case "reload":
		j.do(chromedp.Reload())
	case "size":
		j.do(chromedp.EmulateViewport(int64(number(0)), int64(number(1))))
	case "dark":
		j.dark()
	case "reads":
		j.reads(words...)
	case "click":
		j.click(words[0], strings.Join(words[1:], ""))
	case "press":
		j.press(words[0], words[1])
	case "type":
		j.do(chromedp.SendKeys(words[0], words[1]))
	case "key":
		for _, key := range words {
			if named := keys[key]; named != "" {
				key = named
			}
			j.do(chromedp.KeyEvent(key))
		}
	case "rest":
		j.vars["COUNT"] = fmt.Sprint(j.rest(number(0)))
	case "files":
		j.run(keep)
	case "file":
		j.file(number(0))
	case "xml":
		if err := xml.Unmarshal([]byte(get[string](j.tab, "text")), new(struct{})); err != nil {
			j.t.Error(err)
		}
	case "shot":
		j.shot(words[0])
	default:
		j.t.Fatalf("no %s", verb)
	}
}
