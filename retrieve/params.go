package retrieve

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// encodeParams returns the map "request" of a receipt: the parameters of a resolved request under
// their names in clause 8.1.
func encodeParams(r Request, text ipld.CID) ipld.Value {
	entries := []ipld.Entry{
		{Key: "text", Value: ipld.LinkValue(text)},
		{Key: "limit", Value: encodeInt(*r.Limit)},
		{Key: "budget", Value: encodeInt(*r.Budget)},
		{Key: "expand", Value: encodeInt(*r.Expand)},
		{Key: "direction", Value: ipld.StringValue(string(r.Direction))},
		{Key: "adjacency", Value: encodeInt(r.Adjacency)},
		{Key: "summaryCap", Value: encodeInt(*r.SummaryCap)},
	}
	lists := []ipld.Entry{
		{Key: "types", Value: encodeNames(r.Types)},
		{Key: "where", Value: encodeWhere(r.Where)},
		{Key: "marks", Value: encodeNames(r.Marks)},
		{Key: "expandTypes", Value: encodeNames(r.ExpandTypes)},
		{Key: "show", Value: encodeNames(r.Show)},
	}
	entries = append(entries, packingParams(r)...)
	entries = append(entries, spellingParams(r)...)
	entries = append(entries, oversampleParams(r)...)
	entries = append(entries, edgeWeightParams(r)...)
	entries = append(entries, profileEntry(r)...)
	entries = append(entries, expansionParams(r)...)
	entries = append(entries, communityParams(r)...)
	entries = append(entries, rerankParams(r)...)
	entries = append(entries, rewriteParams(r)...)
	entries = append(entries, sparseParams(r)...)
	for _, e := range lists {
		if len(e.Value.List()) > 0 {
			entries = append(entries, e)
		}
	}
	if len(r.Vectors) > 0 {
		entries = append(entries, ipld.Entry{Key: "vectors", Value: encodeVectors(r.Vectors)})
	}
	if r.Fusion != Convex { // left out as it was before there were others
		entries = append(entries, ipld.Entry{
			Key: "fusion", Value: ipld.StringValue(string(r.Fusion)),
		})
	}
	if len(r.Weights) > 0 {
		entries = append(entries, ipld.Entry{Key: "weights", Value: encodeWeights(r.Weights)})
	}
	for _, f := range r.timeFields() {
		if f.time.Given {
			entries = append(entries, ipld.Entry{
				Key: f.name, Value: ipld.IntValue(int64(f.time.Time)),
			})
		}
	}
	return ipld.MapValue(entries...)
}

func encodeWhere(where []Predicate) ipld.Value {
	items := make([]ipld.Value, len(where))
	for i, p := range where {
		items[i] = encodePredicate(p)
	}
	return ipld.ListValue(items...)
}

func encodeInt(n int) ipld.Value { return ipld.IntValue(int64(n)) }

func encodeNames[S ~string](names []S) ipld.Value {
	items := make([]ipld.Value, len(names))
	for i, name := range names {
		items[i] = ipld.StringValue(string(name))
	}
	return ipld.ListValue(items...)
}

func encodePredicate(p Predicate) ipld.Value {
	entries := []ipld.Entry{
		{Key: "name", Value: ipld.StringValue(p.Name)},
		{Key: "op", Value: ipld.StringValue(string(p.Op))},
	}
	if p.Op.hasValue() {
		entries = append(entries, ipld.Entry{Key: "value", Value: p.Value})
	}
	return ipld.MapValue(entries...)
}

// decodeParams reads what encodeParams wrote, and nothing else. The texts are given, since the map
// has only their CIDs.
func decodeParams(v ipld.Value, text string, rewrites []string) (Request, error) {
	r := Request{Text: text, Settled: true}
	v, links, err := splitRewrites(v)
	if err != nil {
		return Request{}, err
	}
	var link ipld.CID
	for _, e := range v.Entries() {
		if e.Key == "text" {
			link = e.Value.Link()
			continue
		}
		if err := r.setParam(e.Key, e.Value); err != nil {
			return Request{}, err
		}
	}
	if err := r.Validate(); err != nil {
		return Request{}, err
	}
	r = r.Resolve()
	// What is missing, of another kind or not in its resolved form comes out different.
	if !link.Defined() || !encodeParams(r, link).Equal(v) {
		return Request{}, badParam("request", "not in its resolved form")
	}
	if len(links) > 0 {
		r.Rewrites = rewrites
	}
	return r, r.checkRewrites()
}

// setParam sets one parameter from its value in a receipt. A value of another kind counts as the
// zero value of the right one.
func (r *Request) setParam(name string, v ipld.Value) error {
	for _, f := range r.timeFields() {
		if f.name == name {
			*f.time = graph.At(graph.Time(v.Int()))
			return nil
		}
	}
	number := new(int(v.Int()))
	switch name {
	case "vectors":
		r.Vectors = decodeVectors(v)
	case "fusion":
		r.Fusion = Fusion(v.Text())
	case "weights":
		r.Weights = decodeWeights(v)
	case "types":
		r.Types = decodeNames[string](v)
	case "where":
		r.Where = decodePredicates(v)
	case "marks":
		r.Marks = decodeNames[graph.State](v)
	case "limit":
		r.Limit = number
	case "budget":
		r.Budget = number
	case "expand":
		r.Expand = number
	case "expandTypes":
		r.ExpandTypes = decodeNames[string](v)
	case "direction":
		r.Direction = Direction(v.Text())
	case "adjacency":
		r.Adjacency = *number
	case "show":
		r.Show = decodeNames[string](v)
	case "summaryCap":
		r.SummaryCap = number
	case "spelling":
		r.Spelling = Spelling(v.Text())
	case "oversample":
		r.Oversample = number
	default:
		known := r.setPackingParam(name, v) ||
			r.setEdgeWeightParam(name, v) ||
			r.setProfileParam(name, v) ||
			r.setExpansionParam(name, v) ||
			r.setCommunityParam(name, v) ||
			r.setRerankParam(name, v) ||
			r.setRewriteParam(name, v) ||
			r.setSparseParam(name, v)
		if !known {
			return badParam(name, "unknown parameter")
		}
	}
	return nil
}

func decodeNames[S ~string](v ipld.Value) []S {
	var names []S
	for _, item := range v.List() {
		names = append(names, S(item.Text()))
	}
	return names
}

func decodePredicates(v ipld.Value) []Predicate {
	var where []Predicate
	for _, item := range v.List() {
		name, _ := item.Get("name")
		op, _ := item.Get("op")
		value, _ := item.Get("value")
		where = append(where, Predicate{Name: name.Text(), Op: Op(op.Text()), Value: value})
	}
	return where
}
