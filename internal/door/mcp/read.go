package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	escape "github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// ranked asks retrieve or recall. The first page is the answer of the command line, and is recorded in the session; a
// later one continues the same ranking at the same commit, without a budget but that of the page.
func ranked(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	limit := c.args.number("limit", defaultItems)
	if c.position == 0 {
		if _, given := c.args["max_tokens"]; given {
			set(&ask, "budget", encode(c.tokens))
		}
		if _, given := c.args["at"]; !given {
			var err error
			if ask.Caller.Session, err = c.session(ctx, c.client, c.caller); err != nil {
				return nil, err
			}
		}
	} else {
		if err := c.at(ctx, &ask, c.commit); err != nil {
			return nil, err
		}
		set(&ask, "limit", encode(min(c.position+limit, mostRanks)))
		set(&ask, "budget", encode(0))
	}
	doc, err := c.read(ctx, ask, c.tool.fields)
	if err != nil {
		return nil, err
	}
	for i := range doc.pieces {
		if rank, err := strconv.Atoi(doc.pieces[i].value.Find("rank").Text); err == nil { // else its place in the list
			doc.pieces[i].at = rank
		}
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

// full reports whether an answer has all items that it may have, or left some out: there may be more.
func (d *document) full(limit, position int) bool {
	n := 0
	for _, p := range d.pieces {
		if p.at > position {
			n++
		}
	}
	return n >= limit || find(d.head, "dropped").Text > "0"
}

func without(list []member, name string) []member {
	return slices.DeleteFunc(slices.Clone(list), func(m member) bool { return m.Name == name })
}

var verdictAdvice = map[string]string{
	"known":   "Cite it by its [id].",
	"unsure":  "Say what is missing. Not sure:",
	"unknown": "Say that it is not in memory.",
}

// renderAnswer is the text of an answer: the verdict with what to do, and the items as the command line prints them,
// marked as data, those that are not sure apart.
func renderAnswer(p *page) string {
	var sure, maybe []string
	for _, e := range p.pieces {
		list := e.value.Members
		if item := strings.TrimSuffix(textOf(list, "rendered"), "\n"); textOf(list, "band") == "maybe" {
			maybe = append(maybe, item)
		} else {
			sure = append(sure, item)
		}
	}
	var lines []string
	if list := find(p.head, "digests").Items; len(list) > 0 {
		var texts []string
		for _, d := range list {
			texts = append(texts, strings.TrimSuffix(d.Find("rendered").Word(), "\n"))
		}
		lines = append(lines, quote(strings.Join(texts, "\n\n")))
	}
	verdict := textOf(p.head, "verdict")
	switch advice := verdictAdvice[verdict]; {
	case verdict != "":
		if verdict == "unknown" && len(sure)+len(maybe) > 0 {
			advice += " The nearest, unverified:"
		}
		lines = append(lines, fmt.Sprintf("%s: %s. %s", verdict, outside(textOf(p.head, "because")), advice))
	case len(sure)+len(maybe) == 0 && len(lines) == 0:
		lines = append(lines, "Nothing found.")
	case len(sure) == 0 && len(maybe) > 0:
		lines = append(lines, "Nothing known; the nearest:")
	}
	if len(sure) > 0 {
		lines = append(lines, quote(strings.Join(sure, "\n\n")))
	}
	if len(maybe) > 0 {
		if len(sure) > 0 {
			lines = append(lines, "Not sure:")
		}
		lines = append(lines, quote(strings.Join(maybe, "\n\n")))
	}
	if n := find(p.head, "dropped").Text; n != "" && n != "0" {
		lines = append(lines, n+" more did not fit the budget: ask with a larger max_tokens")
	}
	if commit := textOf(p.head, "commit"); commit != "" {
		lines = append(lines, "at commit "+commit[max(0, len(commit)-shortCommit):])
	}
	for _, w := range find(p.head, "warnings").Items {
		lines = append(lines, "warning: "+outside(w.Find("message").Word()+"; "+w.Find("remedy").Word()))
	}
	return strings.Join(lines, "\n")
}

// shortCommit is the length of the end of a CID that names a commit.
const shortCommit = 12

// outside makes a text that may quote others safe to stand outside the frame of data, on one line.
func outside(s string) string { return escape.EscapeTags(escape.EscapeLine(s)) }

// shown reads a node, its content page by page: a position counts scalars of it. A commit or another record is read in
// one piece.
func shown(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	commit := c.commit
	_, alone := c.args["field"]
	if alone && commit == "" { // the answer does not name its commit
		var err error
		if commit, err = c.head(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.at(ctx, &ask, commit); err != nil {
		return nil, err
	}
	answer, err := c.one(ctx, ask)
	if err != nil {
		return nil, err
	}
	if alone {
		return c.value(answer, commit), nil
	}
	if answer.Find("summary").IsZero() {
		return read(answer, nil)
	}
	doc := &document{commit: textOf(answer.Members, "commit")}
	content := ""
	for _, m := range answer.Members {
		switch {
		case m.Name == "content":
			content = m.Value.Word()
		case linked[m.Name]:
		case m.Name == "id" || m.Name == "key" || c.position == 0 && m.Name != "cid" && m.Name != "commit":
			if !vacant(m.Value) {
				doc.head = append(doc.head, m)
			}
		}
	}
	c.chunk(doc, "content", content)
	return doc, nil
}

// linked are the members of a node that the tool for links has.
var linked = map[string]bool{"out": true, "in": true, "more_out": true, "more_in": true}

// value is the document of one field. A text has pages, and so has the JSON form of what is no text
// and too long for one.
func (c *call) value(v value, commit string) *document {
	doc := &document{commit: commit}
	s := v.Text
	if v.Kind != '"' {
		if c.position == 0 && cost(v) < c.tokens-tail {
			doc.head = append(doc.head, member{Name: "value", Value: v})
			return doc
		}
		s = string(written(v))
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
	room := max(c.tokens-tail-cost(object(doc.head)), c.tokens/4)
	part := s
	for estimate(string(encode(part))) > room {
		keep := len(part) * 3 / 4
		for keep > 1 && !utf8.RuneStart(part[keep]) {
			keep--
		}
		part = part[:keep]
	}
	doc.head = append(doc.head, member{Name: name, Value: operation.TextValue(part)})
	doc.chunked = true
	if len(part) < len(s) {
		doc.next = c.position + utf8.RuneCountInString(part)
	}
}

// explore lists nodes. A page asks for no more of them than it may hold.
func explore(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	if c.args.text("to") == "" && string(c.args["tags"]) != "true" {
		set(&ask, "limit", encode(c.position+pageNodes))
	}
	if err := c.at(ctx, &ask, c.commit); err != nil {
		return nil, err
	}
	answer, err := c.one(ctx, ask)
	if err != nil {
		return nil, err
	}
	doc, err := read(answer, c.tool.fields)
	if err == nil {
		doc.more = answer.Find("more").Text != "0"
	}
	return doc, err
}

const pageNodes = 100 // that a page asks for

// diff compares two revisions. Its cursor names both commits.
func diff(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	from, to, both := strings.Cut(c.commit, "..")
	switch {
	case both:
		setWord(&ask, 1, encode(from))
		setWord(&ask, 2, encode(to))
	case c.args.text("to") != "" && c.args.text("from") == "":
		return nil, invalid(`argument "to" needs "from"`, "")
	}
	doc, err := c.read(ctx, ask, c.tool.fields)
	if err != nil {
		return nil, err
	}
	for i := range doc.pieces {
		doc.pieces[i].compact()
	}
	if from, to := textOf(doc.head, "from"), textOf(doc.head, "to"); from != "" && to != "" {
		doc.commit = from + ".." + to
	}
	return doc, nil
}

// compact writes the fields of a change as an object: of what was added or removed their values, of
// what changed the old and the new one.
func (p *piece) compact() {
	list := p.value.Members
	change := textOf(list, "change")
	var fields []member
	for _, f := range find(list, "fields").Items {
		name, old, now := f.Find("field").Word(), f.Find("old"), f.Find("new")
		switch {
		case change == "changed":
			old = object([]member{{Name: "old", Value: old}, {Name: "new", Value: now}})
		case slices.Contains([]string{"key", "type", "src", "dst", "created"}, name), name == "weight" && now.Text == "1":
			continue // said already, or of no use
		case change == "added":
			old = now
		}
		fields = append(fields, member{Name: name, Value: old})
	}
	if find(list, "fields").IsZero() {
		return // numbers alone
	}
	list = without(list, "fields")
	for _, end := range []string{"src", "dst"} {
		if !find(list, end+"_key").IsZero() {
			list = without(list, end) // the key names it
		}
	}
	if fields != nil {
		list = append(list, member{Name: "fields", Value: object(fields)})
	}
	p.value = object(list)
}

// log lists commits. Pages show the history of one commit, whatever is committed in between.
func log(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	commit := c.commit
	if commit == "" {
		var err error
		if commit, err = c.newest(ctx, ask.Operation); err != nil {
			return nil, err
		}
	}
	if commit != "" {
		set(&ask, "at", encode(commit))
	}
	limit := c.args.number("limit", pageCommits)
	set(&ask, "limit", encode(c.position+limit+1))
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
		set(&ask, "at", at)
	}
	if err := c.at(ctx, &ask, ""); err != nil {
		return "", err
	}
	set(&ask, "limit", encode(1))
	doc, err := c.read(ctx, ask, []field{{name: "commits", items: []string{"commit"}}})
	if err != nil || len(doc.pieces) == 0 {
		return "", err
	}
	return doc.pieces[0].value.Find("commit").Word(), nil
}

// remember keeps one text. The operation answers a line for each memory.
func remember(ctx context.Context, c *call, ask operation.Call) (*document, error) {
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
func undo(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	if string(c.args["any"]) != "true" && string(c.args["redo"]) != "true" {
		set(&ask, "own", json.RawMessage("true"))
	}
	done, err := c.one(ctx, ask)
	if err != nil {
		return nil, err
	}
	doc := &document{head: []member{
		{Name: "undone", Value: operation.TextValue(verbOf(done.Find("command")))},
		{Name: "op", Value: seqOf(done.Find("of"))},
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
func commit(ctx context.Context, c *call, ask operation.Call) (*document, error) {
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
