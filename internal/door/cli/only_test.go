package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// canary is in texts of users/bob that no request has; zebra is in their names, which requests have.
const canary = "okapi"

// onlyCalls has for each operation that a confined caller may run a call that works, or that fails for want of
// something. An operation without an entry fails TestConfinedCallers.
var onlyCalls = map[string]string{
	"version": `{}`, "remember": `{"text":"Alice likes quiet lamps","dry_run":true}`,
	"remember_batch": `{"lines":[{"text":"Alice reads at night"}],"dry_run":true}`,
	"commit":         `{"message":"x","lines":[{"node":{"key":"new","type":"Note","summary":"new"}}],"dry_run":true}`,
	"add":            `{"lines":[{"node":{"key":"staged","type":"Note","summary":"staged"}}]}`, "rm": `{"nodes":["lamp"]}`,
	"status": `{}`, "reset": `{}`, "merge": `{"rev":"HEAD~1","dry_run":true}`, "revert": `{"rev":"HEAD","dry_run":true}`,
	"cherry_pick": `{"rev":"HEAD~1","dry_run":true}`, "restore": `{"nodes":["lamp"],"dry_run":true}`,
	"forget": `{"nodes":["lamp"],"dry_run":true}`, "mark": `{"kind":"stale","nodes":["lamp"],"dry_run":true}`,
	"review": `{}`, "pin": `{"nodes":["lamp"],"dry_run":true}`, "consolidate": `{}`, "config_half_life": `{}`,
	"config_profile": `{"name":"default"}`, "embed_cues": `{}`,
	"retrieve": `{"query":"lamp"}`, "retrieve_batch": `{"lines":[{"query":"lamp"}]}`,
	"recall": `{"query":"what is in the hall"}`, "recall_batch": `{"lines":[{"query":"lamp"}]}`,
	"show": `{"name":"lamp"}`, "ls": `{}`, "map": `{}`, "explore": `{"topic":"lamp"}`, "log": `{}`, "diff": `{}`,
	"blame": `{"node":"lamp"}`, "undo": `{"op":"1"}`, "op_log": `{}`, "op_show": `{}`,
	"op_restore": `{"op":"@"}`, "session_start": `{"name":"mine"}`, "session_list": `{}`, "session_log": `{"name":"mine"}`,
	"session_advance": `{"name":"mine"}`, "session_end": `{"name":"mine"}`, "session_rm": `{"name":"none"}`,
	"session_replay": `{"record":"mine"}`, "export": `{}`, "stats": `{}`, "key_verify": `{}`,
}

// scoped is a repository with the branches main and users/alice, and with users/bob or, if that is not, as many
// other operations.
type scoped struct {
	*servedWorld
	token  string            // of alice
	auth   string            // the same as a header
	things map[string]string // of bob, by what they are
}

