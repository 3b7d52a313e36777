package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	escape "github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// ranked asks retrieve or recall. The first page is what the command line answers, and is recorded
// in the session; a later one continues the same ranking at the same commit, without a budget but
// that of the page.
func ranked(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	limit := c.args.number("limit", defaultItems)
	if c.position == 0 {
		if _, given := c.args["max_tokens"]; given {
			set(&ask, flagged(op, "budget"), encode(c.tokens))
		}
		if _, given := c.args["at"]; !given {
			if ask.Caller.Session, err = c.session(ctx, c.client, c.caller); err != nil {
				return nil, err
			}
		}
	} else {
		if err := c.at(ctx, &ask, c.commit); err != nil {
			return nil, err
		}
		set(&ask, flagged(op, "limit"), encode(min(c.position+limit, mostRanks)))
		set(&ask, flagged(op, "budget"), encode(0))
	}
	doc, err := c.read(ctx, ask, c.tool.fields)
	if err != nil {
		return nil, err
	}
	for i := range doc.pieces {
		item, err := members(doc.pieces[i].value)
		if err != nil {
			return nil, err
		}
		_ = json.Unmarshal(find(item, "rank"), &doc.pieces[i].at) // else its place in the list
	}
	last := 0
	if n := len(doc.pieces); n > 0 {
		last = doc.pieces[n-1].at
	}
	if c.position > 0 {
		doc.head = without(doc.head, "dropped")
	}
	doc.more = last > 0 && last < mostRanks && doc.full(limit, c.position)
	doc.render = renderAnswer
	return doc, nil
}

const (
	defaultItems = 10    // of retrieve and recall, as on the command line
	mostRanks    = 1_000 // that packing examines
)

// full reports whether an answer has as many items as it may have, or left some out: then there may
// be more behind it.
func (d *document) full(limit, position int) bool {
	n := 0
	for _, p := range d.pieces {
		if p.at > position {
			n++
		}
	}
	return n >= limit || string(find(d.head, "dropped")) > "0"
}

func without(list []member, name string) []member {
	var out []member
	for _, m := range list {
		if m.name != name {
			out = append(out, m)
		}
	}
	return out
}

// renderAnswer is the text of an answer: its items as the command line prints them, marked as data, those
// that are not sure apart.
func renderAnswer(p *page) string {
	var sure, maybe []string
	for _, e := range p.pieces {
		list, err := members(e.value)
		if err != nil {
			continue // a page is made of objects
		}
		if item := strings.TrimSuffix(textOf(list, "rendered"), "\n"); textOf(list, "band") == "maybe" {
			maybe = append(maybe, item)
		} else {
			sure = append(sure, item)
		}
	}
	var digests []struct{ Rendered string }
	_ = json.Unmarshal(find(p.head, "digests"), &digests) // none where there are none
	var b strings.Builder
	if len(digests) > 0 {
		var texts []string
		for _, d := range digests {
			texts = append(texts, strings.TrimSuffix(d.Rendered, "\n"))
		}
		b.WriteString(quote(strings.Join(texts, "\n\n")) + "\n")
	}
	switch {
	case len(sure)+len(maybe) == 0 && len(digests) > 0:
	case len(sure)+len(maybe) == 0:
		b.WriteString("Nothing found.")
	case len(sure) == 0:
		b.WriteString("Nothing known; the nearest:\n")
	default:
		b.WriteString(quote(strings.Join(sure, "\n\n")))
		if len(maybe) > 0 {
			b.WriteString("\nNot sure:\n")
		}
	}
	if len(maybe) > 0 {
		b.WriteString(quote(strings.Join(maybe, "\n\n")))
	}
	if commit := textOf(p.head, "commit"); commit != "" {
		fmt.Fprintf(&b, "\n%d items at commit %s", len(sure)+len(maybe), commit)
	}
	if n := string(find(p.head, "dropped")); n != "" && n != "0" {
		fmt.Fprintf(&b, "; %s more did not fit the budget: ask with a larger max_tokens", n)
	}
	var warnings []struct{ Message, Remedy string }
	_ = json.Unmarshal(find(p.head, "warnings"), &warnings) // none where there are none
	for _, w := range warnings {
		b.WriteString("\nwarning: " + escape.EscapeTags(escape.EscapeLine(w.Message+"; "+w.Remedy)))
	}
	return b.String()
}

