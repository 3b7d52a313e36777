package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/testdata/demo"
)

// servedWorld is a world whose repository is served.
type servedWorld struct {
	*world
	url string
}

// startServing runs 'mnem serve' with arguments until the test ends.
func startServing(t *testing.T, w *world, args ...string) *servedWorld {
	t.Helper()
	said, _ := startOwn(t, w, append([]string{"--addr", "127.0.0.1:0"}, args...)...)
	return &servedWorld{w, said.URL}
}

// demoWorld is a repository with the demo's memory and a second commit.
func demoWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.init()
	w.write("memory.jsonl", demo.Memory)
	w.write("change.jsonl", demo.Change)
	w.run(0, "commit", "-m", "one", "memory.jsonl")
	w.run(0, "commit", "-m", "two", "change.jsonl")
	return w
}

// ask sends a request; a body is JSON.
func (s *servedWorld) ask(method, path, body string, header ...string) (status int, text string) {
	s.t.Helper()
	req := must.Get(http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body)))(s.t)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res := must.Get(http.DefaultClient.Do(req))(s.t)
	defer func() { _ = res.Body.Close() }()
	data := must.Get(io.ReadAll(res.Body))(s.t)
	return res.StatusCode, string(data)
}

// requests has requests for operations, in this order: later ones need what earlier ones did. An operation that reads and
// does without parameters needs no entry.
var requests = []struct{ name, body string }{
	{"version", `{}`}, {"status", `{}`}, {"stats", `{}`}, {"stats", `{"schema":true,"limit":3}`}, {"show", `{"name":"katya"}`},
	{"show", `{"name":"katya","importance":true}`}, {"show", `{}`}, {"show", `{"name":"katya"}`},
	{"embed_cues", `{"missing":true,"limit":3}`}, {"ls", `{"limit":3}`}, {"ls", `{"edges":true,"limit":3}`}, {"explore", `{"topic":"katya"}`},
	{"explore", `{"topic":"katya","to":"alice"}`}, {"explore", `{"communities":true,"limit":2}`},
	{"explore", `{"topic":"katya","communities":true}`}, {"map", `{"rebuild":true}`}, {"map", `{"depth":1}`}, {"map", `{"since":"HEAD~1"}`},
	{"map", `{"scope":"root"}`}, {"map", `{"scope":"katya"}`}, {"map", `{"resolve":"0123456789abcdef"}`}, {"ls", `{"sources":true}`},
	{"map", `{"write":"root","text":"of payments"}`}, {"explore", `{"topic":"payments"}`},
	{"explore", `{"topic":"the payments are late","tags":true}`},
	{"retrieve", `{"query":"who owns sign-in?","explain":true}`}, {"recall", `{"query":"who?"}`},
	{"retrieve_batch", `{"lines":[{"text":"a","qid":"1"},{"text":"b"}]}`},
	{"recall_batch", `{"lines":[{"text":"why was it late"}]}`},
	{"log", `{"stat":true}`}, {"log", `{"node":"katya","limit":2}`}, {"diff", `{"a":"HEAD~1","b":"HEAD"}`},
	{"diff", `{"a":"HEAD~1","stat":true}`}, {"blame", `{"node":"katya"}`},
	{"remember", `{"text":"Server alpha runs PostgreSQL 16","tag":["infra"],"explain":true}`},
	{"remember_batch", `{"lines":[{"text":"one thing"},{"text":"another matter"}]}`},
	{"add", `{"lines":[{"node":{"key":"n1","type":"P"}},{"node":{"key":"n2","type":"P"}}]}`},
	{"add", `{"lines":[{"node":{"key":"n3","type":"P","summary":"x"}}]}`}, {"rm", `{"nodes":["n3"]}`},
	{"add", `{"lines":[{"edge":{"src":"n1","type":"knows","dst":"n2"}}]}`},
	{"rm", `{"link":true,"nodes":["n1","knows","n2"]}`}, {"status", `{}`},
	{"commit", `{"message":"staged"}`}, {"add", `{"lines":[{"node":{"key":"n4","type":"P"}}]}`},
	{"reset", `{}`}, {"branch", `{"name":"draft"}`}, {"branch", `{}`},
	{"commit", `{"message":"d","branch":"draft","lines":[{"node":{"key":"n5","type":"P"}}]}`},
	{"commit", `{"message":"m","lines":[{"node":{"key":"n6","type":"P"}}],"dry_run":true}`},
	{"merge", `{"rev":"draft"}`}, {"merge", `{"list":true}`}, {"revert", `{"rev":"HEAD"}`},
	{"commit", `{"message":"m","lines":[{"node":{"key":"n6","type":"P"}}]}`},
	{"cherry_pick", `{"rev":"HEAD~1","dry_run":true}`}, {"restore", `{"rev":"HEAD~2","nodes":["n1"]}`},
	{"forget", `{"nodes":["n1"],"reason":"wrong"}`}, {"restore", `{"nodes":["n1"]}`},
	{"mark", `{"kind":"superseded","nodes":["n1"],"by":"n2"}`}, {"mark", `{"kind":"stale","nodes":["n2"]}`},
	{"mark", `{"kind":"contradicted","nodes":["katya"],"by":"alice"}`}, {"mark", `{"kind":"expired"}`},
	{"mark", `{"remove":true,"nodes":["katya"]}`},
	{"pin", `{"nodes":["n2"]}`}, {"pin", `{"nodes":["n2"],"remove":true}`},
	{"review", `{"limit":3}`}, {"review", `{"keep":["n2"]}`},
	{"consolidate", `{"limit":3}`}, {"config_half_life", `{}`}, {"config_profile", `{}`}, {"config_profile", `{"name":"chat"}`},
	{"config_profile", `{"name":"mine","budget":500,"fusion":"rrf"}`},
	{"config_profile", `{"name":"mine","default":true}`}, {"config_profile", `{"name":"mine","unset":["fusion"]}`},
	{"config_profile", `{"name":"mine","remove":true}`}, {"config_profile", `{"name":"mine","from":"HEAD~1"}`},
	{"switch", `{"name":"draft"}`}, {"switch", `{"name":"main"}`}, {"tag", `{"name":"v1"}`},
	{"tag", `{}`}, {"tag", `{"name":"v1","delete":true}`}, {"undo", `{}`}, {"undo", `{"redo":true}`},
	{"op_log", `{"limit":3}`}, {"op_show", `{}`}, {"op_watch", `{"since":"0","limit":2,"full":true}`}, {"op_show", `{"since":"@~1"}`},
	{"session_start", `{"name":"s"}`}, {"retrieve", `{"query":"who?","session":"s"}`},
	{"session_list", `{}`}, {"session_log", `{"name":"s"}`}, {"session_replay", `{"record":"s"}`},
	{"session_advance", `{"name":"s"}`}, {"session_end", `{"name":"s"}`}, {"session_rm", `{"name":"s"}`},
	{"fsck", `{}`}, {"fsck", `{"rebuild":true}`}, {"key_verify", `{}`},
	{"show", `{"name":"HEAD","raw":true}`}, {"gc", `{"dry_run":true}`},
	{"op_restore", `{"op":"@~1"}`}, {"purge", `{"node":"n2","yes":true,"reason":"test"}`},
	{"embed", `{}`}, {"import", ``}, {"export", `{}`}, {"pack_refs", `{"tracking":true}`},
	{"pack_send", `{"ref":["refs/heads/main"]}`}, {"pack_take", ``}, {"pack_redactions", `{}`},
	{"remote_redactions", `{}`}, {"remote_redactions", `{"name":"nobody","accept":true}`},
	{"pack_redact", `{"dry_run":true,"redactions":["bafyreih4h5fr4tuwmsbbgqy5gf2cxlo7bnbuoqqbtmtlmmqlmpivlxdr4e=pWF2AWRraW5kaXJlZGFjdGlvbmR0aW1lGwAGCiQYHkAAZHdoYXRkbm9kZWVhY3RvcmNBZGE="]}`},
}

