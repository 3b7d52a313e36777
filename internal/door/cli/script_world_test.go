package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/modelkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// world holds what the commands of a script meet besides a repository.
type world struct {
	models   *modelkit.Models
	now      time.Time // zero for scriptTime
	ahead    time.Duration
	out, err bool // terminals
	typed    []rune
	hidden   string
	release  func() // of another process that has the repository, nil for none
	meaning  *modelkit.Sorts
	programs []string // that are installed
	said     int      // turns of the transcript
	pager    func(words []string) (io.WriteCloser, func() error, error)
	started  []string // command lines of background processes, nil if none can start
}

// set gives a command line the world.
func (w *world) set(app *line.App) {
	if w.models != nil {
		app.Sleep = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	}
	if w.meaning != nil {
		app.Meaning = w.meaning
	}
	now := app.Now
	if !w.now.IsZero() {
		now = func() time.Time { return w.now }
	}
	app.Now = func() time.Time { w.ahead += w.tick(); return now().Add(w.ahead) }
	app.OutTTY, app.ErrTTY, app.StartPager = w.out, w.err, w.pager
	if w.started != nil {
		app.Detach = func(args ...string) error { w.started = append(w.started, strings.Join(args, " ")); return nil }
	}
	if w.typed != nil {
		app.Key = func() (rune, error) {
			if len(w.typed) == 0 {
				return 0, io.EOF
			}
			r := w.typed[0]
			w.typed = w.typed[1:]
			return r, nil
		}
	}
	if w.hidden != "" {
		app.Hidden = func(string) ([]byte, error) { return []byte(w.hidden), nil }
	}
	if w.programs != nil {
		app.LookPath = func(name string) (string, error) {
			for _, p := range w.programs {
				if p == name {
					return "/usr/bin/" + p, nil
				}
			}
			return "", exec.ErrNotFound
		}
	}
}

// tick is how much later each look at the clock is: a terminal shows progress after a while.
func (w *world) tick() time.Duration {
	if w.err {
		return time.Second
	}
	return 0
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(stateKey{}).(*scriptState).world }

// TestWorldScripts runs testdata/world. Its scripts have the commands of TestScripts and
//
//	any mnem ARG…        the program, with any exit code
//	git ARG…             git itself, without a user's configuration
//	say TEXT [TIME]      adds a turn to the transcript of an agent's session
//	hook EVENT [PROMPT]  calls a hook of Claude Code as its host does for session $SESSION, and prints what the agent is told
//	call HOST EVENT FILE calls a hook of another host
//	lines FILE N LINE    writes LINE so many times, with its number for %d; {N*TEXT} in it is TEXT so many times
//	models [WHAT VALUE]  starts servers of models at $MODELS; has them answer otherwise; looks at what they were asked
//	meaning [NAME]       gives the program a model of its own, which knows webhooks and holidays; NAME is how many texts it embedded
//	serve ARG…           runs 'mnem serve' at $URL until the script ends
//	ask STATUS METHOD PATH [HEADER…] [<FILE]  asks $URL and prints the answer
//	header NAME REGEXP   as capture, from the headers of the answer
//	hold [server|off]    has another process open the repository, one that is a server or one that is none
//	tree DIR             prints the files of a directory
//	terminal WHAT…       has results (out) or messages (err) go to a terminal, or keys typed (type) or a text (hidden);
//	                     results that go through a pager, the file paged (pager), which the user leaves (left) or lacks (none)
//	started LINE…        compares the background processes that started since the last call; the first lets them start
//	clock DAY|+HOURS|now  sets the clock
//	programs NAME…       has programs be installed
//	put FILE TEXT        writes a line to a file
//	note KEY [FLAG…]     commits a node
//	followed NAME        goes to a new git work tree whose memory follows git and has the node base
//	commit NAME          commits a file in git
//	follows [writes] WANT  compares the branch of the memory that is followed
func TestWorldScripts(t *testing.T) {
	if effort.Race {
		t.Skip("other tests have the same commands")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the scripts have paths of other systems")
	}
	runWorlds(t, "world", nil)
}

