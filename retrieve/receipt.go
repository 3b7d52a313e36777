package retrieve

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// KindReceipt is the kind of a receipt's record.
const KindReceipt = "receipt"

// recordVersion is the version of the records of this package.
const recordVersion = 1

// maxItems is the largest number of items of a receipt.
const maxItems = 1000

// maxWarnings is the largest number of warnings of a receipt: far more codes than there are.
const maxWarnings = 64

// ErrRankingVersion is returned when another engine made the receipt.
var ErrRankingVersion = errors.New("ranking version not available")

// ReceiptItem is one item of an answer.
type ReceiptItem struct {
	ID       graph.ID
	Node     ipld.CID
	Score    int64
	Tokens   int
	Rendered [sha256.Size]byte // sha2-256 of the rendered text
}

// Receipt records a retrieval: the request, the answer, and the versions that computed it.
type Receipt struct {
	Commits    []ipld.CID // exactly one
	Params     ipld.Value // the map "request"; Request reads it
	Items      []ReceiptItem
	Tokens     int
	Dropped    int
	Candidates int
	Warnings   []Warning
	Engine     Engine
	Digests    []ReceiptDigest // in their order, none if no altitude was asked for
	Verdict    Verdict         // "" if there is none
	Extra      []ipld.Entry    // unknown fields in canonical order
}

// Fields that may be absent.
const (
	fieldDigests = "digests"
	fieldVerdict = "verdict"
)

var receiptFields = ipld.FieldNames(new(Receipt).fields)

func (r *Receipt) fields(rec *ipld.Record) {
	rec.Begin(KindReceipt, recordVersion, &r.Extra)
	ipld.Maps(rec, "items", &r.Items, maxItems, (*ReceiptItem).fields)
	rec.Map("engine", r.Engine.fields)
	tally(rec, "tokens", &r.Tokens)
	rec.Links("commits", &r.Commits, 0, 1)
	if rec.Has(fieldDigests, len(r.Digests) > 0) {
		ipld.Maps(rec, fieldDigests, &r.Digests, maxReceiptDigests, (*ReceiptDigest).fields)
	}
	tally(rec, "dropped", &r.Dropped)
	rec.Value("request", &r.Params)
	rec.OptString(fieldVerdict, (*string)(&r.Verdict))
	ipld.Maps(rec, "warnings", &r.Warnings, maxWarnings, (*Warning).fields)
	tally(rec, "candidates", &r.Candidates)
}

// tally is a number of 0 to graph.MaxCount.
func tally(rec *ipld.Record, key string, n *int) { ipld.Number(rec, key, n, 0, graph.MaxCount) }

func (e *Engine) fields(rec *ipld.Record) {
	tally(rec, "ranking", &e.Ranking)
	tally(rec, "analyser", &e.Analyser)
	rec.String("language", &e.Language)
}

func (item *ReceiptItem) fields(rec *ipld.Record) {
	rec.Fixed("id", item.ID[:])
	rec.Link("node", &item.Node)
	rec.Int("score", &item.Score)
	tally(rec, "tokens", &item.Tokens)
	rec.Fixed("rendered", item.Rendered[:])
}

func (d *ReceiptDigest) fields(rec *ipld.Record) {
	rec.String("name", &d.Name)
	rec.Fixed("source", d.Source[:])
	tally(rec, "tokens", &d.Tokens)
	rec.Fixed("rendered", d.Rendered[:])
}

func (w *Warning) fields(rec *ipld.Record) {
	rec.String("code", (*string)(&w.Code))
	if rec.Has("params", len(w.Params) > 0) {
		rec.Entries("params", &w.Params)
		rec.Refuse(len(w.Params) == 0, "params is not a map of at least one entry")
	}
}