// otherwise are the operations whose answer in TestOpenAPI is no JSON answer, and why.
var otherwise = map[string]int{
	"embed":  422, // no model is configured
	"export": 200, // a CAR file
	"import": 415, // wants a CAR file
	// Likewise.
	"pack_send": 200, "pack_take": 415,
}

// TestOpenAPI holds the document to the table, and real answers to the document.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.env["MNEM_KEYS"] = "keys"
	w.run(0, "serve", "token", "new", "root", "--scope", "admin")
	token := "Authorization: Bearer " + strings.TrimSpace(w.out.String())
	s := startServing(t, w)
	_, text := s.ask("GET", "/openapi.json", "")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatalf("%v, OpenAPI %q", err, doc.OpenAPI)
	}
	for ref := range strings.SplitSeq(text, `"$ref":"#/components/schemas/`) {
		if name, _, ok := strings.Cut(ref, `"`); ok && !strings.HasPrefix(ref, "{") &&
			doc.Components.Schemas[name] == nil {
			t.Errorf("no schema %q", name)
		}
	}
	asked := map[string]bool{}
	ask := func(name, body string) {
		asked[name] = true
		status, answer := s.ask("POST", "/v1/"+name, body, token)
		want, other := otherwise[name]
		if !other {
			want = http.StatusOK
		}
		must.Equal(t, status, want, name, " ", body, ": status: ", answer)
		if status != want || other {
			return
		}
		checkDocument(t, doc.Components.Schemas[name+"_answer"], name, answer)
		checkDocument(t, doc.Components.Schemas[name+"_arguments"], name, body)
	}
	for _, q := range requests {
		ask(q.name, q.body)
	}
	needed := func(p operation.Param) bool { return p.Required }
	for _, o := range verbs.Operations() {
		if !asked[o.Name] && o.Effect == verb.Reads && !slices.ContainsFunc(o.Params, needed) {
			ask(o.Name, `{}`)
		}
		path := doc.Paths["/v1/"+o.Name]
		must.True(t, path["post"] != nil, "%s: not in the document", o.Name)
		query := ""
		if o.Name == "op_watch" {
			query = "?since=0&limit=1" // else it has no end
		}
		status, _ := s.ask("GET", "/v1/"+o.Name+query, "", token)
		if (status == http.StatusMethodNotAllowed) != (path["get"] == nil) {
			t.Errorf("%s: GET answers %d, in the document %t", o.Name, status, path["get"] != nil)
		}
		if !asked[o.Name] {
			t.Errorf("%s: add a request to requests of this file, so that an answer is held to the document", o.Name)
		}
	}
	status, answer := s.ask("GET", "/v1/show?name=nobody", "")
	must.Equal(t, status, 404, "status")
	checkDocument(t, doc.Components.Schemas["Problem"], "problem", answer)
}

