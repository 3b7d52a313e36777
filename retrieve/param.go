package retrieve

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// param is a parameter of a request and how it is written. What it may be says Validate, what it is
// by default Resolve.
type param struct {
	name   string // in clause 8.1
	member string // of a JSON request, and mostly the flag; as the name where params have none
	// get returns it as a receipt of a resolved request keeps it; ok is false where that leaves it out.
	get  func(*Request) (v ipld.Value, ok bool)
	set  func(*Request, ipld.Value)    // the inverse of get
	read func(*Request, *memberParser) // sets it from a member
}

// params are all parameters, in no order that matters. That of the text has neither get nor set, and
// that of rewrites no set: receipts have links in their places.
var params = withMembers([]param{
	{name: "text",
		read: func(r *Request, p *memberParser) { r.Text = p.text() }},
	list("vectors", func(r *Request) *[]QueryVector { return &r.Vectors },
		encodeVectors, decodeVectors, objectOf(ParseQueryVector)),
	list("sparse", func(r *Request) *[]SparseVector { return &r.Sparse },
		encodeSparse, decodeSparse, objectOf(ParseSparseVector)),
	{name: "rewrites",
		get: func(r *Request) (ipld.Value, bool) {
			return encodeRewrites(r.Rewrites), len(r.Rewrites) > 0
		},
		read: func(r *Request, p *memberParser) { r.Rewrites = p.texts() }},
	word("rewrite", func(r *Request) *string { return &r.Rewrite }, ""),

	names("types", func(r *Request) *[]string { return &r.Types }, (*memberParser).texts).as("type"),
	list("where", func(r *Request) *[]Predicate { return &r.Where },
		encodeWhere, decodePredicates, (*memberParser).predicates),
	moment("createdFrom", func(r *Request) *graph.OptTime { return &r.CreatedFrom }),
	moment("createdTo", func(r *Request) *graph.OptTime { return &r.CreatedTo }),
	moment("updatedFrom", func(r *Request) *graph.OptTime { return &r.UpdatedFrom }),
	moment("updatedTo", func(r *Request) *graph.OptTime { return &r.UpdatedTo }),
	moment("validAt", func(r *Request) *graph.OptTime { return &r.ValidAt }),
	moment("now", func(r *Request) *graph.OptTime { return &r.Now }),
	names("marks", func(r *Request) *[]graph.State { return &r.Marks }, (*memberParser).words),
	{name: "exclude",
		get:  func(r *Request) (ipld.Value, bool) { return encodeIDs(r.Exclude), len(r.Exclude) > 0 },
		set:  func(r *Request, v ipld.Value) { r.Exclude = decodeIDs(v) },
		read: func(r *Request, p *memberParser) { r.Exclude, r.ExcludeNames = nil, p.texts() }},
	{name: "unseenFrom", member: "unseen",
		get: func(r *Request) (ipld.Value, bool) {
			return ipld.IntValue(r.UnseenFrom), r.UnseenFrom > 0
		},
		set:  func(r *Request, v ipld.Value) { r.UnseenFrom = v.Int() },
		read: func(r *Request, p *memberParser) { r.Unseen = p.truth() }},

	word("pairs", func(r *Request) *Pairing { return &r.Pairs }, PairsOff),
	word("intent", func(r *Request) *Intent { return &r.Intent }, ""),
	word("profile", func(r *Request) *string { return &r.Profile }, ""),
	word("fusion", func(r *Request) *Fusion { return &r.Fusion }, Convex),
	list("weights", func(r *Request) *[]LaneWeight { return &r.Weights },
		encodeWeights, decodeWeights, objectOf(ParseLaneWeight)),
	count("feedback", func(r *Request) *int { return &r.Feedback }, 0),
	option("oversample", func(r *Request) **int { return &r.Oversample }, DefaultOversample),
	word("spelling", func(r *Request) *Spelling { return &r.Spelling }, SpellingOn),
	option("limit", func(r *Request) **int { return &r.Limit }, always),
	option("budget", func(r *Request) **int { return &r.Budget }, always),
	option("expand", func(r *Request) **int { return &r.Expand }, always),
	word("expansion", func(r *Request) *Expansion { return &r.Expansion }, Lend),
	option("maxExpand", func(r *Request) **int { return &r.MaxExpand }, DefaultMaxExpand),
	shareOf("decay", func(r *Request) **int { return &r.Decay }, DefaultDecay),
	shareOf("damping", func(r *Request) **int { return &r.Damping }, DefaultDamping),
	names("expandTypes", func(r *Request) *[]string { return &r.ExpandTypes },
		(*memberParser).texts).as("expand-type"),
	list("edgeWeights", func(r *Request) *[]EdgeWeight { return &r.EdgeWeights },
		encodeEdgeWeights, decodeEdgeWeights, objectOf(ParseEdgeWeight)),
	word("direction", func(r *Request) *Direction { return &r.Direction }, ""),
	truth("community", func(r *Request) *bool { return &r.Community }),
	{name: "rerank",
		get:  func(r *Request) (ipld.Value, bool) { return ipld.StringValue(r.Rerank), r.Rerank != "" },
		set:  func(r *Request, v ipld.Value) { r.Rerank = v.Text() },
		read: readRerank},
	option("rerankTop", func(r *Request) **int { return &r.RerankTop }, DefaultRerankTop),
	list("reranked", func(r *Request) *[]RerankScore { return &r.Reranked },
		encodeReranked, decodeReranked, (*memberParser).judged),

	truth("dedup", func(r *Request) *bool { return &r.Dedup }),
	shareOf("mmr", func(r *Request) **int { return &r.MMR }, always),
	word("order", func(r *Request) *Order { return &r.Order }, ByRank),
	word("pack", func(r *Request) *Packing { return &r.Pack }, PackWhole),
	option("passageTokens", func(r *Request) **int { return &r.PassageTokens }, always),
	word("tokenizer", func(r *Request) *string { return &r.Tokenizer }, Estimate),
	count("adjacency", func(r *Request) *int { return &r.Adjacency }, always),
	names("show", func(r *Request) *[]string { return &r.Show }, (*memberParser).words),
	option("summaryCap", func(r *Request) **int { return &r.SummaryCap }, always),
	count("summarize", func(r *Request) *int { return &r.Summarize }, 0),
})

