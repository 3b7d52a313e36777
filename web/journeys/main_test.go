// Package journeys goes through the web view in a real browser, over a real server. It needs Chromium
// (CHROMIUM names it if it is not in the path); without one its tests are skipped.
package journeys

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	program  string // mnem, built for these tests
	allocate context.Context
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "journeys")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "mnem")
	build := exec.Command("go", "build", "-o", program, "./cmd/mnem")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 1
	}
	browser := chromium()
	if browser == "" {
		fmt.Println("not run: no Chromium")
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	all, end := chromedp.NewContext(ctx) // one browser, with a separate context for each test
	defer end()
	if err := chromedp.Do(all); err != nil {
		fmt.Fprintln(os.Stderr, "chromium:", err)
		return 1
	}
	allocate = all
	return m.Run()
}

func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// memory is a repository and its server.
type memory struct {
	t    *testing.T
	dir  string
	url  string // with the code
	cmd  *exec.Cmd
	args []string
}

// mnem runs a command in the repository.
func (m *memory) mnem(args ...string) string {
	m.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "MNEM_AUTHOR=Ada", "MNEM_EMBED_MODEL=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("mnem %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// demo is the memory of 'mnem demo'.
func demo(t *testing.T) *memory {
	t.Helper()
	m := &memory{t: t, dir: t.TempDir()}
	m.mnem("demo", "--keep", filepath.Join(m.dir, "harbour"))
	m.dir = filepath.Join(m.dir, "harbour")
	return m
}

// empty is a memory of nothing.
func empty(t *testing.T) *memory {
	t.Helper()
	m := &memory{t: t, dir: t.TempDir()}
	m.mnem("init")
	return m
}

// serve starts a command that serves the memory, and says where.
func (m *memory) serve(args ...string) {
	m.t.Helper()
	m.args = args
	cmd := exec.Command(program, append(args, "--json")...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "MNEM_AUTHOR=Ada", "MNEM_EMBED_MODEL=off")
	out := mustGet(cmd.StdoutPipe())(m.t)
	mustOK(m.t, cmd.Start())
	m.cmd = cmd
	m.t.Cleanup(m.stop)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var said struct{ URL string }
	if err != nil || json.Unmarshal(line, &said) != nil {
		m.t.Fatalf("%s: %v", line, err)
	}
	m.url = said.URL
}

func (m *memory) stop() {
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Signal(os.Interrupt) // it may have ended
	_ = m.cmd.Wait()                       // as above
	m.cmd = nil
}

// tab is a page in its own browser context.
type tab struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	bad  []string // the page's complaints
	okay []string // complaints that are expected
}

// open opens a browser that knows nothing yet.
func open(t *testing.T) *tab {
	t.Helper()
	if allocate == nil {
		t.Skip("no Chromium")
	}
	ctx, cancel := chromedp.NewContext(allocate, chromedp.WithNewBrowserContext())
	ctx, end := context.WithTimeout(ctx, 2*time.Minute)
	b := &tab{t: t, ctx: ctx}
	b.listen()
	b.do(chromedp.EmulateViewport(1280, 900))
	t.Cleanup(func() {
		end()
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, said := range b.bad {
			if !b.may(said) {
				t.Errorf("the page complained: %s", said)
			}
		}
	})
	return b
}

func (b *tab) may(said string) bool {
	for _, okay := range b.okay {
		if strings.Contains(said, okay) {
			return true
		}
	}
	return false
}

// listen records the page's complaints: script errors, and resources that its policy refused.
func (b *tab) listen() {
	thrown, logged := chromedp.Events(b.ctx, runtime.ExceptionThrown), chromedp.Events(b.ctx, log.EntryAdded)
	go func() {
		for e, err := range thrown {
			if err != nil {
				return // the tab was closed
			}
			d := e.ExceptionDetails
			said := d.Text
			if d.Exception != nil {
				said += " " + d.Exception.Description
			}
			b.complain(said)
		}
	}()
	go func() {
		for e, err := range logged {
			if err != nil {
				return // as above
			}
			if e.Entry.Level == "error" || e.Entry.Source == "security" {
				b.complain(e.Entry.Text + " " + e.Entry.URL)
			}
		}
	}()
}

func (b *tab) complain(said string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = append(b.bad, said)
}

// other opens another tab of the same browser.
func (b *tab) other() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	o := &tab{t: b.t, ctx: ctx}
	o.listen()
	return o
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v\npage: %.2000s", err, b.textNow())
	}
}

func (b *tab) textNow() string {
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`)) // for an error alone
	return text
}

// visit goes to an address.
func (b *tab) visit(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// at goes to a page by the fragment of its address.
func (b *tab) at(fragment string) {
	b.t.Helper()
	b.run(fmt.Sprintf("location.hash = %q", fragment))
}

// wait waits until an expression of the page is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && is {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("never: %s (%v)\npage: %.2000s", expression, err, b.textNow())
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// reads waits until the page has a text.
func (b *tab) reads(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.wait(fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// get evaluates an expression.
func get[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// run runs a script.
func (b *tab) run(script string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script))
}

// click clicks on the first element of a selector that has a text.
func (b *tab) click(selector, text string) {
	b.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q))", selector, text)
	b.wait("((e) => e && !e.disabled && (e.click(), true))(" + find + ")") // in one step: the page may redraw in between
}

// shot keeps a picture of the page where SHOTS names a directory.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	time.Sleep(500 * time.Millisecond) // for what moves to come to rest
	png := mustGet(chromedp.Run(b.ctx, chromedp.CaptureScreenshot()))(b.t)
	mustOK(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// dark lets the page think that its reader wants it dark.
func (b *tab) dark() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// named returns the id of the memory that has a summary.
func (m *memory) named(summary string) string {
	m.t.Helper()
	var list struct {
		Nodes []struct{ ID, Summary string }
	}
	mustOK(m.t, json.Unmarshal([]byte(m.mnem("ls", "--json")), &list))
	for _, n := range list.Nodes {
		if n.Summary == summary {
			return n.ID
		}
	}
	m.t.Fatalf("no memory %q", summary)
	return ""
}

// press clicks a button in the list item that has a text.
func (b *tab) press(item, button string) {
	b.t.Helper()
	b.wait(`((e) => e && !e.disabled && (e.click(), true))([...document.querySelectorAll('.reviews > li')]` +
		`.filter((e) => e.textContent.includes(` + quoted(item) + `)).flatMap((e) => [...e.querySelectorAll('button')])` +
		`.find((e) => e.textContent === ` + quoted(button) + `))`)
}

func quoted(s string) string { return `'` + strings.ReplaceAll(s, `'`, `\'`) + `'` }

func mustOK(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustGet takes the results of a call, and returns a function that returns the value: mustGet(f())(t).
func mustGet[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		mustOK(t, err)
		return v
	}
}
