package graph

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

// Take says whose version wins if two sides changed one thing differently.
type Take string

// The versions a conflict is between.
const (
	TakeOurs   Take = "ours"
	TakeTheirs Take = "theirs"
	TakeBase   Take = "base" // the version before either side
)

// ConflictKind says why an item does not merge.
type ConflictKind string

// The kinds of conflict.
const (
	EditEdit     ConflictKind = "edit_edit"     // both sides changed a field, and differently
	AddAdd       ConflictKind = "add_add"       // both sides made the item, and differently
	DeleteModify ConflictKind = "delete_modify" // one side removed what the other changed
	EndRemoved   ConflictKind = "end_removed"   // of an edge or mark: the other side removed its end
	Circle       ConflictKind = "circle"        // of marks by which the sides supersede nodes in a circle
)

// Pick returns the version that t names.
func Pick[T any](t Take, base, ours, theirs T) T {
	switch t {
	case TakeTheirs:
		return theirs
	case TakeBase:
		return base
	}
	return ours
}

// Versions are three states of one item's record: the base, and either side's. Nil is absent.
type Versions struct{ Base, Ours, Theirs []byte }

// Pick returns the version that t names.
func (v Versions) Pick(t Take) []byte { return Pick(t, v.Base, v.Ours, v.Theirs) }

// MergedRecord is the result of merging one record.
type MergedRecord struct {
	Record []byte       // the merged block, nil if the item is absent
	Kind   ConflictKind // "" if it merged cleanly; otherwise Record has the side named by Take
	Fields []string     // that conflict, in order, a property as props.NAME; none of a removed item
}

// MergeNode merges three states of a node field by field and property by property, as clause 14 of the
// specification says. If both sides changed a field differently, the result has the version of take. It returns an
// error that wraps ipld.ErrInvalid for versions that are not nodes.
func MergeNode(v Versions, take Take) (MergedRecord, error) { return nodeMerge.merge(v, take) }

// MergeEdge merges three states of an edge like MergeNode.
func MergeEdge(v Versions, take Take) (MergedRecord, error) { return edgeMerge.merge(v, take) }

// MergeMark merges three states of a mark, which merges as a whole.
func MergeMark(v Versions, take Take) (MergedRecord, error) { return markMerge.merge(v, take) }

// MergeErased merges the two sides of an item whose base record was erased. What the sides changed is then unknown:
// unless they have the same facts they conflict as a whole, and v.Base is nil in the result as well.
func MergeErased(kind ItemKind, v Versions, take Take) (MergedRecord, error) {
	m := &markMerge
	switch kind {
	case NodeItem:
		m = &nodeMerge
	case EdgeItem:
		m = &edgeMerge
	}
	sides, err := m.read(v)
	if err != nil {
		return MergedRecord{}, err
	}
	f := fieldMerge{rule: m, ours: sides[1], theirs: sides[2], take: take}
	switch {
	case v.Ours == nil && v.Theirs == nil:
		return MergedRecord{}, nil
	case v.Ours == nil || v.Theirs == nil:
		return MergedRecord{Record: v.Pick(take), Kind: DeleteModify}, nil
	case f.sameFacts(f.ours, f.theirs):
		return f.both(v)
	}
	out := MergedRecord{Record: v.Pick(take), Kind: EditEdit}
	for _, c := range f.differing() {
		out.Fields = append(out.Fields, c.String())
	}
	slices.Sort(out.Fields)
	return out, nil
}

// recordMerge is the merge rule for one kind of record.
type recordMerge struct {
	times  []string // fields that are no facts: the least stands, but of updated the greatest
	joined []string // fields that merge as one value
	whole  bool     // all fields but times merge as one value
	check  func(block []byte) error
}

var (
	nodeMerge = recordMerge{
		times: []string{"created", "updated"},
		check: func(b []byte) error { _, err := DecodeNode(b); return err },
	}
	edgeMerge = recordMerge{
		times: []string{"created"}, joined: []string{"dst", "key", "src", "type"},
		check: func(b []byte) error { _, err := DecodeEdge(b); return err },
	}
	markMerge = recordMerge{
		times: []string{"time"}, whole: true,
		check: func(b []byte) error { _, err := DecodeMark(b); return err },
	}
)