// scopedWorld makes one of two repositories that differ by what bob has.
func scopedWorld(t *testing.T, bob bool) *scoped {
	w := newWorld(t)
	w.init()
	w.write("main.jsonl", `{"node":{"key":"shared","type":"Note","summary":"The office is in Bergen"}}
{"node":{"key":"desk","type":"Note","summary":"The desk is by the window"}}
{"edge":{"type":"near","src":"shared","dst":"desk"}}
`)
	w.run(0, "commit", "-m", "shared", "main.jsonl")
	w.run(0, "branch", "users/alice")
	w.write("alice.jsonl", `{"node":{"key":"lamp","type":"Note","summary":"The lamp is in the hall"}}
{"node":{"key":"chair","type":"Note","summary":"The chair is next to the lamp"}}
{"edge":{"type":"near","src":"lamp","dst":"chair"}}
`)
	w.run(0, "commit", "--branch", "users/alice", "-m", "things of alice", "alice.jsonl")
	s := &scoped{things: map[string]string{}}
	pad := 0
	// do runs a command about bob; if there is none, another operation takes its number.
	do := func(args ...string) string {
		if bob {
			out, _ := w.run(0, args...)
			return out
		}
		pad++
		w.run(0, "tag", fmt.Sprintf("pad%d", pad))
		return ""
	}
	if bob {
		w.write("bob.jsonl", `{"node":{"key":"zebra-key","type":"ZebraType","summary":"The okapi lamp of bob is secret lamp lamp",`+
			`"content":"okapi content","props":{"okapi_prop":"okapi"}}}
{"node":{"key":"okapi-two","type":"OkapiType","summary":"okapi two is next to the lamp"}}
{"edge":{"type":"okapi-edge","src":"zebra-key","dst":"okapi-two"}}
`)
		w.write("zebra.jsonl", `{"node":{"key":"okapi-staged","type":"OkapiType","summary":"okapi staged"}}`+"\n")
		w.write("one.jsonl", `{"node":{"key":"okapi-two","type":"OkapiType","summary":"okapi one side"}}`+"\n")
		w.write("other.jsonl", `{"node":{"key":"okapi-two","type":"OkapiType","summary":"okapi other side"}}`+"\n")
	}
	do("branch", "users/bob")
	do("commit", "--branch", "users/bob", "-m", "okapi message", "bob.jsonl")
	do("branch", "zebra-side", "users/bob")
	do("commit", "--branch", "users/bob", "-m", "okapi one", "--task", "okapi task", "one.jsonl")
	do("commit", "--branch", "zebra-side", "-m", "okapi other", "other.jsonl")
	do("tag", "zebra-tag", "users/bob")
	do("session", "start", "zebra-session", "--at", "users/bob")
	do("retrieve", "okapi lamp", "--session", "zebra-session")
	do("add", "--branch", "users/bob", "--stage", "zebra-stage", "zebra.jsonl")
	if bob {
		w.run(5, "merge", "zebra-side", "--branch", "users/bob")
	} else {
		do()
	}
	if bob {
		s.collect(w)
	}
	out, _ := w.run(0, "serve", "token", "new", "alice", "--scope", "admin", "--only", "users/alice", "--author", "Alice")
	s.token = strings.TrimSpace(out)
	s.auth = "Authorization: Bearer " + s.token
	s.servedWorld = startServing(t, w, "--need-token", "--limit", "rate=100000")
	return s
}

// collect notes what bob's things are called.
func (s *scoped) collect(w *world) {
	field := func(name string, args ...string) string {
		out, _ := w.run(0, append(args, "--json")...)
		line, _, _ := strings.Cut(out, "\n")
		var all map[string]json.RawMessage
		var text string
		if json.Unmarshal([]byte(line), &all) != nil || json.Unmarshal(all[name], &text) != nil {
			w.t.Fatalf("%q: no %s in %s", args, name, out)
		}
		return text
	}
	node := field("id", "show", "zebra-key", "--at", "users/bob")
	at := field("commit", "log", "users/bob", "-n", "1")
	s.things = map[string]string{
		"node": node, "prefix of a node": node[:8], "key": "zebra-key", "named key": "key:zebra-key",
		"type": "ZebraType", "commit": at, "prefix of a commit": at[:16], "short prefix": at[7:13],
		"graph": field("graph", "show", "users/bob"), "block": field("cid", "show", "zebra-key", "--at", "users/bob"),
		"receipt": field("receipt", "session", "log", "zebra-session"), "record": field("record", "session", "log", "zebra-session"),
		"session": "zebra-session", "session's ref": "refs/sessions/zebra-session", "branch": "users/bob",
		"ref": "refs/heads/users/bob", "step": "users/bob~1", "past": "users/bob@{1}", "now": "users/bob@{0}",
		"range": "main..users/bob", "other range": "users/bob..users/alice", "tag": "zebra-tag", "tag's ref": "refs/tags/zebra-tag",
		"stage": "zebra-stage", "stage's ref": "refs/stage/zebra-stage", "merge": "refs/conflicts/merge/users/bob",
		"path": "users/alice/../bob", "case": "Users/Bob", "slash": "users/bob/", "before": "@{-1}", "word": "zebra",
		"main": "main", "HEAD of the repository": "refs/heads/main", "operation": field("op", "op", "show", "@~2"),
		"its number": "8", "its revision": "op:8", "its prefix": field("op", "op", "show", "8")[:16], "at an operation": "users/bob@{op:9}",
		"own at an operation": "HEAD@{op:9}", "session of a user": "users/bob@/zebra-session",
	}
}

