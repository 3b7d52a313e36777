package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	escape "github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Profile says which tools a client sees.
type Profile string

const (
	ProfileRead Profile = "read" // the core tools that change nothing
	ProfileCore Profile = "core" // what an agent needs to read, write and take back
	ProfileFull Profile = "full" // also branches, merges, upkeep and every other operation of use
)

// Profiles returns the profiles, smallest first.
func Profiles() []Profile { return []Profile{ProfileRead, ProfileCore, ProfileFull} }

type tool struct {
	name, title, doc string
	operation        string // that it asks for; an action of it may name another
	params           []param
	fields           []field // of the answer, nil for all that the operation has
	effect           operation.Effect
	additive         bool // whether what it writes only adds, of those that write
	idempotent       bool
	paged            bool // whether its answers have pages
	quoted           bool // whether its answers hold texts of memories
	ready            bool // whether a client that loads tools where they are wanted has it from the beginning
	// run answers a call, nil for plain, which asks the operation with the arguments.
	run func(ctx context.Context, c *call, ask operation.Call) (*document, error)
}

type call struct {
	*Server
	tool     *tool
	args     arguments
	caller   operation.Caller
	client   clientKey
	tokens   int      // that the answer may have
	position int      // that its page begins behind
	commit   string   // of the cursor, "" without one
	anchor   string   // likewise: the entry that the page before ended with, if no commit holds a list
	wrote    bool     // whether it asked for more than reading
	misread  []string // arguments that came as JSON in a string
	// structured is whether a program asked for structured content too.
	structured bool
}

func (t *tool) inputs() []param {
	if t.paged {
		return slices.Concat(t.params, paged)
	}
	return t.params
}

// alwaysLoad is by what Claude Code knows the tools that it does not leave to be searched for.
const alwaysLoad = "anthropic/alwaysLoad"

// sdk returns the tool as the protocol tells of it.
func (t *tool) sdk() *sdk.Tool {
	no := false
	changes := t.effect != operation.Reads && !t.additive // as the protocol understands destructive
	var meta sdk.Meta
	if t.ready {
		meta = sdk.Meta{alwaysLoad: true}
	}
	return &sdk.Tool{
		Meta: meta, Name: t.name, Title: t.title, Description: t.doc,
		InputSchema: schema(t.inputs()),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    t.effect == operation.Reads,
			DestructiveHint: &changes,
			IdempotentHint:  t.idempotent || t.effect == operation.Reads,
			OpenWorldHint:   &no,
		},
	}
}

// handle answers a call of a tool. Whatever goes wrong in it is an answer too, for the model to read.
func (s *Server) handle(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if ask := s.locate(ctx, req.Session, req, req.Params.InputResponses); ask != nil {
			return &sdk.CallToolResult{InputRequests: ask}, nil
		}
		done := s.progress(ctx, req)
		defer done()
		res, err := s.call(ctx, t, req)
		if err != nil {
			s.log.Debug("tool failed", "tool", t.name, "error", err)
			return failure(ctx, err), nil
		}
		return res, nil
	}
}

func (s *Server) call(ctx context.Context, t *tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	args, misread, err := check(t.inputs(), req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	c := &call{Server: s, tool: t, args: args, misread: misread, tokens: args.number("max_tokens", maxTokens)}
	c.structured = req.Params.GetMeta()[structuredMeta] == true
	if c.position, c.commit, err = readCursor(t.name, args); err != nil {
		return nil, err
	}
	if strings.HasPrefix(c.commit, anchorMark) {
		c.anchor, c.commit = c.commit, ""
	}
	c.caller, c.client = s.caller(ctx, req.Session.ID(), req.ClientInfo())
	return c.run(ctx)
}

// run calls the tool, and returns the page that the call asked for.
func (c *call) run(ctx context.Context) (*sdk.CallToolResult, error) {
	ask, err := c.asked()
	if err != nil {
		return nil, err
	}
	run := c.tool.run
	if run == nil {
		run = plain
	}
	doc, err := run(ctx, c, ask)
	if err != nil {
		return nil, err
	}
	return c.answer(doc), nil
}

func (c *call) answer(doc *document) *sdk.CallToolResult {
	c.position = doc.behind(c.anchor, c.position)
	doc.from(c.position)
	p := doc.cut(c.tokens)
	switch {
	case !c.tool.paged || c.wrote: // the next page would be another write
		p.shortened = p.shortened || p.more
	case p.more && p.end > c.position:
		p.cursor = nextCursor(p.end, c.tool.name, c.args, cmp.Or(doc.commit, doc.anchor(p.end)))
	}
	body := string(written(object(p.members())))
	switch {
	case doc.render != nil:
		body = doc.render(p)
	case c.tool.quoted && !doc.ours:
		body = quote(body)
	}
	if p.cursor != "" {
		body += fmt.Sprintf("\nThere is more: repeat the call with \"cursor\": %q", p.cursor)
	}
	if p.shortened {
		body += "\nShortened; what says <...+N chars> is whole in show."
	}
	for _, name := range c.misread {
		body += fmt.Sprintf("\nwarning: %q came as a string and was read as JSON: send the value itself", name)
	}
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: body}}}
	if c.structured {
		out.StructuredContent = p.structured()
	}
	return out
}