// Receipt returns the receipt of an answer, and the raw block of the query's text that it links to. The caller must
// store both, and a raw block for each of the request's Rewrites.
func (a *Answer) Receipt() (receipt *Receipt, query []byte) {
	query = []byte(a.Request.Text)
	receipt = &Receipt{
		Commits:    []ipld.CID{a.Commit},
		Params:     encodeParams(a.Request.Resolve(), ipld.Sum(ipld.Raw, query)),
		Tokens:     a.TokensUsed,
		Dropped:    a.Dropped,
		Candidates: a.Candidates,
		Warnings:   a.Warnings,
		Engine:     a.Engine,
		Verdict:    a.Verdict,
	}
	for _, d := range a.Digests {
		receipt.Digests = append(receipt.Digests, ReceiptDigest{
			Name: d.Name, Source: d.Source, Tokens: d.Tokens, Rendered: sha256.Sum256([]byte(d.Rendered)),
		})
	}
	for _, item := range a.Items {
		receipt.Items = append(receipt.Items, ReceiptItem{
			ID: item.ID, Node: item.Node, Score: item.Score, Tokens: item.Tokens,
			Rendered: sha256.Sum256([]byte(item.Rendered)),
		})
	}
	return receipt, query
}

// Query returns the CID of the raw block of the query's text, undefined if there is none.
func (r *Receipt) Query() ipld.CID {
	v, _ := r.Params.Get("text")
	return v.Link()
}

// Request returns the resolved request. text and rewrites are the contents of the blocks that Query and Rewrites name.
// It returns an error that wraps ErrRankingVersion if the engine is not the current one, and a *ipld.MismatchError if a
// text does not have the recorded hash.
func (r *Receipt) Request(text string, rewrites ...string) (Request, error) {
	if now := CurrentEngine(); !r.Engine.current() {
		return Request{}, fmt.Errorf("%w: the receipt has %s, this is %s", ErrRankingVersion, r.Engine, now)
	}
	if got := ipld.Sum(ipld.Raw, []byte(text)); got != r.Query() {
		return Request{}, &ipld.MismatchError{Want: r.Query(), Got: got}
	}
	links := r.Rewrites()
	if len(links) != len(rewrites) {
		return Request{}, badParam("rewrites", "%d texts of %d", len(rewrites), len(links))
	}
	for i, s := range rewrites {
		if got := ipld.Sum(ipld.Raw, []byte(s)); got != links[i] {
			return Request{}, &ipld.MismatchError{Want: links[i], Got: got}
		}
	}
	req, err := decodeParams(r.Params, text, rewrites)
	req.Ranking = r.Engine.Ranking
	return req, err
}

func (e Engine) String() string {
	return fmt.Sprintf("ranking %d, analyser %d %q", e.Ranking, e.Analyser, e.Language)
}

// Validate returns a *graph.FieldError unless r keeps every rule of clause 13.1. Only a valid receipt may be encoded.
// Requests made by another engine are not checked.
func (r *Receipt) Validate() error {
	if len(r.Commits) != 1 {
		return graph.Fieldf("commits", "%d commits, want 1", len(r.Commits))
	}
	err := cmp.Or(
		graph.CheckLink("commits", r.Commits[0], ipld.DagCBOR),
		r.checkRequest(),
		r.checkItems(),
		checkCount("tokens", r.Tokens),
		checkCount("dropped", r.Dropped),
		checkCount("candidates", r.Candidates),
		r.checkWarnings(),
		checkCount("engine.ranking", r.Engine.Ranking),
		checkCount("engine.analyser", r.Engine.Analyser),
		graph.CheckText("engine.language", r.Engine.Language, 1, graph.MaxType),
		graph.CheckExtra(r.Extra, receiptFields),
		r.checkVerdict(),
	)
	if err != nil {
		return err
	}
	if r.Candidates < len(r.Items)+r.Dropped {
		return graph.Fieldf("candidates", "%d, but %d items and %d dropped", r.Candidates, len(r.Items), r.Dropped)
	}
	if err := ipld.Check(r.Encode()); err != nil {
		return graph.Fieldf("", "too large for one block: %v", err)
	}
	return nil
}