// span lists fields that merge separately and yet must fit one another.
var span = []string{"validFrom", "validTo"}

func (m *recordMerge) merge(v Versions, take Take) (MergedRecord, error) {
	switch {
	case bytes.Equal(v.Ours, v.Theirs), bytes.Equal(v.Theirs, v.Base):
		return MergedRecord{Record: v.Ours}, nil
	case bytes.Equal(v.Ours, v.Base):
		return MergedRecord{Record: v.Theirs}, nil
	}
	sides, err := m.read(v)
	if err != nil {
		return MergedRecord{}, err
	}
	f := fieldMerge{rule: m, base: sides[0], ours: sides[1], theirs: sides[2], take: take}
	if v.Ours == nil || v.Theirs == nil {
		changed := f.ours
		if v.Ours == nil {
			changed = f.theirs
		}
		if f.sameFacts(f.base, changed) {
			return MergedRecord{}, nil
		}
		return MergedRecord{Record: v.Pick(take), Kind: DeleteModify}, nil
	}
	return f.both(v)
}

// read returns the fields of base, ours and theirs, nil for one that is absent.
func (m *recordMerge) read(v Versions) (sides [3]fields, err error) {
	for i, block := range [][]byte{v.Base, v.Ours, v.Theirs} {
		if block == nil {
			continue
		}
		if err := m.check(block); err != nil {
			return sides, fmt.Errorf("merge: %w", err)
		}
		if sides[i], err = readFields(block); err != nil {
			return sides, fmt.Errorf("merge: %w", err)
		}
	}
	return sides, nil
}

// fieldMerge merges the fields of one record that both sides have and changed.
type fieldMerge struct {
	rule               *recordMerge
	base, ours, theirs fields // base is nil if absent
	take               Take
	forced             []string // fields that conflict because their combination is invalid
	conflicts          []field
}

func (f *fieldMerge) both(v Versions) (MergedRecord, error) {
	take := f.take
	if v.Base == nil && take == TakeBase { // the whole item will be absent
		f.take = TakeOurs
	}
	out := MergedRecord{Record: f.settle(v)}
	if len(f.conflicts) == 0 {
		return out, nil
	}
	// Which fields cannot be combined depends on the side taken: those of both are named, so that the result is the
	// same from either side.
	conflicts := f.conflicts
	for _, side := range []Take{TakeOurs, TakeTheirs} {
		if side != f.take {
			other := *f
			other.take = side
			other.settle(v)
			conflicts = slices.Concat(conflicts, other.conflicts)
		}
	}
	for _, c := range conflicts {
		out.Fields = append(out.Fields, c.String())
	}
	slices.Sort(out.Fields)
	out.Fields = slices.Compact(out.Fields)
	out.Kind = EditEdit
	if v.Base == nil {
		out.Kind = AddAdd
		if take == TakeBase {
			out.Record = nil
		}
	}
	return out, nil
}

// settle returns the record taking a side, and records the fields that conflict, including those whose combination
// breaks a rule.
func (f *fieldMerge) settle(v Versions) []byte {
	f.forced = nil
	block := f.assemble()
	if f.rule.check(block) != nil {
		f.forced = span
		block = f.assemble()
	}
	if f.rule.check(block) != nil { // too large or too many: nothing of it can stand together
		f.conflicts = f.differing()
		block = v.Pick(f.take)
	}
	return block
}

// assemble returns the record of the merged fields and records those that conflict.
func (f *fieldMerge) assemble() []byte {
	f.conflicts = nil
	out := make(fields)
	joined := f.rule.joined
	if f.rule.whole {
		joined = f.facts()
	}
	f.mergeJoined(out, joined)
	for _, key := range fieldNames(f.ours, f.theirs) {
		if !key.prop && (slices.Contains(joined, key.name) || slices.Contains(f.rule.times, key.name)) {
			continue
		}
		f.mergeField(out, key)
	}
	f.mergeTimes(out)
	return out.encode()
}

// facts returns the names of all fields but times, of a record without properties.
func (f *fieldMerge) facts() []string {
	isTime := func(name string) bool { return slices.Contains(f.rule.times, name) }
	names := slices.Concat(f.base.names(), f.ours.names(), f.theirs.names())
	slices.SortFunc(names, ipld.CompareKeys)
	return slices.DeleteFunc(slices.Compact(names), isTime)
}

