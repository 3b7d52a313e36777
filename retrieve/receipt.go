package retrieve

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

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

var receiptFields = []string{
	"v", "kind", "items", "engine", "tokens", "commits", "dropped", "request", "warnings",
	"candidates", fieldDigests, fieldVerdict,
}

// fieldDigests and fieldVerdict may be absent.
const (
	fieldDigests = "digests"
	fieldVerdict = "verdict"

	optionalFields = 2
)

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
		return Request{}, fmt.Errorf("%w: the receipt has %s, this is %s", ErrRankingVersion,
			r.Engine, now)
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
	checks := []error{
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
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	if r.Candidates < len(r.Items)+r.Dropped {
		return graph.Fieldf("candidates", "%d, but %d items and %d dropped",
			r.Candidates, len(r.Items), r.Dropped)
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
		return graph.Fieldf("items", "%d items, but the request has limit %d", len(r.Items),
			*req.Limit)
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
			return graph.Fieldf(field+".score", "%d is outside 0 to %d", item.Score,
				int64(graph.MaxCount))
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
	const itemRoom = 160 // an item takes no more
	w := ipld.NewRecord(make([]byte, 0, 1024+itemRoom*len(r.Items)), r.Extra)
	w.Version(recordVersion)
	w.Kind(KindReceipt)
	w.Append("items", r.appendItems)
	w.Value("engine", ipld.MapValue(
		ipld.Entry{Key: "ranking", Value: ipld.IntValue(int64(r.Engine.Ranking))},
		ipld.Entry{Key: "analyser", Value: ipld.IntValue(int64(r.Engine.Analyser))},
		ipld.Entry{Key: "language", Value: ipld.StringValue(r.Engine.Language)},
	))
	w.Int("tokens", int64(r.Tokens))
	w.Links("commits", r.Commits)
	if len(r.Digests) > 0 {
		w.Append(fieldDigests, r.appendDigests)
	}
	w.Int("dropped", int64(r.Dropped))
	w.Value("request", r.Params)
	w.OptString(fieldVerdict, string(r.Verdict))
	w.Append("warnings", r.appendWarnings)
	w.Int("candidates", int64(r.Candidates))
	return w.Finish()
}

func (r *Receipt) appendItems(b []byte) []byte {
	b = ipld.AppendList(b, len(r.Items))
	for _, item := range r.Items {
		b = ipld.AppendMap(b, 5)
		b = ipld.AppendBytes(ipld.AppendString(b, "id"), item.ID[:])
		b = ipld.AppendLink(ipld.AppendString(b, "node"), item.Node)
		b = ipld.AppendInt(ipld.AppendString(b, "score"), item.Score)
		b = ipld.AppendInt(ipld.AppendString(b, "tokens"), int64(item.Tokens))
		b = ipld.AppendBytes(ipld.AppendString(b, "rendered"), item.Rendered[:])
	}
	return b
}

func (r *Receipt) appendWarnings(b []byte) []byte {
	b = ipld.AppendList(b, len(r.Warnings))
	for _, w := range r.Warnings {
		entries := []ipld.Entry{{Key: "code", Value: ipld.StringValue(string(w.Code))}}
		if len(w.Params) > 0 {
			entries = append(entries, ipld.Entry{Key: "params", Value: w.params()})
		}
		b = ipld.AppendValue(b, ipld.MapValue(entries...))
	}
	return b
}

// params returns the parameters as one value.
func (w Warning) params() ipld.Value { return ipld.MapValue(slices.Clone(w.Params)...) }

// DecodeReceipt reads the block of a receipt. It returns an error that wraps ipld.ErrInvalid for
// everything that Encode cannot have written.
func DecodeReceipt(block []byte) (*Receipt, error) {
	r := new(Receipt)
	var seen fieldSet
	extra, err := ipld.DecodeRecord(block, KindReceipt, recordVersion,
		func(key string, d *ipld.Decoder) (bool, error) {
			seen.add(key)
			return r.field(key, d)
		})
	if err != nil {
		return nil, err
	}
	r.Extra = extra
	if err := seen.missing(receiptFields[2 : len(receiptFields)-optionalFields]); err != nil {
		return nil, invalidRecord(KindReceipt, err)
	}
	if err := r.Validate(); err != nil {
		return nil, invalidRecord(KindReceipt, err)
	}
	return r, nil
}

// fieldSet holds the names of the fields read. A record has few, so a slice is enough.
type fieldSet []string

func (s *fieldSet) add(key string) { *s = append(*s, key) }

// missing returns an error for the first of names that was not read.
func (s fieldSet) missing(names []string) error {
	for _, name := range names {
		found := false
		for _, key := range s {
			found = found || key == name
		}
		if !found {
			return graph.Fieldf(name, "missing")
		}
	}
	return nil
}

func invalidRecord(kind string, err error) error {
	return fmt.Errorf("%w: %s record: %w", ipld.ErrInvalid, kind, err)
}

func (r *Receipt) field(key string, d *ipld.Decoder) (known bool, err error) {
	switch key {
	case "items":
		err = decodeList(d, maxItems, func() error { return r.decodeItem(d) })
	case "engine":
		err = r.decodeEngine(d)
	case "tokens":
		r.Tokens, err = decodeCount(d)
	case "commits":
		r.Commits, err = d.Links(1)
	case "dropped":
		r.Dropped, err = decodeCount(d)
	case "request":
		r.Params, err = d.Value()
	case "warnings":
		err = decodeList(d, maxWarnings, func() error { return r.decodeWarning(d) })
	case "candidates":
		r.Candidates, err = decodeCount(d)
	case fieldVerdict:
		var verdict string
		verdict, err = d.String()
		r.Verdict = Verdict(verdict)
	case fieldDigests:
		err = decodeList(d, maxReceiptDigests, func() error { return r.decodeDigest(d) })
	default:
		return false, nil
	}
	return true, err
}

// decodeList reads a list of at most limit items with item.
func decodeList(d *ipld.Decoder, limit int, item func() error) error {
	n, err := d.List()
	if err != nil {
		return err
	}
	if n > limit {
		return d.Errorf("list of %d items, limit %d", n, limit)
	}
	for range n {
		if err := item(); err != nil {
			return err
		}
	}
	return nil
}

func decodeCount(d *ipld.Decoder) (int, error) {
	n, err := d.Int()
	if err == nil && (n < 0 || n > graph.MaxCount) {
		err = d.Errorf("number %d out of range", n)
	}
	return int(n), err
}

// decodeMap reads a map of least to most fields and fails at a name that field does not know.
func decodeMap(d *ipld.Decoder, least, most int, field func(key string) (bool, error)) error {
	n := 0
	err := d.Map(func(key string) error {
		n++
		known, err := field(key)
		if err == nil && !known {
			err = d.Errorf("unknown field %s", shortQuote(key))
		}
		return err
	})
	if err == nil && (n < least || n > most) {
		err = d.Errorf("map of %d fields, want %d to %d", n, least, most)
	}
	return err
}

func (r *Receipt) decodeItem(d *ipld.Decoder) error {
	var item ReceiptItem
	err := decodeMap(d, 5, 5, func(key string) (known bool, err error) {
		switch key {
		case "id":
			err = decodeFixed(d, item.ID[:])
		case "node":
			item.Node, err = d.Link()
		case "score":
			item.Score, err = d.Int()
		case "tokens":
			item.Tokens, err = decodeCount(d)
		case "rendered":
			err = decodeFixed(d, item.Rendered[:])
		default:
			return false, nil
		}
		return true, err
	})
	r.Items = append(r.Items, item)
	return err
}

// decodeFixed reads bytes of exactly the length of to.
func decodeFixed(d *ipld.Decoder, to []byte) error {
	b, err := d.Bytes()
	if err == nil && len(b) != len(to) {
		err = d.Errorf("%d bytes, want %d", len(b), len(to))
	}
	copy(to, b)
	return err
}

func (r *Receipt) decodeEngine(d *ipld.Decoder) error {
	return decodeMap(d, 3, 3, func(key string) (known bool, err error) {
		switch key {
		case "ranking":
			r.Engine.Ranking, err = decodeCount(d)
		case "analyser":
			r.Engine.Analyser, err = decodeCount(d)
		case "language":
			r.Engine.Language, err = d.String()
		default:
			return false, nil
		}
		return true, err
	})
}

func (r *Receipt) decodeWarning(d *ipld.Decoder) error {
	var w Warning
	err := decodeMap(d, 1, 2, func(key string) (known bool, err error) {
		switch key {
		case "code":
			var code string
			code, err = d.String()
			w.Code = Code(code)
		case "params":
			var params ipld.Value
			params, err = d.Value()
			w.Params = params.Entries()
			if err == nil && len(w.Params) == 0 {
				err = d.Errorf("params is not a map of at least one entry")
			}
		default:
			return false, nil
		}
		return true, err
	})
	r.Warnings = append(r.Warnings, w)
	return err
}