// runWorlds runs the scripts of a directory, with some commands of their own: those of the directory world side by side.
func runWorlds(t *testing.T, dir string, more map[string]func(*testscript.TestScript, bool, []string)) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + dir + "/*.txtar")
	must.Require(t, err == nil && len(files) > 0, "no scripts: %v", err)
	p := testscript.Params{
		UpdateScripts: *rewrite, RequireUniqueNames: true, Cmds: worldCommands(),
		Setup: func(env *testscript.Env) error {
			for name, value := range gitEnv {
				env.Setenv(name, value)
			}
			env.Setenv("SESSION", "s1")
			talks, err := filepath.Abs("../../ingest/chats/testdata")
			if err != nil {
				return err
			}
			env.Setenv("TALKS", talks)
			err = setupScript(env, nil)
			env.Values[stateKey{}].(*scriptState).world = &world{}
			return err
		},
	}
	maps.Copy(p.Cmds, more)
	if p.Files = files; dir == "world" {
		testscript.Run(t, p)
		return
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			own := p
			own.Files = []string{file}
			testscript.RunT(one{t}, own)
		})
	}
}

// TestSpiedGit runs testdata/spied, one script after the other: they put a program in the place of git, which notes what it
// is asked and then does as a script says:
//
//	spy SCRIPT | none | off   with GIT for git itself; no git at all; git itself
//	spied COMMAND…            compares the commands of git that were asked since
//	spied-only COMMAND…       as spied, of those without a repetition
func TestSpiedGit(t *testing.T) {
	if realGit == "" || runtime.GOOS == "windows" {
		t.Skip("the program is a shell script in the place of git")
	}
	path, dir := os.Getenv("PATH"), t.TempDir()
	t.Setenv("PATH", path)
	notes := filepath.Join(dir, "notes")
	spied := func(ts *testscript.TestScript, args []string, once bool) {
		data, _ := os.ReadFile(notes) // there are none if nothing was asked
		_ = os.Remove(notes)
		var names []string
		for line := range strings.Lines(string(data)) {
			i := slices.IndexFunc(strings.Fields(line), func(w string) bool { return slices.Contains(askedOfGit, w) })
			if i < 0 {
				ts.Fatalf("git %s", line)
			}
			if name := strings.Fields(line)[i]; !once || !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if !slices.Equal(names, args) {
			ts.Fatalf("git was asked %q", names)
		}
	}
	runWorlds(t, "spied", map[string]func(*testscript.TestScript, bool, []string){
		"spy": func(ts *testscript.TestScript, _ bool, args []string) {
			to := dir + string(os.PathListSeparator) + path
			switch args[0] {
			case "none":
				to = filepath.Join(dir, "nothing")
			case "off":
				to = path
			}
			script := "#!/bin/sh\necho \"$*\" >>'" + notes + "'\n" + strings.ReplaceAll(args[0], "GIT", "'"+realGit+"'") + "\n"
			ts.Check(os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700))
			_ = os.Remove(notes) // there may be none
			ts.Check(os.Setenv("PATH", to))
		},
		"spied":      func(ts *testscript.TestScript, _ bool, args []string) { spied(ts, args, false) },
		"spied-only": func(ts *testscript.TestScript, _ bool, args []string) { spied(ts, args, true) },
	})
}

// realGit is the path of git, "" for none.
var realGit, _ = exec.LookPath("git")

// askedOfGit are the commands of git that the program uses.
var askedOfGit = []string{"branch", "log", "rev-parse", "symbolic-ref", "config", "merge-base", "cherry"}

// one runs scripts within the test that calls them, one after the other.
type one struct{ *testing.T }

func (one) Parallel()                               {}
func (t one) Run(_ string, do func(t testscript.T)) { do(t) }
func (one) Verbose() bool                           { return testing.Verbose() }

func worldCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := scriptCommands()
	for name, do := range map[string]func(*testscript.TestScript, *world, []string){
		"say": say, "hook": hook, "call": callHook, "lines": writeLines, "models": models, "serve": serveInScript, "ask": askInScript,
		"hold": hold, "tree": tree, "terminal": terminal, "clock": clock, "follows": follows, "note": note, "followed": followed,
		"put": func(ts *testscript.TestScript, _ *world, args []string) {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[1]+"\n"), 0o600))
		},
		"commit": func(ts *testscript.TestScript, _ *world, args []string) {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[0]+"\n"), 0o600))
			git(ts, false, []string{"add", args[0]})
			git(ts, false, []string{"commit", "-q", "-m", args[0]})
		},
		"header": func(ts *testscript.TestScript, _ *world, args []string) {
			found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stderr"))
			if len(found) != 2 {
				ts.Fatalf("no match for %s", args[1])
			}
			ts.Setenv(args[0], found[1])
		},
		"meaning": func(ts *testscript.TestScript, w *world, args []string) {
			if len(args) == 0 {
				w.meaning = new(modelkit.Sorts)
				return
			}
			ts.Setenv(args[0], strconv.Itoa(w.meaning.Asked()))
		},
		"started": func(ts *testscript.TestScript, w *world, args []string) {
			if !slices.Equal(w.started, args) {
				ts.Fatalf("started %q", w.started)
			}
			w.started = []string{}
		},
		"programs": func(_ *testscript.TestScript, w *world, names []string) { w.programs = append([]string{""}, names...) },
	} {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s takes no !", name)
			}
			if slices.Contains([]string{"hook", "call", "ask", "tree"}, name) {
				_ = ts.Stdout() // even if nothing is printed
			}
			do(ts, worldOf(ts), args)
		}
	}
	all["git"] = git
	all["any"] = func(ts *testscript.TestScript, _ bool, args []string) { runInScript(ts, args[1:]) }
	return all
}

