package retrieve

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Names of the fields of profiles, as diffs and conflicts have them.
const (
	fieldDefault  = "default"
	fieldProfiles = "profiles."
	fieldTypes    = ".types"
)

// Fields returns what profiles say by the names of clause 23.3: "default", "profiles.NAME.types",
// "profiles.NAME.PARAM", unknown fields, and "profiles.NAME" for the whole of a profile without
// either. A nil p has none.
func (p *Profiles) Fields() map[string]ipld.Value {
	out := make(map[string]ipld.Value)
	if p == nil {
		return out
	}
	for _, e := range p.Extra {
		out[e.Key] = e.Value
	}
	if p.Default != "" {
		out[fieldDefault] = ipld.StringValue(p.Default)
	}
	for name, profile := range p.Named {
		maps.Copy(out, profile.fields(name))
	}
	return out
}

func (p Profile) fields(name string) map[string]ipld.Value {
	out := make(map[string]ipld.Value)
	if len(p.Types) > 0 {
		out[fieldProfiles+name+fieldTypes] = encodeNames(p.Types)
	}
	for _, e := range p.Params {
		out[fieldProfiles+name+"."+e.Key] = e.Value
	}
	if len(out) == 0 {
		out[fieldProfiles+name] = p.value()
	}
	return out
}

// ProfileVersions are three states of a repository's profiles: before, and on either side. Nil is none.
type ProfileVersions struct{ Base, Ours, Theirs *Profiles }

// MergeProfiles merges profiles as clause 23.3 says: each parameter, the types of each profile and
// the default by themselves. fields names, in order, what both sides changed differently; there the
// result, nil for none, has what take says.
func MergeProfiles(v ProfileVersions, take graph.Take) (merged *Profiles, fields []string) {
	m := profileMerge{take: take, base: v.Base.Clone(), ours: v.Ours.Clone(), theirs: v.Theirs.Clone()}
	m.out = &Profiles{Named: make(map[string]Profile)}
	m.defaults()
	m.extra()
	for _, name := range m.names() {
		m.profile(name)
	}
	if !m.out.Empty() && m.out.Validate() != nil { // together they are too many, or too large
		m.out, m.conflicts = graph.Pick(take, v.Base, v.Ours, v.Theirs), m.differing()
	}
	if m.out.Empty() {
		m.out = nil
	}
	slices.Sort(m.conflicts)
	return m.out, m.conflicts
}

type profileMerge struct {
	base, ours, theirs *Profiles
	take               graph.Take
	out                *Profiles
	conflicts          []string
}

// choose applies clause 14.1 to one value, nil being absent.
func choose[T any](m *profileMerge, field string, base, ours, theirs *T, same func(a, b *T) bool) *T {
	equal := func(a, b *T) bool { return a == nil && b == nil || a != nil && b != nil && same(a, b) }
	switch {
	case equal(ours, theirs), equal(theirs, base):
		return ours
	case equal(ours, base):
		return theirs
	}
	m.conflicts = append(m.conflicts, field)
	return graph.Pick(m.take, base, ours, theirs)
}

func (m *profileMerge) value(field string, base, ours, theirs *ipld.Value) *ipld.Value {
	return choose(m, field, base, ours, theirs, func(a, b *ipld.Value) bool { return a.Equal(*b) })
}

func (m *profileMerge) defaults() {
	text := func(p *Profiles) *ipld.Value {
		if p.Default == "" {
			return nil
		}
		return new(ipld.StringValue(p.Default))
	}
	if v := m.value(fieldDefault, text(m.base), text(m.ours), text(m.theirs)); v != nil {
		m.out.Default = v.Text()
	}
}

func (m *profileMerge) extra() {
	m.out.Extra = m.entries("", m.base.Extra, m.ours.Extra, m.theirs.Extra)
}

// entries merges maps entry by entry.
func (m *profileMerge) entries(at string, base, ours, theirs []ipld.Entry) []ipld.Entry {
	var keys []string
	for _, list := range [][]ipld.Entry{ours, theirs} {
		for _, e := range list {
			keys = append(keys, e.Key)
		}
	}
	slices.SortFunc(keys, ipld.CompareKeys)
	find := func(list []ipld.Entry, key string) *ipld.Value {
		if v, ok := ipld.FindEntry(list, key); ok {
			return &v
		}
		return nil
	}
	var out []ipld.Entry
	for _, key := range slices.Compact(keys) {
		v := m.value(at+key, find(base, key), find(ours, key), find(theirs, key))
		if v != nil {
			out = append(out, ipld.Entry{Key: key, Value: *v})
		}
	}
	return out
}

// names returns the names of the profiles of either side, in order.
func (m *profileMerge) names() []string {
	names := slices.Collect(maps.Keys(m.ours.Named))
	names = slices.AppendSeq(names, maps.Keys(m.theirs.Named))
	slices.Sort(names)
	return slices.Compact(names)
}

// profile merges one profile: what both sides have field by field, else as a whole.
func (m *profileMerge) profile(name string) {
	find := func(p *Profiles) *Profile {
		if profile, ok := p.Named[name]; ok {
			return &profile
		}
		return nil
	}
	base, ours, theirs := find(m.base), find(m.ours), find(m.theirs)
	at := fieldProfiles + name
	if ours == nil || theirs == nil {
		one := choose(m, at, base, ours, theirs, func(a, b *Profile) bool { return a.Equal(*b) })
		if one != nil {
			m.out.Named[name] = *one
		}
		return
	}
	if base == nil {
		base = &Profile{}
	}
	types := func(p *Profile) *ipld.Value {
		if len(p.Types) == 0 {
			return nil
		}
		return new(encodeNames(p.Types))
	}
	var out Profile
	if v := m.value(at+fieldTypes, types(base), types(ours), types(theirs)); v != nil {
		out.Types = decodeNames[string](*v)
	}
	out.Params = m.entries(at+".", base.Params, ours.Params, theirs.Params)
	m.out.Named[name] = out
}

// differing returns all fields that the sides do not have alike.
func (m *profileMerge) differing() []string {
	ours, theirs := m.ours.Fields(), m.theirs.Fields()
	var out []string
	for name, v := range ours {
		if w, ok := theirs[name]; !ok || !v.Equal(w) {
			out = append(out, name)
		}
	}
	for name := range theirs {
		if _, ok := ours[name]; !ok {
			out = append(out, name)
		}
	}
	return out // sorted by who asks
}