// checkDocument holds lines of JSON to a schema.
func checkDocument(t *testing.T, text json.RawMessage, name, lines string) {
	t.Helper()
	var schema jsonschema.Schema
	must.OK(t, json.Unmarshal(text, &schema), name, ": ", text)
	r := must.Get(schema.Resolve(nil))(t, name)
	for line := range strings.Lines(lines) {
		var v any
		must.OK(t, json.Unmarshal([]byte(line), &v), name, ": ", line)
		must.OK(t, r.Validate(v), name, " is not as documented: ", line)
	}
}

// TestServeStops ends while a request is under way, which is answered.
func TestServeStops(t *testing.T) {
	w := demoWorld(t)
	app := *w.App
	out, in := io.Pipe()
	app.Stdout, app.Stderr = in, io.Discard
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, &app, []string{"serve", "--addr", "127.0.0.1:0", "--json", "--log", "json"})
	}()
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	var said serving.ServeJSON
	must.OK(t, json.Unmarshal([]byte(line), &said))
	answers := make(chan error, 20)
	for i := range cap(answers) {
		go func() {
			body := fmt.Sprintf(`{"message":"m","lines":[{"node":{"key":"k%d","type":"P"}}]}`, i)
			res, err := http.Post(said.URL+"/v1/commit", "application/json", strings.NewReader(body))
			if err == nil {
				_ = res.Body.Close() // its status says all
				if res.StatusCode != 200 && res.StatusCode != 503 {
					err = fmt.Errorf("status %d", res.StatusCode)
				}
			} else {
				err = nil // it came too late
			}
			answers <- err
		}()
	}
	first := <-answers
	cancel()
	must.True(t, first == nil, "%v", first)
	for range cap(answers) - 1 {
		must.OK(t, <-answers)
	}
	select {
	case code := <-ended:
		must.Equal(t, code, 0, "exit code")
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	w.run(0, "fsck")
}
