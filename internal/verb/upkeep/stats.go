package upkeep

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// StatsRequest asks for the size of a memory and of what keeps it.
type StatsRequest struct {
	Schema bool `op:",remote" doc:"list the types, properties and edge types that queries can refer to"`
	Limit  int  `op:",remote" default:"50" doc:"with --schema: at most {N} names in each list"`
	verb.AtRevision
	verb.Params
}

func (q *StatsRequest) Check() error {
	if q.Given("limit") && !q.Schema {
		return verb.Between("%s needs %s", "limit", "schema")
	}
	return verb.CheckRange("limit", q.Limit, 1, maxSchemaNames)
}

// Stats is the size of a memory and of what keeps it.
type Stats struct {
	Commit     ipld.CID           `json:"commit" shape:"null"`
	Graph      ipld.CID           `json:"graph" shape:"null"`
	Nodes      Total              `json:"nodes"`
	Edges      Total              `json:"edges"`
	Marks      MarkTotal          `json:"marks"`
	Embeddings uint64             `json:"embeddings"`
	Agents     map[string]int     `json:"agents"` // commits by their agents, else authors
	NodeTypes  []memory.TypeCount `json:"node_types"`
	EdgeTypes  []memory.TypeCount `json:"edge_types"`
	Index      TextIndex          `json:"index"`
	Store      StoreSize          `json:"store"`
}

// Total is how many things there are, of each type too.
type Total struct {
	Total  uint64         `json:"total"`
	ByType map[string]int `json:"by_type"`
}

// MarkTotal is how many marks there are, of each state too.
type MarkTotal struct {
	Total   uint64              `json:"total"`
	ByState map[graph.State]int `json:"by_state"`
}

// StoreSize holds the sizes of the whole repository; bytes of blocks are without overhead.
type StoreSize struct {
	Bytes int64 `json:"bytes"` // of all blocks, including the index
	core.Sizes
	DiskBytes int64 `json:"disk_bytes"`
	Branches  int   `json:"branches"`
	Tags      int   `json:"tags"`
}

// StatsVerb counts what there is.
var StatsVerb = verb.Define(verb.Spec{
	Command: "stats", Right: verb.NoRight, Confined: true, Group: "care", Effect: verb.Reads,
	Answers: []any{Stats{}, Schema{}},
	Title:   "Count nodes, edges, commits, blocks and bytes",
	Doc: "Count the nodes and edges of a commit by type, its marks by state, the commits behind it by\n" +
		"agent (or author), its embeddings, the size of its index, and the operations, blocks and bytes\n" +
		"of the whole repository. It looks at every block.\n\n" +
		"--schema lists instead what --type, --edge and --where can name: node types, property names with\n" +
		"the kinds of their values and examples, edge types with the node types at their ends; each with its\n" +
		"count, most frequent first. Only visible nodes count, and examples never include what looks like a\n" +
		"credential.",
	Example: "  mnem stats\n  mnem stats --at HEAD~1 --json\n  mnem stats --schema --limit 5",
}, stats)

func stats(ctx context.Context, s *verb.Service, q *StatsRequest) (any, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	if q.Schema {
		return schemaOf(ctx, s, snap, q.Limit)
	}
	out := &Stats{Commit: snap.CID(), Graph: snap.Graph()}
	progress, done := s.Host.Progress()
	defer done()
	if err := out.count(ctx, s.Repo, snap, progress); err != nil {
		return nil, err
	}
	index, err := snap.IndexStats(ctx)
	if err != nil {
		return nil, err
	}
	out.Index = *IndexOf(index)
	return out, out.Store.measure(ctx, s.Repo)
}

// count counts the contents of a commit, and the commits before it by author.
func (out *Stats) count(ctx context.Context, r *core.Repo, snap *core.Snapshot, progress func(string, int, int)) error {
	out.Nodes.Total, out.Edges.Total, out.Marks.Total, out.Embeddings = snap.Sizes()
	all := int(out.Nodes.Total + out.Edges.Total + out.Marks.Total)
	kinds, err := snap.Kinds(ctx, func(done int) { progress("counting", done, all) })
	if err != nil {
		return err
	}
	out.Nodes.ByType, out.Edges.ByType, out.Marks.ByState = kinds.Nodes, kinds.Edges, kinds.Marks
	out.NodeTypes, out.EdgeTypes = countsOfTypes(kinds.Nodes), countsOfTypes(kinds.Edges)
	out.Agents = make(map[string]int)
	if !snap.CID().Defined() {
		return nil
	}
	for e, err := range history.Log(ctx, r, snap.CID().String()) {
		if err != nil {
			return err
		}
		out.Agents[cmp.Or(e.Commit.Agent, e.Commit.Author)]++
	}
	return nil
}

func countsOfTypes(of map[string]int) (list []memory.TypeCount) {
	for _, typ := range slices.Sorted(maps.Keys(of)) {
		list = append(list, memory.TypeCount{Type: typ, Count: of[typ]})
	}
	return list
}

