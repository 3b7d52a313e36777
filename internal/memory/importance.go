package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Constants of effective importance: docs/internals/memories.md.
const (
	// DefaultHalfLife is the half-life in days of other types.
	DefaultHalfLife = 30
	// MaxHalfLife is the longest half-life in days, some hundred years.
	MaxHalfLife = 36_500
	// MaxHalfLives is the largest number of types that a memory's parameters give one.
	MaxHalfLives = 256

	maxUses   = 15      // beyond which another use adds nothing: doubled is as much as uses do
	maxLinked = 10      // likewise of edges, which add one half at most
	PerDay    = 86400e6 // microseconds
)

// baseOf is the weight of an importance of 1 to 5, in Q16: .15, .30, .50, .80 and 1.
var baseOf = [MaxImportance]int64{9830, 19661, 32768, 52429, fixed.One}

// HalfLives are the days after which a memory of a type counts half.
type HalfLives map[string]int

// defaultHalfLives: events are soon past; preferences and decisions hold for long.
var defaultHalfLives = HalfLives{
	Context: 7, Event: 14, Task: 14, Insight: 60, Decision: 90, Preference: 180,
}

// Of returns the half-life of a type.
func (h HalfLives) Of(typ string) int {
	if days, ok := h[typ]; ok {
		return days
	}
	return DefaultHalfLife
}

// importanceVerb names the parameters of this file in a commit's profiles.
const (
	importanceVerb = "importance"
	paramHalfLife  = "halfLife"
)

// HalfLivesAt returns the half-lives of a snapshot: the defaults, overridden by the parameter "halfLife" of its
// profiles.
func HalfLivesAt(ctx context.Context, s *core.Snapshot) (HalfLives, error) {
	own, err := OwnHalfLivesAt(ctx, s)
	if err != nil {
		return nil, err
	}
	return own.All(), nil
}

// All returns h together with the built-in half-lives of other types.
func (h HalfLives) All() HalfLives {
	out := maps.Clone(defaultHalfLives)
	maps.Copy(out, h)
	return out
}

// OwnHalfLivesAt returns the half-lives that a snapshot gives types itself, empty for none.
func OwnHalfLivesAt(ctx context.Context, s *core.Snapshot) (HalfLives, error) {
	params, err := VerbParams(ctx, s, importanceVerb)
	if err != nil {
		return nil, err
	}
	return halfLivesOf(params)
}

func halfLivesOf(params []ipld.Entry) (HalfLives, error) {
	out := make(HalfLives)
	v, ok := ipld.FindEntry(params, paramHalfLife)
	if !ok {
		return out, nil
	}
	if v.Kind() != ipld.Map || len(v.Entries()) > MaxHalfLives {
		return nil, graph.Fieldf("importance.halfLife", "want a map of at most %d types to days",
			MaxHalfLives)
	}
	for _, e := range v.Entries() {
		if e.Value.Kind() != ipld.Int {
			return nil, checkHalfLife(e.Key, 0)
		}
		days := e.Value.Int()
		if err := checkHalfLife(e.Key, days); err != nil {
			return nil, err
		}
		out[e.Key] = int(days)
	}
	return out, nil
}

func checkHalfLife(typ string, days int64) error {
	if days < 1 || days > MaxHalfLife {
		return graph.Fieldf("importance.halfLife", "%q: want 1 to %d days", typ, MaxHalfLife)
	}
	return graph.CheckText("importance.halfLife", typ, 1, graph.MaxType)
}

// SetHalfLives replaces a memory's own half-lives in a commit that changes nothing else. It makes no commit if they are
// so already. Types without one have the default.
func SetHalfLives(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, days HalfLives,
) (*core.CommitResult, error) {
	v, err := days.value()
	if err != nil {
		return nil, err
	}
	return ChangeVerbParams(ctx, r, importanceVerb, opt,
		func(old []ipld.Entry, _ error) ([]ipld.Entry, error) {
			return WithEntry(old, paramHalfLife, v), nil
		})
}

// ChangeHalfLives applies change to the half-lives in a branch's newest commit, stores the result as SetHalfLives does,
// and returns it. A concurrent change of another type is kept. If change fails, its error is returned.
func ChangeHalfLives(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, change func(own HalfLives) error,
) (HalfLives, *core.CommitResult, error) {
	var own HalfLives
	res, err := ChangeVerbParams(ctx, r, importanceVerb, opt,
		func(old []ipld.Entry, err error) ([]ipld.Entry, error) {
			if err == nil {
				own, err = halfLivesOf(old)
			}
			if err == nil {
				err = change(own)
			}
			if err != nil {
				return nil, err
			}
			v, err := own.value()
			return WithEntry(old, paramHalfLife, v), err
		})
	return own, res, err
}

// value returns half-lives as they are stored, the zero value for none.
func (h HalfLives) value() (ipld.Value, error) {
	if len(h) == 0 {
		return ipld.Value{}, nil
	}
	if len(h) > MaxHalfLives {
		return ipld.Value{}, state.Invalidf("half-lives: %d types, limit %d", len(h), MaxHalfLives)
	}
	var list []ipld.Entry
	for _, typ := range slices.Sorted(maps.Keys(h)) { // so that it is the same one that is refused
		if err := checkHalfLife(typ, int64(h[typ])); err != nil {
			return ipld.Value{}, err
		}
		list = append(list, ipld.Entry{Key: typ, Value: ipld.IntValue(int64(h[typ]))})
	}
	ipld.SortEntries(list)
	return ipld.MapValue(list...), nil
}

