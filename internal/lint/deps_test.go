package lint

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const module = "github.com/mnem-project/mnem/"

// A floor is a group of packages with one purpose. A package may import those of lower floors, and those that its own
// floor lists before it. In all tables below, names of internal packages leave out internal/.
type floor struct {
	name, why string
	rooms     string
}

// floors are all packages of the module, from the ground up. Test files are free, except if a comment says so.
var floors = []floor{
	{"base", "integer maths, texts, files and caches; nothing of a memory", "" +
		"base/tuning base/cache base/fixed base/heap base/parallel base/httpd base/pattern base/pipe base/queue base/regular " +
		"base/filestate base/filewatch owner base/vector base/text base/dates base/intent base/rarity base/hashed base/plain base/zones base/sqlite"},
	{"ipld", "what a block is: CIDs, canonical bytes, limits", "ipld ipld/prime"},
	{"records", "nodes, edges, marks, commits; texts that must not be written", "" +
		"graph guard block/car block/store commit view/community"},
	{"models", "texts and vectors, never a repository", "" +
		"model model/bert model/minilm/dot model/minilm model/minilm/weights model/builtin model/embed model/rerank model/rewrite"},
	{"retrieve", "ranking, over interfaces of its own, so that it can be tested and replayed without a store", "" +
		"retrieve rank/source rank/render rank/stage rank/complete"},
	{"blocks", "ordered trees, and where blocks are kept", "" +
		"block/prolly layout block/store/mem block/store/pebble block/store/postgres adjacency"},
	{"segments", "forms of derived indexes, whatever a repository keeps of them", "" +
		"view/segment view/index view/links view/dense view/distill"},
	{"state", "a state, its batches and differences; the three-way merge; what is derived from it", "" +
		"state merge3 view"},
	{"core", "open repositories: snapshots, transactions, refs", "core"},
	{"answers", "digests, retrieval from snapshots, recorded answers", "outline rank session"},
	{"history", "what happened, what is merged, what is kept sound, what is exchanged", "" +
		"history merging care exchange"},
	{"memories", "agents' verbs, files and conversations as nodes", "" +
		"memory/compare memory/extract memory memory/remember memory/recall memory/sources " +
		"memory/review ingest/parse ingest/chats ingest ingest/vault agent/capture"},
	{"remotes", "histories between repositories: refs and packs", "" +
		"exchange/remote/s3 exchange/remote/seal exchange/remote"},
	{"verbs", "what can be asked from outside, by whom, and the table of it", "" +
		"verb/operation verb/policy verb verb/reading verb/editing verb/branching verb/outlining verb/ingesting " +
		"verb/asking verb/remembering verb/upkeep verb/transfer verb/table"},
	{"machine", "verbs of any repository that can be reached, and what else this machine has for one", "" +
		"keyring gitrun gitdir gitfollow verb/peers exchange/remote/place " +
		"exchange/remote/server exchange/remote/mirror exchange/remote/trade agent/clients agent/hooks " +
		"agent/integrate"},
	{"library", "what other programs import", "repo repo/minilm"},
	{"doors", "bytes into requests, answers into bytes", "" +
		"web door/mcp door/serve door/shelf door/settings door/show door/answers testdata/demo door/line " +
		"door/reach door/setup door/trade door/access door/verbs door/serving door/cli"},
	{"measuring", "programs and packages that measure", "evaluate synth bench"},
	{"programs", "", "cmd/mnem cmd/mnem-bench door/cli/man"},
	{"tests", "what tests share; tests of the whole from outside", "" +
		"testkit/differ testkit/must testkit/effort testkit/cases testkit/s3test testkit/storetest testkit/longer testkit/o200k testkit/pgserver testkit/ramdir testkit " +
		"testkit/synthkit testkit/repofiles testkit/repokit testkit/memkit testkit/modelkit testkit/verbkit testkit/program base/text/gen base/zones/gen e2e " +
		"sharing lint lint/house spec"},
}

