package retrieve

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of profiles: clause 23.
const (
	// DefaultProfile is the profile of requests that neither name one nor have the types of another, unless the
	// repository names a different default.
	DefaultProfile = "default"
	// MaxProfiles is the largest number of profiles of a repository.
	MaxProfiles = 64
	// MaxProfileName is the longest name of a profile, in bytes.
	MaxProfileName = 64
)

// Profile is defaults for requests under one name.
type Profile struct {
	// Types are the node types that select the profile, at most MaxNames, in bytewise order without duplicates; nil for
	// none.
	Types []string
	// Params are parameters under their names in clause 8.1, as a receipt keeps them, in canonical
	// order. Those that this version does not know are kept; to use them is refused.
	Params []ipld.Entry
}

// ErrNoProfile marks errors about a profile that does not exist.
var ErrNoProfile = fmt.Errorf("%w: no such profile", ErrRequest)

// NoProfileError says which profile does not exist, and which do. errors.Is with ErrNoProfile and
// with ErrRequest holds.
type NoProfileError struct {
	Name  string
	Known []string
}

func (e *NoProfileError) Error() string {
	return fmt.Sprintf("no profile %s: there are %s", shortQuote(e.Name), strings.Join(e.Known, ", "))
}

// Is reports whether target is ErrNoProfile or ErrRequest.
func (e *NoProfileError) Is(target error) bool { return target == ErrNoProfile || target == ErrRequest }

// ProfileParams returns the names of the parameters that a profile may set: those that rank, fuse,
// expand, pack or print.
func ProfileParams() []string { return namesOf(func(p *param) bool { return p.Own == "" }) }

// OwnParams returns the names of the parameters that no profile may set: all in clause 8.1 but the ProfileParams.
func OwnParams() []string { return namesOf(func(p *param) bool { return p.Own != "" }) }

func namesOf(fits func(*param) bool) (names []string) {
	for i := range params {
		if fits(&params[i]) {
			names = append(names, params[i].Name)
		}
	}
	return names
}

// WhyOwn says why no profile may set a parameter, "" of one that a profile may set, or that there is not.
func WhyOwn(name string) string {
	if p := findParam(name); p != nil {
		return p.Own
	}
	return ""
}

// findProfileParam returns the parameter that a profile may set, nil if there is none of the name.
func findProfileParam(name string) *param {
	if p := findParam(name); p != nil && p.Own == "" {
		return p
	}
	return nil
}

// gives reports whether a request decides a parameter itself.
func (r *Request) gives(p *param) bool {
	return slices.Contains(r.Explicit, p.Name) || !reflect.ValueOf(p.at(r)).Elem().IsZero()
}

// decides notes that a request sets a parameter itself, if that cannot be seen.
func (r *Request) decides(name string) {
	if p := findProfileParam(name); p != nil && !r.gives(p) {
		r.Explicit = append(r.Explicit, name)
	}
}

// Explicitly returns a request that leaves to profiles all that they may set but the named
// parameters, which it decides itself, also if their values are zero.
func (r Request) Explicitly(given ...string) Request {
	for i := range params {
		if p := &params[i]; p.Own == "" && !slices.Contains(given, p.Name) {
			reflect.ValueOf(p.at(&r)).Elem().SetZero()
		}
	}
	r.Explicit = slices.Clone(given)
	return r
}

// ProfileChange splits a request's Explicit parameters into those a profile must set, in canonical order, and those it
// must unset because the request asked for the default. It returns a *RequestError for a parameter that no profile may
// set.
func (r Request) ProfileChange() (set []ipld.Entry, unset []string, err error) {
	if err := r.ValidateGiven(); err != nil {
		return nil, nil, err
	}
	for _, name := range r.Explicit {
		if findProfileParam(name) == nil {
			return nil, nil, badParam(name, "no profile can hold it: %s", WhyOwn(name))
		}
		if v, ok := r.encodeParam(name); ok {
			set = append(set, ipld.Entry{Key: name, Value: v})
		} else {
			unset = append(unset, name)
		}
	}
	ipld.SortEntries(set)
	return set, unset, nil
}

// encodeParam returns one parameter as a profile keeps it, whatever the others are; ok is false if
// it is left out at its default.
func (r Request) encodeParam(name string) (v ipld.Value, ok bool) {
	switch name {
	case "passageTokens": // a receipt has it only with this packing, and then always
		r.Pack = PackPassages
	case "pack": // without it a profile leaves it open
		return ipld.StringValue(string(r.Resolve().Pack)), true
	}
	return encodeParams(r.Resolve(), ipld.Sum(ipld.Raw, nil)).Get(name)
}

// checkProfile checks the names that say where defaults come from.
func (r *Request) checkProfile() error {
	if r.Profile != "" && !ValidProfileName(r.Profile) {
		return badParam("profile", "%s is not a name: want 1 to %d of A-Z a-z 0-9 . _ -, the first a "+
			"letter or digit", shortQuote(r.Profile), MaxProfileName)
	}
	return nil
}

