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
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/table"
)

// minimal is a call of a verb that does as little as it can and, if the verb needs a right, needs it.
type minimal struct {
	words string // of the command line. REMOTE stands for each remote, URL for the URL of each
	args  string // of the operation, in JSON; "" for none
	tool  string // of the MCP tool, if that takes others
	// bare says why the call of a person fails or changes nothing in the memory of these tests, "" if it changes it.
	bare string
}

const (
	redacted = "bafyreih4h5fr4tuwmsbbgqy5gf2cxlo7bnbuoqqbtmtlmmqlmpivlxdr4e=pWF2AWRraW5kaXJlZGFjdGlvbmR0aW1lGwAGCiQYHkAA" +
		"ZHdoYXRkbm9kZWVhY3RvcmNBZGE="
	newNode = `{"node":{"key":"new","type":"Note","summary":"new"}}`
)

// governed has a call of every verb and command that needs a right. One that is missing fails TestRightsComeFirst.
var governed = map[string]minimal{
	"remember":          {words: "remember The-lamp-is-new", args: `{"text":"The lamp is new"}`},
	"commit":            {words: "commit -m x -", args: `{"message":"x","lines":[` + newNode + `]}`, tool: `{"message":"x","nodes":[{"key":"new","type":"Note"}]}`},
	"add":               {words: "add -", args: `{"lines":[` + newNode + `]}`},
	"rm":                {words: "rm o", args: `{"nodes":["o"]}`},
	"reset":             {words: "reset", bare: "nothing is staged"},
	"merge":             {words: "merge side", args: `{"rev":"side"}`},
	"revert":            {words: "revert HEAD", args: `{"rev":"HEAD"}`},
	"cherry_pick":       {words: "cherry-pick side", args: `{"rev":"side"}`},
	"restore":           {words: "restore HEAD~1 n", args: `{"rev":"HEAD~1","nodes":["n"]}`},
	"forget":            {words: "forget n", args: `{"nodes":["n"]}`},
	"mark":              {words: "mark superseded n --by m", args: `{"kind":"superseded","nodes":["n"],"by":"m"}`},
	"review":            {words: "review --keep n", args: `{"keep":["n"]}`},
	"pin":               {words: "pin n", args: `{"nodes":["n"]}`},
	"consolidate":       {words: "consolidate --accept", args: `{"accept":true}`, bare: "nothing is alike"},
	"config_half_life":  {words: "config half-life Note=30", args: `{"half_lives":["Note=30"]}`},
	"map":               {words: "map --write root About-lamps", args: `{"write":"root","text":"About lamps"}`},
	"embed":             {words: "embed --model hash", bare: "there is no model"},
	"config_profile":    {words: "config profile p --unset limit", args: `{"name":"p","unset":["limit"]}`},
	"branch":            {words: "branch new", args: `{"name":"new"}`},
	"switch":            {words: "switch side", args: `{"name":"side"}`},
	"tag":               {words: "tag new", args: `{"name":"new"}`},
	"undo":              {words: "undo"},
	"undo --redo":       {words: "undo --redo", args: `{"redo":true}`, bare: "nothing was undone"},
	"op_restore":        {words: "op restore 3", args: `{"op":"3"}`},
	"session_rm":        {words: "session rm s", args: `{"name":"s"}`},
	"remote_redactions": {words: "remote redactions origin --accept", args: `{"name":"origin","accept":true}`, bare: "there are none"},
	"pack_take":         {words: "pack take --set refs/heads/side=any..none", args: `set=refs%2Fheads%2Fside%3Dany..none`},
	"pack_redact":       {words: "pack redact --yes --redactions " + redacted, args: `{"yes":true,"redactions":["` + redacted + `"]}`, bare: "it is of no block here"},
	"import":            {words: "import ../other.car --name new", args: `name=new`},
	"map --rebuild":     {words: "map --rebuild --model=hash", bare: "there is no model"},
	"fsck":              {words: "fsck --repair", bare: "nothing is damaged"},
	"gc":                {words: "gc", bare: "nothing is garbage"},
	"purge":             {words: "purge n --yes", args: `{"node":"n","yes":true}`},
	"capture":           {words: "capture", bare: "no hook noted anything"},
	"ingest":            {words: "ingest text.md"},
	"review_sources":    {words: "review sources n --accept", bare: "it has no source"},

	"config_set":                  {words: "config set wait 9s"},
	"config_unset":                {words: "config unset wait", bare: "it is not set"},
	"fetch":                       {words: "fetch REMOTE", bare: "nothing is new there"},
	"push":                        {words: "push REMOTE fresh"},
	"sync":                        {words: "sync REMOTE --all --tags"},
	"remote_add":                  {words: "remote add new ../new"},
	"remote_rm":                   {words: "remote rm REMOTE"},
	"remote_readers":              {words: "remote readers REMOTE", bare: "it is a repository and not encrypted"},
	"git_follow":                  {words: "git follow", bare: "there is no work tree"},
	"git_sync":                    {words: "git sync", bare: "nothing is followed"},
	"git_prune":                   {words: "git prune", bare: "nothing is followed"},
	"git_hook":                    {words: "git hook", bare: "there is no work tree"},
	"integrate":                   {words: "integrate claude-code"},
	"integrate --remove":          {words: "integrate --remove claude-code", bare: "nothing is integrated"},
	"key_new":                     {words: "key new new"},
	"key_import":                  {words: "key import -", bare: "standard input has no key"},
	"key_rm":                      {words: "key rm work --yes"},
	"key_trust":                   {words: "key trust work", bare: "it is trusted already"},
	"key_revoke":                  {words: "key revoke work"},
	"serve_token_new":             {words: "serve token new new"},
	"serve_token_revoke":          {words: "serve token revoke t"},
	"config_policy":               {words: "config policy --write", bare: "there is one"},
	"remote_redactions --auto on": {words: "remote redactions REMOTE --auto on"},
	"review --all":                {words: "review --all", args: `{"rest_of":"HEAD"}`},
}