func (out *StoreSize) measure(ctx context.Context, r *core.Repo) error {
	sizes, err := r.Storage().Sizes(ctx)
	if err != nil {
		return err
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		switch {
		case strings.HasPrefix(string(ref.Name), graph.Heads):
			out.Branches++
		case strings.HasPrefix(string(ref.Name), graph.Tags):
			out.Tags++
		}
	}
	out.Sizes, out.Bytes = sizes, sizes.BlockBytes+sizes.DerivedBytes
	out.DiskBytes, err = r.Storage().DiskBytes()
	return err
}

// Schema lists the predicates, types and edges of a commit.
type Schema struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	memory.Schema
}

// maxSchemaNames bounds each list of an answer.
const maxSchemaNames = 1000

func schemaOf(ctx context.Context, s *verb.Service, snap *core.Snapshot, limit int) (*Schema, error) {
	progress, done := s.Host.Progress()
	defer done()
	all, _, _, _ := snap.Sizes()
	got, err := memory.SchemaOf(ctx, snap, limit, func(n int) { progress("reading nodes", n, int(all)) })
	if err != nil {
		return nil, err
	}
	return &Schema{snap.CID(), *got}, nil
}

// ReplayRequest names what was recorded.
type ReplayRequest struct {
	Record string `op:",arg,required,remote" doc:"the name of a session or the CID of a receipt"`
}

// Replayed tells whether recorded answers are the same today.
type Replayed struct {
	Session         verb.Text   `json:"session"` // null for a single receipt
	Receipts        int         `json:"receipts"`
	Identical       *bool       `json:"identical"` // null where something was erased since
	FirstDifference *Difference `json:"first_difference"`
	Redacted        []Erased    `json:"redacted,omitempty"` // what was erased since
}

// Erased is one erased block that a receipt needs.
type Erased struct {
	CID ipld.CID `json:"cid"`
	commit.Redaction

	About string `json:"_about,omitempty"`
}

// Difference is the first thing that differs.
type Difference struct {
	Number  int      `json:"number"` // of the receipt, from 0
	Receipt ipld.CID `json:"receipt"`
	Item    *int     `json:"item"` // from 0; null for what is not of one item
	Field   string   `json:"field"`
	Old     string   `json:"old"`
	New     string   `json:"new"`
}

// Replay answers recorded requests again.
var Replay = verb.Define(verb.Spec{
	Command: "session replay", Right: verb.NoRight, Confined: true, Usage: "SESSION|RECEIPT", Effect: verb.Reads, Complete: "session",
	Title: "Answer recorded requests again and compare",
	Doc: "Answer every request that a session recorded, each at its own commit, or the one request of a\n" +
		"receipt, and compare the answers with the recorded ones, bit for bit. The exit code is 0 if all are\n" +
		"identical. It is 4 if an answer differs, if stored data is damaged, if a receipt needs a ranking\n" +
		"version that this program lacks, or if something the answer depends on was purged since: then the\n" +
		"comparison is impossible.",
	Example: "  mnem session replay review\n  mnem session replay review --json",
}, func(ctx context.Context, s *verb.Service, q *ReplayRequest) (*Replayed, error) {
	res, err := sessionpkg.Replay(ctx, s.Repo, q.Record)
	if err != nil {
		return nil, err
	}
	out := &Replayed{Session: verb.Text(res.Session), Receipts: res.Receipts, Identical: &res.Identical}
	for _, e := range res.Redacted {
		out.Identical = nil
		one := Erased{CID: e.CID, Redaction: *e.Record}
		if s.Human {
			one.About = e.Record.String()
		}
		out.Redacted = append(out.Redacted, one)
	}
	if d := res.First; d != nil {
		out.FirstDifference = &Difference{
			Number: d.Number, Receipt: d.Receipt, Field: d.Field, Old: d.Old, New: d.New,
		}
		if d.Item >= 0 {
			out.FirstDifference.Item = &d.Item
		}
	}
	if !res.Identical {
		return out, &verb.News{Outcome: operation.Mismatch}
	}
	return out, nil
})

// TextIndex describes the text index of one commit.
type TextIndex struct {
	Manifest ipld.CID       `json:"manifest" shape:"null"` // null if the first retrieval will make it
	Segments int            `json:"segments"`
	Nodes    int64          `json:"nodes"`
	Terms    int64          `json:"terms"` // of all fields, repeats counted
	Fields   []IndexedField `json:"fields"`
}

// IndexedField describes one text field over all nodes.
type IndexedField struct {
	Field string `json:"field"`
	Nodes int64  `json:"nodes"` // that have a term in it
	Terms int64  `json:"terms"`
}

// indexFields are the text fields in the order of their numbers.
var indexFields = []string{"summary", "context", "content", "props", "type", "cues"}

// IndexOf returns the form of an index.
func IndexOf(s view.IndexStats) *TextIndex {
	out := &TextIndex{Manifest: s.Manifest, Segments: s.Segments, Nodes: s.Nodes}
	for i, terms := range s.Terms {
		out.Terms += terms
		out.Fields = append(out.Fields, IndexedField{indexFields[i], s.Filled[i], terms})
	}
	return out
}
