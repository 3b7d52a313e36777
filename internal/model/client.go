// Package model asks models behind HTTP: one POST of JSON at a time, tried again where a failure may
// pass, and bounded in time and size. The packages below it say what is asked and how an answer is
// read; everything else about a request is here, so that it is the same for all:
//
//	embed    texts into vectors
//	rerank   how well texts answer a query
//	rewrite  a query in other words, cues of a text, the text of a digest
//
// Each of them lists its providers in one table. A new provider is its Protocol and a line in that table: configuration
// keys, environment variables, help and error texts follow from it. Models see texts and vectors, never a repository.
//
// A failure that may pass (408, 425, 429, 5xx without 501, a connection that breaks, a timeout) is tried again, by
// default 4 times, after 0.5 s, 1 s, 2 s, 4 s, or after what Retry-After says if that is longer; if it asks for more
// than a minute, the failure is returned at once. The schedule has no chance in it. Redirects are refused, and so is a
// key over plain http to another machine. Keys are in no error and no format verb prints them.
package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Provider describes one kind of server, for configuration.
type Provider struct {
	Name   string // as a spec has it: "openai"
	URL    string // the base URL by default
	Secret string // the environment variable that holds its key, as in "OPENAI_API_KEY"
	Shown  string // how a sentence names such a server, as in "a server like OpenAI's"
}

// Specs returns how models of the providers are named.
func Specs(providers []Provider) []string {
	var specs []string
	for _, p := range providers {
		specs = append(specs, p.Name+":MODEL")
	}
	return specs
}

// Protocol is how one kind of provider is asked for one kind of thing. Hint, KeyHint and ModelHint
// say what to do about the commonest failures, and have defaults.
type Protocol struct {
	Provider
	Action                   string // the operation, as in "embed"
	Path                     string
	MaxAnswer                int64 // bytes of one answer by default, 0 for 64 MiB
	Hint, KeyHint, ModelHint string
}

// The protocols that several kinds of models share. Each kind adds its own request.
var (
	OpenAI = Protocol{Provider: Provider{
		Name: "openai", URL: "https://api.openai.com", Secret: "OPENAI_API_KEY", Shown: "a server like OpenAI's",
	}}
	Ollama = Protocol{
		Provider: Provider{
			Name: "ollama", URL: "http://127.0.0.1:11434", Secret: "OLLAMA_API_KEY", Shown: "Ollama",
		},
		Hint:      "is Ollama running there? start it with: ollama serve",
		KeyHint:   "set the key, or the base URL of a server without one",
		ModelHint: "fetch the model with: ollama pull MODEL",
	}
)

// For returns the protocol for an operation.
func (p Protocol) For(action, path string, maxAnswer int64) Protocol {
	p.Action, p.Path, p.MaxAnswer = action, path, maxAnswer
	return p
}

// Base returns the protocol itself, of what embeds one.
func (p Protocol) Base() Protocol { return p }

// Based is a protocol with the additions of one kind of model.
type Based interface{ Base() Protocol }

// Providers returns the providers of protocols, in their order.
func Providers[P Based](protocols []P) []Provider {
	var list []Provider
	for _, p := range protocols {
		list = append(list, p.Base().Provider)
	}
	return list
}

// OpenSpec opens a spec PROVIDER:MODEL with the protocol of that provider. If there is no such provider the error wraps
// unknown.
func OpenSpec[P Based](protocols []P, spec string, opt ProviderOptions, unknown error) (proto P, _ *Client, _ error) {
	name, of, _ := strings.Cut(spec, ":")
	for _, p := range protocols {
		if p.Base().Name == name {
			client, err := Open(p.Base(), of, opt)
			return p, client, err
		}
	}
	return proto, nil, fmt.Errorf("%w %s: there are %s", unknown, Clip(spec), List(Specs(Providers(protocols)), "and"))
}

func (p *Protocol) setDefaults() {
	p.Hint = cmp.Or(p.Hint, "check the base URL and the network")
	p.KeyHint = cmp.Or(p.KeyHint, "check the key")
	p.ModelHint = cmp.Or(p.ModelHint, "check the model's name and the base URL")
}

// Client asks one model of one provider. It is safe for concurrent use.
type Client struct {
	proto  Protocol
	model  string // as the provider calls it
	url    string
	key    func() string
	opt    ProviderOptions // without the key
	client *http.Client
}

