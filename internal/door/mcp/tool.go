package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	run func(ctx context.Context, c *call) (*document, error)
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
	run := c.tool.run
	if run == nil {
		run = plain
	}
	doc, err := run(ctx, c)
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
func plain(ctx context.Context, c *call) (*document, error) {
	ask, err := c.asked()
	if err != nil {
		return nil, err
	}
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
