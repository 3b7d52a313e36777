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

	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// canary is in every name and text of users/bob, and nowhere else.
const canary = "zebra"

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
	"config_profile_list": `{}`, "config_profile_show": `{"name":"default"}`, "config_cues": `{}`,
	"retrieve": `{"query":"lamp"}`, "retrieve_batch": `{"lines":[{"query":"lamp"}]}`,
	"recall": `{"query":"what is in the hall"}`, "recall_batch": `{"lines":[{"query":"lamp"}]}`,
	"show": `{"name":"lamp"}`, "ls": `{}`, "map": `{}`, "explore": `{"topic":"lamp"}`, "log": `{}`, "diff": `{}`,
	"blame": `{"node":"lamp"}`, "undo": `{"op":"1"}`, "op_log": `{}`, "op_show": `{}`, "op_diff": `{"a":"@"}`,
	"op_restore": `{"op":"@"}`, "session_start": `{"name":"mine"}`, "session_list": `{}`, "session_log": `{"name":"mine"}`,
	"session_advance": `{"name":"mine"}`, "session_end": `{"name":"mine"}`, "session_rm": `{"name":"none"}`,
	"session_replay": `{"record":"mine"}`, "export": `{}`, "stats": `{}`, "key_verify": `{}`,
}

// scoped is a repository with the branches main and users/alice, and with users/bob or, if that is not, as many
// operations of nobody.
type scoped struct {
	*servedWorld
	auth   string            // of alice
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
		w.write("bob.jsonl", `{"node":{"key":"zebra-key","type":"ZebraType","summary":"The zebra lamp of bob is secret lamp lamp",`+
			`"content":"zebra content","props":{"zebra_prop":"zebra"}}}
{"node":{"key":"zebra-two","type":"ZebraType","summary":"zebra two is next to the lamp"}}
{"edge":{"type":"zebra-edge","src":"zebra-key","dst":"zebra-two"}}
`)
		w.write("zebra.jsonl", `{"node":{"key":"zebra-staged","type":"ZebraType","summary":"zebra staged"}}`+"\n")
		w.write("one.jsonl", `{"node":{"key":"zebra-two","type":"ZebraType","summary":"zebra one side"}}`+"\n")
		w.write("other.jsonl", `{"node":{"key":"zebra-two","type":"ZebraType","summary":"zebra other side"}}`+"\n")
	}
	do("branch", "users/bob")
	do("commit", "--branch", "users/bob", "-m", "zebra message", "bob.jsonl")
	do("branch", "zebra-side", "users/bob")
	do("commit", "--branch", "users/bob", "-m", "zebra one", "one.jsonl")
	do("commit", "--branch", "zebra-side", "-m", "zebra other", "other.jsonl")
	do("tag", "zebra-tag", "users/bob")
	do("session", "start", "zebra-session", "--at", "users/bob")
	do("retrieve", "zebra lamp", "--session", "zebra-session")
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
	s.auth = "Authorization: Bearer " + strings.TrimSpace(out)
	s.servedWorld = startServing(t, w, "--need-token", "--rate", "100000")
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

// request is one request of alice, and what is its own in it.
type onlyRequest struct {
	op   string
	args map[string]any
	sent []string
}

// onlyRequests are the requests of an operation that name what bob has in every parameter that takes a text.
func onlyRequests(t *testing.T, op *operation.Operation, things map[string]string) (all []onlyRequest) {
	base := func() map[string]any {
		var args map[string]any
		text, ok := onlyCalls[op.Name]
		if !ok {
			t.Fatalf("a confined caller may run %s: give it a call in onlyCalls", op.Name)
		}
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			t.Fatal(err)
		}
		return args
	}
	all = append(all, onlyRequest{op.Name, base(), nil})
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
			all = append(all, onlyRequest{op.Name, args, []string{things[what]}})
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
			body, err := json.Marshal(q.args)
			if err != nil {
				t.Fatal(err)
			}
			status, got := with.ask(http.MethodPost, "/v1/"+q.op, string(body), with.auth)
			wantStatus, want := without.ask(http.MethodPost, "/v1/"+q.op, string(body), without.auth)
			if got, want = masked(got), masked(want); status != wantStatus || got != want {
				t.Errorf("%s %s: %d and %d:\n%s\n%s", q.op, body, status, wantStatus, got, want)
			}
			with.noCanary(fmt.Sprintf("%s %s", q.op, body), got, q.sent)
			asked++
		}
	}
	if asked < 1000 || refused < 10 {
		t.Errorf("%d requests, and %d operations refused", asked, refused)
	}
}

// noCanary fails if an answer has a word or a hash of bob's that the request did not have.
func (s *scoped) noCanary(what, text string, sent []string) {
	s.t.Helper()
	for _, own := range sent {
		text = strings.ReplaceAll(text, own, "")
		for _, part := range regexp.MustCompile(`[~@{}]|\.\.`).Split(own, -1) { // of a revision
			if len(part) > 1 {
				text = strings.ReplaceAll(text, part, "")
			}
		}
	}
	low := strings.ToLower(text)
	for name, thing := range s.things {
		if len(thing) > 12 && !strings.HasSuffix(name, "main") && name != "HEAD of the repository" && strings.Contains(low, strings.ToLower(thing)) {
			s.t.Errorf("%s: the answer has %s of bob, %q:\n%s", what, name, thing, text)
		}
	}
	for _, word := range []string{canary, "bob"} {
		if strings.Contains(low, word) {
			s.t.Errorf("%s: the answer has %q:\n%s", what, word, text)
		}
	}
}

var (
	maskRequest = regexp.MustCompile(`"request_id":"[^"]*"`)
	maskOp      = regexp.MustCompile(`"(op|undoes|redoes|cid|of)":"bafyrei[a-z2-7]+"`)
)

// masked is an answer without the ids of requests and of operations.
func masked(text string) string {
	return maskOp.ReplaceAllString(maskRequest.ReplaceAllString(text, ""), `"$1":OP`)
}
