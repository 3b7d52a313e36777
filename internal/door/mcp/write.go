package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// remember keeps one text. The operation answers a line for each memory.
func remember(ctx context.Context, c *call) (*document, error) {
	ask, err := c.asked()
	if err != nil {
		return nil, err
	}
	answer, err := c.one(ctx, ask)
	if err != nil {
		return nil, err
	}
	doc, err := read(answer, c.tool.fields)
	if err != nil {
		return nil, err
	}
	settling(doc.head)
	if len(doc.pieces) == 0 {
		doc.lists = nil // no text of a memory is in it
	}
	doc.render = func(p *page) string { return renderKept(p, len(doc.lists) > 0) }
	return doc, nil
}

// renderKept is the text of an answer of remember: what was kept and what is near to it, marked as data if texts of
// memories are in it, then the call that says that one of them is replaced. That call is the program's word and stands
// outside the data.
func renderKept(p *page, others bool) string {
	settle := textOf(p.head, "settle")
	shown := *p
	shown.head = without(p.head, "settle")
	body := string(written(object(shown.members())))
	if others {
		body = quote(body)
	}
	if settle != "" {
		body += "\n" + settle
	}
	return body
}

// settling has the call of a tool in the place of the command that says that a memory replaces another one.
func settling(head []member) {
	i := slices.IndexFunc(head, func(m member) bool { return m.Name == "settle" })
	if i < 0 {
		return
	}
	if words := strings.Fields(head[i].Value.Word()); len(words) == 6 {
		head[i].Value = operation.TextValue(fmt.Sprintf(`if it replaces the first of nearest: mark `+
			`{"kind":"superseded","nodes":["%.8s"],"by":"%.8s"}`, words[3], words[5]))
	}
}

const maxSkipped = 8

func verbOf(command value) string {
	var words []string
	for _, w := range command.Items {
		if !strings.HasPrefix(w.Text, "--") {
			words = append(words, w.Text)
		}
	}
	return strings.Join(words, " ")
}

// undo takes an operation back, and says which in few words.
func undo(ctx context.Context, c *call) (*document, error) {
	ask, err := c.asked()
	if err != nil {
		return nil, err
	}
	if string(c.args["any"]) != "true" && string(c.args["redo"]) != "true" {
		set(&ask, "own", json.RawMessage("true"))
	}
	done, err := c.one(ctx, ask)
	if err != nil {
		return nil, err
	}
	doc := &document{head: []member{
		{Name: "undone", Value: operation.TextValue(verbOf(done.Find("command")))},
		{Name: "ask.Operation", Value: seqOf(done.Find("of"))},
	}}
	keep := func(list string, names ...string) {
		v := done.Find(list)
		for i := range v.Items {
			v.Items[i] = object(slices.DeleteFunc(v.Items[i].Members, func(m member) bool {
				return !slices.Contains(names, m.Name)
			}))
		}
		if v.Kind == '[' && (list == "refs" || len(v.Items) > 0) {
			doc.head = append(doc.head, member{Name: list, Value: v})
		}
	}
	keep("refs", "ref", "to")
	skipped := value{Kind: '['}
	for _, s := range done.Find("skipped").Items {
		if len(skipped.Items) < maxSkipped {
			said := seqOf(s).Text + " " + verbOf(s.Find("command"))
			skipped.Items = append(skipped.Items, operation.TextValue(said))
		}
	}
	if len(skipped.Items) > 0 {
		doc.head = append(doc.head, member{Name: "skipped", Value: skipped})
	}
	keep("pushed", "remote", "branch", "commits")
	return doc, nil
}

func seqOf(op value) value { return op.Find("seq") }

// commit writes change lines: nodes, then edges, then removals.
func commit(ctx context.Context, c *call) (*document, error) {
	ask, err := c.asked()
	if err != nil {
		return nil, err
	}
	lines := []json.RawMessage{}
	var names []string // of the arguments that the lines come from
	for _, from := range []struct{ list, kind string }{
		{"nodes", "node"}, {"edges", "edge"}, {"remove", "remove"},
	} {
		for i, o := range c.args.list(from.list) {
			lines = append(lines, slices.Concat([]byte(`{"`+from.kind+`":`), o, []byte("}")))
			names = append(names, fmt.Sprintf("%s[%d]", from.list, i))
		}
	}
	if len(lines) == 0 {
		return nil, invalid("nothing to commit: nodes, edges and remove are empty", "")
	}
	lined := func(p *operation.Param) bool { return p.Kind == operation.Lines }
	give(&ask, nth(ask.Operation, 1, lined), encode(lines))
	answer, err := c.one(ctx, ask)
	if err != nil {
		return nil, nameLine(err, names)
	}
	return read(answer, c.tool.fields)
}

// nameLine says of the line that an error is about which argument it is.
func nameLine(err error, names []string) error {
	failed, ok := errors.AsType[*operation.Error](err)
	if !ok || failed.Place.Line < 1 || failed.Place.Line > len(names) {
		return err
	}
	named := *failed
	named.Message = strings.Replace(failed.Message, failed.Place.Name, names[failed.Place.Line-1], 1)
	return &named
}
