package graph

import "strings"

// ItemKind says what an item is.
type ItemKind string

// The kinds of items: what a graph has that can differ alone.
const (
	NodeItem     ItemKind = "node"
	EdgeItem     ItemKind = "edge"
	NodeMarkItem ItemKind = "mark/node"
	EdgeMarkItem ItemKind = "mark/edge"
)

// Item names one thing in a graph: a node, an edge, or the mark of either.
type Item struct {
	Kind ItemKind
	ID   ID // of the node or edge
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

// String returns the text form, KIND/UUID, which is also the item's key in a tree.
func (i Item) String() string { return string(i.Kind) + "/" + i.ID.String() }

// Mark returns what the item is the mark of, and whether it is one.
func (i Item) Mark() (on Target, ok bool) {
	switch i.Kind {
	case NodeMarkItem:
		return OnNode, true
	case EdgeMarkItem:
		return OnEdge, true
	}
	return "", false
}