// structuredMeta is the member of a call's _meta by which a program asks for structured content as well as the text.
// Without it there is none, and no tool declares an output schema: most clients give their model only the structured
// content if there is any, and refuse an answer without it if there is a schema.
const structuredMeta = "mnem/structured"

// plain asks the tool's operation with the arguments and reads its answer.
func plain(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	c.wrote = ask.Operation.EffectOf(ask.Args) != operation.Reads
	if err := c.at(ctx, &ask, c.commit); err != nil {
		return nil, err
	}
	return c.read(ctx, ask, c.tool.fields)
}

// ask returns a call of an operation for the caller of the tool, without arguments.
func (c *call) ask(op *operation.Operation) operation.Call {
	return operation.Call{Operation: op, Args: map[string]json.RawMessage{}, Caller: c.caller}
}

// asked returns a call of the tool's operation, with the arguments that go to it.
func (c *call) asked() (operation.Call, error) {
	op, err := c.operation(c.tool.operation)
	if err != nil {
		return operation.Call{}, err
	}
	ask := c.ask(op)
	for _, p := range c.tool.params {
		v, given := c.args[p.name]
		switch {
		case !given:
		case p.flag != "":
			set(&ask, p.flag, v)
		case p.word > 0:
			setWord(&ask, p.word, v)
		}
	}
	return ask, nil
}

// at makes a call read at a commit, if one is given, and at the pinned one if none is.
func (c *call) at(ctx context.Context, ask *operation.Call, commit string) error {
	p := flagged(ask.Operation, "at")
	if p == nil {
		return nil
	}
	_, given := ask.Args[p.Name]
	if commit == "" && !given {
		var err error
		if commit, err = c.pinned(ctx, c.client, c.caller); err != nil {
			return err
		}
	}
	if commit != "" {
		ask.Args[p.Name] = encode(commit)
	}
	return nil
}

func (c *call) read(ctx context.Context, ask operation.Call, fields []field) (*document, error) {
	if !ask.Operation.Stream() {
		answer, err := c.one(ctx, ask)
		switch {
		case err != nil:
			return nil, err
		case answer.Kind != '{':
			return &document{head: []member{{Name: "value", Value: answer}}}, nil
		}
		return read(answer, fields)
	}
	answers, err := c.do(ctx, ask)
	if err != nil {
		return nil, err
	}
	f := field{name: "items", list: true}
	if i := slices.IndexFunc(fields, field.paged); i >= 0 {
		f = fields[i]
	}
	return stream(answers, f), nil
}

// one runs a call and returns its answer, of several the first.
func (s *Server) one(ctx context.Context, ask operation.Call) (value, error) {
	answers, err := s.do(ctx, ask)
	if err == nil && len(answers) == 0 {
		err = errors.New(ask.Operation.Name + " gave no answer")
	}
	if err != nil {
		return value{}, err
	}
	return answers[0], nil
}

// do runs a call and returns its answers. News that are bad are an error, with the first answer in it.
func (s *Server) do(ctx context.Context, ask operation.Call) ([]value, error) {
	ended := &operation.Error{Outcome: operation.Interrupted, Message: "the call ended before it could begin"}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return nil, ended
	}
	if ctx.Err() != nil { // of two that are ready select takes any
		return nil, ended
	}
	answers, outcome, err := operation.Values(ctx, s.runner, ask, maxAnswer)
	switch {
	case errors.Is(err, operation.ErrTooLarge):
		return nil, &operation.Error{
			Outcome: operation.Invalid,
			Message: fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20),
			Hint:    "ask for less: a type, a smaller range or limit, or numbers alone (stat)",
		}
	case err != nil:
		return nil, err
	case outcome.Exit != operation.OK.Exit:
		news := &badNews{outcome: outcome}
		if len(answers) > 0 {
			news.answer = answers[0]
		}
		return nil, news
	}
	return answers, nil
}

// mostRunning bounds the operations at once: each may hold an answer of maxAnswer, and clients over
// HTTP can send as many calls as there are connections. Others wait.
const mostRunning = 32