// free has calls of verbs and commands that need no right and end by themselves. A verb that reads and does without
// arguments needs no entry.
var free = map[string]minimal{
	"config_profile": {words: "config profile p", args: `{"name":"p"}`}, "show": {words: "show n", args: `{"name":"n"}`},
	"retrieve":        {words: "retrieve lamp --receipt", args: `{"query":"lamp","receipt":true}`, tool: `{"query":"lamp"}`},
	"recall":          {words: "recall lamp --session s", args: `{"query":"lamp","session":"s"}`, tool: `{"query":"lamp"}`},
	"review_sources":  {words: "review sources"},
	"explore":         {words: "explore --communities --keep", args: `{"topic":"lamp"}`, tool: `{"query":"lamp"}`},
	"blame":           {words: "blame n", args: `{"node":"n"}`},
	"op_watch":        {words: "op watch --limit 1 --since 1", args: `{"limit":1,"since":"1"}`, bare: "it waits"},
	"session_start":   {words: "session start of-agent", args: `{"name":"of-agent"}`},
	"session_log":     {words: "session log s", args: `{"name":"s"}`},
	"session_advance": {words: "session advance s", args: `{"name":"s"}`}, "session_end": {words: "session end s", args: `{"name":"s"}`},
	"session_replay": {words: "session replay s", args: `{"record":"s"}`},
	"pack_send":      {words: "pack send --ref refs/heads/main -o ../x.pack", args: `{"refs":["refs/heads/main"]}`},
	"export":         {words: "export -o ../x.car"},
	"doctor":         {words: "doctor", bare: "it finds something"},
	"demo":           {words: "demo --dir ../demo", bare: "it says where to look"}, "init": {words: "init ../init"},
	"config_get": {words: "config get wait"}, "config_list": {words: "config list"},
	"config_secrets": {words: "config secrets text.md"},
	"key_list":       {words: "key list"}, "key_show": {words: "key show work"}, "key_export": {words: "key export work"},
	"config_policy": {words: "config policy"},
	"remote_list":   {words: "remote list"}, "serve_token_list": {words: "serve token list"}, "clone": {words: "clone ../hub ../clone"},
	"mcp": {words: "mcp"}, "serve": {words: "serve --stdio"},
	"review": {words: "review"},
}