// git runs git itself.
func git(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(realGit, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), ts.Stdout(), ts.Stderr()
	for _, name := range os.Environ() {
		if !strings.HasPrefix(name, "GIT_") {
			cmd.Env = append(cmd.Env, name)
		}
	}
	for name := range gitEnv {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Env = append(cmd.Env, "HOME="+ts.Getenv("HOME"), "XDG_CONFIG_HOME="+ts.Getenv("HOME"))
	if err := cmd.Run(); (err != nil) != neg {
		ts.Fatalf("git %q: %v", args, err)
	}
}

// gitEnv has git read nothing of the user's.
var gitEnv = map[string]string{
	"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
	"GIT_COMMITTER_EMAIL": "a@example.org", "GIT_EDITOR": "true", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow",
	"GIT_CONFIG_VALUE_0": "always",
}

func note(ts *testscript.TestScript, _ *world, args []string) {
	node := `{"node":{"key":"` + args[0] + `","type":"Note"}}`
	if code, _, errs := with(ts, node, append([]string{"commit", "-m", args[0], "-"}, args[1:]...)...); code != 0 {
		ts.Fatalf("exit code %d: %s", code, errs)
	}
}

func followed(ts *testscript.TestScript, w *world, args []string) {
	dir := filepath.Join(ts.Getenv("WORK"), args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(ts.Chdir(dir))
	ts.Check(os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600))
	for _, words := range []string{"init -q -b main", "add a.txt", "commit -q -m first"} {
		git(ts, false, strings.Fields(words))
	}
	for _, words := range []string{"init", "git follow"} {
		if code, _, errs := with(ts, "", strings.Fields(words)...); code != 0 {
			ts.Fatalf("mnem %s: exit code %d: %s", words, code, errs)
		}
	}
	note(ts, w, []string{"base"})
}

// with runs a command line with standard input, and returns what it prints.
func with(ts *testscript.TestScript, in string, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	app := scriptApp(ts, strings.NewReader(in), &stdout, &stderr)
	code = cli.Run(context.Background(), app, args)
	return code, stdout.String(), stderr.String()
}

func transcript(ts *testscript.TestScript) string {
	return filepath.Join(ts.Getenv("HOME"), "s1.jsonl")
}

func say(ts *testscript.TestScript, w *world, args []string) {
	w.said++
	at := ""
	if len(args) > 1 {
		at = fmt.Sprintf(`"timestamp":%q,`, args[1])
	}
	ts.Check(os.MkdirAll(ts.Getenv("HOME"), 0o700))
	f, err := os.OpenFile(transcript(ts), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = fmt.Fprintf(f, `{"type":"user","uuid":"u%d","sessionId":"s1",%s"message":{"content":%q}}`+"\n", w.said, at, args[0])
	ts.Check(err)
	ts.Check(f.Close())
}

func hook(ts *testscript.TestScript, _ *world, args []string) {
	prompt := ""
	if len(args) > 1 {
		prompt = args[1]
	}
	in, err := json.Marshal(map[string]any{
		"session_id": ts.Getenv("SESSION"), "transcript_path": transcript(ts), "cwd": ts.MkAbs("."), "prompt": prompt, "hook_event_name": args[0],
	})
	ts.Check(err)
	code, out, errs := with(ts, string(in), "hook", "claude-code", args[0])
	if code != 0 || errs != "" {
		ts.Fatalf("exit code %d: %s", code, errs)
	}
	if out == "" {
		return
	}
	var got struct {
		Output struct {
			Event string `json:"hookEventName"`
			Text  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	want := map[string]string{"prompt": "UserPromptSubmit", "session-start": "SessionStart"}[args[0]]
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Output.Event != want {
		ts.Fatalf("%s: %v", out, err)
	}
	_, _ = io.WriteString(ts.Stdout(), got.Output.Text)
}

func callHook(ts *testscript.TestScript, _ *world, args []string) {
	in := strings.NewReplacer("$DIR", ts.MkAbs("."), "$HOME", ts.Getenv("HOME")).Replace(ts.ReadFile(args[2]))
	code, out, errs := with(ts, in, "hook", args[0], args[1])
	if code != 0 || errs != "" {
		ts.Fatalf("exit code %d: %s", code, errs)
	}
	_, _ = io.WriteString(ts.Stdout(), out)
}

var times = regexp.MustCompile(`\{(\d+)\*([^}]*)\}`)

func writeLines(ts *testscript.TestScript, _ *world, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := times.ReplaceAllStringFunc(args[2], func(s string) string {
		m := times.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[1]) // digits
		return strings.Repeat(m[2], n)
	})
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)) + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

func models(ts *testscript.TestScript, w *world, args []string) {
	if len(args) == 0 {
		w.models = &modelkit.Models{Dims: 8}
		server := httptest.NewServer(w.models)
		ts.Defer(server.Close)
		ts.Setenv("MODELS", server.URL)
		return
	}
	if err := w.models.Set(args[0], args[1:], ts.Stdout()); err != nil {
		ts.Fatalf("%v", err)
	}
}

func serveInScript(ts *testscript.TestScript, _ *world, args []string) {
	out, to := io.Pipe()
	app := scriptApp(ts, strings.NewReader(""), to, io.Discard)
	app.Now = time.Now
	app.Getenv = func(name string) string {
		if name == "TZ" {
			return "" // which is the caller's
		}
		return ts.Getenv(name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	if len(args) == 0 || args[0] != "view" {
		args = append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)
	}
	go func() {
		ended <- cli.Run(ctx, app, append(args, "--json"))
		_ = to.Close() // a pipe in memory
	}()
	ts.Defer(func() {
		cancel()
		if code := <-ended; code != 0 {
			ts.Fatalf("serve ended with %d", code)
		}
	})
	var said struct{ URL string }
	ts.Check(json.NewDecoder(out).Decode(&said))
	url, code, _ := strings.Cut(said.URL, "/#code=")
	ts.Setenv("URL", url)
	ts.Setenv("CODE", code)
}

func askInScript(ts *testscript.TestScript, _ *world, args []string) {
	var body io.Reader = http.NoBody
	if last := len(args) - 1; strings.HasPrefix(args[last], "<") {
		body = strings.NewReader(strings.TrimSuffix(ts.ReadFile(args[last][1:]), "\n"))
		args = args[:last]
	} else if strings.HasPrefix(args[last], "{") {
		body = strings.NewReader(args[last])
		args = args[:last]
	}
	req, err := http.NewRequestWithContext(context.Background(), args[1], ts.Getenv("URL")+args[2], body)
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	for _, h := range args[3:] {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer func() { _ = res.Body.Close() }() // it is read below
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	_, _ = ts.Stdout().Write(text)
	_ = res.Header.Write(ts.Stderr())
	if got := strconv.Itoa(res.StatusCode); got != args[0] {
		ts.Fatalf("status %s, want %s: %s", got, args[0], text)
	}
}

func hold(ts *testscript.TestScript, w *world, args []string) {
	app := scriptApp(ts, strings.NewReader(""), io.Discard, io.Discard)
	switch {
	case len(args) == 0:
	case args[0] == "server":
		app.Serving = new(atomic.Bool)
	default:
		w.release()
		w.release = nil
		return
	}
	var by holding
	end := by.holdOne(ts.MkAbs("."), app)
	if by.held.Load() != 1 {
		ts.Fatalf("no other process has it open")
	}
	w.release = end
	ts.Defer(func() {
		if w.release != nil {
			w.release()
		}
	})
}

func tree(ts *testscript.TestScript, _ *world, args []string) {
	dir := ts.MkAbs(args[0])
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".mnem" && path != dir {
				return fs.SkipDir
			}
			_, err = fmt.Fprintf(ts.Stdout(), "%s/\n", path)
			return err
		}
		data, err := os.ReadFile(path)
		_, _ = fmt.Fprintf(ts.Stdout(), "%s %x\n", path, sha256.Sum256(data))
		return err
	})
	ts.Check(err)
}

func terminal(ts *testscript.TestScript, w *world, args []string) {
	w.out, w.err, w.typed, w.hidden, w.pager = false, false, nil, "", nil
	for _, what := range args {
		switch name, value, _ := strings.Cut(what, "="); name {
		case "out":
			w.out = true
		case "err":
			w.err = true
		case "type":
			w.typed = append([]rune{}, []rune(strings.NewReplacer("^C", "\x03", "^M", "\r").Replace(value))...)
			w.out = true
		case "hidden":
			w.hidden = value
		case "pager":
			w.out = true
			w.pager = func(words []string) (io.WriteCloser, func() error, error) {
				return startPager(ts.MkAbs("paged"), value, words)
			}
		default:
			ts.Fatalf("no terminal %s", what)
		}
	}
}

// startPager has a file in the place of a pager: its first line is the command.
func startPager(file, how string, words []string) (io.WriteCloser, func() error, error) {
	ends := func() error { return nil }
	switch how {
	case "none":
		return nil, nil, errors.New("no such program")
	case "left":
		in, out, err := os.Pipe()
		return out, ends, errors.Join(err, in.Close())
	}
	f, err := os.Create(file)
	if err == nil {
		_, err = fmt.Fprintln(f, strings.Join(words, " "))
	}
	return f, ends, err
}

func clock(ts *testscript.TestScript, w *world, args []string) {
	if hours, ok := strings.CutPrefix(args[0], "+"); ok {
		n, err := strconv.Atoi(hours)
		ts.Check(err)
		w.ahead = time.Duration(n) * time.Hour
		return
	}
	if args[0] == "now" {
		w.now, w.ahead = time.Now().Add(time.Second), 0
		ts.Setenv("SOURCE_DATE_EPOCH", "")
		return
	}
	at, err := time.Parse("2006-01-02", args[0])
	ts.Check(err)
	w.now, w.ahead = at.Add(12*time.Hour), 0
	ts.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(w.now.Unix(), 10))
}