// alone are packages that may import less than the floors below them: a door never sees a repository, ranking code
// never sees a store, and leaves import nothing of ours.
var alone = map[string]string{
	"retrieve":    "ipld graph base/fixed base/text",
	"rank/source": "ipld graph retrieve view/community",
	"rank/render": "ipld graph retrieve rank/source base/text",
	"rank/stage": "ipld graph retrieve rank/source rank/render base/dates base/fixed base/heap " +
		"base/intent base/rarity base/text base/tuning",
	"rank/complete":        "ipld graph retrieve rank/source base/fixed base/text",
	"view/community":       "ipld graph",
	"guard":                "ipld graph",
	"verb/operation":       "",
	"web":                  "",
	"door/mcp":             "guard verb/operation base/text",
	"door/serve":           "guard verb/operation web base/text base/httpd",
	"model":                "",
	"verb/policy":          "ipld core state base/regular",
	"exchange/remote/s3":   "",
	"exchange/remote/seal": "",
	"cmd/mnem":             "door/line door/cli model/builtin model/minilm/weights",
	"ingest/parse":         "base/pattern base/text",
	"ingest/chats":         "base/pattern base/sqlite base/text ipld",
	"block/store":          "ipld",
	"block/prolly":         "ipld block/store base/cache",
	"commit":               "ipld graph block/store base/heap",
	"adjacency":            "ipld graph block/prolly block/store",
	"view/segment":         "ipld graph block/store base/cache",
	"view/index":           "ipld graph retrieve rank/source block/store view/segment base/fixed base/heap base/parallel base/rarity base/text",
	"view/dense":           "ipld graph block/store block/prolly view/segment view/index base/fixed base/heap base/parallel",
	"view/links":           "ipld graph block/store view/segment",
	"view/distill":         "ipld graph block/prolly block/store base/fixed base/hashed base/text",
	"block/store/mem":      "ipld block/store",
	"block/store/pebble":   "ipld block/store base/queue",
	"block/store/postgres": "ipld block/store base/cache",
	"block/car":            "ipld",
	"graph":                "ipld base/vector",
	"ipld":                 "",
	"model/bert":           "",
	"model/minilm/dot":     "",
	"model/minilm":         "base/fixed base/parallel model/bert model/minilm/dot",
	"model/minilm/weights": "",
	"model/builtin":        "model/minilm",
	"model/embed":          "base/hashed base/text base/vector model model/bert base/regular",
	"model/rerank":         "model",
	"model/rewrite":        "model",
	"memory/compare":       "base/dates base/fixed base/text",
	"memory/extract":       "base/dates base/fixed base/text",
	"layout":               "base/filestate base/regular",
	"keyring":              "ipld graph commit base/filestate base/regular",
	"agent/clients":        "base/filestate base/pattern base/regular",
	"gitdir":               "graph base/filestate gitrun ipld base/regular",
	"base/dates":           "base/text",
	"base/intent":          "base/text",
	"base/hashed":          "base/fixed base/text base/vector",
	"base/plain":           "base/text",
	"base/rarity":          "base/text",
	"base/filestate":       "base/regular",
	"owner":                "base/regular base/httpd",
	"base/text/gen":        "base/text",
	"testkit/program":      "door/line door/cli testkit/ramdir testkit/must",
	"testkit/repofiles":    "layout ipld block/store/pebble",
	"ipld/prime":           "ipld",
	"cmd/mnem-bench":       "bench door/line door/cli model/builtin model/minilm/weights",
	"base/fixed":           "",
	"testkit/cases":        "testkit/must",
	"testkit/s3test":       "",
	"testkit/storetest":    "ipld block/store testkit/must",
	"base/heap":            "",
	"base/cache":           "",
	"base/parallel":        "",
	"base/regular":         "",
	"base/pattern":         "",
	"base/text":            "",
	"base/vector":          "",
	"base/tuning":          "rank/stage rank evaluate",
	"base/queue":           "",
	"base/pipe":            "",
	"testkit/effort":       "testkit/must",
	"testkit/must":         "testkit/differ",
	"testkit/differ":       "",
	"testkit/longer":       "",
	"testkit/o200k":        "testkit/must",
	"testkit/ramdir":       "",
	"testkit/pgserver":     "testkit/must",
	"sharing":              "",
	"base/filewatch":       "",
	"e2e":                  "",
	"lint":                 "",
	"spec":                 "",
}

// few are packages that only some others may import: stores are opened in one place, and a measurement's replacements
// of constants reach no other request. "" is for none.
var few = map[string]string{
	"base/tuning":          "rank/stage rank evaluate",
	"block/store/pebble":   "core testkit/repofiles testkit/repokit",
	"model/minilm/weights": "cmd/mnem cmd/mnem-bench repo/minilm",
	"block/store/postgres": "core testkit/repokit",
	"door/cli":             "cmd/mnem cmd/mnem-bench bench door/cli/man testkit/program",
	"door/show":            "door/answers door/line door/reach door/setup door/trade door/access door/verbs door/serving door/cli bench",
	"repo":                 "repo/minilm",
	"repo/minilm":          "",
}

// carriers are the programs and tests that carry the file of the sentence model, 23 MB: no test that does without.
var carriers = "cmd/mnem cmd/mnem-bench repo/minilm cmd/mnem.test model/minilm.test model/builtin.test bench.test repo/minilm.test"

type listed struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func room(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "internal/")
}

// goList returns what 'go list' prints of packages as JSON.
func goList[T any](t *testing.T, env []string, args ...string) (all []T) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), env...), os.Stderr
	dec := json.NewDecoder(bytes.NewReader(must.Get(cmd.Output())(t, "go list")))
	for dec.More() {
		var p T
		must.OK(t, dec.Decode(&p))
		all = append(all, p)
	}
	must.Require(t, len(all) >= 10, "only %d packages found", len(all))
	return all
}

func packages(t *testing.T) []listed {
	t.Helper()
	return goList[listed](t, nil, "-json=ImportPath,Imports,GoFiles", "./...")
}