func (r *Receipt) checkVerdict() error {
	if r.Verdict != "" && r.Verdict != Known && r.Verdict != Unsure && r.Verdict != Unknown {
		return graph.Fieldf(fieldVerdict, "%s is not known, unsure or unknown", shortQuote(string(r.Verdict)))
	}
	return nil
}

func checkCount(field string, n int) error {
	if n < 0 || int64(n) > graph.MaxCount {
		return graph.Fieldf(field, "%d is outside 0 to %d", n, int64(graph.MaxCount))
	}
	return nil
}

func (r *Receipt) checkRequest() error {
	if r.Params.Kind() != ipld.Map {
		return graph.Fieldf("request", "missing")
	}
	err := graph.CheckExtra([]ipld.Entry{{Key: "request", Value: r.Params}}, nil)
	if err != nil {
		return err
	}
	if err := graph.CheckLink("request.text", r.Query(), ipld.Raw); err != nil {
		return err
	}
	if !r.Engine.current() {
		return nil
	}
	// The texts are in other blocks and do not matter for the rest.
	req, err := decodeParams(r.Params, "", nil)
	if err != nil {
		return graph.Fieldf("request", "%v", err)
	}
	if req.Altitude == AltitudeEntity && len(r.Digests) > 0 {
		return graph.Fieldf(fieldDigests, "given against the request")
	}
	if *req.Limit > 0 && len(r.Items) > *req.Limit {
		return graph.Fieldf("items", "%d items, but the request has limit %d", len(r.Items), *req.Limit)
	}
	if *req.Budget > 0 && r.Tokens > *req.Budget {
		return graph.Fieldf("tokens", "%d, but the request has budget %d", r.Tokens, *req.Budget)
	}
	return nil
}

func (r *Receipt) checkItems() error {
	if len(r.Items) > maxItems {
		return graph.Fieldf("items", "%d items, limit %d", len(r.Items), maxItems)
	}
	sum, err := r.checkDigests()
	if err != nil {
		return err
	}
	for i, item := range r.Items {
		field := fmt.Sprintf("items[%d]", i)
		if item.ID.IsZero() {
			return graph.Fieldf(field+".id", "missing")
		}
		if err := graph.CheckLink(field+".node", item.Node, ipld.DagCBOR); err != nil {
			return err
		}
		if item.Score < 0 || item.Score > graph.MaxCount {
			return graph.Fieldf(field+".score", "%d is outside 0 to %d", item.Score, int64(graph.MaxCount))
		}
		if err := checkCount(field+".tokens", item.Tokens); err != nil {
			return err
		}
		sum += item.Tokens
	}
	if sum != r.Tokens {
		return graph.Fieldf("tokens", "%d, but items and digests have %d", r.Tokens, sum)
	}
	return nil
}

func (r *Receipt) checkWarnings() error {
	if len(r.Warnings) > maxWarnings {
		return graph.Fieldf("warnings", "%d warnings, limit %d", len(r.Warnings), maxWarnings)
	}
	for _, w := range r.Warnings {
		if err := graph.CheckLine("warnings.code", string(w.Code), 1, graph.MaxType); err != nil {
			return err
		}
		if err := graph.CheckExtra(w.Params, nil); err != nil {
			return err
		}
	}
	return nil
}

// Encode returns the block of a valid receipt.
func (r *Receipt) Encode() []byte {
	const itemSize = 160 // an item takes no more bytes
	return ipld.WriteRecord(1024+itemSize*len(r.Items), r.fields)
}

// DecodeReceipt reads the block of a receipt. It returns an error that wraps ipld.ErrInvalid for
// everything that Encode cannot have written.
func DecodeReceipt(block []byte) (*Receipt, error) {
	r := new(Receipt)
	return ipld.ReadRecord(block, r, r.fields, r.Validate)
}
