package evaluate

import (
	"cmp"
	"slices"

	stagepkg "github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/retrieve"
)

// noType is the type of no edge: names of types are lines.
const noType = "\x00"

// stage is a step of retrieval that can be left out of a request, or put into it. off and on return
// whether that makes it another request; one that has no such step has no row of it.
type stage struct {
	without string // names of the rows
	off     func(*retrieve.Request) bool
	with    string
	on      func(*retrieve.Request) bool
}

// stages returns the variants of a settled request with one stage more or less, for edges of these types.
func stages(req retrieve.Request, types []string) []variant {
	req = req.Resolve()
	var list []variant
	add := func(order int, name string, change func(*retrieve.Request) bool) {
		if change == nil {
			return
		}
		if varied := req; change(&varied) {
			list = append(list, variant{order: order, name: name, req: varied})
		}
	}
	table := slices.Concat(expansionStages(types), lanesOff(req), otherStages())
	for i, s := range table {
		add(i, "without "+s.without, s.off)
	}
	for i, s := range table {
		add(len(table)+i, "with "+s.with, s.on)
	}
	return list
}

// expansionStages are about what raises what is linked to it.
func expansionStages(types []string) []stage {
	expands := func(r *retrieve.Request) bool { return *r.Expand > 0 }
	few := len(types) <= retrieve.MaxNames
	list := []stage{{
		without: "expansion",
		off: func(r *retrieve.Request) bool {
			was := expands(r)
			r.Expand = new(0)
			return was
		},
	}, {
		without: "edges",
		off: func(r *retrieve.Request) bool {
			r.EdgeWeights = nil
			for _, t := range types {
				r.EdgeWeights = append(r.EdgeWeights, retrieve.EdgeWeight{Type: t})
			}
			return expands(r) && few && len(types) > 0
		},
	}, {
		// If types of edges are named, mentions do not count: all are named, or one that is none.
		without: "mentions",
		off: func(r *retrieve.Request) bool {
			was := expands(r) && few && len(r.ExpandTypes) == 0
			r.ExpandTypes = slices.Concat(types, []string{noType})[:max(len(types), 1)]
			return was
		},
	}}
	for _, other := range []retrieve.Expansion{retrieve.Decay, retrieve.PPR} {
		list = append(list, stage{
			with: "--expansion " + string(other),
			on: func(r *retrieve.Request) bool {
				was := expands(r) && r.Expansion == retrieve.Lend
				r.Expansion, r.Expand = other, nil
				return was
			},
		})
	}
	return list
}

func lanesOff(req retrieve.Request) []stage {
	names := map[retrieve.Lane]string{retrieve.LaneTime: "times", retrieve.LaneText: "text"}
	var list []stage
	for _, lane := range stagepkg.Lanes(req) {
		list = append(list, stage{
			without: cmp.Or(names[lane], string(lane)),
			off: func(r *retrieve.Request) (ok bool) {
				*r, ok = stagepkg.Without(*r, lane)
				return ok
			},
		})
	}
	return list
}

func otherStages() []stage {
	list := []stage{recallStage(), {
		without: "spelling",
		off: func(r *retrieve.Request) bool {
			was := r.Spelling
			r.Spelling = retrieve.SpellingOff
			return was == retrieve.SpellingOn
		},
	}, {
		without: "rerank",
		off: func(r *retrieve.Request) bool {
			was := r.Rerank
			r.Rerank, r.RerankTop, r.Reranked, r.Reranker = "", nil, nil, nil
			return was != ""
		},
	}, {
		without: "passages", with: "--pack passages",
		off: func(r *retrieve.Request) bool {
			was := r.Pack
			r.Pack, r.PassageTokens = retrieve.PackWhole, nil
			return was == retrieve.PackPassages
		},
		on: func(r *retrieve.Request) bool {
			was := r.Pack
			r.Pack = retrieve.PackPassages
			return was != retrieve.PackPassages
		},
	}}
	for _, way := range retrieve.Fusions() {
		list = append(list, stage{
			with: "--fusion " + string(way),
			on: func(r *retrieve.Request) bool {
				running := slices.DeleteFunc(stagepkg.Lanes(*r), func(l retrieve.Lane) bool {
					return l == retrieve.LaneTime || !stagepkg.Runs(*r, l)
				})
				was := r.Fusion
				r.Fusion = way
				return was == retrieve.Convex && way != was && len(r.Weights) == 0 && len(running) > 1
			},
		})
	}
	return append(list,
		switched("community", func(r *retrieve.Request) *bool { return &r.Community }),
		switched("dedup", func(r *retrieve.Request) *bool { return &r.Dedup }))
}

func switched(name string, of func(*retrieve.Request) *bool) stage {
	set := func(to bool) func(*retrieve.Request) bool {
		return func(r *retrieve.Request) bool {
			was := *of(r)
			*of(r) = to
			return was != to
		}
	}
	return stage{without: name, off: set(false), with: "--" + name, on: set(true)}
}

func recallStage() stage {
	return stage{
		without: "recall",
		off: func(r *retrieve.Request) bool {
			was := r.Intent != ""
			r.Intent = ""
			return was
		},
		with: "--intent auto",
		on: func(r *retrieve.Request) bool {
			was := r.Intent == ""
			r.Intent = retrieve.IntentAuto
			return was
		},
	}
}