// onlyRequest is one request of alice.
type onlyRequest struct {
	op   string
	args map[string]any
}

// onlyRequests are the requests of an operation that name what bob has in every parameter that takes a text.
func onlyRequests(t *testing.T, op *operation.Operation, things map[string]string) (all []onlyRequest) {
	base := func() map[string]any {
		var args map[string]any
		text, ok := onlyCalls[op.Name]
		must.Require(t, ok, "a confined caller may run %s: give it a call in onlyCalls", op.Name)
		must.OK(t, json.Unmarshal([]byte(text), &args))
		return args
	}
	all = append(all, onlyRequest{op.Name, base()})
	for _, p := range op.Params {
		if p.Enum != nil || p.Kind != operation.String && p.Kind != operation.Strings {
			continue
		}
		for n, what := range slices.Sorted(maps.Keys(things)) {
			if tuning := op.Name == "retrieve" || strings.Contains(op.Name, "recall") || strings.Contains(op.Name, "batch"); tuning && effort.Pick(n%7, 0, 0) != 0 {
				continue // they take what the others take
			}
			args := base()
			args[p.Name] = things[what]
			if p.Kind == operation.Strings {
				args[p.Name] = []string{things[what]}
			}
			all = append(all, onlyRequest{op.Name, args})
		}
	}
	return all
}

// TestConfinedCallers asks every operation as a caller who is confined to users/alice, with every name and hash of
// what users/bob has. No answer says anything of users/bob, and each is the same, to the byte, as if there were no
// users/bob: but for the CIDs of operations, which build on each other.
func TestConfinedCallers(t *testing.T) {
	with, without := scopedWorld(t, true), scopedWorld(t, false)
	asked, refused := 0, 0
	for _, op := range verbs.Operations() {
		if !op.Confined {
			status, text := with.ask(http.MethodPost, "/v1/"+op.Name, `{}`, with.auth)
			if op.Body == operation.MediaCAR {
				status, text = with.ask(http.MethodPost, "/v1/"+op.Name, "", with.auth, "Content-Type: "+operation.MediaCAR)
			}
			if status < 400 || strings.Contains(text, canary) {
				t.Errorf("%s does not run confined, and answers %d: %s", op.Name, status, text)
			}
			refused++
			continue
		}
		for _, q := range onlyRequests(t, &op, with.things) {
			body := must.Get(json.Marshal(q.args))(t)
			status, got := with.ask(http.MethodPost, "/v1/"+q.op, string(body), with.auth)
			wantStatus, want := without.ask(http.MethodPost, "/v1/"+q.op, string(body), without.auth)
			if got, want = masked(q.op, got), masked(q.op, want); status != wantStatus || got != want {
				t.Errorf("%s %s: %d and %d:\n%s\n%s", q.op, body, status, wantStatus, got, want)
			}
			noCanary(t, fmt.Sprintf("%s %s", q.op, body), got)
			asked++
		}
	}
	must.True(t, asked >= 1000 && refused >= 10, "%d requests, and %d operations refused", asked, refused)
}

// noCanary fails if an answer has a text of bob's.
func noCanary(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(strings.ToLower(text), canary) {
		t.Errorf("%s: the answer has a text of bob:\n%s", what, text)
	}
}

var (
	maskRequest = regexp.MustCompile(`"request_id":"[^"]*"`)
	maskTime    = regexp.MustCompile(`"time":"[^"]*"`)
	maskOp      = regexp.MustCompile(`"(op|undoes|redoes|cid|of)":"bafyrei[a-z2-7]+"`)
)

// masked is an answer without the ids of requests and of operations, and without the times of operations.
func masked(op, text string) string {
	if strings.HasPrefix(op, "op_") || op == "undo" {
		text = maskTime.ReplaceAllString(text, "")
	}
	return maskOp.ReplaceAllString(maskRequest.ReplaceAllString(text, ""), `"$1":OP`)
}

