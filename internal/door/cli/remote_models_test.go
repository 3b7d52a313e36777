package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// namesForRemote are values by which a caller could try to choose what the server talks to or reads.
func namesForRemote(dir string) []string {
	return []string{"jina:m", "openai:m", filepath.Join(dir, canaryFile)}
}

const (
	canaryFile = "canary.jsonl"
	canaryText = "sunflower-4711"
)

// probes are calls of an operation that each give one parameter a value of a list, with the arguments that
// it needs before it looks at that one.
func probes(o *operation.Operation, values []string) []map[string]json.RawMessage {
	base := map[string]json.RawMessage{}
	for _, p := range o.Params {
		switch {
		case p.Name == "query" || p.Name == "text" || p.Name == "topic":
			base[p.Name] = json.RawMessage(`"fact"`)
		case p.Kind == operation.Lines && p.Flag == "batch":
			base[p.Name] = json.RawMessage(`[{"text":"fact"}]`)
		case p.Required && p.Kind == operation.String:
			base[p.Name] = json.RawMessage(`"n1"`)
		case p.Required && p.Kind == operation.Strings:
			base[p.Name] = json.RawMessage(`["n1"]`)
		}
	}
	var all []map[string]json.RawMessage
	with := func(name, value string, more ...string) {
		args := map[string]json.RawMessage{name: json.RawMessage(value)}
		for k, v := range base {
			if args[k] == nil {
				args[k] = v
			}
		}
		for _, m := range more {
			args[m] = json.RawMessage(`"multi"`)
		}
		all = append(all, args)
	}
	for _, p := range o.Params {
		for _, v := range values {
			text, _ := json.Marshal(v)
			switch {
			case p.Kind == operation.Strings:
				with(p.Name, `["m=@`+strings.Trim(string(text), `"`)+`",`+string(text)+"]")
			case p.Kind == operation.String:
				with(p.Name, string(text))
			case p.Kind == operation.Lines && p.Flag == "batch":
				for _, member := range []string{"rerank", "rewrite", "embed", "rewriteModel", "model", "file"} {
					with(p.Name, `[{"text":"fact","`+member+`":`+string(text)+`}]`)
				}
			}
			if p.Kind == operation.String && o.Param("rewrites") != nil && p.Name != "rewrite" {
				with(p.Name, string(text), "rewrite")
			}
		}
	}
	return all
}

// TestRemoteCallersChooseNoModel gives every parameter of every operation the names of models, hosts
// and files: nothing may be asked of a server, and no file read.
func TestRemoteCallersChooseNoModel(t *testing.T) {
	t.Parallel()
	w, judges := modelWorld(t, 4)
	w.write(canaryFile, `{"node":{"key":"canary","type":"T","summary":"`+canaryText+`"}}`+"\n")
	values := namesForRemote(w.Dir)
	app := *w.App
	n := 0
	err := Live(w.App, func(h *peers.Holder) {
		app.Holder = h
		r := verbs.NewRunner(&app, false)
		for _, o := range verbs.Operations() {
			if o.Name == watchOperation {
				continue // it has no end
			}
			for _, args := range probes(&o, values) {
				n++
				var out strings.Builder
				call := operation.Call{Operation: &o, Args: args}
				if o.Body == operation.MediaCAR {
					call.Body = strings.NewReader("")
				}
				_, err := r.Run(t.Context(), call, &out)
				must.Require(t, judges.Requests <= 0, "%s %s: a server was asked", o.Name, args)
				if strings.Contains(out.String(), canaryText) ||
					err != nil && strings.Contains(err.Error(), canaryText) {
					t.Fatalf("%s %s: a file was read: %s %v", o.Name, args, &out, err)
				}
			}
		}
	})
	must.True(t, err == nil && n >= 500, "%d calls: %v", n, err)
}

// watchOperation is the one operation whose answer has no end.
const watchOperation = "op_watch"

// TestRemoteCallersAskTheConfiguredModel asks for models by true alone.
func TestRemoteCallersAskTheConfiguredModel(t *testing.T) {
	for _, tt := range []struct{ args, env, spec, code string }{
		{`{"query":"fact","rerank":true}`, "MNEM_RERANK_MODEL", "jina:m", settings.RerankModel},
		{`{"query":"zeppelin","rewrite":true}`, "MNEM_REWRITE_MODEL", "openai:m", settings.RewriteModel},
		{`{"query":"zeppelin","rewrite":"hyde"}`, "MNEM_REWRITE_MODEL", "ollama:m", settings.RewriteModel},
		{`{"query":"fact","embed":true}`, "MNEM_EMBED_MODEL", "", settings.EmbedModel},
	} {
		w, judges := modelWorld(t, 4)
		r := verbs.NewRunner(w.App, false)
		c := call(t, "retrieve", tt.args)
		_, failed := ask(t, r, operation.Invalid, c)
		if failed == nil || !strings.Contains(failed.Hint, "mnem config set "+tt.code) ||
			strings.Contains(failed.Hint, "--") {
			t.Errorf("%s without a model: %v, hint %q", tt.args, failed, failed.Hint)
		}
		if tt.spec == "" {
			continue
		}
		w.env[tt.env] = tt.spec
		ask(t, r, operation.OK, c)
		must.True(t, judges.Requests == 1, "%s with %s: %d requests", tt.args, tt.spec, judges.Requests)
	}
	w, judges := modelWorld(t, 4)
	w.env["MNEM_RERANK_MODEL"] = "jina:m"
	r := verbs.NewRunner(w.App, false)
	for _, args := range []string{
		`{"query":"fact","rerank":false}`,
		`{"query":"zeppelin","rewrite":false}`,
	} {
		ask(t, r, operation.OK, call(t, "retrieve", args))
	}
	for _, args := range []string{
		`{"query":"fact","rerank":"jina:m"}`, `{"query":"fact","rerank":"local"}`, `{"query":"fact","rerank":"configured"}`,
		`{"query":"fact","rerank":1}`, `{"query":"fact","rewrite_model":"openai:m"}`,
	} {
		if _, failed := ask(t, r, operation.Usage, call(t, "retrieve", args)); failed == nil {
			t.Errorf("%s: no error", args)
		}
	}
	must.Equal(t, judges.Requests, 0, "requests")
}
