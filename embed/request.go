package embed

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

// failure is what one request came to, and how long the provider asks to wait.
type failure struct {
	err   *Error
	after time.Duration
}

// attempt makes one request and returns the vectors of its n texts.
func (r *remote) attempt(ctx context.Context, body []byte, n int) ([][]int8, *failure) {
	if err := r.throttle(ctx); err != nil {
		return nil, r.failed(0, false, err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, r.failed(0, false, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if key := r.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, r.failed(0, true, r.unreachable(ctx, err))
	}
	defer res.Body.Close()
	answer, err := r.readAnswer(ctx, res)
	if err != nil {
		return nil, r.failed(res.StatusCode, !errors.Is(err, ErrAnswer), err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, r.refused(res, answer)
	}
	vectors, err := r.proto.decode(answer, n)
	if err != nil {
		return nil, r.failed(res.StatusCode, false, r.unreadable(answer, err))
	}
	out, err := r.quantiseAll(vectors)
	if err != nil {
		return nil, r.failed(res.StatusCode, false, err)
	}
	return out, nil
}

func (r *remote) failed(status int, temporary bool, err error) *failure {
	return &failure{err: &Error{
		Provider: r.proto.name, Model: r.name, Status: status, Temporary: temporary, Err: err,
	}}
}

// unreachable says what to do about a request that had no answer.
func (r *remote) unreachable(ctx context.Context, err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err // without the words that name the address a second time
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer from %s within %s: %w", r.url, r.opt.Timeout, ctx.Err())
	}
	return fmt.Errorf("no answer from %s: %w: %s", r.url, err, r.proto.hint)
}

// readAnswer reads a body of at most MaxAnswer bytes. A connection that breaks may be better next
// time; an answer that is too long is not.
func (r *remote) readAnswer(ctx context.Context, res *http.Response) ([]byte, error) {
	answer, err := io.ReadAll(io.LimitReader(res.Body, r.opt.MaxAnswer+1))
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("within %s: %w", r.opt.Timeout, ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("the answer from %s broke off after %d bytes: %w", r.url, len(answer), err)
	}
	if int64(len(answer)) > r.opt.MaxAnswer {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrAnswer, r.opt.MaxAnswer)
	}
	return answer, nil
}

// unreadable is the error of an answer that was not understood, without what may be the key.
func (r *remote) unreadable(answer []byte, err error) error {
	if key := r.key(); key != "" && bytes.Contains(answer, []byte(key)) {
		return fmt.Errorf("%w: not what %s answers, and it repeats the key", ErrAnswer, r.proto.name)
	}
	return fmt.Errorf("%w: %s", ErrAnswer, r.hide(err.Error()))
}

// refused says what a status other than 200 means.
func (r *remote) refused(res *http.Response, answer []byte) *failure {
	code := res.StatusCode
	status := fmt.Sprintf("%d %s", code, http.StatusText(code))
	said, reason := r.proto.problem(answer)
	if said = r.hide(said); said != "" {
		status += ": " + clip(said)
	}
	f := r.failed(code, false, nil)
	switch {
	case code >= 300 && code < 400:
		to := r.hide(res.Header.Get("Location"))
		f.err.Err = fmt.Errorf("%w: %s answers %d to %s: give that as the base URL if it is right",
			ErrRedirect, r.url, code, clip(to))
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		// The provider's own words are left out: some repeat a part of the key.
		f.err.Err = fmt.Errorf("%w: %s answers %d: %s", ErrKey, r.url, code, r.proto.keyHint)
	case code == http.StatusNotFound:
		f.err.Err = fmt.Errorf("%w: %s answers %s: %s", ErrModel, r.url, status, r.proto.modelHint)
	case reason == quotaReason:
		f.err.Err = fmt.Errorf("%s answers %s", r.url, status)
	default:
		f.err.Temporary = code == http.StatusRequestTimeout || code == http.StatusTooManyRequests ||
			code == http.StatusTooEarly || code >= 500 && code != http.StatusNotImplemented
		f.after = r.retryAfter(res.Header.Get("Retry-After"))
		f.err.Err = fmt.Errorf("%s answers %s", r.url, status)
	}
	return f
}

// retryAfter reads the header of that name: seconds or a date. What is neither counts as nothing.
func (r *remote) retryAfter(value string) time.Duration {
	const most = 1 << 31 // seconds; more than any limit, and no overflow
	if seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64); err == nil {
		return time.Duration(min(seconds, most)) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(r.opt.Clock.Now()), 0)
}

// hide removes the key from what a provider said.
func (r *remote) hide(said string) string {
	if key := r.key(); key != "" {
		return strings.ReplaceAll(said, key, "(key)")
	}
	return said
}