// bobs is all that the owner sees of users/bob and of main.
func (s *scoped) bobs() string {
	var all strings.Builder
	for _, words := range []string{
		"branch", "tag", "ls --at users/bob --all", "ls --at main --all", "log users/bob", "merge --list --branch users/bob",
		"status --stage zebra-stage", "session log zebra-session", "map --at users/bob",
	} {
		out, _ := s.run(0, append(strings.Fields(words), "--json")...)
		for line := range strings.Lines(out) {
			if !strings.Contains(line, "users/alice") {
				all.WriteString(line)
			}
		}
	}
	return all.String()
}

// TestConfinedBulk has alice forget, remove, take back and restore all that she can name.
func TestConfinedBulk(t *testing.T) {
	s := scopedWorld(t, true)
	before := s.bobs()
	must.Contain(t, before, canary, "bob has nothing")
	for _, c := range []struct{ op, body string }{
		{"forget", `{"type":["Note","ZebraType","OkapiType"],"confirm":100}`},
		{"forget", `{"type":["Note","ZebraType","OkapiType"],"before":"2100-01-01","confirm":4}`},
		{"forget", `{"type":["Note"],"confirm":4}`}, {"undo", `{}`}, {"rm", `{"all":true}`}, {"commit", `{"message":"nothing"}`},
		{"undo", `{}`}, {"undo", `{}`}, {"undo", `{}`}, {"undo", `{"op":"4"}`}, {"undo", `{"op":"6"}`}, {"op_restore", `{"op":"3"}`},
		{"op_restore", `{"op":"2"}`}, {"reset", `{"stage":"zebra-stage"}`}, {"map", `{"write":"root","text":"About lamps"}`},
		{"session_rm", `{"name":"zebra-session"}`}, {"merge", `{"abort":true}`}, {"merge", `{"drop":"refs/conflicts/commit/users/bob/9"}`},
		{"merge", `{"abort":true,"branch":"users/bob"}`}, {"commit", `{"message":"x","branch":"users/bob","lines":[{"node":{"key":"x","type":"Note"}}]}`},
		{"remember", `{"text":"Alice was here","branch":"main"}`}, {"restore", `{"nodes":["zebra-key"]}`}, {"purge", `{"node":"zebra-key","yes":true}`},
		{"branch", `{"delete":"users/bob"}`}, {"gc", `{}`}, {"export", `{"all":true}`}, {"export", `{"rev":"users/alice"}`},
		{"export", `{"selector":"{\"R\":{\"l\":{\"none\":{}},\":>\":{\"a\":{\">\":{\"@\":{}}}}}}"}`},
	} {
		_, text := s.ask(http.MethodPost, "/v1/"+c.op, c.body, s.auth)
		noCanary(t, c.op+" "+c.body, text)
	}
	status, text := s.ask(http.MethodPost, "/v1/remember", `{"text":"Alice was here","type":"fact"}`, s.auth, "Mnem-Branch: users/bob")
	must.Equal(t, status, 404, "a header leads to another branch: ", text)
	if status, text = s.ask(http.MethodPost, "/v1/remember", `{"text":"Alice was here","type":"fact"}`, s.auth); status != 200 {
		t.Errorf("alice writes: %d %s", status, text)
	}
	must.Equal(t, s.bobs(), before, "what bob has changed")
}

// checkDoor fails if the answers through a door have anything of bob's, or nothing of alice's.
func checkDoor(t *testing.T, door, text string) {
	t.Helper()
	text = strings.NewReplacer("Answer this question from memory: okapi", "", "'okapi'", "").Replace(text) // as it was asked
	noCanary(t, door, text)
	must.Contain(t, text, "The lamp is in the hall", door, ": alice does not read her own")
	for _, tool := range []string{`"name":"purge"`, `"name":"op_watch"`, `"name":"gc"`} {
		must.True(t, !strings.Contains(text, tool), "%s lists %s", door, tool)
	}
}

