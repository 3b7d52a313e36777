package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// surfacesList is the page that TestSurfaces keeps: go test ./internal/door/cli -run Surfaces -rewrite
// writes it.
var surfacesList = filepath.Join("testdata", "surfaces.txt")

// accepted is one parameter that a surface publishes: surface, place and name tell which.
type accepted struct{ surface, place, name, doc string }

// published returns what all surfaces accept, as their own documents tell.
func published(t *testing.T) []accepted {
	t.Helper()
	all := httpSurface(t)
	for _, p := range mcp.Profiles() {
		all = append(all, mcpSurface(t, p)...)
	}
	return all
}

// openAPIPart has the members of the OpenAPI document that these tests read.
type openAPIPart struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Ref               string `json:"$ref"`
			Name, Description string
		}
		RequestBody struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
			}
		}
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct{ Description string }
		}
		Parameters map[string]struct{ Name, Description string }
	}
}

// openAPIDocument returns the document of a server of all operations.
func openAPIDocument(t *testing.T) []byte {
	t.Helper()
	s := serve.New(serve.Config{
		Operations: verbs.Operations(), Now: time.Now, Rand: strings.NewReader(""),
		Log: slog.New(slog.DiscardHandler), Loopback: true,
	})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", http.NoBody))
	return w.Body.Bytes()
}

func httpSurface(t *testing.T) []accepted {
	t.Helper()
	var doc openAPIPart
	must.OK(t, json.Unmarshal(openAPIDocument(t), &doc))
	var all []accepted
	for _, path := range sortedKeys(doc.Paths) {
		for _, method := range sortedKeys(doc.Paths[path]) {
			at := strings.ToUpper(method) + " " + path
			how := doc.Paths[path][method]
			for _, p := range how.Parameters {
				kind := "query "
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					kind, p.Name = "header ", doc.Components.Parameters[name].Name
					p.Description = doc.Components.Parameters[name].Description
				}
				all = append(all, accepted{"http", at, kind + p.Name, p.Description})
			}
			for _, content := range how.RequestBody.Content {
				name := strings.TrimPrefix(content.Schema.Ref, "#/components/schemas/")
				schema := doc.Components.Schemas[name]
				for _, p := range sortedKeys(schema.Properties) {
					all = append(all, accepted{"http", at, "body " + p, schema.Properties[p].Description})
				}
			}
		}
	}
	return all
}

func mcpSurface(t *testing.T, profile mcp.Profile) []accepted {
	t.Helper()
	w := newWorld(t)
	server := mcp.New(verbs.Operations(), verbs.NewRunner(w.App, true), mcp.ServerOptions{Now: time.Now, Profile: profile})
	web := httptest.NewServer(server.Handler())
	defer web.Close()
	defer server.Close(context.WithoutCancel(t.Context()))
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL}, nil))(t)
	defer func() { _ = session.Close() }()
	surface := "mcp " + string(profile)
	var all []accepted
	for tool, err := range session.Tools(t.Context(), nil) {
		must.OK(t, err)
		data := must.Get(json.Marshal(tool.InputSchema))(t)
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		must.OK(t, json.Unmarshal(data, &schema))
		all = append(all, accepted{surface, "tool " + tool.Name, "", ""})
		for _, p := range sortedKeys(schema.Properties) {
			all = append(all, accepted{surface, "tool " + tool.Name, p, schema.Properties[p].Description})
		}
	}
	for r, err := range session.ResourceTemplates(t.Context(), nil) {
		must.OK(t, err)
		all = append(all, accepted{surface, "resource", r.URITemplate, ""})
	}
	for p, err := range session.Prompts(t.Context(), nil) {
		must.OK(t, err)
		for _, a := range p.Arguments {
			all = append(all, accepted{surface, "prompt " + p.Name, a.Name, a.Description})
		}
	}
	return all
}

// TestSurfaces lists what each surface accepts, as it publishes it.
func TestSurfaces(t *testing.T) {
	lines := map[string][]string{}
	for _, a := range published(t) {
		at := a.surface + " " + a.place
		lines[at] = append(lines[at], a.name)
	}
	var b strings.Builder
	for _, at := range slices.Sorted(maps.Keys(lines)) {
		b.WriteString(at + ":")
		last := ""
		for _, name := range slices.Sorted(slices.Values(lines[at])) {
			kind, rest, ok := strings.Cut(name, " ")
			switch {
			case !ok && name != "":
				b.WriteString(" " + name)
			case ok && kind != last:
				fmt.Fprintf(&b, " %s( %s", kind, rest)
			case ok:
				b.WriteString(" " + rest)
			}
			last = kind
		}
		b.WriteString("\n")
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		must.OK(t, os.WriteFile(surfacesList, []byte(b.String()), 0o644))
	}
	got := must.Get(os.ReadFile(surfacesList))(t)
	if diff := cmp.Diff(strings.ReplaceAll(string(got), "\r\n", "\n"), b.String()); diff != "" {
		t.Errorf("surfaces accept other things (-want +have); if that is meant, -rewrite:\n%s", diff)
	}
	must.True(t, len(lines) >= 150, "only %d places", len(lines))
}

// Words in the names and in the descriptions of parameters that name something of the machine. In
// descriptions "key" means the key of a node or an edge, unless they say otherwise.
var (
	nameOfTheMachine = regexp.MustCompile(`(?i)(^|[_-])(hosts?|url|uri|addr|address|ports?|files?|` +
		`paths?|dir|root|models?|providers?|spec|secrets?|token|keys?|command|program|repo|config)($|[_-])`)
	docOfTheMachine = regexp.MustCompile(`(?i)\b(hosts?|url|address|files?|director(y|ies)|models?|` +
		`providers?|spec|secrets?|environment|(signing|private|api) keys?)\b`)
)

// notOfTheMachine are the parameters that such words say something else of, and what.
var notOfTheMachine = map[string]string{
	"allow_secret":    "names of published rules",
	"embed":           "true, for the model of the configuration",
	"rerank":          "true, for the model of the configuration",
	"rewrite":         "a way, or true, for the model of the configuration",
	"weight":          "a lane of vectors that are stored, by the name that they are stored under",
	"key":             "of an edge",
	"message":         "of commits; that of embed says which model was asked",
	"source":          "an address as the memory has it; nothing is read from it",
	"Idempotency-Key": "a name of the request",
}

// TestNoSurfaceNamesTheMachine reads what all surfaces publish: no parameter names a host, file,
// directory, model or key of the machine that serves.
func TestNoSurfaceNamesTheMachine(t *testing.T) {
	used := map[string]bool{}
	n := 0
	for _, a := range published(t) {
		n++
		name := a.name[strings.LastIndexByte(a.name, ' ')+1:]
		if !nameOfTheMachine.MatchString(name) && !docOfTheMachine.MatchString(a.doc) {
			continue
		}
		must.True(t, notOfTheMachine[name] != "", "%s, %s: %q: %s", a.surface, a.place, a.name, a.doc)
		used[name] = true
	}
	for name := range notOfTheMachine {
		must.True(t, used[name], "%q needs no exception", name)
	}
	must.True(t, n >= 1000, "only %d parameters", n)
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
