package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
	setDefault(&p.Hint, "check the base URL and the network")
	setDefault(&p.KeyHint, "check the key")
	setDefault(&p.ModelHint, "check the model's name and the base URL")
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
	setDefault(&opt.MaxAnswer, p.MaxAnswer)
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
func (c *Client) attempt(
	ctx context.Context, body []byte, decode func(answer []byte) error,
) *failure {
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