// freely returns a call of a verb that needs no right: its command, or what free has if that is not enough.
func freely(s *verb.Spec) (call minimal, ok bool) {
	if call, ok = free[s.Name()]; ok || s.Right != verb.NoRight || s.Effect != verb.Reads || s.Command == "" ||
		slices.Contains(lasting, s.Name()) || slices.Contains(inside, s.Name()) {
		return call, ok
	}
	return minimal{words: s.Command}, true
}

// allFree returns the calls of all verbs and commands that need no right.
func allFree() map[string]minimal {
	all := maps.Clone(free)
	for _, s := range table.Table() {
		if call, ok := freely(s); ok {
			all[s.Name()] = call
		}
	}
	return all
}

// lasting are the commands that go on until they are stopped: what they answer is called through other surfaces.
var lasting = []string{"hold", "view"}

// inside are the verbs without a command.
var inside = []string{"brief", "names"}

// TestEveryVerbStatesItsRight reads all declarations, and compares them with the calls of these tests.
func TestEveryVerbStatesItsRight(t *testing.T) {
	names := map[string]bool{}
	for _, s := range slices.Concat(cli.Declared(), table.Table()) {
		name := s.Name()
		names[name] = true
		_, needs := governed[name]
		_, reads := freely(s)
		reads = reads || slices.Contains(lasting, name) || slices.Contains(inside, name)
		switch s.Right {
		case verb.OwnRight, verb.PeopleOnly:
			must.True(t, needs, "%s needs a right: give it a call in governed of this file", name)
		case verb.NoRight:
			if !reads || needs {
				t.Errorf("%s needs no right: give it a call in free of this file, and none in governed", name)
			}
		default:
			t.Errorf("%s: its declaration states no right", name)
		}
		for _, other := range s.Runs {
			if run := table.Named(other); run == nil || run.Right != verb.OwnRight {
				t.Errorf("%s runs %s, which is no verb with a right", name, other)
			}
		}
		if s.Effect != 0 && s.Effect != verb.Reads && !s.Derived && s.Right == verb.NoRight && !strings.HasPrefix(name, "session_") {
			t.Errorf("%s writes and needs no right", name)
		}
	}
	for name := range maps.Keys(governed) {
		if base, _, _ := strings.Cut(name, " "); !names[strings.TrimSuffix(base, ",")] {
			t.Errorf("%s is no verb", name)
		}
	}
	must.True(t, len(names) >= 90, "only %d verbs", len(names))
}

// ruled is a memory with a policy that allows agents nothing, and with remotes of every kind.
type ruled struct {
	*testing.T
	root    string // of the repository and of all that a verb may write to
	bucket  *s3test.Server
	env     map[string]string
	remotes map[string]string // URLs by name
	token   string            // of a server, with all scopes
	apps    byte
}

// app returns the circumstances of a command line in a directory below root.
func (r *ruled) app(dir, agent, stdin string, out, errs io.Writer) *line.App {
	app := program.In(filepath.Join(r.root, dir), out, errs)
	r.apps++
	app.Rand, app.Stdin = rand.NewChaCha8([32]byte{r.apps}), strings.NewReader(stdin)
	app.User, app.Home = "Tess", filepath.Join(r.root, "home")
	app.Config, app.Data = filepath.Join(app.Home, "config"), filepath.Join(app.Home, "data")
	app.Executable = "/opt/bin/mnem"
	app.Getenv = func(name string) string {
		if name == "MNEM_AGENT" {
			return agent
		}
		return r.env[name]
	}
	return app
}

func (r *ruled) run(dir, agent, stdin string, args ...string) (exit int, out string) {
	r.Helper()
	var both bytes.Buffer
	exit = cli.Run(r.Context(), r.app(dir, agent, stdin, &both, &both), args)
	return exit, both.String()
}

// ok runs a command line of a person, which must succeed.
func (r *ruled) ok(dir, stdin string, words string) {
	r.Helper()
	exit, out := r.run(dir, "", stdin, strings.Fields(words)...)
	must.Require(r, exit == 0, "mnem %s: exit code %d: %s", words, exit, out)
}

