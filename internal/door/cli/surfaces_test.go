package cli

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// accepted is one parameter that a surface publishes.
type accepted struct{ surface, place, name, doc string }

// published returns what HTTP accepts by its own document, and MCP by its list of all tools, which a test of its package
// keeps.
func published(t *testing.T) (all []accepted) {
	t.Helper()
	type members map[string]struct{ Description string }
	add := func(surface, place string, properties members) {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			all = append(all, accepted{surface, place, name, properties[name].Description})
		}
	}
	type parameter struct{ Name, Description string }
	var doc struct {
		Paths      map[string]map[string]struct{ Parameters []parameter }
		Components struct {
			Schemas    map[string]struct{ Properties members }
			Parameters map[string]parameter
		}
	}
	must.OK(t, json.Unmarshal(must.Get(serve.Document(verbs.Operations(), "devel"))(t), &doc))
	for path, methods := range doc.Paths {
		for method, how := range methods {
			for _, p := range how.Parameters {
				all = append(all, accepted{"http", method + " " + path, p.Name, p.Description})
			}
		}
	}
	for _, p := range doc.Components.Parameters {
		all = append(all, accepted{"http", "header", p.Name, p.Description})
	}
	for name, schema := range doc.Components.Schemas {
		if strings.HasSuffix(name, "_arguments") {
			add("http", name, schema.Properties)
		}
	}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties members }
		}
	}
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile("../mcp/testdata/tools-full.json"))(t), &list))
	for _, tool := range list.Tools {
		add("mcp", tool.Name, tool.InputSchema.Properties)
	}
	return all
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
		if !nameOfTheMachine.MatchString(a.name) && !docOfTheMachine.MatchString(a.doc) {
			continue
		}
		must.True(t, notOfTheMachine[a.name] != "", "%s, %s: %q: %s", a.surface, a.place, a.name, a.doc)
		used[a.name] = true
	}
	for name := range notOfTheMachine {
		must.True(t, used[name], "%q needs no exception", name)
	}
	must.True(t, n >= 1000, "only %d parameters", n)
}