func (f *fieldMerge) mergeField(out fields, key field) {
	base, ours, theirs := f.base[key], f.ours[key], f.theirs[key]
	item, ok := mergeItem(base, ours, theirs)
	if !ok || !key.prop && slices.Contains(f.forced, key.name) && !bytes.Equal(ours, theirs) {
		f.conflicts = append(f.conflicts, key)
		item = Versions{base, ours, theirs}.Pick(f.take)
	}
	if item != nil {
		out[key] = item
	}
}

// mergeItem is the rule for one value, nil meaning absent. ok is false if both sides changed it differently.
func mergeItem(base, ours, theirs []byte) (item []byte, ok bool) {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(theirs, base):
		return ours, true
	case bytes.Equal(ours, base):
		return theirs, true
	}
	return nil, false
}

// mergeJoined merges fields as one value.
func (f *fieldMerge) mergeJoined(out fields, names []string) {
	from := f.ours
	switch {
	case f.ours.equal(f.theirs, names), f.base != nil && f.theirs.equal(f.base, names):
	case f.base != nil && f.ours.equal(f.base, names):
		from = f.theirs
	default:
		for _, name := range names {
			if key := (field{name: name}); !bytes.Equal(f.ours[key], f.theirs[key]) {
				f.conflicts = append(f.conflicts, key)
			}
		}
		from = Pick(f.take, f.base, f.ours, f.theirs)
	}
	for _, name := range names {
		if item, ok := from[field{name: name}]; ok {
			out[field{name: name}] = item
		}
	}
}

// mergeTimes merges the fields that are not facts.
func (f *fieldMerge) mergeTimes(out fields) {
	for _, name := range f.rule.times {
		key := field{name: name}
		ours, theirs := f.ours[key], f.theirs[key]
		switch {
		case name == "updated":
			if at := laterItem(ours, theirs); at != nil && !bytes.Equal(at, out[field{name: "created"}]) {
				out[key] = at
			}
		case f.rule.whole && len(f.conflicts) > 0:
			out[key] = Versions{f.base[key], ours, theirs}.Pick(f.take)
		case f.rule.whole && !f.sameFacts(f.ours, f.theirs):
			// The time of a mark belongs to the mark's content.
			out[key] = ours
			if f.sameFacts(f.ours, f.base) {
				out[key] = theirs
			}
		default:
			item, ok := mergeItem(f.base[key], ours, theirs)
			if !ok {
				item = earlierItem(ours, theirs)
			}
			out[key] = item
		}
	}
}

// differing returns all fields that differ between the sides, except times.
func (f *fieldMerge) differing() []field {
	var out []field
	for _, key := range fieldNames(f.ours, f.theirs) {
		isTime := !key.prop && slices.Contains(f.rule.times, key.name)
		if !isTime && !bytes.Equal(f.ours[key], f.theirs[key]) {
			out = append(out, key)
		}
	}
	return out
}

// sameFacts reports whether two states differ only in times.
func (f *fieldMerge) sameFacts(a, b fields) bool {
	for _, key := range fieldNames(a, b) {
		isTime := !key.prop && slices.Contains(f.rule.times, key.name)
		if !isTime && !bytes.Equal(a[key], b[key]) {
			return false
		}
	}
	return true
}

func microsOf(item []byte) int64 {
	v, _ := ipld.DecodeValue(item) // a time of a record that was checked
	return v.Int()
}

func earlierItem(a, b []byte) []byte {
	if microsOf(b) < microsOf(a) {
		return b
	}
	return a
}

// laterItem returns the later of two optional times.
func laterItem(a, b []byte) []byte {
	if a == nil || b != nil && microsOf(b) > microsOf(a) {
		return b
	}
	return a
}

// propsField is the field whose entries merge separately.
const propsField = "props"

// field is one thing that merges separately: a field of a record, or one of its properties.
type field struct {
	prop bool
	name string
}

func (f field) String() string {
	if f.prop {
		return propsField + "." + f.name
	}
	return f.name
}

// fields are the encoded values of a record's fields and properties.
type fields map[field][]byte