// get reads a node, its content page by page: a position counts scalars of it.
func get(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	commit := c.commit
	_, alone := c.args["field"]
	if alone && commit == "" { // the answer does not say of which commit it is
		if commit, err = c.head(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.at(ctx, &ask, commit); err != nil {
		return nil, err
	}
	data, err := c.do(ctx, ask)
	if err != nil {
		return nil, err
	}
	if alone {
		return c.value(data, commit), nil
	}
	list, err := members(data)
	if err != nil {
		return nil, err
	}
	doc := &document{commit: textOf(list, "commit")}
	content := ""
	for _, m := range list {
		switch {
		case m.name == "content":
			content = textOf(list, m.name)
		case m.name == "id" || m.name == "key" || c.position == 0 && m.name != "cid" && m.name != "commit":
			if !vacant(m.value) {
				doc.head = append(doc.head, m)
			}
		}
	}
	c.chunk(doc, "content", content)
	return doc, nil
}

// value is the document of one field. A text has pages, and so has the JSON form of what is no text
// and too long for one.
func (c *call) value(data json.RawMessage, commit string) *document {
	doc := &document{commit: commit}
	var s string
	if json.Unmarshal(data, &s) != nil {
		if c.position == 0 && estimate(string(data)) < c.tokens-tail {
			doc.head = append(doc.head, member{"value", data})
			return doc
		}
		s = string(data)
	}
	c.chunk(doc, "value", s)
	return doc
}

// chunk adds the part of a text that the page has room for.
func (c *call) chunk(doc *document, name, s string) {
	start := 0
	for range c.position {
		if start == len(s) {
			break
		}
		_, size := utf8.DecodeRuneInString(s[start:])
		start += size
	}
	if s = s[start:]; s == "" {
		return
	}
	room := max(c.tokens-tail-estimate(string(object(doc.head))), c.tokens/4)
	part := s
	for estimate(string(encode(part))) > room {
		keep := len(part) * 3 / 4
		for keep > 1 && !utf8.RuneStart(part[keep]) {
			keep--
		}
		part = part[:keep]
	}
	doc.head = append(doc.head, member{name, encode(part)})
	doc.chunked = true
	if len(part) < len(s) {
		doc.next = c.position + utf8.RuneCountInString(part)
	}
}

// neighbors lists edges: outgoing ones, then incoming ones. A page asks for no more of either than
// it can hold, so that a hub costs what is read of it.
func neighbors(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	if way := c.args.text("direction"); way == "in" || way == "out" {
		set(&ask, flagged(op, way), json.RawMessage("true"))
	}
	set(&ask, flagged(op, "limit"), encode(c.position+pageEdges))
	if err := c.at(ctx, &ask, c.commit); err != nil {
		return nil, err
	}
	data, err := c.do(ctx, ask)
	if err != nil {
		return nil, err
	}
	doc, err := read(data, c.tool.fields)
	if err != nil {
		return nil, err
	}
	answer, err := members(data)
	if err != nil {
		return nil, err
	}
	more := func(name string) bool {
		n := string(find(answer, name))
		return n != "" && n != "0"
	}
	if doc.more = more("more_out") || more("more_in"); more("more_out") {
		doc.only("out") // what is behind them comes first
	}
	return doc, nil
}

const pageEdges = 100 // of each direction, that a page asks for

// only leaves the pieces of one list.
func (d *document) only(list string) {
	var kept []piece
	for _, p := range d.pieces {
		if p.list == list {
			kept = append(kept, p)
		}
	}
	d.pieces = kept
}

// diff compares two revisions. Its cursor names both commits.
func diff(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	from, to, both := strings.Cut(c.commit, "..")
	switch {
	case both:
		set(&ask, worded(op, 1), encode(from))
		set(&ask, worded(op, 2), encode(to))
	case c.args.text("to") != "" && c.args.text("from") == "":
		return nil, invalid(`argument "to" needs "from"`, "")
	}
	doc, err := c.read(ctx, ask, c.tool.fields)
	if err != nil {
		return nil, err
	}
	for i := range doc.pieces {
		if err := doc.pieces[i].compact(); err != nil {
			return nil, err
		}
	}
	if from, to := textOf(doc.head, "from"), textOf(doc.head, "to"); from != "" && to != "" {
		doc.commit = from + ".." + to
	}
	return doc, nil
}

// compact writes the fields of a change as an object: of what was added or removed their values, of
// what changed the old and the new one.
func (p *piece) compact() error {
	list, err := members(p.value)
	if err != nil {
		return err
	}
	var changed []struct {
		Field    string
		Old, New json.RawMessage
	}
	if raw := find(list, "fields"); raw == nil {
		return nil // numbers alone
	} else if err := json.Unmarshal(raw, &changed); err != nil {
		return fmt.Errorf("read the fields of a change: %w", err)
	}
	change := textOf(list, "change")
	var fields []member
	for _, f := range changed {
		switch {
		case change == "changed":
			fields = append(fields, member{f.Field, object([]member{{"old", f.Old}, {"new", f.New}})})
		case slices.Contains([]string{"key", "type", "src", "dst", "created"}, f.Field),
			f.Field == "weight" && string(f.New) == "1":
			// said already, or of no use
		case change == "added":
			fields = append(fields, member{f.Field, f.New})
		default:
			fields = append(fields, member{f.Field, f.Old})
		}
	}
	list = without(list, "fields")
	for _, end := range []string{"src", "dst"} {
		if find(list, end+"_key") != nil {
			list = without(list, end) // the key names it
		}
	}
	if fields != nil {
		list = append(list, member{"fields", object(fields)})
	}
	p.value = object(list)
	return nil
}

// log lists commits. Pages are of the history of one commit, whatever is committed meanwhile.
func log(ctx context.Context, c *call) (*document, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return nil, err
	}
	ask := c.ask(op)
	bind(&ask, c.tool.params, c.args)
	commit := c.commit
	if commit == "" {
		if commit, err = c.newest(ctx, op); err != nil {
			return nil, err
		}
	}
	if commit != "" {
		set(&ask, flagged(op, "at"), encode(commit))
	}
	limit := c.args.number("limit", pageCommits)
	set(&ask, flagged(op, "limit"), encode(c.position+limit+1))
	doc, err := c.read(ctx, ask, c.tool.fields)
	if err != nil {
		return nil, err
	}
	doc.commit = commit
	if len(doc.pieces) > c.position+limit {
		doc.pieces = doc.pieces[:c.position+limit]
		doc.more = true
	}
	return doc, nil
}

const pageCommits = 20

// head returns the commit that a read without a cursor is of.
func (c *call) head(ctx context.Context) (string, error) {
	op, err := c.operation("log")
	if err != nil {
		return "", err
	}
	return c.newest(ctx, op)
}

// newest returns the commit whose history a log is of, "" before the first one.
func (c *call) newest(ctx context.Context, op *operation.Operation) (string, error) {
	ask := c.ask(op)
	if at, given := c.args["at"]; given {
		set(&ask, flagged(op, "at"), at)
	}
	if err := c.at(ctx, &ask, ""); err != nil {
		return "", err
	}
	set(&ask, flagged(op, "limit"), encode(1))
	doc, err := c.read(ctx, ask, []field{{name: "commits", items: []string{"commit"}}})
	if err != nil || len(doc.pieces) == 0 {
		return "", err
	}
	list, err := members(doc.pieces[0].value)
	return textOf(list, "commit"), err
}