func newRuled(t *testing.T) *ruled {
	t.Helper()
	r := &ruled{T: t, root: t.TempDir(), bucket: s3test.New(t, 1)}
	r.env = map[string]string{
		"MNEM_SSH": os.Args[0] + " " + program.AsShell, "MNEM_KEYS": filepath.Join(r.root, "keys"),
		"AWS_ENDPOINT_URL": r.bucket.URL, "AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
	}
	slashed := filepath.ToSlash(r.root)
	r.remotes = map[string]string{
		"origin": "file://" + slashed + "/hub", "overssh": "ssh://hub.example" + slashed + "/far",
		"bucket": "s3://" + s3test.Bucket + "/team",
	}
	for _, dir := range []string{"a", "hub", "far", "home", "other"} {
		must.OK(t, os.MkdirAll(filepath.Join(r.root, dir), 0o755))
	}
	for _, dir := range []string{"a", "hub", "far", "other"} {
		r.ok(dir, "", "init")
	}
	if _, err := exec.LookPath("git"); err == nil {
		if out, err := exec.Command("git", "init", "-q", "--bare", filepath.Join(r.root, "code.git")).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
		r.remotes["ingit"] = "git+file://" + slashed + "/code.git"
	}
	r.ok("other", `{"node":{"key":"x","type":"Note"}}`, "commit -m x -")
	r.ok("other", "", "export -o ../other.car")
	r.ok("a", `{"node":{"key":"n","type":"Note","summary":"the lamp is lit"}}
{"node":{"key":"m","type":"Note","summary":"the lamp burns oil"}}
{"node":{"key":"o","type":"Note"}}
{"edge":{"type":"knows","src":"n","dst":"m"}}`, "commit -m one -")
	for _, words := range []string{
		"pin o", "config profile p limit=3", "tag v1", "branch side", "session start s", "key new work",
		"key trust work", "serve token new t",
	} {
		r.ok("a", "", words)
	}
	r.ok("a", `{"node":{"key":"side","type":"Note"}}`, "commit -m side --branch side -")
	exit, made := r.run("a", "", "", "serve", "token", "new", "all", "--scope", "admin", "--json")
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(made), &token); exit != 0 || err != nil || token.Token == "" {
		t.Fatal(made, err)
	}
	r.token = token.Token
	for _, name := range slices.Sorted(maps.Keys(r.remotes)) {
		r.ok("a", "", "remote add "+name+" "+r.remotes[name])
		r.ok("a", "", "push "+name)
	}
	r.ok("a", `{"node":{"key":"n","summary":"the lamp is out"}}`, "commit -m two -")
	for _, words := range []string{"retrieve lamp --session s", "map", "map root", "map --rebuild", "map --resolve 0123456789abcdef", "explore --communities", "embed cues", "recall lamp", "review"} {
		r.ok("a", "", words) // so that what is derived is there
	}
	r.write("a/text.md", "# Lamps\n\nThe lamp is lit.\n")
	r.write("a/.mnem/policy.json", `{"version":1,"rules":[]}`)
	return r
}

func (r *ruled) write(name, text string) {
	r.Helper()
	must.OK(r, os.WriteFile(filepath.Join(r.root, filepath.FromSlash(name)), []byte(text), 0o600))
}

// bytes returns what is stored everywhere: hashes of files and objects by their names.
func (r *ruled) bytes() map[string]string {
	r.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && strings.Contains(filepath.ToSlash(path), "/.mnem/db/") {
			return nil // the database removed it since the directory was read
		}
		all[path[len(r.root):]] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	must.OK(r, err)
	for _, key := range r.bucket.Keys() {
		all["s3:"+key] = fmt.Sprintf("%x", sha256.Sum256(r.bucket.Object(key)))
	}
	return all
}

// differ returns the names that the second of these has differently, or lacks. A database may remove what it does not
// need any more at any time after it was opened.
func differ(before, after map[string]string) (names []string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		now, there := after[name]
		if now != before[name] && (there || !strings.Contains(filepath.ToSlash(name), "/.mnem/db/")) {
			names = append(names, name)
		}
	}
	return names
}

// facts returns what the memory has but for sessions: its refs, and what it keeps next to them.
func (r *ruled) facts() string {
	r.Helper()
	exit, refs := r.run("a", "", "", "pack", "refs", "--tracking", "--json")
	must.Require(r, exit == 0, "%s", refs)
	for _, name := range []string{"review.json", "remotes.json", "config.json", "policy.json"} {
		refs += string(must.Get(os.ReadFile(filepath.Join(r.root, "a", ".mnem", name)))(r))
	}
	return refs
}