const maxAnswer = 32 << 20

// progressEvery is how often a client that asked for it hears that its call is being worked on.
const progressEvery = time.Second

// progress tells a client that asked for it that a call is being worked on: at once, and each second until the
// returned function is called, with the seconds gone by. Operations do not say how much is left, so there is no total.
func (s *Server) progress(ctx context.Context, req *sdk.CallToolRequest) (done func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	notify := func(seconds int) {
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(seconds), Message: req.Params.Name + " is running",
		})
		if err != nil {
			s.log.Debug("progress not told", "error", err)
		}
	}
	notify(0)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.Tick(progressEvery)
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				notify(n)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

type kind int

const (
	text kind = iota + 1
	number
	decimal
	boolean
	texts
	objects
)

// kinds has the JSON Schema of each kind, and how an error calls it.
var kinds = [...]struct{ schema, want string }{
	text:    {`"type":"string"`, "a string"},
	number:  {`"type":"integer"`, "an integer"},
	decimal: {`"type":"number"`, "a number"},
	boolean: {`"type":"boolean"`, "true or false"},
	texts:   {`"type":"array","items":{"type":"string"}`, "a list of strings"},
	objects: {`"type":"array","items":{"type":"object"}`, "a list of objects"},
}

type param struct {
	name     string
	kind     kind
	doc      string
	enum     []string
	required bool
	min, max int64 // of numbers; both 0 for any

	// If the value goes: the flag of the operation's command, or the place among its words,
	// counted from 1. With neither the tool itself reads it.
	flag string
	word int
}

const (
	maxArgument  = 1 << 20 // bytes of one string
	maxList      = 10_000  // entries of one list
	maxTokensMin = 200     // below, nothing but a cursor fits
	maxTokensMax = 20_000  // clients refuse answers of 25,000 tokens whole
	maxTokens    = 4_000   // where the call does not say
)

// paged are the arguments of every tool whose answers have pages.
var paged = []param{
	{name: "max_tokens", kind: number, min: maxTokensMin, max: maxTokensMax},
	{name: "cursor", kind: text, doc: "to go on"},
}

func schema(params []param) json.RawMessage {
	var properties, required []string
	for _, p := range params {
		properties = append(properties, quoted(p.name)+":"+p.schema())
		if p.required {
			required = append(required, p.name)
		}
	}
	more := ""
	if len(required) > 0 {
		more = fmt.Sprintf(`,"required":%s`, encode(required))
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s}%s,"additionalProperties":false}`,
		strings.Join(properties, ","), more)
}

func (p *param) schema() string {
	parts := []string{kinds[p.kind].schema}
	if p.enum != nil {
		parts = append(parts, `"enum":`+string(encode(p.enum)))
	}
	doc := p.doc
	if p.min != 0 || p.max != 0 { // in fewer tokens than minimum and maximum are
		doc = strings.TrimPrefix(doc+", ", ", ") + fmt.Sprintf("%d to %d", p.min, p.max)
	}
	if doc != "" {
		parts = append(parts, `"description":`+quoted(doc))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// arguments holds the arguments of one call, by name, each of the type of its param. A null is as if it were
// not there: clients send it for what was left open.
type arguments map[string]json.RawMessage

// check reads the arguments of a call and says what is wrong with them. A list, number or truth value that came as JSON
// in a string is read from there, and named in misread.
func check(params []param, data json.RawMessage) (args arguments, misread []string, err error) {
	args = arguments{}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &args); err != nil {
			return nil, nil, invalid("arguments are not a JSON object", "")
		}
	}
	var names []string
	for _, p := range params {
		names = append(names, p.name)
		v, given := args[p.name]
		if given && string(v) == "null" {
			delete(args, p.name)
			given = false
		}
		switch {
		case given:
			inner, is := p.unwrap(v)
			if is {
				args[p.name], v, misread = inner, inner, append(misread, p.name)
			}
			if err := p.check(v); err != nil {
				return nil, nil, err
			}
		case p.required:
			return nil, nil, invalid(fmt.Sprintf("argument %q is missing", p.name), p.doc)
		}
	}
	for name := range args {
		if !slices.Contains(names, name) {
			return nil, nil, invalid(fmt.Sprintf("unknown argument %q", name),
				"this tool has: "+strings.Join(names, ", "))
		}
	}
	return args, misread, nil
}

// unwrap returns the value of the right kind that came as JSON in a string, and whether there is one.
func (p *param) unwrap(v json.RawMessage) (json.RawMessage, bool) {
	var s string
	if p.kind == text || len(v) > maxArgument || !bytes.HasPrefix(v, []byte(`"`)) || json.Unmarshal(v, &s) != nil {
		return nil, false
	}
	inner := bytes.TrimSpace([]byte(s))
	if !json.Valid(inner) || p.check(inner) != nil {
		return nil, false
	}
	return inner, true
}

