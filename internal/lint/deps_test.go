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

// allowed lists, for each package, the packages of this module it may import, with the reason the
// room exists. Imports point downward only. Test files are free, except where a comment says so.
var allowed = map[string]string{
	"ipld":              "",     // what a block is depends on nothing of ours
	"ipld/prime":        "ipld", // other people's tools see blocks; the program does not link it
	"internal/fixed":    "",     // integer maths
	"internal/cases":    "",     // test cases in files, read by tests
	"internal/heap":     "",     // the best of many
	"internal/cache":    "",     // what was decoded, up to a number of bytes
	"internal/parallel": "",     // work side by side
	"internal/regular":  "",     // files that users name, opened without waiting
	"internal/pattern":  "",     // regular expressions, compiled when they are used
	"internal/text":     "",     // text analysis with its own tables
	"internal/dates":    "internal/text",
	"internal/intent":   "internal/text", // what questions ask for
	"car":               "ipld",          // a file format, apart from what its blocks mean
	"store":             "ipld",
	"store/mem":         "ipld store",
	"store/pebble":      "ipld store internal/queue",
	"store/postgres":    "ipld store internal/cache",
	"store/storetest":   "ipld store",
	"internal/vector":   "",                                             // numbers of models as they are stored
	"internal/hashed":   "internal/fixed internal/text internal/vector", // vectors of texts without a model
	"graph":             "ipld internal/vector",
	"guard":             "ipld graph", // what texts and change lines hold that must not be written: no repository
	"prolly":            "ipld store internal/cache",
	"commit":            "ipld graph store",
	"adjacency":         "ipld graph prolly store",         // store only for its errors
	"segment":           "ipld graph store internal/cache", // how any index is kept, whatever its parts hold
	"index":             "ipld graph store segment internal/fixed internal/heap internal/parallel internal/text",
	"dense":             "ipld graph store prolly segment index internal/fixed internal/heap", // vectors as index has texts
	"links":             "ipld graph store segment",                                           // buckets of edges as index has texts
	"community":         "ipld graph",                                                         // a function of edges: it sees neither trees nor a store
	// Digests of a graph, which it sees through an interface of its own: texts and who is in what.
	"distill": "ipld graph prolly store internal/fixed internal/hashed internal/text",
	// Retrieval sees the graph and the index through interfaces of its own, so that a ranking
	// can be tested and replayed without a repository.
	"retrieve": "ipld graph community internal/dates internal/fixed internal/heap internal/intent internal/text internal/tuning",
	// What measurements alone put in the place of constants of the ranking.
	"internal/tuning": "",
	// Models see texts and vectors, never a repository; the caller stores what they answer.
	"model":         "",
	"model/embed":   "internal/hashed internal/text internal/vector model internal/regular",
	"model/rerank":  "model",
	"model/rewrite": "model",
	"repo": "car ipld graph store store/pebble store/postgres prolly commit adjacency community distill segment index dense links internal/regular " +
		"retrieve internal/cache internal/fixed internal/heap internal/parallel internal/text " +
		"guard", // asked about every change before it is written
	// What texts say is a function of the texts: no repository is seen.
	"memory/compare": "internal/dates internal/fixed internal/text",
	"memory/extract": "internal/dates internal/fixed internal/text",
	"memory": "ipld graph store adjacency retrieve repo internal/dates internal/fixed internal/text " +
		"memory/compare memory/extract guard",
	// What documents say is a function of their bytes; what they become is one of a snapshot.
	"ingest/parse": "internal/pattern internal/text",
	"ingest/chats": "internal/pattern",
	"ingest": "adjacency graph guard ipld repo store ingest/chats ingest/parse " + // store only for its errors
		"memory " + // how sources are written
		"retrieve", // which states hide
	// Histories between repositories: refs and packs, whatever carries them.
	"remote/s3":        "", // objects in a bucket, whatever they mean
	"remote/s3/s3test": "",
	"remote":           "car commit graph ipld repo store internal/filestate internal/layout",
	// What carries them: verbs, on whatever they are asked; places and their names; servers; stores that know nothing
	// of a memory; and what a sync is.
	"remote/byverb": "commit graph ipld operation ops remote repo",
	"remote/place":  "graph internal/filestate internal/gitrun internal/plain internal/text ops remote/byverb repo",
	"remote/server": "internal/pipe internal/plain internal/text ipld operation ops remote remote/byverb remote/place repo store internal/regular",
	"remote/mirror": "graph internal/filestate internal/gitrun ipld ops remote remote/byverb remote/place remote/s3 repo",
	"remote/trade": "commit graph internal/filestate internal/plain ipld ops remote remote/byverb remote/mirror remote/place " +
		"remote/server repo",
	// What agents and their users say becomes nodes, by files beside a repository that may be lost.
	"capture": "graph ingest ingest/chats ipld memory repo retrieve store internal/filestate internal/text internal/regular",
	// What processes say to each other that use one repository: bytes, whatever they mean.
	"internal/owner": "internal/regular",
	// The order in which processes come to a lock: bytes of a file, no repository.
	"internal/queue": "",
	// A connection of two streams: bytes, whatever they mean.
	"internal/pipe": "",
	// What can be asked from outside, and what becomes of it: words, no repository.
	"operation": "",
	// The table of verbs, under every surface.
	"ops": "guard ipld graph commit store adjacency community distill retrieve repo remote memory operation policy internal/regular " +
		"ingest ingest/chats ingest/parse capture " +
		"internal/filestate internal/layout " + // what is kept beside a repository and may be lost
		"internal/text", // what must not stand raw in JSON
	// Verbs for other processes, and from them: what a program with a repository open imports for it.
	"peers": "commit graph ops operation policy repo retrieve store internal/accesses internal/keyring internal/owner internal/queue internal/regular",
	// How often memories were shown, in a file of this machine: read by who has the repository open.
	"internal/accesses": "graph store ops internal/filestate",
	"mcp":               "guard operation internal/text", // answers to agents: calls of operations, never a repository
	// HTTP sees the table and who runs it, never a repository or a command.
	"serve": "guard operation web internal/text",
	"web":   "", // a page, which is the same for every repository
	// What agents may change: asked by porcelain, of what repo says is touched.
	"policy": "ipld repo internal/regular",
	// Measuring retrieval: it makes repositories in memory and looks at what they answer.
	"internal/evaluate": "ipld graph ingest ingest/chats ingest/parse store store/mem prolly distill repo retrieve memory internal/fixed internal/text internal/tuning",
	// Memories that are made up, for tests, benchmarks and a program that fills repositories.
	"internal/synth":   "ipld graph memory repo",
	"internal/testkit": "ipld store graph prolly commit repo store/mem store/pebble store/storetest",
	// What tests of every package use, so that these import nothing of ours.
	"internal/testkit/effort": "",
	"internal/testkit/differ": "",
	"internal/testkit/longer": "",
	"internal/testkit/o200k":  "",
	"internal/testkit/ramdir": "",
	// All files of repositories, for tests that look for texts in them.
	"internal/testkit/repofiles": "internal/layout ipld store/pebble",
	// A database server of the system, for tests alone.
	"internal/testkit/pgserver": "",
	// Test binaries that are the program too, for tests of the whole of it.
	"internal/testkit/program": "internal/cli internal/testkit/ramdir",
	"internal/sharing":         "", // tests alone
	// Keys and trust lists on disk: only porcelain holds secrets, so repo may not import it.
	"internal/keyring": "ipld graph commit internal/filestate internal/regular",
	// Files of other programs, edited with care: it sees no repository.
	"internal/clients": "internal/filestate internal/pattern internal/regular",
	// What is written into them for a memory, and whether what is there is right.
	"internal/integrate": "internal/clients internal/filestate ops repo store",
	// What agents are told when something happens in their program, of what is noted beside a repository.
	"internal/hooks": "capture graph internal/plain internal/text memory operation ops repo retrieve store", // store only for its errors
	// A memory that follows git: what git says, and the verbs that a branch of the memory is moved by.
	"internal/gitfollow": "graph internal/filestate internal/gitdir internal/gitrun internal/plain internal/text ipld " +
		"operation ops remote/byverb repo",
	// What git says of its branches, by its own files: no repository of ours, but what its names may be.
	"internal/gitdir": "graph internal/filestate ipld internal/regular",
	// The program git, whose output is bounded.
	"internal/gitrun": "internal/plain ops repo",
	// Numbers, names and paths as people read them.
	"internal/plain": "internal/text",
	// What can be configured, and the files that have it: it is told where they are.
	"internal/settings": "capture graph internal/filestate internal/hooks internal/keyring ipld model model/embed " +
		"model/rerank model/rewrite ops remote/byverb remote/place repo retrieve",
	// Where the repositories of a server are, and who may ask for them: none is opened.
	"internal/shelf": "internal/filestate internal/keyring operation ops repo serve store internal/regular",
	// Answers as text for people, for whatever prints them: no repository is opened.
	"internal/show": "commit graph guard internal/gitfollow internal/pattern internal/plain internal/text ipld memory ops remote " +
		"remote/place remote/trade repo retrieve",
	// Files that several processes change: bytes, whatever they mean.
	"internal/filestate": "internal/regular",
	// What is below .mnem, and how a text is erased from what is no part of the store: bytes, whatever they mean.
	"internal/layout": "internal/filestate internal/regular",
	"internal/cli": "ipld graph guard store commit adjacency community retrieve repo memory memory/compare model internal/regular " +
		"model/embed model/rerank model/rewrite operation ops policy serve " +
		"internal/pattern internal/text " +
		"internal/accesses internal/clients internal/filestate internal/filewatch internal/gitdir internal/gitfollow internal/hooks internal/integrate internal/keyring internal/owner peers " +
		"mcp capture internal/plain internal/settings internal/shelf internal/show remote remote/byverb remote/place remote/server remote/trade " +
		"testdata/demo", // porcelain sits on repo; the others only for their types
	"testdata/demo":     "", // the bundled sample memory
	"internal/text/gen": "internal/text",
	// When files changed, whatever they are.
	"internal/filewatch": "",
	"internal/e2e":       "", // trying the program from outside
	"internal/lint":      "",
	// Measuring, in a program of its own: what it shares with the command line is cli.Host.
	"internal/bench": "graph internal/cli internal/evaluate internal/plain internal/show internal/synth memory model operation " +
		"ops repo retrieve",
	"cmd/mnem":       "internal/cli",
	"cmd/mnem-bench": "internal/bench internal/cli",
	"spec":           "",
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
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		list, known := allowed[name]
		if !known {
			t.Errorf("%s has no line in the table of rooms: add one with its reason", name)
			continue
		}
		for _, imp := range p.Imports {
			ours, ok := strings.CutPrefix(imp, module)
			if ok && !slices.Contains(strings.Fields(list), ours) {
				t.Errorf("%s imports %s; it may import: %q", name, ours, list)
			}
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
		"github.com/cockroachdb/pebble/v2": {"store/pebble", "repo", "internal/testkit"},
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