// follows compares what is followed: BRANCH, BRANCH<-FROM before its first write, and then what git is in the middle of,
// and ro if it cannot be written. With 'writes' a write comes there, or is refused.
func follows(ts *testscript.TestScript, w *world, args []string) {
	want := args[len(args)-1]
	code, out, errs := with(ts, "", "status", "--json")
	var st struct {
		Following *struct {
			Branch, From, Doing string
			Exists              bool
			Why                 string `json:"read_only"`
		}
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil || code != 0 {
		ts.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	said := "none"
	if f := st.Following; f != nil {
		said = f.Branch
		if !f.Exists {
			said += "<-" + f.From
		}
		if f.Doing != "" {
			said += " " + f.Doing
		}
		if f.Why != "" {
			said += " ro"
		}
	}
	if said != want {
		ts.Fatalf("following %q, want %q", said, want)
	}
	if len(args) == 1 {
		return
	}
	w.said++
	node := fmt.Sprintf(`{"node":{"key":"k%d","type":"Note"}}`, w.said)
	code, out, errs = with(ts, node, "commit", "-m", "written", "--json", "-")
	branch, _, _ := strings.Cut(want, " ")
	branch, _, _ = strings.Cut(branch, "<-")
	if strings.HasSuffix(want, " ro") {
		if code != 1 || !strings.Contains(errs, "on no git branch") || !strings.Contains(errs, "name a branch with --branch") {
			ts.Fatalf("a write ends with %d: %s", code, errs)
		}
		if branch != "" {
			if code, _, errs = with(ts, node, "commit", "-m", "by name", "-b", branch, "-"); code != 0 {
				ts.Fatalf("by name: %d: %s", code, errs)
			}
		}
		return
	}
	var res struct{ Branch string }
	if err := json.Unmarshal([]byte(out), &res); err != nil || res.Branch != branch {
		ts.Fatalf("written to %q, want %q: %v%s", res.Branch, branch, err, errs)
	}
}