func TestImportsPointDownward(t *testing.T) {
	place := map[string]int{}
	for _, f := range floors {
		for _, room := range strings.Fields(f.rooms) {
			_, twice := place[room]
			must.True(t, !twice, "%s is on two floors", room)
			place[room] = len(place)
		}
	}
	found := map[string]bool{}
	for _, p := range packages(t) {
		name := room(p.ImportPath)
		at, known := place[name]
		if !known {
			t.Errorf("%s is on no floor: add it to one", name)
			continue
		}
		found[name] = true
		list, limited := alone[name]
		for _, imp := range p.Imports {
			ours, ok := room(imp), strings.HasPrefix(imp, module)
			switch below, known := place[ours]; {
			case !ok:
			case !known || below >= at:
				t.Errorf("%s imports %s, which is not below it", name, ours)
			case limited && !slices.Contains(strings.Fields(list), ours):
				t.Errorf("%s imports %s; it may import: %q", name, ours, list)
			default:
				if by, rare := few[ours]; rare && !slices.Contains(strings.Fields(by), name) {
					t.Errorf("%s imports %s, which only %q may", name, ours, by)
				}
			}
		}
	}
	for _, table := range []map[string]string{alone, few} {
		for name := range table {
			_, known := place[name]
			must.True(t, known, "%s has a rule and is on no floor", name)
		}
	}
	for name := range place {
		if !found[name] && !strings.HasPrefix(name, "testdata/") { // which go list passes over
			t.Errorf("%s is on a floor and nowhere else", name)
		}
	}
}

// TestModelFileIsCarriedByFew checks the linked packages, tests included.
func TestModelFileIsCarriedByFew(t *testing.T) {
	cmd := exec.Command("go", "list", "-test", "-f",
		`{{if not .ForTest}}{{range .Deps}}{{if eq . "`+module+`internal/model/minilm/weights"}}{{$.ImportPath}}{{end}}{{end}}{{end}}`,
		"./...")
	cmd.Dir = "../.."
	out := must.Get(cmd.Output())(t, "go list")
	got := strings.Fields(string(out))
	for i := range got {
		got[i] = room(got[i])
	}
	want := strings.Fields(carriers)
	slices.Sort(got)
	slices.Sort(want)
	must.Same(t, got, want, "the model's file is linked by")
}

// TestConformanceIsApart keeps the second implementation independent of the first: it is a module of its own, which
// neither imports nor requires this one.
func TestConformanceIsApart(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.path, "conformance/") {
			continue
		}
		found++
		for _, imp := range s.file.Imports {
			must.True(t, !strings.HasPrefix(imp.Path.Value, `"`+module), "%s imports %s", s.path, imp.Path.Value)
		}
	}
	mod, err := os.ReadFile(root + "/conformance/go.mod")
	must.Require(t, err == nil && found != 0, "%d files, %v", found, err)
	_, rest, named := strings.Cut(string(mod), "module "+module+"conformance\n")
	must.True(t, named && !strings.Contains(rest, module[:len(module)-1]),
		"conformance/go.mod requires this module, or has another name:\n%s", mod)
}

// TestHeavyImportsStayInTheirRooms keeps packages that are slow to start or replaceable in one place each.
func TestHeavyImportsStayInTheirRooms(t *testing.T) {
	doors := map[string][]string{
		"github.com/cockroachdb/pebble/v2": {"block/store/pebble", "core", "testkit", "testkit/repokit"},
		"github.com/ipld/go-ipld-prime":    {"ipld/prime"},
		"github.com/ipfs/go-cid":           {"ipld/prime"},
		"github.com/spf13/cobra":           {"door/line", "door/reach", "door/verbs", "door/cli", "bench"},
		"github.com/tiktoken-go/tokenizer": {"testkit/o200k"},
		"github.com/BurntSushi/toml":       {"agent/clients"},
		"github.com/tailscale/hujson":      {"agent/clients"},
		"github.com/fsnotify/fsnotify":     {"base/filewatch"},
		"golang.org/x/sys":                 {"model/minilm/dot"},                                     // which instructions a processor has
		"golang.org/x/net":                 {"ingest/parse"},                                         // the tokenizer of HTML; no tree is made
		"github.com/klauspost/compress":    {"door/serve", "exchange/remote/server", "ingest/chats"}, // packs on their way, rollouts
		"github.com/prometheus":            {"door/serve"},
		"filippo.io/age":                   {"exchange/remote/seal", "exchange/remote/place", "exchange/remote/mirror", "door/reach"},
		"github.com/jackc/pgx/v5":          {"block/store/postgres"}, // only its protocol, pgconn
		// The protocol library brings OAuth and gob with it.
		"github.com/modelcontextprotocol/go-sdk": {"door/mcp"},
	}
	for _, p := range packages(t) {
		name := room(p.ImportPath)
		for _, imp := range p.Imports {
			for prefix, rooms := range doors {
				in := imp == prefix || strings.HasPrefix(imp, prefix+"/")
				must.True(t, !in || slices.Contains(rooms, name),
					"%s imports %s, which belongs to %v", name, imp, rooms)
			}
		}
	}
}
