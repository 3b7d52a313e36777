package ipld

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/ipld/go-ipld-prime/codec"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/linking"
	cidlink "github.com/ipld/go-ipld-prime/linking/cid"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/multiformats/go-multihash"
)

// ErrReadOnly is returned when something is to be written through a read-only link system.
var ErrReadOnly = errors.New("link system is read-only")

// MismatchError is returned when bytes are not those that a CID names.
type MismatchError struct {
	Want CID // the CID that was asked for
	Got  CID // the CID of the bytes
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("block mismatch: want %s, bytes are %s", e.Want, e.Got)
}

// DAGJSON writes the block that c names to w as DAG-JSON, without white space or a line end: map
// keys in bytewise order as that codec asks, floats with a point or exponent, the bytes of a raw
// block as {"/":{"bytes":"base64"}}. It returns an error that wraps ErrInvalid where the block is
// over MaxBlock or not canonical, and one that wraps ErrJSON where a map has the reserved key "/";
// then nothing is written. It trusts that the bytes are those of c.
func DAGJSON(w io.Writer, c CID, block []byte) error {
	v, err := blockValue(c, block)
	if err != nil {
		return err
	}
	if !HasJSON(v) {
		return fmt.Errorf("%w: block %s has a map with the reserved key %q", ErrJSON, c, reserved)
	}
	_, err = w.Write(appendJSON(nil, v, compareBytewise))
	return err
}

func compareBytewise(a, b Entry) int { return strings.Compare(a.Key, b.Key) }

func blockValue(c CID, block []byte) (Value, error) {
	switch c.Codec() {
	case DagCBOR:
		return DecodeValue(block)
	case Raw:
		// The decoder of other blocks knows their limit.
		if _, err := NewDecoder(block); err != nil {
			return Value{}, err
		}
		return BytesValue(block), nil
	default:
		return Value{}, fmt.Errorf("%w: codec 0x%x", ErrCID, uint8(c.Codec()))
	}
}

// Node reads a dag-cbor block as a node of go-ipld-prime, for other people's tools. It accepts
// what DecodeValue accepts; links are of type cidlink.Link.
func Node(block []byte) (datamodel.Node, error) {
	v, err := DecodeValue(block)
	if err != nil {
		return nil, err
	}
	builder := basicnode.Prototype.Any.NewBuilder()
	if err := assemble(builder, v); err != nil {
		return nil, err
	}
	return builder.Build(), nil
}

// assemble feeds a value to an assembler, which may refuse it: those of schemas do.
func assemble(na datamodel.NodeAssembler, v Value) error {
	switch v.kind {
	case Bool:
		return na.AssignBool(v.Bool())
	case Int:
		return na.AssignInt(v.Int())
	case Float:
		return na.AssignFloat(v.Float())
	case String:
		return na.AssignString(v.text)
	case Bytes:
		return na.AssignBytes([]byte(v.text))
	case List:
		return assembleList(na, v.List())
	case Map:
		return assembleMap(na, v.Entries())
	case Link:
		return na.AssignLink(cidlink.Link{Cid: v.Link().Cid()})
	default:
		return na.AssignNull()
	}
}

func assembleList(na datamodel.NodeAssembler, items []Value) error {
	la, err := na.BeginList(int64(len(items)))
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := assemble(la.AssembleValue(), item); err != nil {
			return err
		}
	}
	return la.Finish()
}

func assembleMap(na datamodel.NodeAssembler, entries []Entry) error {
	ma, err := na.BeginMap(int64(len(entries)))
	if err != nil {
		return err
	}
	for _, e := range entries {
		va, err := ma.AssembleEntry(e.Key)
		if err != nil {
			return err
		}
		if err := assemble(va, e.Value); err != nil {
			return err
		}
	}
	return ma.Finish()
}

// LinkSystem returns a read-only link system over get, for traversal and selectors of
// go-ipld-prime. Every block is verified against its link (*MismatchError) and decoded as strictly
// as everywhere here; links of any form but the one in use are refused (ErrCID) before get is
// called; storing fails with ErrReadOnly. get is called once for each load, on the loading
// goroutine; its errors come back wrapped. Safe for concurrent use where get is.
func LinkSystem(get func(ctx context.Context, c CID) ([]byte, error)) linking.LinkSystem {
	return linking.LinkSystem{
		EncoderChooser: func(datamodel.LinkPrototype) (codec.Encoder, error) {
			return nil, ErrReadOnly
		},
		DecoderChooser: chooseDecoder,
		HasherChooser:  chooseHasher,
		StorageReadOpener: func(lc linking.LinkContext, link datamodel.Link) (io.Reader, error) {
			c, err := linkCID(link)
			if err != nil {
				return nil, err
			}
			return openBlock(lc.Ctx, c, get)
		},
		// openBlock has verified what it returns, before a decoder sees it.
		TrustedStorage: true,
	}
}

func openBlock(
	ctx context.Context, c CID, get func(ctx context.Context, c CID) ([]byte, error),
) (io.Reader, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	block, err := get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", c, err)
	}
	if got := Sum(c.Codec(), block); got != c {
		return nil, &MismatchError{Want: c, Got: got}
	}
	return bytes.NewReader(block), nil
}

func linkCID(link datamodel.Link) (CID, error) {
	l, ok := link.(cidlink.Link)
	if !ok {
		return CID{}, fmt.Errorf("%w: link of type %T", ErrCID, link)
	}
	return FromCid(l.Cid)
}

func chooseDecoder(link datamodel.Link) (codec.Decoder, error) {
	c, err := linkCID(link)
	if err != nil {
		return nil, err
	}
	return func(na datamodel.NodeAssembler, r io.Reader) error {
		// One byte more than a block may have tells a longer one.
		block, err := io.ReadAll(io.LimitReader(r, MaxBlock+1))
		if err != nil {
			return err
		}
		v, err := blockValue(c, block)
		if err != nil {
			return fmt.Errorf("load %s: %w", c, err)
		}
		return assemble(na, v)
	}, nil
}

func chooseHasher(prototype datamodel.LinkPrototype) (hash.Hash, error) {
	p, ok := prototype.(cidlink.LinkPrototype)
	if !ok || p.MhType != multihash.SHA2_256 {
		return nil, fmt.Errorf("%w: hash of %v", ErrCID, prototype)
	}
	return sha256.New(), nil
}
