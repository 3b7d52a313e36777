package lint

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mnem-project/mnem/"

// A floor is a group of packages with one purpose. A package may import those of lower floors, and those that its own
// floor lists before it.
type floor struct {
	name, why string
	rooms     string
}

// floors are all packages of the module, from the ground up. Test files are free, except if a comment says so.
var floors = []floor{
	{"base", "integer maths, texts, files and caches; nothing of a memory", "internal/tuning internal/cache " +
		"internal/fixed internal/heap internal/parallel internal/pattern internal/pipe internal/queue internal/regular " +
		"internal/filestate internal/filewatch internal/owner internal/vector internal/text internal/dates " +
		"internal/intent internal/hashed internal/plain"},
	{"ipld", "what a block is: CIDs, canonical bytes, limits", "ipld ipld/prime"},
	{"records", "nodes, edges, marks, commits; texts that must not be written", "graph guard car store commit community"},
	{"models", "texts and vectors, never a repository", "model model/embed model/rerank model/rewrite"},
	{"retrieve", "ranking, over interfaces of its own, so that it can be tested and replayed without a store", "retrieve"},
	{"blocks", "ordered trees, and where blocks are kept", "prolly internal/layout store/mem store/pebble store/postgres " +
		"store/storetest adjacency"},
	{"segments", "forms of derived indexes, whatever a repository keeps of them", "segment index links dense distill"},
	{"state", "a state, its batches and differences; the three-way merge; what is derived from it", "internal/state " +
		"internal/merge3 internal/view"},
	{"core", "open repositories: snapshots, transactions, refs", "internal/core"},
	{"answers", "digests, retrieval from snapshots, recorded answers", "internal/outline internal/rank internal/session"},
	{"history", "what happened, what is merged, what is kept sound, what is exchanged", "internal/history internal/merging " +
		"internal/care internal/exchange"},
	{"memories", "agents' verbs, files and conversations as nodes", "memory/compare memory/extract memory ingest/parse " +
		"ingest/chats ingest capture"},
	{"remotes", "histories between repositories: refs and packs", "remote/s3 remote/s3/s3test remote"},
	{"verbs", "what can be asked from outside, by whom, and the table of it", "operation policy ops"},
	{"carriers", "verbs on whatever they are asked, and what is beside a repository on this machine", "internal/accesses " +
		"internal/keyring peers remote/byverb internal/gitdir internal/gitrun internal/gitfollow remote/place remote/server " +
		"remote/mirror remote/trade internal/clients internal/hooks internal/integrate"},
	{"library", "what other programs import", "repo"},
	{"doors", "bytes into requests, answers into bytes", "web mcp serve internal/shelf internal/settings " +
		"internal/show testdata/demo internal/cli"},
	{"measuring", "programs and packages that measure", "internal/evaluate internal/synth internal/bench"},
	{"programs", "", "cmd/mnem cmd/mnem-bench"},
	{"tests", "what tests share; tests of the whole from outside", "internal/cases internal/testkit/effort " +
		"internal/testkit/differ internal/testkit/longer internal/testkit/o200k internal/testkit/pgserver " +
		"internal/testkit/ramdir internal/testkit internal/testkit/repofiles internal/testkit/repokit " +
		"internal/testkit/program internal/text/gen internal/e2e internal/sharing internal/lint internal/lint/house spec"},
}

// alone are packages that may import less than what is below them: a door never sees a repository, what ranks never
// sees a store, and leaves import nothing of ours.
var alone = map[string]string{
	"retrieve":                   "ipld graph community internal/dates internal/fixed internal/heap internal/intent internal/text internal/tuning",
	"community":                  "ipld graph",
	"guard":                      "ipld graph",
	"operation":                  "",
	"web":                        "",
	"mcp":                        "guard operation internal/text",
	"serve":                      "guard operation web internal/text",
	"model":                      "",
	"policy":                     "ipld internal/core internal/state internal/regular",
	"remote/s3":                  "",
	"cmd/mnem":                   "internal/cli",
	"ingest/parse":               "internal/pattern internal/text",
	"ingest/chats":               "internal/pattern",
	"store":                      "ipld",
	"prolly":                     "ipld store internal/cache",
	"commit":                     "ipld graph store",
	"adjacency":                  "ipld graph prolly store",
	"segment":                    "ipld graph store internal/cache",
	"index":                      "ipld graph store segment internal/fixed internal/heap internal/parallel internal/text",
	"dense":                      "ipld graph store prolly segment index internal/fixed internal/heap",
	"links":                      "ipld graph store segment",
	"distill":                    "ipld graph prolly store internal/fixed internal/hashed internal/text",
	"store/mem":                  "ipld store",
	"store/pebble":               "ipld store internal/queue",
	"store/postgres":             "ipld store internal/cache",
	"store/storetest":            "ipld store",
	"car":                        "ipld",
	"graph":                      "ipld internal/vector",
	"ipld":                       "",
	"model/embed":                "internal/hashed internal/text internal/vector model internal/regular",
	"model/rerank":               "model",
	"model/rewrite":              "model",
	"memory/compare":             "internal/dates internal/fixed internal/text",
	"memory/extract":             "internal/dates internal/fixed internal/text",
	"internal/layout":            "internal/filestate internal/regular",
	"internal/accesses":          "graph store ops internal/filestate",
	"internal/keyring":           "ipld graph commit internal/filestate internal/regular",
	"internal/clients":           "internal/filestate internal/pattern internal/regular",
	"internal/gitdir":            "graph internal/filestate ipld internal/regular",
	"internal/dates":             "internal/text",
	"internal/intent":            "internal/text",
	"internal/hashed":            "internal/fixed internal/text internal/vector",
	"internal/plain":             "internal/text",
	"internal/filestate":         "internal/regular",
	"internal/owner":             "internal/regular",
	"internal/text/gen":          "internal/text",
	"internal/testkit/program":   "internal/cli internal/testkit/ramdir",
	"internal/testkit/repofiles": "internal/layout ipld store/pebble",
	"ipld/prime":                 "ipld",
	"cmd/mnem-bench":             "internal/bench internal/cli",
	"remote/s3/s3test":           "",
	"internal/fixed":             "",
	"internal/cases":             "",
	"internal/heap":              "",
	"internal/cache":             "",
	"internal/parallel":          "",
	"internal/regular":           "",
	"internal/pattern":           "",
	"internal/text":              "",
	"internal/vector":            "",
	"internal/tuning":            "",
	"internal/queue":             "",
	"internal/pipe":              "",
	"internal/testkit/effort":    "",
	"internal/testkit/differ":    "",
	"internal/testkit/longer":    "",
	"internal/testkit/o200k":     "",
	"internal/testkit/ramdir":    "",
	"internal/testkit/pgserver":  "",
	"internal/sharing":           "",
	"internal/filewatch":         "",
	"internal/e2e":               "",
	"internal/lint":              "",
	"spec":                       "",
}

