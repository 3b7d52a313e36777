// Package prime connects blocks to other IPLD tools: nodes and link systems of go-ipld-prime, and CIDs of go-cid.
// It is separate from ipld because its dependencies (every hash function of multihash) detect CPU features at each
// start of a program, some .4 ms on a virtual machine: the program does not link it.
package prime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/ipfs/go-cid"
	"github.com/ipld/go-ipld-prime/codec"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/linking"
	cidlink "github.com/ipld/go-ipld-prime/linking/cid"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/multiformats/go-multihash"

	"github.com/mnem-project/mnem/ipld"
)

// ErrReadOnly is returned on writing through a read-only link system.
var ErrReadOnly = errors.New("link system is read-only")

// FromCid converts a go-cid CID. It returns an error that wraps ipld.ErrCID if the CID does not have the one form
// used here.
func FromCid(c cid.Cid) (ipld.CID, error) {
	if !c.Defined() {
		return ipld.CID{}, fmt.Errorf("%w: undefined", ipld.ErrCID)
	}
	p := c.Prefix()
	if p.Version != 1 || p.MhType != multihash.SHA2_256 || p.MhLength != ipld.DigestLen {
		return ipld.CID{}, fmt.Errorf("%w: version %d, hash 0x%x, length %d", ipld.ErrCID,
			p.Version, p.MhType, p.MhLength)
	}
	return ipld.CIDFromBytes(c.Bytes())
}

// Cid converts to go-cid's type; the undefined CID becomes its undefined one.
func Cid(c ipld.CID) cid.Cid {
	if !c.Defined() {
		return cid.Undef
	}
	// Cast cannot fail: Bytes is a valid CIDv1 by construction.
	out, _ := cid.Cast(c.Bytes())
	return out
}

// Node decodes a dag-cbor block as a node of go-ipld-prime, for other tools. It accepts what ipld.DecodeValue
// accepts; links are of type cidlink.Link.
func Node(block []byte) (datamodel.Node, error) {
	v, err := ipld.DecodeValue(block)
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
func assemble(na datamodel.NodeAssembler, v ipld.Value) error {
	switch v.Kind() {
	case ipld.Bool:
		return na.AssignBool(v.Bool())
	case ipld.Int:
		return na.AssignInt(v.Int())
	case ipld.Float:
		return na.AssignFloat(v.Float())
	case ipld.String:
		return na.AssignString(v.Text())
	case ipld.Bytes:
		return na.AssignBytes([]byte(v.Text()))
	case ipld.List:
		return assembleList(na, v.List())
	case ipld.Map:
		return assembleMap(na, v.Entries())
	case ipld.Link:
		return na.AssignLink(cidlink.Link{Cid: Cid(v.Link())})
	default:
		return na.AssignNull()
	}
}

func assembleList(na datamodel.NodeAssembler, items []ipld.Value) error {
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

func assembleMap(na datamodel.NodeAssembler, entries []ipld.Entry) error {
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

// LinkSystem returns a read-only link system over get, for traversal and selectors of go-ipld-prime. Every block is
// verified against its link (*ipld.MismatchError) and decoded as strictly as elsewhere; links of another form are
// refused (ipld.ErrCID) before get is called; storing fails with ErrReadOnly. get is called once for each load, on
// the loading goroutine; its errors are returned wrapped. Safe for concurrent use if get is.
func LinkSystem(get func(ctx context.Context, c ipld.CID) ([]byte, error)) linking.LinkSystem {
	return linking.LinkSystem{
		EncoderChooser: func(datamodel.LinkPrototype) (codec.Encoder, error) { return nil, ErrReadOnly },
		DecoderChooser: chooseDecoder,
		HasherChooser:  chooseHasher,
		StorageReadOpener: func(lc linking.LinkContext, link datamodel.Link) (io.Reader, error) {
			c, err := linkCID(link)
			if err != nil {
				return nil, err
			}
			return openBlock(lc.Ctx, c, get)
		},
		// openBlock verifies its result before a decoder sees it.
		TrustedStorage: true,
	}
}

func openBlock(
	ctx context.Context, c ipld.CID, get func(ctx context.Context, c ipld.CID) ([]byte, error),
) (io.Reader, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	block, err := get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", c, err)
	}
	if got := ipld.Sum(c.Codec(), block); got != c {
		return nil, &ipld.MismatchError{Want: c, Got: got}
	}
	return bytes.NewReader(block), nil
}

func linkCID(link datamodel.Link) (ipld.CID, error) {
	l, ok := link.(cidlink.Link)
	if !ok {
		return ipld.CID{}, fmt.Errorf("%w: link of type %T", ipld.ErrCID, link)
	}
	return FromCid(l.Cid)
}

func chooseDecoder(link datamodel.Link) (codec.Decoder, error) {
	c, err := linkCID(link)
	if err != nil {
		return nil, err
	}
	return func(na datamodel.NodeAssembler, r io.Reader) error {
		// One byte more than the limit reveals a longer block.
		block, err := io.ReadAll(io.LimitReader(r, ipld.MaxBlock+1))
		if err != nil {
			return err
		}
		v, err := ipld.BlockValue(c, block)
		if err != nil {
			return fmt.Errorf("load %s: %w", c, err)
		}
		return assemble(na, v)
	}, nil
}

func chooseHasher(prototype datamodel.LinkPrototype) (hash.Hash, error) {
	p, ok := prototype.(cidlink.LinkPrototype)
	if !ok || p.MhType != multihash.SHA2_256 {
		return nil, fmt.Errorf("%w: hash of %v", ipld.ErrCID, prototype)
	}
	return sha256.New(), nil
}
