package testkit

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Forge puts another commit in the place of the newest one of a branch, as who can write to a store
// could: edit changes the record, and the hashes, the refs and the operation that lead to it are
// right. It returns the CID of what it made. No repository may be open over the store.
func Forge(
	ctx context.Context, st store.Store, branch string, edit func(*commit.Commit),
) (ipld.CID, error) {
	head, err := st.Head(ctx)
	if err != nil {
		return ipld.CID{}, err
	}
	stage := store.NewStage(st.Facts(), 1<<20)
	op, err := commit.ReadOperation(ctx, stage, head.Operation)
	if err != nil {
		return ipld.CID{}, err
	}
	view, err := prolly.NewNodes(stage, prolly.NewCache(1<<20)).Load(ctx, op.View)
	if err != nil {
		return ipld.CID{}, err
	}
	name := []byte(graph.BranchRef(branch))
	item, ok, err := view.Get(ctx, name)
	if err != nil || !ok {
		return ipld.CID{}, fmt.Errorf("branch %q: found %v, %w", branch, ok, err)
	}
	link, err := ipld.DecodeValue(item)
	if err != nil {
		return ipld.CID{}, err
	}
	rec, err := commit.ReadCommit(ctx, stage, link.Link())
	if err != nil {
		return ipld.CID{}, err
	}
	edit(rec)
	forged := store.NewBlock(ipld.DagCBOR, rec.Encode())
	edited, err := view.Edit(ctx, []prolly.Edit{{Key: name, Value: ipld.AppendLink(nil, forged.CID)}})
	if err != nil {
		return ipld.CID{}, err
	}
	next, err := commit.NextOperation(ctx, stage, head)
	if err != nil {
		return ipld.CID{}, err
	}
	next.View, next.Time, next.Actor, next.Command = edited.Root(), op.Time, "forger", []string{"forge"}
	last := store.NewBlock(ipld.DagCBOR, next.Encode())
	return forged.CID, st.Commit(ctx, head, store.Head{Seq: next.Seq, Operation: last.CID},
		append(stage.Pending(), forged, last)...)
}
