package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// echoed are credentials of several lengths that somebody gives as a name, put together here so that the source has
// none, and what no error may show of each.
var echoed = []struct{ text, shown string }{
	{"ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1Yd4Fs6Hg0Jp2Kq8T", "q8Zt5Xw2"},
	{"github_pat_" + "11ABCDEFG0q8Zt5Xw2Lk9R_v3Bn7Mc1Yd4Fs6Hg0Jp2Kq8Tq8Zt5Xw2Lk9Rv3Bn7Mc1Yd4Fs6Hg0Jp2Kq8Tq8", "11ABCDEFG0"},
	{"sk-ant-" + "oat01-" + strings.Repeat("aB3dE5fG7h", 9), "aB3dE5fG7h"},
	{"AKIA" + "Q4WK2ZBR7DNX5TFM", "Q4WK2ZBR"},
	{"https://u:s3cr" + "etpw9@127.0.0.1:1/x", "etpw9"},
	{"redis://:s3cr" + "etpw9@127.0.0.1:1/x", "etpw9"},
}

// TestErrorsOfVerbsEchoNone gives a credential for each parameter of each operation, one after the other.
func TestErrorsOfVerbsEchoNone(t *testing.T) {
	_, r := remoteWorld(t)
	all := verbs.Operations()
	failures := 0
	for i := range all {
		o := &all[i]
		if o.Answer == operation.MediaCAR || o.Name == "op_watch" {
			continue
		}
		for _, p := range o.Params {
			if p.Kind != operation.String && p.Kind != operation.Strings {
				continue
			}
			for _, g := range echoed {
				c := operation.Call{Operation: o, Args: argsWith(o, p.Name, g.text)}
				var out strings.Builder
				_, err := r.Run(t.Context(), c, &out)
				if err == nil {
					continue
				}
				failures++
				said, _ := json.Marshal(err)
				if text := err.Error() + string(said); strings.Contains(text, g.shown) {
					t.Errorf("%s %s: %s", o.Name, p.Name, text)
				}
			}
		}
	}
	must.True(t, failures >= 500, "only %d calls failed", failures)
}

// argsWith returns the required arguments of an operation and one more.
func argsWith(o *operation.Operation, name, value string) map[string]json.RawMessage {
	args := map[string]json.RawMessage{}
	for _, p := range o.Params {
		if p.Name != name && !p.Required {
			continue
		}
		text, data := "x", []byte(nil)
		if p.Name == name {
			text = value
		}
		switch p.Kind {
		case operation.Strings:
			data, _ = json.Marshal([]string{text})
		case operation.Integer, operation.Number:
			data = []byte("1")
		case operation.Boolean:
			data = []byte("true")
		case operation.Lines:
			data = []byte("[]")
		default:
			data, _ = json.Marshal(text)
		}
		args[p.Name] = data
	}
	return args
}

// TestErrorsOfCommandsEchoNone gives a credential as a name to commands, of this machine too, in both forms.
func TestErrorsOfCommandsEchoNone(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write("alice.jsonl", aliceLine)
	w.run(0, "commit", "-m", "x", "alice.jsonl")
	commands := []string{
		"tag %", "tag -m x %", "tag rm %", "branch %", "branch rm %", "switch %", "switch -c %",
		"session start %", "session log %", "session end %", "session rm %", "session advance %",
		"config profile % limit=3", "config profile % --remove", "config profile default --unset %", "config profile --from %",
		"config half-life %=3", "purge alice --yes --reason %", "forget %", "show %", "log --at %",
		"remote add % ../x", "remote add x %", "remote rm %", "remote rename % y", "fetch %", "push %", "sync %", "clone %",
		"config get %", "config set % y", "config set wait %", "serve token create %", "serve token revoke %", "key show %",
		"key trust %", "key verify %", "policy check %", "import %", "export %", "ingest %", "serve --listen %",
		"mcp --profile %", "completion %", "help %", "%", "--%", "show --% x", "retrieve x --profile %",
		"retrieve x --session %", "retrieve x --where %", "remember x --type %", "remember x --tag %", "link % a t",
		"embed --model %", "git follow %", "config secrets %", "show --raw --field x %", "session replay %", "op show %", "hook %",
	}
	for _, command := range commands {
		for _, g := range echoed {
			for _, form := range []string{"", "--json"} {
				var args []string
				for _, word := range strings.Fields(command + " " + form) {
					args = append(args, strings.ReplaceAll(word, "%", g.text))
				}
				w.out.Reset()
				w.err.Reset()
				code := Run(w.ctx, w.App, args)
				if strings.Contains(w.err.String(), g.shown) {
					t.Errorf("%s %s: %d, %s", command, form, code, &w.err)
				}
			}
		}
	}
}

// TestErrorsOfServersEchoNone asks a server for what there is not, by names that are credentials.
func TestErrorsOfServersEchoNone(t *testing.T) {
	_, r := remoteWorld(t)
	s := serve.New(serve.Config{
		Operations: verbs.Operations(), Runner: r, Now: time.Now, Rand: strings.NewReader(strings.Repeat("x", 1<<16)),
		Log: slog.New(slog.DiscardHandler), Loopback: true,
	})
	for _, g := range echoed {
		for _, req := range []*http.Request{
			httptest.NewRequest(http.MethodGet, "http://localhost/v1/"+url.PathEscape(g.text), http.NoBody),
			httptest.NewRequest(http.MethodPost, "http://localhost/v1/get", strings.NewReader(fmt.Sprintf(`{"node":%q}`, g.text))),
			httptest.NewRequest(http.MethodPost, "http://localhost/v1/get", strings.NewReader(fmt.Sprintf(`{%q:1}`, g.text))),
			httptest.NewRequest(http.MethodPost, "http://localhost/v1/tag", strings.NewReader(fmt.Sprintf(`{"name":%q}`, g.text))),
		} {
			req.Header.Set("Content-Type", operation.MediaJSON)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			body, err := io.ReadAll(w.Body)
			if err != nil || w.Code < 400 || strings.Contains(string(body), g.shown) {
				t.Errorf("%s: %d, %v, %s", req.URL.Path, w.Code, err, body)
			}
		}
	}
}
