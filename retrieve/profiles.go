package retrieve

import (
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// KindProfile is the kind of the record of a repository's profiles.
const KindProfile = "profile"

// Profiles are the profiles that a commit has. The zero value has the built-in ones alone, and is
// not to be stored: a commit without profiles of its own links to none.
type Profiles struct {
	// Default names the profile of requests that fit no other, "" for DefaultProfile. One that does
	// not exist counts as "".
	Default string
	// Named are the profiles by name, at most MaxProfiles. One of a built-in name stands for it.
	Named map[string]Profile
	Extra []ipld.Entry // unknown fields in canonical order
}

var profilesFields = ipld.FieldNames(new(Profiles).fields)

func (p *Profiles) fields(r *ipld.Record) {
	r.Begin(KindProfile, recordVersion, &p.Extra)
	r.OptString("default", &p.Default)
	r.Field("profiles", p.appendNamed, p.readNamed)
}

func (p *Profiles) appendNamed(b []byte) []byte {
	entries := make([]ipld.Entry, 0, len(p.Named))
	for name, profile := range p.Named { // sorted by MapValue
		entries = append(entries, ipld.Entry{Key: name, Value: profile.value()})
	}
	return ipld.AppendValue(b, ipld.MapValue(entries...))
}

func (p *Profiles) readNamed(d *ipld.Decoder) error {
	return d.Map(func(name string) error {
		if len(p.Named) == MaxProfiles {
			return d.Errorf("more than %d profiles", MaxProfiles)
		}
		v, err := d.Value()
		if err != nil {
			return err
		}
		params, ok := v.Get("params")
		types, typed := v.Get("types")
		profile := Profile{Types: decodeNames[string](types), Params: params.Entries()}
		switch {
		case !ok || params.Kind() != ipld.Map:
			return d.Errorf("profile without params")
		case typed && len(profile.Types) == 0:
			return d.Errorf("empty list of types")
		case !profile.value().Equal(v):
			return d.Errorf("profile with other fields than types and params")
		}
		p.Named[strings.Clone(name)] = profile
		return nil
	})
}

// Empty reports whether there is nothing to store.
func (p *Profiles) Empty() bool {
	return p == nil || p.Default == "" && len(p.Named) == 0 && len(p.Extra) == 0
}

// Get returns a profile of a name, and whether it is the repository's own or else built in; ok is
// false if there is neither.
func (p *Profiles) Get(name string) (profile Profile, own, ok bool) {
	if p != nil {
		if profile, ok = p.Named[name]; ok {
			return profile.clone(), true, true
		}
	}
	profile, _, ok = BuiltinProfile(name)
	return profile, false, ok
}

// Names returns the names of all profiles, built-in ones included, in bytewise order.
func (p *Profiles) Names() []string {
	names := BuiltinProfiles()
	if p != nil {
		names = slices.AppendSeq(names, maps.Keys(p.Named))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// DefaultName returns the name of the profile of requests that fit no other.
func (p *Profiles) DefaultName() string {
	if p != nil {
		if _, _, ok := p.Get(p.Default); ok {
			return p.Default
		}
	}
	return DefaultProfile
}

// Choose returns the profile of a request that names it, "" for none, and asks for nodes of types:
// without a name that of the fewest types which has all of them, of several the first by name, and
// else the default. It returns a *NoProfileError for a name that there is none of.
func (p *Profiles) Choose(name string, types []string) (string, error) {
	if name != "" {
		if _, _, ok := p.Get(name); !ok {
			return "", &NoProfileError{Name: name, Known: p.Names()}
		}
		return name, nil
	}
	best := ""
	if p != nil && len(types) > 0 {
		for _, name := range slices.Sorted(maps.Keys(p.Named)) {
			of := p.Named[name].Types
			missing := func(typ string) bool { return !slices.Contains(of, typ) }
			if slices.ContainsFunc(types, missing) {
				continue
			}
			if best == "" || len(of) < len(p.Named[best].Types) {
				best = name
			}
		}
	}
	if best == "" {
		best = p.DefaultName()
	}
	return best, nil
}

// Clone returns a copy that shares nothing that is changed in place.
func (p *Profiles) Clone() *Profiles {
	out := &Profiles{Named: make(map[string]Profile)}
	if p == nil {
		return out
	}
	out.Default, out.Extra = p.Default, slices.Clone(p.Extra)
	for name, profile := range p.Named {
		out.Named[name] = profile.clone()
	}
	return out
}

// Validate returns a *graph.FieldError unless p keeps every rule and limit of clause 23.1. Only
// valid profiles may be encoded.
func (p *Profiles) Validate() error {
	if err := p.check(); err != nil {
		return err
	}
	if err := ipld.Check(p.Encode()); err != nil {
		return graph.Fieldf("", "too large for one block: %v", err)
	}
	return nil
}

func (p *Profiles) check() error {
	switch {
	case p.Empty():
		return graph.Fieldf("profiles", "no profile and no default")
	case p.Default != "" && !ValidProfileName(p.Default):
		return graph.Fieldf("default", "%s is not the name of a profile", shortQuote(p.Default))
	case len(p.Named) > MaxProfiles:
		return graph.Fieldf("profiles", "%d profiles, limit %d", len(p.Named), MaxProfiles)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Named)) {
		if !ValidProfileName(name) {
			return graph.Fieldf("profiles", "%s is not the name of a profile", shortQuote(name))
		}
		if err := p.Named[name].check("profiles." + name); err != nil {
			return err
		}
	}
	return graph.CheckExtra(p.Extra, profilesFields)
}

func (p Profile) check(at string) error {
	if err := checkNames("types", p.Types); err != nil {
		return graph.Fieldf(at, "%v", err)
	}
	for i, typ := range p.Types {
		if i > 0 && p.Types[i-1] >= typ {
			return graph.Fieldf(at+".types", "%s does not come after %s", shortQuote(typ), shortQuote(p.Types[i-1]))
		}
	}
	for i, e := range p.Params {
		if i > 0 && ipld.CompareKeys(p.Params[i-1].Key, e.Key) >= 0 {
			return graph.Fieldf(at+".params", "%s does not come after %s", shortQuote(e.Key),
				shortQuote(p.Params[i-1].Key))
		}
		if err := checkProfileParam(at+".params."+e.Key, e); err != nil {
			return err
		}
	}
	return graph.CheckExtra([]ipld.Entry{{Key: "params", Value: p.value()}}, nil)
}

// checkProfileParam checks one parameter of a profile by itself. Those that do not fit each other may
// come of a merge: Consistent tells, and filling a request leaves them out.
func checkProfileParam(at string, e ipld.Entry) error {
	if len(e.Key) == 0 || len(e.Key) > MaxProfileName {
		return graph.Fieldf(at, "want a name of 1 to %d bytes", MaxProfileName)
	}
	if why := WhyOwn(e.Key); why != "" {
		return graph.Fieldf(at, "no profile may set it: %s", why)
	}
	if findProfileParam(e.Key) == nil {
		return nil // of a later version
	}
	var r Request
	err := r.setParam(e.Key, e.Value)
	if err == nil {
		err = r.ValidateGiven()
	}
	if err != nil {
		return graph.Fieldf(at, "%v", err)
	}
	v, _ := r.encodeParam(e.Key)
	if !v.Equal(e.Value) {
		return graph.Fieldf(at, "not in its resolved form")
	}
	return nil
}

// value returns a profile as it is in the record.
func (p Profile) value() ipld.Value {
	entries := []ipld.Entry{{Key: "params", Value: ipld.MapValue(slices.Clone(p.Params)...)}}
	if len(p.Types) > 0 {
		entries = append(entries, ipld.Entry{Key: "types", Value: encodeNames(p.Types)})
	}
	return ipld.MapValue(entries...)
}

// Encode returns the block of valid profiles.
func (p *Profiles) Encode() []byte { return ipld.WriteRecord(256, p.fields) }

// DecodeProfiles reads the block of profiles. It returns an error that wraps ipld.ErrInvalid for
// everything that Encode cannot have written.
func DecodeProfiles(block []byte) (*Profiles, error) {
	p := &Profiles{Named: make(map[string]Profile)}
	return ipld.ReadRecord(block, p, p.fields, p.Validate)
}