func (p *param) check(v json.RawMessage) error {
	bad := func(want string) error {
		return invalid(fmt.Sprintf("argument %q: want %s", p.name, want), p.doc)
	}
	var s string
	var n int64
	var list []*string
	var entries []json.RawMessage
	to := [...]any{
		text: &s, number: &n, decimal: new(json.Number), boolean: new(bool), texts: &list, objects: &entries,
	}[p.kind]
	switch err := json.Unmarshal(v, to); {
	case err != nil || p.kind == decimal && v[0] == '"' || slices.Contains(list, nil):
		return bad(kinds[p.kind].want)
	case p.kind == number && (p.min != 0 || p.max != 0) && (n < p.min || n > p.max):
		return bad(fmt.Sprintf("%d to %d", p.min, p.max))
	case max(len(list), len(entries)) > maxList:
		return bad(fmt.Sprintf("at most %d entries", maxList))
	case p.kind == text:
		return p.checkText(s)
	}
	for _, s := range list {
		if err := p.checkText(*s); err != nil {
			return err
		}
	}
	for i, o := range entries {
		if !bytes.HasPrefix(o, []byte("{")) {
			return bad(fmt.Sprintf("an object at [%d]", i))
		}
	}
	return nil
}

func (p *param) checkText(s string) error {
	if len(s) > maxArgument {
		return invalid(fmt.Sprintf("argument %q is longer than 1 MiB", p.name), "")
	}
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return invalid(fmt.Sprintf("argument %q holds a NUL or no UTF-8", p.name), "")
	}
	if p.enum != nil && !slices.Contains(p.enum, s) {
		return invalid(fmt.Sprintf("argument %q: want one of %s", p.name, strings.Join(p.enum, ", ")), "")
	}
	return nil
}

func (a arguments) text(name string) (s string) {
	if v, ok := a[name]; ok {
		_ = json.Unmarshal(v, &s) // checked
	}
	return s
}

func (a arguments) number(name string, otherwise int) int {
	n := otherwise
	if v, ok := a[name]; ok {
		_ = json.Unmarshal(v, &n) // checked
	}
	return n
}

func (a arguments) list(name string) (list []json.RawMessage) {
	if v, ok := a[name]; ok {
		_ = json.Unmarshal(v, &list) // checked
	}
	return list
}

// set gives the parameter of a flag its value, setWord that of a word of the command.
func set(call *operation.Call, flag string, v json.RawMessage) {
	give(call, flagged(call.Operation, flag), v)
}

func setWord(call *operation.Call, n int, v json.RawMessage) {
	give(call, worded(call.Operation, n), v)
}

// give gives a parameter its value; a single text becomes a list where the operation takes one.
func give(call *operation.Call, to *operation.Param, v json.RawMessage) {
	if to == nil {
		return // an operation without it: a test of the table holds tools and operations together
	}
	if to.Kind == operation.Strings && !bytes.HasPrefix(v, []byte("[")) {
		v = slices.Concat([]byte("["), v, []byte("]"))
	}
	call.Args[to.Name] = v
}

// flagged returns the parameter that a flag of the command is, nil for none.
func flagged(op *operation.Operation, flag string) *operation.Param {
	return nth(op, 1, func(p *operation.Param) bool { return p.Flag == flag })
}

// worded returns the n-th parameter that is a word of the command, nil for none.
func worded(op *operation.Operation, n int) *operation.Param {
	return nth(op, n, func(p *operation.Param) bool { return p.Flag == "" && p.Kind != operation.Lines })
}

// nth returns the n-th parameter, counted from 1, of those that are wanted, nil for none.
func nth(op *operation.Operation, n int, wanted func(*operation.Param) bool) *operation.Param {
	for i := range op.Params {
		if wanted(&op.Params[i]) {
			if n--; n == 0 {
				return &op.Params[i]
			}
		}
	}
	return nil
}

// encode writes a value whose JSON form cannot fail, on one line and cleaned, with & and > as they are.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // a mistake in the code
	}
	return cleaned(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// cleaned returns JSON of the same value in which no control, bidirectional mark or beginning of a tag stands raw.
func cleaned(data []byte) json.RawMessage {
	return json.RawMessage(escape.EscapeJSONTags(string(escape.EscapeJSON(data))))
}

func quoted(s string) string { return string(encode(s)) }
