package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// remember keeps one text. The operation answers a line for each memory.
func remember(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	data, err := c.do(ctx, ask)
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	doc, err := read(first, c.tool.fields)
	if err == nil && len(doc.pieces) == 0 {
		doc.ours = true // no text of a memory is in it
		doc.lists = nil
	}
	return doc, err
}

// maxSkipped is the most operations passed over that the answer of undo lists.
const maxSkipped = 8

// verbOf returns the words of a command without its flags.
func verbOf(command []string) string {
	var words []string
	for _, w := range command {
		if !strings.HasPrefix(w, "--") {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// undo takes an operation back, and says which in few words.
func undo(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	if string(c.args["any"]) != "true" {
		set(&ask, flagged(op, "own"), json.RawMessage("true"))
	}
	data, err := c.do(ctx, ask)
	if err != nil {
		return nil, err
	}
	var done struct {
		Of struct {
			Seq int64 `json:"seq"`
		} `json:"of"`
		Command []string `json:"command"`
		Refs    []struct {
			Ref string  `json:"ref"`
			To  *string `json:"to"`
		} `json:"refs"`
		Skipped []struct {
			Seq     int64    `json:"seq"`
			Command []string `json:"command"`
		} `json:"skipped"`
		Pushed []struct {
			Remote  string `json:"remote"`
			Branch  string `json:"branch"`
			Commits string `json:"commits"`
		} `json:"pushed"`
	}
	if err := json.Unmarshal(data, &done); err != nil {
		return nil, fmt.Errorf("read the answer of undo: %w", err)
	}
	doc := &document{head: []member{
		{"undone", encode(verbOf(done.Command))}, {"op", encode(done.Of.Seq)},
	}}
	if done.Refs != nil {
		doc.head = append(doc.head, member{"refs", encode(done.Refs)})
	}
	var skipped []string
	for _, s := range done.Skipped[:min(len(done.Skipped), maxSkipped)] {
		skipped = append(skipped, fmt.Sprintf("%d %s", s.Seq, verbOf(s.Command)))
	}
	if skipped != nil {
		doc.head = append(doc.head, member{"skipped", encode(skipped)})
	}
	if len(done.Pushed) > 0 {
		doc.head = append(doc.head, member{"pushed", encode(done.Pushed)})
	}
	return doc, nil
}

// commit writes change lines: nodes, then edges, then removals.
func commit(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	lines := []json.RawMessage{}
	var names []string // of the arguments that the lines come from
	for _, from := range []struct{ list, kind string }{
		{"nodes", "node"}, {"edges", "edge"}, {"remove", "remove"},
	} {
		for i, o := range c.args.list(from.list) {
			lines = append(lines, object([]member{{from.kind, o}}))
			names = append(names, fmt.Sprintf("%s[%d]", from.list, i))
		}
	}
	if len(lines) == 0 {
		return nil, invalid("nothing to commit: nodes, edges and remove are empty", "")
	}
	set(&ask, lined(op), encode(lines))
	data, err := c.do(ctx, ask)
	if err != nil {
		return nil, nameLine(err, names)
	}
	return read(data, c.tool.fields)
}

// nameLine says of the line that an error is about which argument it is.
func nameLine(err error, names []string) error {
	var failed *operation.Error
	if !errors.As(err, &failed) || failed.Place.Line < 1 || failed.Place.Line > len(names) {
		return err
	}
	named := *failed
	named.Message = strings.Replace(failed.Message, failed.Place.Name, names[failed.Place.Line-1], 1)
	return &named
}
