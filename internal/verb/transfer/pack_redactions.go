package transfer

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// PackRedactionsRequest asks what was erased.
type PackRedactionsRequest struct {
	After string `op:",remote" doc:"list only blocks whose CID comes after {CID}"`
	verb.Params
}

// PackRedactionsAnswer is a part of what was erased, in CID order.
type PackRedactionsAnswer struct {
	Redactions []ToldRedaction `json:"redactions"`
	More       bool            `json:"more"`
}

// ToldRedaction is an erased block and what is reported about it.
type ToldRedaction struct {
	CID    ipld.CID   `json:"cid"`
	What   string     `json:"what" shape:"node|content|embedding|digest|query|message|edge|mark"`
	Reason verb.Text  `json:"reason"`
	Actor  verb.Text  `json:"actor"`
	Time   graph.Time `json:"time"`
	Record string     `json:"record"` // canonical DAG-CBOR, as base64
}

// PackRedactRequest asks for blocks to be erased that were erased elsewhere.
type PackRedactRequest struct {
	Redactions []string `op:"redactions,remote" doc:"erase the block of {CID=RECORD}, as 'mnem pack redactions' lists them" note:" (repeatable)"`
	Tracking   string   `op:"" doc:"erase what refs under refs/remotes/{NAME} reach, in place of what branches, tags and sessions reach"`
	DryRun     bool     `op:",remote" doc:"say what would be erased and erase nothing"`
	Yes        bool     `op:",remote" doc:"really erase: there is no way back"`
	verb.Actor
	verb.Params
}

// write lets nothing be written that is not confirmed.
func (q *PackRedactRequest) Into(w *verb.Writing) { w.DryRun = !q.Yes }

// PackRedacted is the result of taking in redactions.
type PackRedacted struct {
	care.AcceptedRedactions
	DryRun bool `json:"dry_run"`
}

// PackRedactions and PackRedact bring what was erased from one repository to another.
var (
	PackRedactions = verb.Define(verb.Spec{
		Command: "pack redactions", Right: verb.NoRight, Effect: verb.Reads,
		Title: "List erased blocks for other repositories",
		Doc: "List the blocks that were erased here, each with its redaction record: at most 1000 at once, in the\n" +
			"order of their CIDs. 'mnem pack redact' applies them to another repository.",
		Example: "  mnem pack redactions\n  mnem pack redactions --json",
	}, packRedactions)

	PackRedact = verb.Define(verb.Spec{
		Command: "pack redact", Right: verb.OwnRight,
		Usage: "--redactions CID=RECORD --yes", Args: "[flags]", Effect: verb.Destroys,
		Title: "Erase blocks that another repository erased",
		Doc: "Erase blocks as another repository did: their bytes are gone from the files here, and gaps stay gaps.\n" +
			"Nothing is erased but nodes, edges, marks, embeddings and texts that branches, tags and sessions reach, and\n" +
			"that are what the record says. This cannot be undone. Without --yes it says what it would erase and\n" +
			"is refused.",
		Example: "  mnem pack redact --dry-run --redactions " +
			"bafyreih4h5fr4tuwmsbbgqy5gf2cxlo7bnbuoqqbtmtlmmqlmpivlxdr4e=" +
			"pWF2AWRraW5kaXJlZGFjdGlvbmR0aW1lGwAGCiQYHkAAZHdoYXRkbm9kZWVhY3RvcmNBZGE=",
	}, packRedact)
)

func packRedactions(ctx context.Context, s *verb.Service, q *PackRedactionsRequest) (*PackRedactionsAnswer, error) {
	var after ipld.CID
	if q.After != "" {
		var err error
		if after, err = ipld.ParseCID(q.After); err != nil {
			return nil, verb.BadValue("after", q.After, "%w", err)
		}
	}
	list, more, err := (&remote.Here{Repo: s.Repo}).Redactions(ctx, after)
	if err != nil {
		return nil, err
	}
	out := &PackRedactionsAnswer{More: more}
	for _, t := range list {
		told, err := RedactionOf(t)
		if err != nil {
			return nil, err
		}
		out.Redactions = append(out.Redactions, told)
	}
	return out, nil
}

// RedactionOf returns the form of a redaction.
func RedactionOf(t care.ToldRedaction) (ToldRedaction, error) {
	rec, err := commit.DecodeRedaction(t.Record)
	if err != nil {
		return ToldRedaction{}, err
	}
	return ToldRedaction{
		CID: t.CID, What: string(rec.What), Reason: verb.Text(rec.Reason), Actor: verb.Text(rec.Actor), Time: rec.Time,
		Record: base64.StdEncoding.EncodeToString(t.Record),
	}, nil
}

// RedactionTexts returns the values of redaction for redactions.
func RedactionTexts(list []care.ToldRedaction) (out []string) {
	for _, t := range list {
		out = append(out, t.CID.String()+"="+base64.StdEncoding.EncodeToString(t.Record))
	}
	return out
}

// at returns what names a redaction.
func at(text string) string {
	c, _, _ := strings.Cut(text, "=")
	return c[:min(len(c), 2*ipld.CIDLen)]
}

// ParseRedaction reads CID=RECORD.
func ParseRedaction(text string) (t care.ToldRedaction, err error) {
	c, record, found := strings.Cut(text, "=")
	if !found {
		return t, verb.Usagef("want CID=RECORD")
	}
	if t.CID, err = ipld.ParseCID(c); err == nil {
		t.Record, err = base64.StdEncoding.DecodeString(record)
	}
	if err == nil {
		err = t.Check()
	}
	return t, err
}

func (q *PackRedactRequest) Check() error {
	switch {
	case len(q.Redactions) == 0:
		return verb.Between("say what to erase with %s", "redactions")
	case len(q.Redactions) > remote.MaxTold:
		return verb.Bad("redactions", "%d values, limit %d", len(q.Redactions), remote.MaxTold)
	case q.Yes && q.DryRun:
		return verb.Exclude("yes", "dry-run")
	case q.Tracking != "":
		if err := graph.ValidateImport(q.Tracking); err != nil {
			return verb.Bad("tracking", "%w", err)
		}
	}
	return nil
}

func packRedact(ctx context.Context, s *verb.Service, q *PackRedactRequest) (*PackRedacted, error) {
	var list []care.ToldRedaction
	for _, text := range q.Redactions {
		t, err := ParseRedaction(text)
		if err != nil {
			return nil, verb.BadValue("redactions", at(text), "%w", err)
		}
		list = append(list, t)
	}
	here := &remote.Here{
		Repo: s.From, Stamp: func() (state.Stamp, error) { return s.Commit.Stamp, nil }, DryRun: !q.Yes,
	}
	got, err := here.Accept(ctx, list, q.Tracking)
	if err != nil {
		return nil, err
	}
	out := &PackRedacted{*got, !q.Yes}
	if !q.Yes && !q.DryRun {
		return out, verb.Answered(verb.Hint(verb.ErrUnconfirmed, "give --yes to erase it", "call again with yes to erase it"))
	}
	return out, nil
}