// calls returns the command lines that the words of a call stand for.
func (r *ruled) calls(words string) (all [][]string) {
	for _, name := range slices.Sorted(maps.Keys(r.remotes)) {
		line := strings.NewReplacer("REMOTE", name, "URL", r.remotes[name]).Replace(words)
		if all = append(all, strings.Fields(line)); line == words {
			break
		}
	}
	return all
}

// TestRightsComeFirst calls everything that needs a right, on every surface, as an agent that may do nothing: each call
// is refused, and no byte is written here or at a remote.
func TestRightsComeFirst(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *ruled){
		"alone": commandLines, "beside an owner": func(t *testing.T, r *ruled) {
			_, out := program.Hold(t, filepath.Join(r.root, "a"))
			must.Require(t, program.Owns(t, out), "it is open elsewhere")
			commandLines(t, r)
		},
		"http": func(t *testing.T, r *ruled) {
			at := program.Serve(t, r.app("a", "", "", nil, io.Discard), "--log", "none")
			overHTTP(t, r, at)
		},
		"mcp": overMCP,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRuled(t)
			r.T = t
			test(t, r)
		})
	}
}

func commandLines(t *testing.T, r *ruled) {
	for _, name := range slices.Sorted(maps.Keys(governed)) {
		for _, args := range r.calls(governed[name].words) {
			before := r.bytes()
			exit, out := r.run("a", "bot", newNode, args...)
			if exit != 7 || !strings.Contains(out, "not allowed") {
				t.Errorf("mnem %q: exit code %d: %s", args, exit, out)
			}
			if wrote := differ(before, r.bytes()); wrote != nil {
				t.Errorf("mnem %q wrote %q", args, wrote)
			}
		}
	}
}

// remoteCalls calls do with each operation of the table that outsiders may ask and that needs a right.
func remoteCalls(t *testing.T, r *ruled, do func(o *operation.Operation, call minimal) (refused bool, said string)) {
	t.Helper()
	n := 0
	all := verbs.Operations()
	for i := range all {
		o := &all[i]
		call, ok := governed[strings.TrimSuffix(o.Name, "_batch")]
		if !ok {
			continue
		}
		if o.Name == "remember_batch" {
			call.args = `{"lines":[{"text":"The lamp is new"}]}`
		}
		if strings.HasPrefix(call.bare, "there is no model") || o.Name == "fsck" {
			continue // only this machine may ask for what needs a right
		}
		calls := []string{call.args}
		if more, ok := governed[o.Name+" --all"]; ok {
			calls = append(calls, more.args)
		}
		for _, call.args = range calls {
			n++
			before := r.bytes()
			refused, said := do(o, call)
			must.True(t, refused, "%s %s: %s", o.Name, call.args, said)
			if wrote := differ(before, r.bytes()); wrote != nil {
				t.Errorf("%s %s wrote %q", o.Name, call.args, wrote)
			}
		}
	}
	must.True(t, n >= 30, "only %d calls", n)
}

func overHTTP(t *testing.T, r *ruled, at string) {
	other := must.Get(os.ReadFile(filepath.Join(r.root, "other.car")))(t)
	ask := func(target, media, body string) (int, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
		must.OK(t, err)
		req.Header.Set("Content-Type", media)
		req.Header.Set("Mnem-Agent", "bot")
		req.Header.Set("Authorization", "Bearer "+r.token)
		if id := sha256.Sum256([]byte(target + body)); !strings.HasSuffix(target, "/status") {
			req.Header.Set("Idempotency-Key", fmt.Sprintf("%x", id))
		}
		res := must.Get(http.DefaultClient.Do(req))(t)
		defer func() { _ = res.Body.Close() }() // it was read
		data := must.Get(io.ReadAll(res.Body))(t)
		return res.StatusCode, data
	}
	if status, said := ask(at+"/v1/status", "application/json", "{}"); status != http.StatusOK { // it is open then
		t.Fatalf("%d: %s", status, said)
	}
	remoteCalls(t, r, func(o *operation.Operation, call minimal) (bool, string) {
		target, body, media := at+"/v1/"+o.Name, call.args, "application/json"
		if o.Body == operation.MediaCAR {
			target, body, media = target+"?"+call.args, string(other), operation.MediaCAR
		} else if body == "" {
			body = "{}"
		}
		status, said := ask(target, media, body)
		return status == http.StatusForbidden && bytes.Contains(said, []byte("not allowed by the policy")), string(said)
	})
}

