package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// maxJSON is the largest JSON body of a request in bytes; longer input comes as lines, or as a CAR file. Parsing holds
// values more than once.
const maxJSON = 8 << 20

// callerHeaders say who asks.
var callerHeaders = []string{"Mnem-Author", "Mnem-Agent", "Mnem-Task", "Mnem-Branch", "Mnem-Session"}

// MaxName is how many bytes the name of an author, agent, task, branch or session may have.
const MaxName = 255

// request is a call that somebody makes, and how they want the answer.
type request struct {
	call operation.Call
	by   who
	body *body // its body, nil for none
	// upload is an earlier upload in parts in place of a body; nil for none.
	upload *uploadedFile
	// effect is the most that the call does.
	effect operation.Effect
	form   string // media type of the answer
	expect string // of If-Match: the CID that the branch must be at, "" for any
	known  string // of If-None-Match
	key    string // Idempotency-Key, "" for none
}

// release gives back the room that the body took.
func (q *request) release() {
	if q.body != nil {
		q.body.release()
	}
	if q.upload != nil {
		q.upload.end()
	}
}

// read makes a call of a request, which must be released.
func (s *Server) read(r *http.Request, op *operation.Operation) (q *request, p *problem) {
	q = &request{call: operation.Call{Operation: op}, by: whoOf(r.Context())}
	if !slices.Contains(methodsOf(op), r.Method) {
		return q, wrongMethod(methodsOf(op)...)
	}
	if q.form, p = accept(r.Header.Values("Accept"), op); p != nil {
		return q, p
	}
	if q.call.Caller, p = q.by.caller(r.Header); p != nil {
		return q, p
	}
	q.call.Text = q.form == mediaText
	if q.call.Args, p = queryArgs(op, r.URL); p != nil {
		return q, p
	}
	if r.Method == http.MethodPost {
		p = s.readBody(r, q)
	} else if r.ContentLength != 0 {
		p = badRequest("a GET has no body: its parameters are in the query")
	}
	if p == nil {
		p = q.conditions(r)
	}
	if p == nil {
		p = q.effects(r)
	}
	if p == nil && q.effect == operation.Writes {
		size := int64(0)
		if q.body != nil {
			size = q.body.size
		}
		p = s.room(size)
	}
	return q, p
}

// effects determines the most that the call does, and refuses effects that a GET must not have.
func (q *request) effects(r *http.Request) *problem {
	op := q.call.Operation
	q.effect = op.EffectOf(q.call.Args)
	if p := op.Param("session"); p != nil && p.Effect > q.effect && q.call.Caller.Session != "" {
		q.effect = p.Effect
	}
	if q.effect > operation.Reads && r.Method != http.MethodPost {
		p := wrongMethod(http.MethodPost)
		p.Detail = "this changes something: want POST"
		return p
	}
	return q.by.permit(q.effect)
}

// methodsOf are the methods that an operation can have.
func methodsOf(op *operation.Operation) []string {
	if lines := op.Param("lines"); op.Effect > operation.Reads || op.Body != "" && lines != nil && lines.Required {
		return []string{http.MethodPost}
	}
	return []string{http.MethodGet, http.MethodHead, http.MethodPost}
}

// queryArgs reads parameters from the query.
func queryArgs(op *operation.Operation, u *url.URL) (map[string]json.RawMessage, *problem) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, badRequest("the query cannot be read: %v", err)
	}
	args := make(map[string]json.RawMessage, len(values))
	for name, list := range values {
		p := op.Param(name)
		for _, v := range list {
			if !utf8.ValidString(v) {
				return nil, badRequest("%s: is not UTF-8", name)
			}
		}
		switch {
		case p == nil:
			args[name] = nil // which the call refuses, with the names there are
		case p.Kind == operation.Strings:
			args[name] = asJSON(list)
		case len(list) != 1:
			return nil, badRequest("%s: is given twice", name)
		case p.Kind == operation.Lines:
			return nil, badRequest("%s: belongs into the body", name)
		case p.Kind == operation.String && p.True != "" && (list[0] == "true" || list[0] == "false"):
			args[name] = json.RawMessage(list[0])
		case p.Kind == operation.Boolean && list[0] == "":
			args[name] = json.RawMessage("true")
		case p.Kind != operation.String && json.Valid([]byte(list[0])):
			args[name] = json.RawMessage(list[0])
		default:
			args[name] = asJSON(list[0])
		}
	}
	return args, nil
}

func asJSON(v any) json.RawMessage {
	data, _ := json.Marshal(v) // strings always have a JSON form
	return data
}

// readBody reads the body of a POST: parameters as JSON, or the operation's body.
func (s *Server) readBody(r *http.Request, q *request) (p *problem) {
	op := q.call.Operation
	media := operation.MediaJSON
	if h := r.Header.Get("Content-Type"); h != "" {
		var err error
		if media, _, err = mime.ParseMediaType(h); err != nil {
			return unsupported(op)
		}
	}
	if media == op.Body && op.Body == operation.MediaCAR {
		if q.upload, p = s.uploadedBody(r); q.upload != nil {
			q.call.Body, p = s.unpackedUpload(r, q.upload)
			return p
		} else if p != nil {
			return p
		}
	}
	limit, weight := min(maxJSON, s.cfg.Limits.Body), int64(parsedWeight)
	if media == op.Body {
		limit, weight = s.cfg.Limits.Body, 1
	} else if media != operation.MediaJSON || op.Body == operation.MediaCAR {
		return unsupported(op)
	}
	if q.body, p = s.take(r, limit, weight); p != nil {
		return p
	}
	switch {
	case media == op.Body:
		q.call.Body, p = unpacked(q.body, r.Header.Get("Content-Encoding"), op, limit)
	case q.body.size > 0 && len(q.call.Args) > 0:
		p = badRequest("parameters are in the query or in the body, not in both")
	case q.body.size > 0:
		q.call.Args, p = bodyArgs(q.body.text())
	}
	return p
}

