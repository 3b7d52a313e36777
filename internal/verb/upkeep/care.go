package upkeep

import (
	"context"

	"github.com/mnem-project/mnem/commit"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

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