// few are packages that only some others may import: stores are opened in one place, and what a measurement puts in the
// place of constants reaches no other request. "" is for none.
var few = map[string]string{
	"internal/tuning": "retrieve internal/evaluate",
	"store/pebble":    "internal/core internal/testkit/repofiles internal/testkit/repokit",
	"store/postgres":  "internal/core internal/testkit/repokit",
	"internal/cli":    "cmd/mnem cmd/mnem-bench internal/bench internal/testkit/program",
	"internal/show":   "internal/cli internal/bench",
	"repo":            "",
}

type listed struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	var all []listed
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found", len(all))
	}
	return all
}

func TestImportsPointDownward(t *testing.T) {
	place := map[string]int{}
	for _, f := range floors {
		for _, room := range strings.Fields(f.rooms) {
			if _, twice := place[room]; twice {
				t.Errorf("%s is on two floors", room)
			}
			place[room] = len(place)
		}
	}
	found := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		at, known := place[name]
		if !known {
			t.Errorf("%s is on no floor: add it to one", name)
			continue
		}
		found[name] = true
		list, limited := alone[name]
		for _, imp := range p.Imports {
			ours, ok := strings.CutPrefix(imp, module)
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
			if _, known := place[name]; !known {
				t.Errorf("%s has a rule and is on no floor", name)
			}
		}
	}
	for name := range place {
		if !found[name] && !strings.HasPrefix(name, "testdata/") { // which go list passes over
			t.Errorf("%s is on a floor and nowhere else", name)
		}
	}
}

// TestConformanceIsApart keeps the second implementation from borrowing of the first: it is a module of
// its own, which neither imports nor requires this one.
func TestConformanceIsApart(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.path, "conformance/") {
			continue
		}
		found++
		for _, imp := range s.file.Imports {
			if strings.HasPrefix(imp.Path.Value, `"`+module) {
				t.Errorf("%s imports %s", s.path, imp.Path.Value)
			}
		}
	}
	mod, err := os.ReadFile(root + "/conformance/go.mod")
	if err != nil || found == 0 {
		t.Fatalf("%d files, %v", found, err)
	}
	_, rest, named := strings.Cut(string(mod), "module "+module+"conformance\n")
	if !named || strings.Contains(rest, module[:len(module)-1]) {
		t.Errorf("conformance/go.mod requires this module, or has another name:\n%s", mod)
	}
}

// TestHeavyImportsStayInTheirRooms keeps what is slow to start or replaceable behind one door.
func TestHeavyImportsStayInTheirRooms(t *testing.T) {
	doors := map[string][]string{
		"github.com/cockroachdb/pebble/v2": {"store/pebble", "internal/core", "internal/testkit", "internal/testkit/repokit"},
		"github.com/ipld/go-ipld-prime":    {"ipld/prime"},
		"github.com/ipfs/go-cid":           {"ipld/prime"},
		"github.com/spf13/cobra":           {"internal/cli", "internal/bench"},
		"github.com/tiktoken-go/tokenizer": {"internal/testkit/o200k"},
		"github.com/BurntSushi/toml":       {"internal/clients"},
		"github.com/tailscale/hujson":      {"internal/clients"},
		"github.com/fsnotify/fsnotify":     {"internal/filewatch"},
		"golang.org/x/net":                 {"ingest/parse"},           // the tokenizer of HTML; no tree is made
		"github.com/klauspost/compress":    {"serve", "remote/server"}, // packs on their way
		"github.com/prometheus":            {"serve"},
		"github.com/jackc/pgx/v5":          {"store/postgres"}, // of it the protocol alone, pgconn
		// The protocol library brings OAuth and gob with it.
		"github.com/modelcontextprotocol/go-sdk": {"mcp"},
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, imp := range p.Imports {
			for prefix, rooms := range doors {
				in := imp == prefix || strings.HasPrefix(imp, prefix+"/")
				if in && !slices.Contains(rooms, name) {
					t.Errorf("%s imports %s, which belongs to %v", name, imp, rooms)
				}
			}
		}
	}
}
