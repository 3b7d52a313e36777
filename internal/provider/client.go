package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Protocol is how one kind of provider is asked for one kind of thing.
type Protocol struct {
	Action                   string // what is asked for, as in "embed"
	Name                     string // of the provider, as in "openai"
	Path                     string
	Hint, KeyHint, ModelHint string // what to do about the commonest failures
	// Problem returns what an answer says about a failure: a sentence, and QuotaReason where no
	// waiting helps.
	Problem func(answer []byte) (said, reason string)
}

// QuotaReason is OpenAI's word for a 429 that no waiting helps.
const QuotaReason = "insufficient_quota"

// Client asks one model of one provider. It is safe for concurrent use.
type Client struct {
	proto  Protocol
	model  string // as the provider calls it
	url    string
	key    func() string
	opt    Options // without the key
	client *http.Client

	mu   sync.Mutex
	next time.Time // when the next request may start; guarded by mu
}

// New checks the name of a model and the options.
func New(p Protocol, model string, opt Options) (*Client, error) {
	if err := CheckModelName(model); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults()
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	url, err := EndpointURL(opt.URL, p.Path)
	if err != nil {
		return nil, err
	}
	key := opt.Key
	if err := CheckKey(key, url, opt.KeyInClear); err != nil {
		return nil, err
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

// Model returns the model as the provider calls it.
func (c *Client) Model() string { return c.model }

// Ask posts body until an answer goes through decode, the failure is a lasting one, or the attempts
// are used up. The waits between them double from half a second and are never shorter than what
// the provider asks for. The error of decode is taken for that of a wrong answer: it should wrap
// ErrAnswer only where it must not be looked through for the key. The error is an *Error, or wraps
// the cause of ctx.
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
		if failed.after > c.opt.MaxWait {
			failed.err.Err = fmt.Errorf("%w: the provider asks to wait %s, and the limit is %s",
				failed.err.Err, failed.after, c.opt.MaxWait)
			return failed.err
		}
		if err := c.opt.Clock.Sleep(ctx, max(min(wait, c.opt.MaxWait), failed.after)); err != nil {
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

// throttle waits until another request may start.
func (c *Client) throttle(ctx context.Context) error {
	if c.opt.PerMinute == 0 {
		return nil
	}
	c.mu.Lock()
	now := c.opt.Clock.Now()
	start := now
	if c.next.After(now) {
		start = c.next
	}
	c.next = start.Add(time.Minute / time.Duration(c.opt.PerMinute))
	c.mu.Unlock()
	if wait := start.Sub(now); wait > 0 {
		return c.opt.Clock.Sleep(ctx, wait)
	}
	return nil
}

// failure is what one request came to, and how long the provider asks to wait.
type failure struct {
	err   *Error
	after time.Duration
}

// attempt makes one request.
func (c *Client) attempt(
	ctx context.Context, body []byte, decode func(answer []byte) error,
) *failure {
	if err := c.throttle(ctx); err != nil {
		return c.failed(0, false, err)
	}
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