// SplitAddress cuts the address off a model MODEL@URL, or off a spec that ends so. It is "" if there is none.
func SplitAddress(spec string) (rest, address string) {
	if scheme := strings.Index(spec, "://"); scheme >= 0 {
		if at := strings.LastIndexByte(spec[:scheme], '@'); at >= 0 {
			return spec[:at], spec[at+1:]
		}
	}
	return spec, ""
}

// Open checks the name of a model, which may end in @ and an address, and the options. Nothing is asked before the first Ask.
func Open(p Protocol, model string, opt ProviderOptions) (*Client, error) {
	p.setDefaults()
	model, address := SplitAddress(model)
	opt.URL = cmp.Or(address, opt.URL, p.URL)
	opt.MaxAnswer = cmp.Or(opt.MaxAnswer, p.MaxAnswer)
	opt = opt.withDefaults()
	key := opt.Key
	url, err := endpoint(p, model, opt)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Name, err)
	}
	// Printing a client by any verb shows the address of a function instead of the key.
	opt.Key = ""
	c := &Client{
		proto: p, model: model, url: url.String(), opt: opt,
		key: func() string { return string(key) },
	}
	c.client = &http.Client{
		Transport:     opt.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// endpoint checks the parts of a client and returns the address for its requests.
func endpoint(p Protocol, model string, opt ProviderOptions) (*url.URL, error) {
	if err := checkModelName(model); err != nil {
		return nil, err
	}
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	u, err := endpointURL(opt.URL, p.Path)
	if err != nil {
		return nil, err
	}
	return u, checkKey(opt.Key, u)
}

// Model returns the model as the provider calls it.
func (c *Client) Model() string { return c.model }

// Ask posts body until decode accepts an answer, a failure is permanent, or the attempts are used up. The waits between
// attempts double from half a second and are never shorter than the provider asks for. An error of decode means a wrong
// answer; it should wrap ErrAnswer only if it cannot contain the key. The error is an *Error, or wraps the cause of
// ctx.
func (c *Client) Ask(ctx context.Context, body []byte, decode func(answer []byte) error) error {
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, wait*2 {
		failed := c.attempt(ctx, body, decode)
		if failed == nil {
			return nil
		}
		if ctx.Err() != nil {
			return c.ended(context.Cause(ctx))
		}
		failed.err.Attempts = attempt
		if !failed.err.Temporary || attempt >= c.opt.Attempts {
			return failed.err
		}
		if failed.after > maxWait {
			failed.err.Err = fmt.Errorf("%w: the provider asks to wait %s, and the limit is %s",
				failed.err.Err, failed.after, maxWait)
			return failed.err
		}
		if err := c.opt.Clock.Sleep(ctx, max(min(wait, maxWait), failed.after)); err != nil {
			return c.ended(err)
		}
	}
}

// Fail returns the error of something that went wrong before anybody was asked.
func (c *Client) Fail(err error) error { return c.failed(0, false, err).err }

// ended is the error of a call that was given up.
func (c *Client) ended(err error) error {
	return fmt.Errorf("%s with %s:%s: %w", c.proto.Action, c.proto.Name, c.model, err)
}

// failure is the outcome of one failed request, and how long the provider asks to wait.
type failure struct {
	err   *Error
	after time.Duration
}

// attempt makes one request.
func (c *Client) attempt(ctx context.Context, body []byte, decode func(answer []byte) error) *failure {
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return c.failed(0, false, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if key := c.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return c.failed(0, true, c.unreachable(ctx, err))
	}
	defer res.Body.Close()
	answer, err := c.readAnswer(ctx, res)
	if err != nil {
		return c.failed(res.StatusCode, !errors.Is(err, ErrAnswer), err)
	}
	if res.StatusCode != http.StatusOK {
		return c.refused(res, answer)
	}
	if err := decode(answer); err != nil {
		if !errors.Is(err, ErrAnswer) {
			err = c.unreadable(answer, err)
		}
		return c.failed(res.StatusCode, false, err)
	}
	return nil
}

func (c *Client) failed(status int, temporary bool, err error) *failure {
	return &failure{err: &Error{
		Action: c.proto.Action, Provider: c.proto.Name, Model: c.model, Status: status,
		Temporary: temporary, Err: err,
	}}
}

// unreachable says what to do about a request that had no answer.
func (c *Client) unreachable(ctx context.Context, err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err // without the words that name the address a second time
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer from %s within %s: %w", c.url, c.opt.Timeout, ctx.Err())
	}
	return fmt.Errorf("no answer from %s: %w: %s", c.url, err, c.proto.Hint)
}

