package retrieve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// open reports whether a profile may still decide a parameter of a request.
func (r *Request) open(name string) bool {
	p := findProfileParam(name)
	return p != nil && !r.Settled && !r.gives(p)
}

// alone returns the request as if it were settled, without a profile.
func (r Request) alone() Request {
	r.Settled = true
	return r
}

// ProfileError says that parameters of a profile contradict each other. errors.As finds the
// *RequestError that says why the first of them does.
type ProfileError struct {
	Name   string   // of the profile
	Params []string // without effect because of the others, in canonical order
	Err    error
}

func (e *ProfileError) Error() string { return fmt.Sprintf("profile %s: %v", e.Name, e.Err) }

func (e *ProfileError) Unwrap() error { return e.Err }

// Consistent returns a *RequestError if parameters of a profile contradict each other, so that one of them never has an
// effect. A merge can produce such a profile. Parameters that this version does not know are not checked.
func (p Profile) Consistent() error {
	var r Request
	for _, e := range p.Params {
		if findProfileParam(e.Key) == nil {
			continue
		}
		if err := r.setParam(e.Key, e.Value); err != nil {
			return err
		}
	}
	return r.Validate()
}

// CheckChanged returns a *ProfileError for the first profile by name that contradicts itself, unless before has the
// same profile. before may be nil.
func (p *Profiles) CheckChanged(before *Profiles) error {
	for _, name := range slices.Sorted(maps.Keys(p.Named)) {
		profile := p.Named[name]
		if was, own, _ := before.Get(name); own && was.Equal(profile) {
			continue
		}
		if err := profile.Consistent(); err != nil {
			return &ProfileError{name, profile.Misfits(), err}
		}
	}
	return nil
}

// Misfits returns the parameters that would have to go for a profile to be Consistent, in canonical
// order; nil for none.
func (p Profile) Misfits() []string {
	var out []string
	left := p.clone()
	for {
		var re *RequestError
		n := len(left.Params)
		if errors.As(left.Consistent(), &re) {
			left.Params = slices.DeleteFunc(left.Params, func(e ipld.Entry) bool { return e.Key == re.Param })
		}
		if len(left.Params) == n {
			slices.SortFunc(out, ipld.CompareKeys)
			return out
		}
		out = append(out, re.Param)
	}
}

// filled takes the parameters that the request leaves open from a profile. It leaves out values that are not valid in
// this request: the caller did not ask for them and must not get an error.
func (r Request) filled(name string, from Profile) (Request, error) {
	given := r
	for _, e := range from.Params {
		param := findProfileParam(e.Key)
		if param == nil {
			return r, badParam("profile", "%s has the parameter %s, which this version does not "+
				"know: use a later version, or 'mnem config profile --unset'", name, shortQuote(e.Key))
		}
		if given.gives(param) {
			continue
		}
		if err := r.setParam(e.Key, e.Value); err != nil {
			return r, err
		}
	}
	r.fitExpansion(&given, from)
	if !r.Pack.trims() {
		r.withdraw(&given, "passageTokens")
	}
	if len(given.Weights) == 0 {
		r.Weights = r.fittingWeights()
	} else if given.Fusion == "" && r.Fusion == RRF { // which has no weights
		r.Fusion = ""
	}
	if len(given.EdgeWeights) == 0 && (r.blank() || r.Expand != nil && *r.Expand == 0) {
		r.EdgeWeights = nil
	}
	return r, nil
}

// withdraw removes a parameter that came from a profile and not from the request.
func (r *Request) withdraw(given *Request, name string) {
	if p := findProfileParam(name); p != nil && !given.gives(p) {
		reflect.ValueOf(p.at(r)).Elem().SetZero()
	}
}

// blank reports whether the request has neither text nor vectors.
func (r Request) blank() bool { return !hasWords(r.Text) && len(r.Vectors) == 0 && len(r.Sparse) == 0 }

// fitExpansion removes parameters that a profile set for an expansion other than the request's. This includes the
// rounds: three are many for contributions and few for PageRank.
func (r *Request) fitExpansion(given *Request, from Profile) {
	its := Lend
	if v, ok := ipld.FindEntry(from.Params, "expansion"); ok {
		its = Expansion(v.Text())
	}
	way := cmp.Or(r.Expansion, Lend)
	if n := r.Expand; way != its || n != nil && *n > way.maxRounds() {
		r.withdraw(given, "expand")
	}
	if way != its || way != Decay {
		r.withdraw(given, "decay")
	}
	if way != its || way != PPR {
		r.withdraw(given, "damping")
	}
}

// fittingWeights returns those weights of a profile that mean something for the request, none but
// the time's if they would leave no lane.
func (r Request) fittingWeights() []LaneWeight {
	has := r.Weighable()
	isTime := func(l Lane) bool { return l == LaneTime }
	ranking := slices.DeleteFunc(slices.Clone(has), isTime)
	fitting := func(others bool) []LaneWeight {
		return slices.DeleteFunc(slices.Clone(r.Weights), func(w LaneWeight) bool {
			if isTime(w.Lane) {
				return !slices.Contains(has, w.Lane)
			}
			return !others || !slices.Contains(ranking, w.Lane)
		})
	}
	with := r
	with.Weights = fitting(r.Fusion != RRF && len(ranking) > 1)
	if !with.otherLanes() {
		with.Weights = fitting(false)
	}
	if len(with.Weights) == 0 {
		return nil
	}
	return with.Weights
}