// Factors determine the effective importance of a memory.
type Factors struct {
	Importance int   `json:"importance"`     // 1 to 5; anything else counts as DefaultImportance
	Uses       int64 `json:"uses"`           // how often it was said again, or used if that is counted
	Linked     int64 `json:"linked"`         // its edges to other memories
	Age        int64 `json:"-"`              // microseconds since it was made or changed; below 0 counts as 0
	HalfLife   int   `json:"half_life_days"` // 1 to MaxHalfLife
}

// Effective is the importance of a memory at a time, in units of 2^-16, with its factors: Value = Base × Use × Decay ×
// Links, each product rounded down, in this order.
type Effective struct {
	Value      int64 `json:"value"` // 0 to 196,608
	Base       int64 `json:"base"`  // of the importance: 9,830 to 65,536
	Use        int64 `json:"use"`   // 65,536 to 131,072
	Decay      int64 `json:"decay"` // one half to the power of Age by HalfLife: 0 to 65,536
	Links      int64 `json:"links"` // 65,536 to 98,304
	AgeSeconds int64 `json:"age_seconds"`
	Factors
}

// Weigh returns the effective importance that factors make: docs/internals/memories.md, "Importance".
func (f Factors) Weigh() Effective {
	w := Effective{Factors: f, AgeSeconds: f.Age / time.Second.Microseconds()}
	base := f.Importance
	if base < MinImportance || base > MaxImportance {
		base = DefaultImportance
	}
	w.Base = baseOf[base-1]
	w.Use = fixed.One + fixed.Log2(uint64(1+min(max(f.Uses, 0), maxUses)))/4
	w.Links = fixed.One + min(max(f.Linked, 0), maxLinked)*fixed.One/(2*maxLinked)
	half := uint64(max(f.HalfLife, 1)) * PerDay
	w.Decay = fixed.Half(fixed.MulDivSat(uint64(max(f.Age, 0)), fixed.One, half))
	w.Value = w.Base
	for _, factor := range []int64{w.Use, w.Decay, w.Links} {
		w.Value = w.Value * factor >> fixed.FracBits
	}
	return w
}

// ImportanceOptions are the inputs of effective importance besides the snapshot.
type ImportanceOptions struct {
	HalfLives HalfLives // nil: the result of HalfLivesAt
}

// Importance returns the effective importance of a node at a time that is passed in: of its property "importance", of
// how often it was said again, of its age, and of the edges that link it. It is worked out when it is asked for and
// stored nowhere, so it cannot go stale, and reading changes nothing. It reads the node and O(log n) blocks of edges.
// Edges that any memory gets for when it was written count for nothing.
func Importance(
	ctx context.Context, s *core.Snapshot, id graph.ID, now graph.Time, opt ImportanceOptions,
) (Effective, error) {
	n, _, err := s.Node(ctx, id)
	if err != nil {
		return Effective{}, err
	}
	if opt.HalfLives == nil {
		if opt.HalfLives, err = HalfLivesAt(ctx, s); err != nil {
			return Effective{}, err
		}
	}
	return ImportanceOf(ctx, s, n, now, opt)
}

// ImportanceOf is Importance of a node that was read, with half-lives.
func ImportanceOf(
	ctx context.Context, s *core.Snapshot, n *graph.Node, now graph.Time, opt ImportanceOptions,
) (Effective, error) {
	f := Factors{
		Importance: StatedImportance(n), Age: ageAt(n, now), HalfLife: opt.HalfLives.Of(n.Type),
	}
	var err error
	if f.Uses, f.Linked, err = tiesOf(ctx, s.Adjacency(), n.ID); err != nil {
		return Effective{}, err
	}
	return f.Weigh(), nil
}

// StatedImportance returns the importance that a node says it has, DefaultImportance if it does not.
func StatedImportance(n *graph.Node) int {
	v, ok := ipld.FindEntry(n.Props, PropImportance)
	if !ok || v.Kind() != ipld.Int || v.Int() < MinImportance || v.Int() > MaxImportance {
		return DefaultImportance
	}
	return int(v.Int())
}

// ageAt returns the microseconds since a node was made or changed, whichever is later.
func ageAt(n *graph.Node, now graph.Time) int64 {
	from := n.Created
	if n.Updated.Given {
		from = max(from, n.Updated.Time)
	}
	return int64(now) - int64(from)
}

// routine are types of edges that record when a memory was written, and no relation to other memories.
var routine = []string{EdgeObserved, EdgeFollows, EdgeNear}

// tiesOf counts how often a memory was said again, and its edges that are not routine.
func tiesOf(ctx context.Context, t adjacency.Trees, id graph.ID) (observed, linked int64, err error) {
	for _, side := range []adjacency.Direction{adjacency.Out, adjacency.In} {
		all, err := t.Degree(ctx, id, side, "")
		if err != nil {
			return 0, 0, err
		}
		linked += int64(all)
		for _, typ := range routine {
			n, err := t.Degree(ctx, id, side, typ)
			if err != nil {
				return 0, 0, err
			}
			linked -= int64(n)
			if typ == EdgeObserved && side == adjacency.Out {
				observed = int64(n)
			}
		}
	}
	return observed, linked, nil
}