// ValidProfileName reports whether a profile may have a name: 1 to MaxProfileName ASCII letters,
// digits, dots, underscores and hyphens, the first a letter or digit.
func ValidProfileName(name string) bool {
	if name == "" || len(name) > MaxProfileName {
		return false
	}
	for i, c := range []byte(name) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}

// builtin is a profile that every repository has.
type builtin struct {
	name, about string
	Profile
}

// builtins are the profiles of ranking version 1, in the order of their names: clause 23.4. They change a parameter of
// the ranking only if a measurement supports it.
var builtins = []builtin{
	{name: "chat", about: "turns of conversations: more of them, with their times",
		Profile: Profile{Params: []ipld.Entry{
			{Key: "show", Value: encodeNames([]string{ShowTimes})},
			{Key: "limit", Value: ipld.IntValue(40)},
		}}},
	{name: "code", about: "source and its structure: keys and links of each item",
		Profile: Profile{Params: []ipld.Entry{
			{Key: "show", Value: encodeNames([]string{ShowKey})},
			{Key: "adjacency", Value: ipld.IntValue(3)},
		}}},
	{name: DefaultProfile, about: "what is good for any memory"},
	{name: "docs", about: "passages of documents: their text, without repeats",
		Profile: Profile{Params: []ipld.Entry{
			{Key: "show", Value: encodeNames([]string{ShowContent})},
			{Key: "dedup", Value: ipld.BoolValue(true)},
			{Key: "expand", Value: ipld.IntValue(1)},
		}}},
}

// BuiltinProfile returns a profile that every repository has, and a line that says when to use it.
func BuiltinProfile(name string) (p Profile, about string, ok bool) {
	for _, b := range builtins {
		if b.name == name {
			return b.clone(), b.about, true
		}
	}
	return Profile{}, "", false
}

// BuiltinProfiles returns the names of the profiles that every repository has, in order.
func BuiltinProfiles() []string {
	names := make([]string, len(builtins))
	for i, b := range builtins {
		names[i] = b.name
	}
	return names
}

func (p Profile) clone() Profile {
	return Profile{Types: slices.Clone(p.Types), Params: slices.Clone(p.Params)}
}

// Equal reports whether two profiles say the same.
func (p Profile) Equal(o Profile) bool {
	return slices.Equal(p.Types, o.Types) && p.value().Equal(o.value())
}

// Apply fills the parameters that the request leaves open from a profile: the one it names, else the one whose types
// include all of the request's, else the repository's default. It skips parameters of the profile that do not fit the
// request, so a profile never makes a valid request fail. The result is Settled and valid, and its Profile is the name
// of the profile used, "" for the built-in default. A settled request is returned unchanged. Apply returns an error
// that wraps ErrNoProfile for an unknown name, and a *RequestError if the profile has a parameter that this version
// does not know or if the filled request is not valid. A nil p has only the built-in profiles.
func (p *Profiles) Apply(r Request) (Request, error) {
	if r.Settled {
		return r, nil
	}
	if err := r.checkProfile(); err != nil {
		return r, err
	}
	name, err := p.Choose(r.Profile, r.Types)
	if err != nil {
		return r, err
	}
	from, own, _ := p.Get(name)
	given := r
	if r, err = r.filled(name, from); err != nil {
		return given, err
	}
	if r.Profile = name; name == DefaultProfile && !own {
		r.Profile = ""
	}
	r.Settled, r.Explicit = true, nil
	if err := r.Validate(); err != nil {
		return given, err
	}
	return r, nil
}

// shortShare returns units of 2^-16 as the number of the fewest decimals that gives them again.
func shortShare(units int64) ipld.Value {
	if units%fixed.One == 0 {
		return ipld.IntValue(units / fixed.One)
	}
	x := float64(units) / fixed.One
	for digits := 1; digits < 10; digits++ {
		short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
		if err == nil && int64(math.RoundToEven(short*fixed.One)) == units {
			return ipld.FloatValue(short)
		}
	}
	return ipld.FloatValue(x)
}

// Share returns a parameter that is in units of 2^-16, or a map of such, as people write it; ok is
// false for other parameters.
func Share(name string, v ipld.Value) (shown ipld.Value, ok bool) {
	switch p := findParam(name); {
	case p == nil:
	case p.Kind == ParamShare:
		return shortShare(v.Int()), true
	case p.Kind == ParamObject && p.Own == "":
		var entries []ipld.Entry
		for _, e := range v.Entries() {
			entries = append(entries, ipld.Entry{Key: e.Key, Value: shortShare(e.Value.Int())})
		}
		return ipld.MapValue(entries...), true
	}
	return v, false
}
