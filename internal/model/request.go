package model

import (
	"bytes"
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
