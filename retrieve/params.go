package retrieve

import "github.com/mnem-project/mnem/ipld"

// encodeParams returns the map "request" of a receipt: the parameters of a resolved request under
// their names in clause 8.1.
func encodeParams(r Request, text ipld.CID) ipld.Value {
	entries := []ipld.Entry{{Key: "text", Value: ipld.LinkValue(text)}}
	for i := range params {
		p := &params[i]
		if p.get == nil {
			continue
		}
		if v, ok := p.get(&r); ok {
			entries = append(entries, ipld.Entry{Key: p.Name, Value: v})
		}
	}
	return ipld.MapValue(entries...)
}

// setParam sets one parameter from its value in a receipt. A value of another kind counts as the
// zero value of the right one.
func (r *Request) setParam(name string, v ipld.Value) error {
	p := findParam(name)
	if p == nil || p.set == nil {
		return badParam(name, "unknown parameter")
	}
	p.set(r, v)
	return nil
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
	if p.Edges != "" {
		entries = append(entries, ipld.Entry{Key: "edges", Value: ipld.StringValue(string(p.Edges))})
	}
	if p.Op.hasValue() {
		entries = append(entries, ipld.Entry{Key: "value", Value: p.Value})
	}
	return ipld.MapValue(entries...)
}

// decodeParams reads what encodeParams wrote, and nothing else. The texts are given, since the map has only their CIDs.
func decodeParams(v ipld.Value, text string, rewrites []string) (Request, error) {
	r := Request{Text: text, ProfileChoice: ProfileChoice{Settled: true}, Pairs: PairsOff,
		OutputOptions: OutputOptions{Pack: PackWhole}}
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
	if r.Intent == IntentAuto {
		return Request{}, badParam("intent", "not read from the text yet")
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
		edges, _ := item.Get("edges")
		where = append(where, Predicate{
			Name: name.Text(), Op: Op(op.Text()), Value: value, Edges: Direction(edges.Text()),
		})
	}
	return where
}
