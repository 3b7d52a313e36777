package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// DefaultBranch is the branch a new repository is on.
const DefaultBranch = "main"

// View is the refs as one operation left them.
type View struct {
	Tree *prolly.Map // nil in an empty store
	head store.Head  // the operation

	following *Following // what HEAD is for the caller, nil for what is stored
	only      string     // the branch that the caller is confined to, "" for none
	client    string     // whose merges in progress are meant, "" for those of all
}

// Ref is one ref of a view.
type Ref struct {
	Name     graph.RefName `json:"ref"`
	Target   ipld.CID      `json:"target"` // undefined for a symbolic ref
	Symbolic graph.RefName `json:"-"`      // the ref it names, "" for a direct one
}

// LoadView reads the refs as the operation head left them; a Seq of 0 has none. HEAD is the repository's own.
func LoadView(ctx context.Context, n *prolly.Nodes, get store.Getter, head store.Head) (*View, error) {
	if head.Seq == 0 {
		return &View{head: head}, nil
	}
	op, err := commit.ReadOperation(ctx, get, head.Operation)
	if err != nil {
		return nil, err
	}
	tree, err := n.Load(ctx, op.View)
	if err != nil {
		return nil, fmt.Errorf("read view: %w", err)
	}
	return &View{Tree: tree, head: head}, nil
}

// root returns what identifies the refs and all they lead to.
func (v *View) root() ipld.CID {
	if v.Tree == nil {
		return ipld.CID{}
	}
	return v.Tree.Root()
}

// Stored returns one ref, and whether it exists. HEAD of a confined caller is on its branch.
func (v *View) Stored(ctx context.Context, name graph.RefName) (Ref, bool, error) {
	switch {
	case v.only != "" && name == graph.Head:
		return Ref{Name: name, Symbolic: graph.BranchRef(v.only)}, true, nil
	case v.Tree == nil || !sees(v.only, name):
		return Ref{}, false, nil
	}
	item, ok, err := v.Tree.Get(ctx, []byte(name))
	if err != nil || !ok {
		return Ref{}, false, err
	}
	ref, err := DecodeRef(string(name), item)
	return ref, true, err
}

// DecodeRef decodes the value of a ref in a view, as EncodeRef encodes it. The error wraps store.ErrCorrupt.
func DecodeRef(name string, item []byte) (Ref, error) {
	v, err := ipld.DecodeValue(item)
	ref := Ref{Name: graph.RefName(name)}
	switch {
	case err != nil:
	case v.Kind() == ipld.Link:
		ref.Target = v.Link()
	case v.Kind() == ipld.String:
		ref.Symbolic = graph.RefName(v.Text())
	default:
		err = errors.New("neither a link nor a ref name")
	}
	if err != nil {
		err = fmt.Errorf("%w ref %s: %w", store.ErrCorrupt, name, err)
	}
	return ref, err
}

// Resolve follows a ref to a direct one: name, or the ref that name points to. The direct ref may not exist yet.
func (v *View) Resolve(ctx context.Context, name graph.RefName) (Ref, bool, error) {
	ref, ok, err := v.Get(ctx, name)
	if err != nil || !ok || ref.Symbolic == "" {
		ref.Name = cmp.Or(ref.Name, name)
		return ref, ok, err
	}
	target, ok, err := v.Get(ctx, ref.Symbolic)
	target.Name = cmp.Or(target.Name, ref.Symbolic)
	if err == nil && target.Symbolic != "" {
		err = fmt.Errorf("%w ref %s: names a ref that names another", store.ErrCorrupt, name)
	}
	return target, ok, err
}

// List yields the refs under a prefix in name order. HEAD of a confined caller is none of them.
func (v *View) List(ctx context.Context, prefix string) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		if v.Tree == nil {
			return
		}
		for kv, err := range v.Tree.ScanPrefix(ctx, []byte(prefix)) {
			var ref Ref
			if err == nil && !sees(v.only, graph.RefName(kv.Key)) {
				continue
			}
			if err == nil {
				ref, err = DecodeRef(string(kv.Key), kv.Value)
			}
			if !yield(ref, err) || err != nil {
				return
			}
		}
	}
}

// afresh calls read with the newest operation, and again while a block is missing and there is a newer operation: a
// collection that keeps few operations may remove what an older one leads to while that is read.
func (r *Repo) afresh(ctx context.Context, read func(store.Head) error) error {
	head, err := r.Store.Head(ctx)
	for err == nil {
		if err = read(head); !errors.Is(err, store.ErrCorrupt) {
			return err
		}
		newest, headErr := r.Store.Head(ctx)
		if headErr == nil && newest == head {
			return err
		}
		head, err = newest, headErr
	}
	return fmt.Errorf("read operation head: %w", err)
}

// Current reads the refs as they are now.
func (r *Repo) Current(ctx context.Context) (v *View, err error) {
	err = r.afresh(ctx, func(head store.Head) error {
		v, err = LoadView(ctx, r.Nodes(), r.Facts(), head)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.askedBy(ctx, v)
	return v, nil
}

// Refs returns all refs in name order.
func (r *Repo) Refs(ctx context.Context) ([]Ref, error) {
	v, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for ref, err := range v.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// Branch returns the name of the branch HEAD is on, empty if it is detached, and the commit
// that HEAD is at, undefined before the first.
func (r *Repo) Branch(ctx context.Context) (string, ipld.CID, error) {
	v, err := r.Current(ctx)
	if err != nil {
		return "", ipld.CID{}, err
	}
	ref, _, err := v.Resolve(ctx, graph.Head)
	return BranchName(ref.Name), ref.Target, err
}

// BranchName returns the name of a branch's ref, empty for the detached HEAD.
func BranchName(name graph.RefName) string {
	if name == graph.Head {
		return ""
	}
	return strings.TrimPrefix(string(name), graph.Heads)
}
