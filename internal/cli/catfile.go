package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// blockJSON is one block.
type blockJSON struct {
	CID  string          `json:"cid"`
	Kind *string         `json:"kind"` // of its record, null where it is none
	Size int             `json:"size"`
	Data json.RawMessage `json:"data"`
}

func (c *cli) catFileCommand() *cobra.Command {
	var raw bool
	var path string
	cmd := &cobra.Command{
		Use:     "cat-file CID",
		GroupID: groupCare,
		Short:   "Print a block",
		Long: "Print a block, of facts or of an index, as DAG-JSON. CID may be a unique prefix of at\n" +
			"least 4 digits, before which bafyrei or bafkrei may be left out, or a revision. --path goes on from there,\n" +
			"by names and positions, over links: graph/nodes is the root of a commit's tree of nodes.",
		Example: "  mnem cat-file HEAD\n  mnem cat-file --raw HEAD >commit.cbor\n" +
			"  mnem cat-file HEAD --path graph/nodes",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes as they are stored, and nothing else")
	cmd.Flags().StringVar(&path, "path", "", "print what is at `PATH` in the block, as a/0/b, over links")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if raw && path != "" {
			return usagef("--raw and --path exclude each other")
		}
		if raw && c.global.json {
			return usagef("--raw and --json exclude each other")
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			id, data, err := findBlock(ctx, r, args[0])
			if err != nil {
				return err
			}
			if raw {
				_, err = c.out.Write(data)
				return err
			}
			if path != "" {
				return c.printAtPath(ctx, r, id, path)
			}
			return c.printBlock(id, data)
		})
	})
}

// findBlock returns the block of a CID, else of a revision, else of the prefix of a CID.
func findBlock(ctx context.Context, r *repo.Repo, name string) (ipld.CID, []byte, error) {
	if _, err := ipld.ParseCID(name); err == nil {
		return r.Block(ctx, name)
	}
	commit, err := r.Resolve(ctx, name)
	if err == nil {
		return r.Block(ctx, commit.String())
	}
	if name == string(graph.Head) || !errors.Is(err, store.ErrNotFound) {
		return commit, nil, ops.CommitHint(err)
	}
	return r.Block(ctx, name)
}

// printAtPath prints what is at a path from a block.
func (c *cli) printAtPath(ctx context.Context, r *repo.Repo, from ipld.CID, path string) error {
	size := 0 // of the last block
	var record string
	ls := ipld.LinkSystem(func(ctx context.Context, id ipld.CID) ([]byte, error) {
		_, data, err := r.Block(ctx, id.String())
		if size, record = len(data), ""; id.Codec() == ipld.DagCBOR && err == nil {
			record = ipld.RecordKind(data)
		}
		return data, err
	})
	var b bytes.Buffer
	last, err := ipld.Follow(ctx, ls, from, path, &b)
	if errors.Is(err, ipld.ErrPath) {
		return hint(fmt.Errorf("%w: %w", store.ErrNotFound, err), "'mnem cat-file %s' prints what there is", last)
	}
	if err != nil {
		return err
	}
	return c.printData(blockJSON{last.String(), orNull(record), size, b.Bytes()})
}

func (c *cli) printBlock(id ipld.CID, data []byte) error {
	var b bytes.Buffer
	if err := ipld.DAGJSON(&b, id, data); err != nil {
		return err
	}
	var kind *string
	if id.Codec() == ipld.DagCBOR {
		kind = orNull(ipld.RecordKind(data))
	}
	return c.printData(blockJSON{id.String(), kind, len(data), b.Bytes()})
}

func (c *cli) printData(block blockJSON) error {
	if c.global.json {
		return c.printJSON(block)
	}
	text := string(block.Data)
	if c.app.OutTTY {
		text = line(text)
	}
	return c.printf("%s\n", text)
}