// readAnswer reads a body of at most MaxAnswer bytes. A connection that breaks may be better next
// time; an answer that is too long is not.
func (c *Client) readAnswer(ctx context.Context, res *http.Response) ([]byte, error) {
	answer, err := io.ReadAll(io.LimitReader(res.Body, c.opt.MaxAnswer+1))
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("within %s: %w", c.opt.Timeout, ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("the answer from %s broke off after %d bytes: %w", c.url, len(answer), err)
	}
	if int64(len(answer)) > c.opt.MaxAnswer {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrAnswer, c.opt.MaxAnswer)
	}
	return answer, nil
}

// unreadable is the error of an answer that was not understood, without what may be the key.
func (c *Client) unreadable(answer []byte, err error) error {
	if key := c.key(); key != "" && bytes.Contains(answer, []byte(key)) {
		return fmt.Errorf("%w: not what %s answers, and it repeats the key", ErrAnswer, c.proto.Name)
	}
	return fmt.Errorf("%w: %s", ErrAnswer, c.hide(err.Error()))
}

// refused says what a status other than 200 means.
func (c *Client) refused(res *http.Response, answer []byte) *failure {
	code := res.StatusCode
	status := fmt.Sprintf("%d %s", code, http.StatusText(code))
	said, reason := problemText(answer)
	if said = c.hide(said); said != "" {
		status += ": " + Clip(said)
	}
	f := c.failed(code, false, nil)
	switch {
	case code >= 300 && code < 400:
		to := c.hide(res.Header.Get("Location"))
		f.err.Err = fmt.Errorf("%w: %s answers %d to %s: give that as the base URL if it is right",
			ErrRedirect, c.url, code, Clip(to))
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		// The provider's own words are left out: some repeat a part of the key.
		f.err.Err = fmt.Errorf("%w: %s answers %d: %s", ErrKey, c.url, code, c.proto.KeyHint)
	case code == http.StatusNotFound:
		f.err.Err = fmt.Errorf("%w: %s answers %s: %s", ErrModel, c.url, status, c.proto.ModelHint)
	case reason == quotaReason:
		f.err.Err = fmt.Errorf("%s answers %s", c.url, status)
	default:
		f.err.Temporary = code == http.StatusRequestTimeout || code == http.StatusTooManyRequests ||
			code == http.StatusTooEarly || code >= 500 && code != http.StatusNotImplemented
		f.after = c.retryAfter(res.Header.Get("Retry-After"))
		f.err.Err = fmt.Errorf("%s answers %s", c.url, status)
	}
	return f
}

// retryAfter reads the header of that name: seconds or a date. What is neither counts as nothing.
func (c *Client) retryAfter(value string) time.Duration {
	const most = 1 << 31 // seconds; more than any limit, and no overflow
	if seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64); err == nil {
		return time.Duration(min(seconds, most)) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(c.opt.Clock.Now()), 0)
}

// hide removes the key from what a provider said.
func (c *Client) hide(said string) string {
	if key := c.key(); key != "" {
		return strings.ReplaceAll(said, key, "(key)")
	}
	return said
}

// Error is the failure of a remote provider. No part of it holds a key.
type Error struct {
	Action    string // what was asked for, as in "embed"
	Provider  string // such as "ollama" or "openai"
	Model     string // as the provider calls it
	Status    int    // of HTTP, 0 if there was no answer
	Attempts  int    // requests made
	Temporary bool   // whether the same call may go well later
	Err       error  // what went wrong
}

// Error returns one line: what was asked for, provider, model, cause and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with %s:%s: %v", e.Action, e.Provider, e.Model, e.Err)
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes of an *Error that a caller may branch on with errors.Is.
var (
	// ErrAnswer is wrapped when a provider answered with something other than what was asked for:
	// JSON that ends in the middle, a wrong number of things, numbers that are none.
	ErrAnswer = errors.New("wrong answer")
	// ErrRedirect is wrapped when a provider sends the request to another address. It is not
	// followed: the texts and the key were meant for the first one.
	ErrRedirect = errors.New("redirect refused")
	// ErrKey is wrapped when a provider refuses the key, or wants one.
	ErrKey = errors.New("key refused")
	// ErrModel is wrapped when a provider does not have the model.
	ErrModel = errors.New("no such model")
)

// Secret is a key. It formats as "(hidden)" by every verb; convert it to a string to use it.
type Secret string

const hidden = "(hidden)"

// String returns "(hidden)", or nothing for an empty key.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format writes what String returns.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
