package ipld

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/linking"
	cidlink "github.com/ipld/go-ipld-prime/linking/cid"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/ipld/go-ipld-prime/traversal"
	"github.com/ipld/go-ipld-prime/traversal/selector"
)

// Bounds of selectors.
const (
	MaxSelector = 64 << 10 // bytes of DAG-JSON
	// MaxSelectorPath is how many names and positions may lie between the first block and a selected
	// one. A walk recurses: without a bound a long chain of links would exhaust the stack.
	MaxSelectorPath = 4096
)

var (
	// ErrSelector is wrapped by the error of ParseSelector for what is no selector, and by that of
	// Walk for a walk beyond MaxSelectorPath.
	ErrSelector = errors.New("invalid selector")
	// ErrSkip is returned by the function that Walk reads blocks with to leave a block out, and what
	// only that block leads to.
	ErrSkip = errors.New("skip this block")
)

// Selector says which blocks are reached from a first one: an IPLD selector.
type Selector struct{ of selector.Selector }

// ParseSelector reads a selector in its DAG-JSON form. The error wraps ErrSelector or ErrJSON.
func ParseSelector(text []byte) (Selector, error) {
	if len(text) > MaxSelector {
		return Selector{}, fmt.Errorf("%w: %d bytes, limit %d", ErrSelector, len(text), MaxSelector)
	}
	v, err := ParseJSON(text)
	if err != nil {
		return Selector{}, err
	}
	nb := basicnode.Prototype.Any.NewBuilder()
	if err := assemble(nb, v); err != nil {
		return Selector{}, err
	}
	of, err := selector.CompileSelector(nb.Build())
	if err != nil {
		return Selector{}, fmt.Errorf("%w: %w", ErrSelector, err)
	}
	return Selector{of}, nil
}

// Walk reads every block that the selector reaches from a first one, each once, in the order of the
// walk: of maps and lists in the order of the block, depth first. A block is walked the first time it
// is reached; a selector with a limited depth does not enter it again from another side. get is
// called on the calling goroutine; its errors come back wrapped. Of a block it may return ErrSkip.
func (s Selector) Walk(
	ctx context.Context, from CID, get func(ctx context.Context, c CID) ([]byte, error),
) error {
	ls := LinkSystem(get)
	open := ls.StorageReadOpener
	ls.StorageReadOpener = func(lc linking.LinkContext, link datamodel.Link) (io.Reader, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if n := lc.LinkPath.Len(); n > MaxSelectorPath {
			return nil, fmt.Errorf("%w: it leads further than %d names and positions: give its recursion a depth",
				ErrSelector, MaxSelectorPath)
		}
		r, err := open(lc, link)
		if errors.Is(err, ErrSkip) {
			return nil, traversal.SkipMe{} // which the walk compares with ==
		}
		return r, err
	}
	first, err := ls.Load(linking.LinkContext{Ctx: ctx}, cidlink.Link{Cid: from.Cid()}, basicnode.Prototype.Any)
	if errors.As(err, new(traversal.SkipMe)) {
		return nil
	}
	if err != nil {
		return err
	}
	walk := traversal.Progress{Cfg: &traversal.Config{
		Ctx: ctx, LinkSystem: ls, LinkVisitOnlyOnce: true,
		LinkTargetNodePrototypeChooser: func(datamodel.Link, linking.LinkContext) (datamodel.NodePrototype, error) {
			return basicnode.Prototype.Any, nil
		},
	}}
	return walk.WalkAdv(first, s.of, func(traversal.Progress, datamodel.Node, traversal.VisitReason) error {
		return nil
	})
}