func unsupported(op *operation.Operation) *problem {
	want := operation.MediaJSON
	if op.Body != "" {
		want += " or " + op.Body
	}
	if op.Body == operation.MediaCAR {
		want = op.Body + ", with parameters in the query"
	}
	return newProblem(http.StatusUnsupportedMediaType, codeMedia, "%s: want %s", op.Name, want)
}

// bodyArgs reads parameters from a JSON object. None may be given twice.
func bodyArgs(data []byte) (map[string]json.RawMessage, *problem) {
	if !utf8.Valid(data) {
		return nil, badRequest("the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	wrong := badRequest("the body is not one JSON object of parameters")
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, wrong
	}
	args := make(map[string]json.RawMessage)
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, wrong
		}
		if _, twice := args[name]; twice {
			return nil, badRequest("%s: is given twice", brief(name))
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, wrong
		}
		args[name] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, wrong
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, wrong
	}
	return args, nil
}

// caller reads the caller's names from the headers. Those in a token take precedence.
func (by *who) caller(h http.Header) (operation.Caller, *problem) {
	c := operation.Caller{Only: by.only}
	for i, to := range []*string{&c.Author, &c.Agent, &c.Task, &c.Branch, &c.Session} {
		*to = h.Get(callerHeaders[i])
		if len(*to) > MaxName || !utf8.ValidString(*to) || strings.ContainsFunc(*to, func(r rune) bool {
			return r < ' ' || r == 0x7f
		}) {
			return operation.Caller{}, badRequest("%s: want at most %d bytes of UTF-8", callerHeaders[i], MaxName)
		}
	}
	if t := by.token; t != nil {
		if t.Author != "" && c.Author != "" && c.Author != t.Author {
			return c, forbidden("the token is for the author %q", t.Author)
		}
		if t.Agent != "" && c.Agent != "" && c.Agent != t.Agent {
			return c, forbidden("the token is for the agent %q", t.Agent)
		}
		c.Author = cmp.Or(t.Author, c.Author)
		c.Agent = cmp.Or(t.Agent, c.Agent, t.Name)
	}
	return c, nil
}

// conditions reads the headers that make a request depend on something.
func (q *request) conditions(r *http.Request) *problem {
	q.known = strings.Join(r.Header.Values("If-None-Match"), ",")
	if match := r.Header.Get("If-Match"); match != "" {
		cid, ok := strings.CutPrefix(match, `"`)
		cid, end := strings.CutSuffix(cid, `"`)
		if !ok || !end || cid == "" || strings.ContainsAny(cid, `",`) {
			return badRequest(`If-Match: want one "CID"`)
		}
		q.expect = cid
	}
	q.key = r.Header.Get("Idempotency-Key")
	if len(q.key) > maxKey || strings.ContainsFunc(q.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return badRequest("Idempotency-Key: want at most %d printable characters", maxKey)
	}
	if q.key != "" { // the operation log outlives this process, and the key may be private
		q.call.Caller.Key = hashToken(q.key)[:16]
	}
	return nil
}

// mediaText is the form of answers for people.
const mediaText = "text/plain"

// offers are the forms that answers of an operation have, best first.
func offers(op *operation.Operation) []string {
	switch op.Answer {
	case operation.MediaCAR:
		return []string{operation.MediaCAR}
	case operation.MediaNDJSON:
		return []string{operation.MediaNDJSON, operation.MediaJSON, mediaText}
	}
	return []string{operation.MediaJSON, operation.MediaNDJSON, mediaText}
}

// accept chooses the form of the answer.
func accept(headers []string, op *operation.Operation) (string, *problem) {
	list := offers(op)
	if len(headers) == 0 {
		return list[0], nil
	}
	best, bestWeight, bestExact := "", 0.0, 0
	for _, offer := range list {
		weight, exact := weigh(strings.Join(headers, ","), offer)
		if weight > bestWeight || weight == bestWeight && weight > 0 && exact > bestExact {
			best, bestWeight, bestExact = offer, weight, exact
		}
	}
	if best == "" {
		return "", newProblem(http.StatusNotAcceptable, codeAcceptable, "%s answers with %s",
			op.Name, strings.Join(list, ", "))
	}
	return best, nil
}

// weigh returns how much a media type is wanted, from 0 to 1, and how exactly it is named.
func weigh(header, offer string) (weight float64, exact int) {
	kind, _, _ := strings.Cut(offer, "/")
	for part := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(part)
		at := slices.Index([]string{"*/*", kind + "/*", offer}, media)
		if err != nil || at < 0 || at+1 < exact {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if json.Unmarshal([]byte(s), &q) != nil || q < 0 || q > 1 {
				q = 0
			}
		}
		weight, exact = q, at+1
	}
	return weight, exact
}
