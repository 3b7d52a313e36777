package ipld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/linking"
	cidlink "github.com/ipld/go-ipld-prime/linking/cid"
	"github.com/ipld/go-ipld-prime/node/basicnode"
)

// Bounds of paths.
const (
	MaxPath         = 4096 // bytes
	MaxPathSegments = 256
)

// ErrPath is wrapped by the error of Follow for a path that leads to nothing, or is none.
var ErrPath = errors.New("no such path")

// Follow goes from a block along a path of names in maps and positions in lists, as a/0/b, over
// links into other blocks, and writes what is there as DAG-JSON. It returns the last block on the
// way. A link at the end is followed too; an empty path is the block itself. The error wraps ErrPath
// or one of the link system.
func Follow(
	ctx context.Context, ls linking.LinkSystem, from CID, path string, w io.Writer,
) (last CID, err error) {
	if len(path) > MaxPath || strings.Count(path, "/") >= MaxPathSegments {
		return CID{}, fmt.Errorf("%w: longer than %d bytes or %d segments", ErrPath, MaxPath,
			MaxPathSegments)
	}
	last = from
	load := func(c CID) (datamodel.Node, error) {
		return ls.Load(linking.LinkContext{Ctx: ctx}, cidlink.Link{Cid: c.Cid()}, basicnode.Prototype.Any)
	}
	n, err := load(from)
	for _, segment := range datamodel.ParsePath(path).Segments() {
		if err != nil {
			return last, err
		}
		next, lookErr := n.LookupBySegment(segment)
		if lookErr != nil { // n is in memory: nothing is there
			return last, fmt.Errorf("%w: %q of %q, in block %s", ErrPath, segment, path, last)
		}
		if n = next; n.Kind() == datamodel.Kind_Link {
			link, _ := n.AsLink() // it is one
			if last, err = linkCID(link); err == nil {
				n, err = load(last)
			}
		}
	}
	if err != nil {
		return last, err
	}
	v, err := valueOf(n)
	if err != nil {
		return last, err
	}
	if !HasJSON(v) {
		return last, fmt.Errorf("%w: block %s has a map with the reserved key %q", ErrJSON, last, reserved)
	}
	_, err = w.Write(appendJSON(nil, v, compareBytewise))
	return last, err
}

// valueOf is the reverse of assemble, for nodes that it made.
func valueOf(n datamodel.Node) (v Value, err error) {
	switch n.Kind() {
	case datamodel.Kind_Bool:
		x, err := n.AsBool()
		return BoolValue(x), err
	case datamodel.Kind_Int:
		x, err := n.AsInt()
		return IntValue(x), err
	case datamodel.Kind_Float:
		x, err := n.AsFloat()
		return FloatValue(x), err
	case datamodel.Kind_String:
		x, err := n.AsString()
		return StringValue(x), err
	case datamodel.Kind_Bytes:
		x, err := n.AsBytes()
		return BytesValue(x), err
	case datamodel.Kind_Link:
		x, err := n.AsLink()
		if err != nil {
			return v, err
		}
		c, err := linkCID(x)
		return LinkValue(c), err
	case datamodel.Kind_List:
		items := make([]Value, 0, n.Length())
		for it := n.ListIterator(); !it.Done(); {
			_, item, err := it.Next()
			if err == nil {
				v, err = valueOf(item)
			}
			if err != nil {
				return v, err
			}
			items = append(items, v)
		}
		return ListValue(items...), nil
	case datamodel.Kind_Map:
		entries := make([]Entry, 0, n.Length())
		for it := n.MapIterator(); !it.Done(); {
			key, item, err := it.Next()
			if err == nil {
				v, err = valueOf(item)
			}
			if err != nil {
				return v, err
			}
			name, _ := key.AsString() // keys of dag-cbor are strings
			entries = append(entries, Entry{Key: name, Value: v})
		}
		return MapValue(entries...), nil
	}
	return Value{}, nil // null
}