// onlyReads are the tools that lack the arguments by which their verbs write.
var onlyReads = map[string]bool{"fsck": true, "config_profile": true}

func overMCP(t *testing.T, r *ruled) {
	app := r.app("a", "bot", "", io.Discard, io.Discard)
	server := mcp.New(verbs.Operations(), verbs.NewRunner(app, true), mcp.ServerOptions{Now: app.Now, Profile: mcp.ProfileFull})
	web := httptest.NewServer(server.Handler())
	defer web.Close()
	defer server.Close(context.WithoutCancel(t.Context()))
	client := sdk.NewClient(&sdk.Implementation{Name: "bot", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL}, nil))(t)
	defer func() { _ = session.Close() }()
	n := 0
	for tool, err := range session.Tools(t.Context(), nil) {
		must.OK(t, err)
		call, needs := governed[tool.Name]
		if tool.Annotations != nil && tool.Annotations.ReadOnlyHint && needs && !onlyReads[tool.Name] {
			t.Errorf("%s needs a right and says that it reads", tool.Name)
		}
		if !needs || onlyReads[tool.Name] {
			continue
		}
		n++
		args := call.tool
		if args == "" {
			args = call.args
		}
		if args == "" {
			args = "{}"
		}
		before := r.bytes()
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args)})
		must.OK(t, err, tool.Name)
		said, _ := json.Marshal(res.Content) // it came as JSON
		must.True(t, res.IsError && bytes.Contains(said, []byte("not allowed")), "%s: %s", tool.Name, said)
		if wrote := differ(before, r.bytes()); wrote != nil {
			t.Errorf("%s wrote %q", tool.Name, wrote)
		}
	}
	must.True(t, n >= 16, "only %d tools", n)
}

// TestReadingNeedsNoRight calls everything that needs no right as an agent that may do nothing: each call succeeds, and
// the memory and its remotes have the same facts then.
func TestReadingNeedsNoRight(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	there := func(all map[string]string) map[string]string {
		maps.DeleteFunc(all, func(name, _ string) bool {
			return !strings.HasPrefix(name, "s3:") && !strings.HasPrefix(name, "/hub") && !strings.HasPrefix(name, "/far") &&
				!strings.HasPrefix(name, "/code.git")
		})
		return all
	}
	calls := allFree()
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if name == "op_watch" {
			continue // it waits for something to happen
		}
		before, at := r.facts(), there(r.bytes())
		exit, out := r.run("a", "bot", "", strings.Fields(calls[name].words)...)
		if exit == 7 || exit != 0 && calls[name].bare == "" {
			t.Errorf("mnem %s: exit code %d: %s", calls[name].words, exit, out)
		}
		must.Equal(t, r.facts(), before, "mnem ", calls[name].words, " changed the memory")
		if wrote := differ(at, there(r.bytes())); wrote != nil {
			t.Errorf("mnem %s wrote %q", calls[name].words, wrote)
		}
	}
}

// TestCallsNeedTheirRights: what TestRightsComeFirst calls makes sense, since a person who is not bound changes
// something by it.
func TestCallsNeedTheirRights(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	for _, name := range slices.Sorted(maps.Keys(governed)) {
		if governed[name].bare != "" {
			continue
		}
		for i, args := range r.calls(governed[name].words) {
			dir := fmt.Sprint(strings.Map(func(c rune) rune {
				if c == '_' || 'a' <= c && c <= 'z' {
					return c
				}
				return -1
			}, name), i)
			must.OK(t, os.CopyFS(filepath.Join(r.root, dir), os.DirFS(filepath.Join(r.root, "a"))))
			for _, name := range must.Get(filepath.Glob(filepath.Join(r.root, dir, ".mnem", "tokens", "*")))(t) {
				must.OK(t, os.Chmod(name, 0o600)) // its user's alone again
			}
			r.ok(dir, fmt.Sprintf(`{"node":{"key":%q,"type":"Note"}}`, dir), "commit -m more --branch side -")
			if name == "push" {
				r.ok(dir, "", "branch fresh")
			}
			before := r.bytes()
			exit, out := r.run(dir, "", newNode, args...)
			must.Equal(t, exit, 0, "mnem ", args, ": exit code: ", out)
			must.True(t, differ(before, r.bytes()) != nil, "mnem %q changed nothing: %s", args, out)
			must.OK(t, os.RemoveAll(filepath.Join(r.root, dir)))
		}
	}
}

