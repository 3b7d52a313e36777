package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

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
	cmd := &cobra.Command{
		Use:     "cat-file CID",
		GroupID: groupCare,
		Short:   "Print a block",
		Long: "Print a block, of facts or of an index, as DAG-JSON. CID may be a unique prefix of at\n" +
			"least 4 digits, before which bafyrei or bafkrei may be left out, or a revision.",
		Example:           "  mnem cat-file HEAD\n  mnem cat-file --raw HEAD >commit.cbor",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes as they are stored, and nothing else")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
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

func (c *cli) printBlock(id ipld.CID, data []byte) error {
	var b bytes.Buffer
	if err := ipld.DAGJSON(&b, id, data); err != nil {
		return err
	}
	if !c.global.json {
		text := b.String()
		if c.app.OutTTY {
			text = line(text)
		}
		return c.printf("%s\n", text)
	}
	var kind *string
	if id.Codec() == ipld.DagCBOR {
		kind = orNull(ipld.RecordKind(data))
	}
	return c.printJSON(blockJSON{id.String(), kind, len(data), b.Bytes()})
}