// TestConfinedDoors asks through each door. None lets a caller out of its branch.
func TestConfinedDoors(t *testing.T) {
	s := scopedWorld(t, true)
	questions := []string{`"recall","arguments":{"query":"okapi lamp"}`, `"retrieve","arguments":{"query":"lamp"}`,
		`"show","arguments":{"name":"zebra-key"}`, `"log","arguments":{"at":"users/bob"}`, `"diff","arguments":{"a":"main","b":"users/bob"}`,
		`"explore","arguments":{"query":"lamp"}`, `"stats","arguments":{}`, `"undo","arguments":{"operation":"4"}`}
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	n := 0
	add := func(method, params string) {
		n++
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", n, method, params)
	}
	for _, q := range questions {
		add("tools/call", `{"name":`+q+`}`)
	}
	for _, uri := range []string{"mnem://commit/users/bob", "mnem://diff/main..users/bob", "mnem://node/zebra-key", "mnem://node/" + s.things["node"]} {
		add("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
		add("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri))
	}
	add("tools/list", `{}`)
	add("resources/list", `{}`)
	for _, argument := range []string{"revision", "branch", "node", "type"} {
		add("completion/complete", `{"ref":{"type":"ref/prompt","name":"review-changes"},"argument":{"name":"`+argument+`","value":""}}`)
	}
	add("prompts/get", `{"name":"recall","arguments":{"query":"okapi"}}`)
	add("prompts/get", `{"name":"review-changes","arguments":{"from":"main","to":"users/bob"}}`)
	// By standard input, while another process has the repository: the calls go to its socket.
	s.Stdin = strings.NewReader(in.String())
	text, _ := s.run(0, "mcp", "--only", "users/alice", "--profile", "full")
	checkDoor(t, "mcp", text)
	must.Equal(t, strings.Count(text, `"jsonrpc"`), n+1, "answers")
}

// TestConfinedAgents has a policy confine an agent of the command line, while another process has the repository.
func TestConfinedAgents(t *testing.T) {
	s := scopedWorld(t, true)
	w := s.world
	w.write(".mnem/policy.json", `{"version":1,"rules":[{"agents":["alice"],"operations":["*"],"types":["*"],"only":"users/{agent}"},`+
		`{"agents":["*"],"operations":["*"],"types":["*"]}]}`)
	w.env["MNEM_AGENT"] = "alice"
	text, _ := w.run(0, "ls", "--json")
	more, _ := w.run(0, "recall", "lamp")
	checkDoor(t, "policy", text+more)
	for _, words := range []string{"show zebra-key", "log users/bob", "show users/bob", "diff main users/bob"} {
		out, errs := w.run(3, strings.Fields(words)...)
		noCanary(t, words, out+errs)
	}
	for _, words := range []string{"branch", "show HEAD --raw", "recall lamp --with-global", "op watch --limit 1", "stats --wait 1s --at users/bob", "serve token list"} {
		if out, errs := w.tries(strings.Fields(words)...); strings.Contains(out+errs, canary) || strings.Contains(out, "users/bob") {
			t.Errorf("%s: %s%s", words, out, errs)
		}
	}
	w.env["MNEM_AGENT"] = "carol"
	if out, _ := w.run(0, "ls", "--json", "--at", "users/bob"); !strings.Contains(out, canary) {
		t.Errorf("an agent that is not confined reads %s", out)
	}
	w.write(".mnem/policy.json", `{"version":1,"rules":[{"only":"users/alice"}]}`)
	w.run(operation.Refused.Exit, "ls")
	w.env["MNEM_AGENT"] = ""
}

// TestConfinedPage asks as the page does, by a login with a token.
func TestConfinedPage(t *testing.T) {
	s := scopedWorld(t, true)
	page := func(token string) (cookie, key string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/login", strings.NewReader(`{"token":"`+token+`"}`))
		must.OK(t, err)
		req.Header.Set("Content-Type", "application/json")
		res := must.Get(http.DefaultClient.Do(req))(t)
		defer func() { _ = res.Body.Close() }()
		var said struct{ Key string }
		if err := json.NewDecoder(res.Body).Decode(&said); err != nil || len(res.Cookies()) != 1 {
			t.Fatalf("login: %d, %v", res.StatusCode, err)
		}
		return res.Cookies()[0].Name + "=" + res.Cookies()[0].Value, said.Key
	}
	cookie, key := page(s.token)
	var all strings.Builder
	for _, path := range []string{
		"/v1/retrieve?query=lamp", "/v1/show?name=zebra-key", "/v1/log?at=users/bob", "/v1/session_list", "/v1/op_log", "/v1/branch", "/v1/op_watch",
		"/metrics", "/v1/names?kind=branch", "/openapi.json", "/v1/pack_refs", "/v1/stats",
	} {
		_, text := s.ask(http.MethodGet, path, "", "Cookie: "+cookie, "Mnem-View: "+key)
		all.WriteString(text)
		if !strings.Contains(path, "users/bob") && strings.Contains(text, "users/bob") {
			t.Errorf("%s names bob's branch: %s", path, text)
		}
	}
	checkDoor(t, "page", all.String())
	if text := all.String(); strings.Contains(text, "/v1/purge") || strings.Contains(text, "mnem_http") {
		t.Errorf("page: the answers say what is not for alice: %s", text)
	}
}

// tries runs a command line that may fail.
func (w *world) tries(args ...string) (stdout, stderr string) {
	w.out.Reset()
	w.err.Reset()
	Run(w.ctx, w.App, args)
	return w.out.String(), w.err.String()
}

// TestConfinedTokens: a token that confines its callers counts only if callers without one are refused, and it makes
// none that is not confined.
func TestConfinedTokens(t *testing.T) {
	w := demoWorld(t)
	out, _ := w.run(0, "serve", "token", "new", "alice", "--only", "users/alice")
	for _, bad := range []string{"users/a@b", "@", "a..b", "refs/heads/../x", "a@{1}", "users/", ""} {
		if bad == "" {
			continue
		}
		w.tries("serve", "token", "new", "bad", "--only", bad)
	}
	if out, _ := w.run(0, "serve", "token", "list"); strings.Contains(out, "bad") {
		t.Errorf("a token is confined to what is no branch: %s", out)
	}
	auth := "Authorization: Bearer " + strings.TrimSpace(out)
	open := startServing(t, w)
	if status, _ := open.ask("GET", "/v1/status", "", auth); status != 401 {
		t.Errorf("callers could leave the token out, and it counts: %d", status)
	}
	only := startServing(t, w, "--only", "users/alice")
	for _, header := range []string{auth, "X: y"} {
		if status, text := only.ask("GET", "/v1/ls", "", header); status != 200 || strings.Contains(text, "alice leads") {
			t.Errorf("a branch that does not exist is not empty: %d %s", status, text)
		}
	}
	other := startServing(t, w, "--only", "users/bob")
	if status, _ := other.ask("GET", "/v1/ls", "", auth); status != 401 {
		t.Errorf("a token of another branch than the server's counts: %d", status)
	}
}

// TestConfinedSignIn: a client that signs in by OAuth has the branch of the owner's token.
func TestConfinedSignIn(t *testing.T) {
	s := scopedWorld(t, true)
	session := must.Get(signsIn(t, startOAuth(t, s.world), s.token, "write"))(t)
	var all strings.Builder
	for tool, args := range map[string]map[string]any{
		"recall": {"query": "lamp"}, "show": {"name": "zebra-key"}, "log": {"at": "users/bob"}, "stats": {},
	} {
		res := must.Get(session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args}))(t)
		for _, c := range res.Content {
			all.WriteString(c.(*sdk.TextContent).Text)
		}
	}
	checkDoor(t, "OAuth", all.String())
	for header, want := range map[string]int{"Mnem-Session: zebra-session": 404, "Mnem-Branch: users/bob": 404, "Mnem-Only: users/bob": 200} {
		if status, text := s.ask(http.MethodPost, "/v1/recall", `{"query":"lamp"}`, s.auth, header); status != want {
			t.Errorf("%s: %d, want %d: %s", header, status, want, text)
		}
	}
}
