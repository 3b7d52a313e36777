package graph

import "strings"

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