// always is the default of a number that receipts have whatever it is.
const always = -1

// findParam returns the parameter that fits, nil where none does.
func findParam(fits func(param) bool) *param {
	for i := range params {
		if fits(params[i]) {
			return &params[i]
		}
	}
	return nil
}

// withMembers names the members that are not named yet.
func withMembers(list []param) []param {
	for i, p := range list {
		list[i].member = cmp.Or(p.member, kebab(p.name))
	}
	return list
}

// as returns the parameter with a member of another name than its own.
func (p param) as(member string) param {
	p.member = member
	return p
}

// FlagName returns the name of the member of a JSON request that sets a parameter of clause 8.1:
// "summary-cap" for "summaryCap", "type" for "types". Of most parameters it is the flag's name too.
func FlagName(name string) string {
	if p := findParam(func(p param) bool { return p.name == name }); p != nil {
		return p.member
	}
	return kebab(name)
}

func kebab(name string) string {
	var b []byte
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			b = append(b, '-')
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// word is a parameter of a word, which receipts leave out where it is the usual one.
func word[S ~string](name string, at func(*Request) *S, usual S) param {
	return param{name, "",
		func(r *Request) (ipld.Value, bool) {
			return ipld.StringValue(string(*at(r))), *at(r) != usual
		},
		func(r *Request, v ipld.Value) { *at(r) = S(v.Text()) },
		func(r *Request, p *memberParser) { *at(r) = S(p.text()) },
	}
}

// truth is a parameter of yes or no, which receipts have where it is yes.
func truth(name string, at func(*Request) *bool) param {
	return param{name, "",
		func(r *Request) (ipld.Value, bool) { return ipld.BoolValue(true), *at(r) },
		func(r *Request, v ipld.Value) { *at(r) = v.Bool() },
		func(r *Request, p *memberParser) { *at(r) = p.truth() },
	}
}

// count is a parameter of a number that is 0 by default.
func count(name string, at func(*Request) *int, usual int) param {
	return param{name, "",
		func(r *Request) (ipld.Value, bool) { return encodeInt(*at(r)), *at(r) != usual },
		func(r *Request, v ipld.Value) { *at(r) = int(v.Int()) },
		func(r *Request, p *memberParser) { *at(r) = *p.number() },
	}
}

// option is a parameter of a number that may not be given.
func option(name string, at func(*Request) **int, usual int) param {
	return param{name, "",
		func(r *Request) (ipld.Value, bool) {
			n := *at(r)
			if n == nil || *n == usual {
				return ipld.Value{}, false
			}
			return encodeInt(*n), true
		},
		func(r *Request, v ipld.Value) { *at(r) = new(int(v.Int())) },
		func(r *Request, p *memberParser) { *at(r) = p.number() },
	}
}

// shareOf is an option in units of 2^-16, which members have as numbers of 0 to 1.
func shareOf(name string, at func(*Request) **int, usual int) param {
	p := option(name, at, usual)
	p.read = func(r *Request, p *memberParser) { *at(r) = p.lambda() }
	return p
}

// moment is a parameter of a time.
func moment(name string, at func(*Request) *graph.OptTime) param {
	return param{name, "",
		func(r *Request) (ipld.Value, bool) { return ipld.IntValue(int64(at(r).Time)), at(r).Given },
		func(r *Request, v ipld.Value) { *at(r) = graph.At(graph.Time(v.Int())) },
		func(r *Request, p *memberParser) { *at(r) = p.time() },
	}
}

// list is a parameter of a list, which receipts leave out where it is empty.
func list[T any](
	name string, at func(*Request) *[]T,
	encode func([]T) ipld.Value, decode func(ipld.Value) []T, read func(*memberParser) []T,
) param {
	return param{name, "",
		func(r *Request) (ipld.Value, bool) { return encode(*at(r)), len(*at(r)) > 0 },
		func(r *Request, v ipld.Value) { *at(r) = decode(v) },
		func(r *Request, p *memberParser) { *at(r) = read(p) },
	}
}

// names is a list of names.
func names[S ~string](
	name string, at func(*Request) *[]S, read func(*memberParser) []string,
) param {
	return list(name, at, encodeNames, decodeNames, func(p *memberParser) []S {
		var out []S
		for _, s := range read(p) {
			out = append(out, S(s))
		}
		return out
	})
}

// objectOf reads a list from an object.
func objectOf[T any](parse func(string, ipld.Value) (T, error)) func(*memberParser) []T {
	return func(p *memberParser) []T { return readObject(p, parse) }
}