// TestTargetsDecide pushes to memories whose policy allows nothing: neither side is changed.
func TestTargetsDecide(t *testing.T) {
	t.Parallel()
	r := newRuled(t)
	r.write("a/.mnem/policy.json", `{"version":1,"rules":[{"agents":["*"],"operations":["*"],"types":["*"]}]}`)
	r.write("hub/.mnem/policy.json", `{"version":1,"rules":[]}`)
	r.write("far/.mnem/policy.json", `{"version":1,"rules":[]}`)
	stored := func() map[string]string { // but for the database files of a repository that is opened to be asked
		all := r.bytes()
		maps.DeleteFunc(all, func(name, _ string) bool {
			return !strings.HasPrefix(filepath.ToSlash(name), "/hub/") && strings.Contains(filepath.ToSlash(name), "/.mnem/db/")
		})
		return all
	}
	for _, words := range []string{
		"push origin side", "push overssh side", "sync origin", "sync overssh", "push origin main --tags",
		"push overssh --all --tags --sessions", "push overssh main --delete",
	} {
		refs, before := r.facts(), stored()
		exit, out := r.run("a", "bot", "", strings.Fields(words)...)
		if exit != 7 || !strings.Contains(out, "not allowed") {
			t.Errorf("mnem %s: exit code %d: %s", words, exit, out)
		}
		if after := r.facts(); refs != after {
			t.Errorf("mnem %s changed what is known here:\n%s\n%s", words, refs, after)
		}
		if wrote := differ(before, stored()); wrote != nil {
			t.Errorf("mnem %s wrote %q", words, wrote)
		}
	}
}

// TestPackedTags: a tag needs the right to tag however it comes, and what it brings the right to its types.
func TestPackedTags(t *testing.T) {
	for _, tag := range []string{"refs/tags/sealed", "refs/tags/noted"} {
		r := newRuled(t)
		r.ok("other", `{"node":{"key":"v","type":"Vault","summary":"sealed"}}`, "commit -m vault -")
		r.ok("other", "", "tag sealed")
		r.ok("other", "", "tag noted -m words")
		_, refs := r.run("other", "", "", "pack", "refs", "--json")
		var st remote.State
		must.OK(t, json.Unmarshal([]byte(refs), &st))
		i := slices.IndexFunc(st.Refs, func(ref core.Ref) bool { return string(ref.Name) == tag })
		r.ok("other", "", "pack send --ref "+tag+" -o ../tag.pack")
		for _, c := range []struct {
			rule, words string
			exit        int
		}{
			{`"operations":["pack_take"],"types":["*"]`, "pack take", 7},
			{`"operations":["pack_take","tag","config_profile"],"types":["Note"]`, "pack take", 7},
			{`"operations":["pack_take","tag","config_profile"],"types":["Vault","Note"]`, "pack take", 0},
			{`"operations":["tag"],"types":[]`, "tag here HEAD~1", 0}, // of what is here
		} {
			r.write("a/.mnem/policy.json", `{"version":1,"rules":[{"agents":["*"],`+c.rule+`}]}`)
			if c.words == "pack take" {
				c.words += " ../tag.pack --set " + tag + "=none.." + st.Refs[i].Target.String()
			}
			before := r.facts()
			exit, out := r.run("a", "bot", "", strings.Fields(c.words)...)
			must.Equal(t, exit, c.exit, "mnem ", c.words, " with ", c.rule, ": exit code: ", out)
			must.True(t, exit == 0 || r.facts() == before, "%s: a ref moved", c.words)
		}
	}
}