func readFields(block []byte) (fields, error) {
	d, err := ipld.NewDecoder(block)
	if err != nil {
		return nil, err
	}
	out := make(fields)
	read := func(prop bool, name string) error {
		item, err := d.Item()
		out[field{prop, name}] = item
		return err
	}
	err = d.Map(func(key string) error {
		if key == propsField {
			return d.Map(func(name string) error { return read(true, name) })
		}
		return read(false, key)
	})
	return out, err
}

// encode returns the record. Only nodes and edges have properties, and they always have that field.
func (f fields) encode() []byte {
	var names, props []string
	for key := range f {
		if key.prop {
			props = append(props, key.name)
		} else {
			names = append(names, key.name)
		}
	}
	if kind := f[field{name: "kind"}]; !bytes.Equal(kind, ipld.AppendString(nil, KindMark)) {
		names = append(names, propsField)
	}
	slices.SortFunc(names, ipld.CompareKeys)
	slices.SortFunc(props, ipld.CompareKeys)
	b := ipld.AppendMap(nil, len(names))
	for _, name := range names {
		b = ipld.AppendString(b, name)
		if name != propsField {
			b = append(b, f[field{name: name}]...)
			continue
		}
		b = ipld.AppendMap(b, len(props))
		for _, prop := range props {
			b = append(ipld.AppendString(b, prop), f[field{true, prop}]...)
		}
	}
	return b
}

// equal reports whether two states agree in the named fields.
func (f fields) equal(g fields, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !bytes.Equal(f[field{name: name}], g[field{name: name}])
	})
}

// names returns the names of the fields.
func (f fields) names() []string {
	var out []string
	for key := range f {
		if !key.prop {
			out = append(out, key.name)
		}
	}
	return out
}

// fieldNames returns the fields of either state, in order.
func fieldNames(a, b fields) []field {
	all := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b field) int {
		switch {
		case a.prop == b.prop:
			return ipld.CompareKeys(a.name, b.name)
		case b.prop:
			return -1
		}
		return 1
	})
	return all
}

// ItemKind says what an item is.
type ItemKind string

// The kinds of items: the parts of a commit that can differ separately.
const (
	NodeItem     ItemKind = "node"
	EdgeItem     ItemKind = "edge"
	NodeMarkItem ItemKind = "mark/node"
	EdgeMarkItem ItemKind = "mark/edge"
	// ProfileItem is the retrieval profiles of a commit, outside of its graph: there is one, without an id.
	ProfileItem ItemKind = "profile"
)

// Item names one part of a commit: a node, an edge, the mark of either, or the profiles.
type Item struct {
	Kind ItemKind
	ID   ID // of the node or edge; zero of the profiles
}

// MarkItem returns the item of a mark.
func MarkItem(on Target, id ID) Item {
	if on == OnEdge {
		return Item{EdgeMarkItem, id}
	}
	return Item{NodeMarkItem, id}
}

// ParseItem reads the text form of an item.
func ParseItem(s string) (Item, error) {
	if s == string(ProfileItem) {
		return Item{Kind: ProfileItem}, nil
	}
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return Item{}, Fieldf("item", "%s is not KIND/ID", quote(s))
	}
	item := Item{Kind: ItemKind(s[:i])}
	switch item.Kind {
	case NodeItem, EdgeItem, NodeMarkItem, EdgeMarkItem:
	default:
		return Item{}, Fieldf("item", "%s is neither node, edge, mark/node nor mark/edge", quote(s[:i]))
	}
	id, err := ParseID(s[i+1:])
	if err != nil {
		return Item{}, within("item", err)
	}
	if id.IsZero() {
		return Item{}, checkID("item", id)
	}
	item.ID = id
	return item, nil
}

// String returns the text form, KIND/UUID or profile, which is also the item's key in a tree.
func (i Item) String() string {
	if i.Kind == ProfileItem {
		return string(i.Kind)
	}
	return string(i.Kind) + "/" + i.ID.String()
}

// MarshalText writes the form of String.
func (i Item) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads the form of String.
func (i *Item) UnmarshalText(text []byte) (err error) {
	*i, err = ParseItem(string(text))
	return err
}

// Mark returns the kind of target if the item is a mark.
func (i Item) Mark() (on Target, ok bool) {
	switch i.Kind {
	case NodeMarkItem:
		return OnNode, true
	case EdgeMarkItem:
		return OnEdge, true
	}
	return "", false
}
