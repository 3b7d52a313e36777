// Package s3 is a client of S3-compatible object stores: it reads, conditionally writes, lists and removes objects.
// Requests are signed with signature version 4.
//
// Requests without an answer, or refused temporarily, are repeated. A conditional write may therefore have succeeded
// before: ErrMoved says that the condition does not hold, and the caller checks whether the object is its own.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	// ErrNotFound is returned if the object does not exist.
	ErrNotFound = errors.New("no such object")
	// ErrMoved is returned if a condition does not hold for the object.
	ErrMoved = errors.New("the object is another one by now")
	// ErrBusy is an ErrMoved if the store only reports that another write is in progress.
	ErrBusy = fmt.Errorf("%w: another write is under way", ErrMoved)
	// ErrSame is returned by Get if the object has the known tag.
	ErrSame = errors.New("the object is the same")
	// ErrDenied is returned if the store denies the client access.
	ErrDenied = errors.New("denied by the object store")
	// ErrTooLarge is returned if an object exceeds the limit.
	ErrTooLarge = errors.New("the object is too large")
)

const (
	tries      = 8
	firstPause = 20 * time.Millisecond
	mostPause  = 2 * time.Second
	maxProblem = 64 << 10
	// maxList bounds a page of a list, in bytes: 1,000 names of 1 KiB fit.
	maxList = 4 << 20
	// stall is how long an answer may deliver no data.
	stall = time.Minute
)

// ClientOptions locate objects and hold the client's keys. Nothing is looked up elsewhere.
type ClientOptions struct {
	Endpoint  string // URL of the store, "" for Amazon's in Region
	Region    string // "" for us-east-1
	Bucket    string
	Prefix    string // of all keys, without a slash at its end; "" for none
	PathStyle bool   // the bucket is the first part of the path, and not of the host's name
	// AccessKey and SecretKey sign requests; without them none is signed. Token belongs to temporary keys.
	AccessKey, SecretKey, Token string
	Encryption                  string // x-amz-server-side-encryption of written objects, "" for the bucket's default
	Now                         func() time.Time
	Sleep                       func(context.Context, time.Duration) error
}

// Client is a connection to a bucket. Safe for concurrent use.
type Client struct {
	opt  ClientOptions
	base *url.URL // of the bucket
	http *http.Client
}

// New returns a client. It makes no request.
func New(opt ClientOptions) (*Client, error) {
	opt.Region = cmp.Or(opt.Region, "us-east-1")
	if opt.Endpoint == "" {
		opt.Endpoint = "https://s3." + opt.Region + ".amazonaws.com"
	}
	base, err := url.Parse(opt.Endpoint)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil ||
		base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the endpoint of the object store: want http://HOST[:PORT] or https://HOST[:PORT]")
	}
	if opt.PathStyle {
		base.Path = strings.TrimSuffix(base.Path, "/") + "/" + opt.Bucket
	} else {
		base.Host = opt.Bucket + "." + base.Host
	}
	dial := net.Dialer{Timeout: 30 * time.Second}
	return &Client{opt: opt, base: base, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: stall, MaxResponseHeaderBytes: 64 << 10,
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Object describes an object.
type Object struct {
	ETag string
	At   time.Time // of the answer, by the store's clock; zero if missing
}

// Get writes an object of at most limit bytes to w. If the object's tag is known, Get returns ErrSame instead.
// Before it repeats an interrupted answer it calls reset to discard what w received.
func (c *Client) Get(
	ctx context.Context, key, known string, limit int64, w io.Writer, reset func() error,
) (o Object, err error) {
	header := make(http.Header)
	if known != "" {
		header.Set("If-None-Match", known)
	}
	err = c.again(ctx, func() error {
		if err := reset(); err != nil {
			return err
		}
		return c.send(ctx, http.MethodGet, key, nil, header, nil, func(res *http.Response) error {
			o.ETag = res.Header.Get("ETag")
			n, err := io.Copy(w, io.LimitReader(steady{res.Body}, limit+1))
			switch {
			case n > limit:
				return ErrTooLarge
			case err == nil && res.ContentLength >= 0 && n != res.ContentLength:
				err = io.ErrUnexpectedEOF
			}
			return again(err)
		})
	})
	return o, err
}

// steady aborts a body that delivers no data for too long.
type steady struct {
	body io.ReadCloser
}

func (s steady) Read(p []byte) (int, error) {
	stop := time.AfterFunc(stall, func() { _ = s.body.Close() }) // reading returns then
	defer stop.Stop()
	return s.body.Read(p)
}

// Bytes returns a short object.
func (c *Client) Bytes(ctx context.Context, key, known string, limit int64) ([]byte, Object, error) {
	var buf bytes.Buffer
	o, err := c.Get(ctx, key, known, limit, &buf, func() error { buf.Reset(); return nil })
	return buf.Bytes(), o, err
}

// Put writes an object. If known is empty the object must not exist, otherwise it must have that tag: if not the
// error is ErrMoved.
func (c *Client) Put(ctx context.Context, key, known string, body io.ReaderAt, size int64) (o Object, err error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil {
		return o, err
	}
	header := make(http.Header)
	header.Set("x-amz-content-sha256", hex.EncodeToString(sum.Sum(nil)))
	if known == "" {
		header.Set("If-None-Match", "*")
	} else {
		header.Set("If-Match", known)
	}
	if c.opt.Encryption != "" {
		header.Set("x-amz-server-side-encryption", c.opt.Encryption)
	}
	err = c.again(ctx, func() error {
		// Each request has its own reader: an abandoned one may still be read.
		return c.send(ctx, http.MethodPut, key, nil, header, io.NewSectionReader(body, 0, size), func(res *http.Response) error {
			o.ETag = res.Header.Get("ETag")
			o.At, _ = http.ParseTime(res.Header.Get("Date")) // zero if missing
			return nil
		})
	})
	return o, err
}

// Make writes an object under a name that no other write uses. If it exists already, the answer to an earlier
// attempt was lost.
func (c *Client) Make(ctx context.Context, key string, body io.ReaderAt, size int64) error {
	return c.again(ctx, func() error {
		_, err := c.Put(ctx, key, "", body, size)
		switch {
		case errors.Is(err, ErrBusy):
			return again(err)
		case errors.Is(err, ErrMoved):
			return nil
		}
		return err
	})
}

// Delete removes an object, if it exists.
func (c *Client) Delete(ctx context.Context, key string) error {
	err := c.again(ctx, func() error {
		return c.send(ctx, http.MethodDelete, key, nil, make(http.Header), nil, func(*http.Response) error { return nil })
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// retryError marks errors of requests that are repeated.
type retryError struct{ err error }

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

func again(err error) error {
	if err == nil {
		return nil
	}
	return &retryError{err}
}

func (c *Client) again(ctx context.Context, fn func() error) error {
	for n, pause := 1, firstPause; ; n, pause = n+1, min(2*pause, mostPause) {
		err := fn()
		var retry *retryError
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &retry):
			return err
		case n == tries:
			return fmt.Errorf("the object store does not answer: %w", retry.err)
		}
		if err := c.opt.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// send sends one request, and calls read with a successful answer.
func (c *Client) send(
	ctx context.Context, method, key string, query url.Values, header http.Header, body *io.SectionReader,
	read func(*http.Response) error,
) error {
	u := *c.base
	full := strings.TrimPrefix(c.opt.Prefix+"/"+key, "/")
	if key == "" { // the bucket
		full = ""
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + full
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	req, err := http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return err
	}
	req.Header = header.Clone()
	if body != nil && body.Size() > 0 {
		req.Body, req.ContentLength = io.NopCloser(body), body.Size()
	}
	c.sign(req)
	res, err := c.http.Do(req)
	if err != nil {
		return again(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if res.StatusCode/100 == 2 {
		return read(res)
	}
	return problem(res)
}

func problem(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // as much as was readable
	told := fmt.Errorf("the object store answers %d%s", res.StatusCode, reason(text))
	switch res.StatusCode {
	case http.StatusNotModified:
		return ErrSame
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, told)
	case http.StatusConflict:
		return fmt.Errorf("%w: %w", ErrBusy, told)
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", ErrMoved, told)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrDenied, told)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout, http.StatusTooManyRequests, http.StatusRequestTimeout:
		return again(told)
	}
	return told
}

func reason(text []byte) string {
	if code := element(string(text), "Code"); code != "" && len(code) < 100 &&
		!strings.ContainsFunc(code, func(r rune) bool { return r < '!' || r > '~' }) {
		return " " + code
	}
	return ""
}

// element returns the text of the first element with a name. It does not decode entities, which the wanted values
// do not contain.
func element(text, name string) string {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	value, _, end := strings.Cut(rest, "</"+name+">")
	if !ok || !end {
		return ""
	}
	return value
}

// Listed is a listed object.
type Listed struct {
	Key string // without the prefix of all keys
	At  time.Time
}

// List calls fn with the objects whose keys begin with under, in key order.
func (c *Client) List(ctx context.Context, under string, fn func(Listed) error) error {
	prefix := strings.TrimPrefix(c.opt.Prefix+"/", "/")
	for next := ""; ; {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix + under}}
		if next != "" {
			query.Set("continuation-token", next)
		}
		var page []byte
		err := c.again(ctx, func() error {
			return c.send(ctx, http.MethodGet, "", query, make(http.Header), nil, func(res *http.Response) (err error) {
				page, err = io.ReadAll(io.LimitReader(res.Body, maxList+1))
				if err == nil && len(page) > maxList {
					return ErrTooLarge
				}
				return again(err)
			})
		})
		if err != nil {
			return err
		}
		text := string(page)
		for _, part := range strings.Split(text, "<Contents>")[1:] {
			at, _ := time.Parse(time.RFC3339, element(part, "LastModified")) // zero if invalid
			key, ok := strings.CutPrefix(element(part, "Key"), prefix)
			if !ok {
				continue
			}
			if err := fn(Listed{key, at}); err != nil {
				return err
			}
		}
		next = element(text, "NextContinuationToken")
		if element(text, "IsTruncated") != "true" || next == "" {
			return nil
		}
	}
}

// sign signs a request, unless there are no keys.
func (c *Client) sign(req *http.Request) {
	if c.opt.AccessKey == "" {
		return
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of no bytes
	if req.Header.Get("x-amz-content-sha256") == "" {
		req.Header.Set("x-amz-content-sha256", empty)
	}
	now := c.opt.Now().UTC()
	stamp, day := now.Format("20060102T150405Z"), now.Format("20060102")
	req.Header.Set("x-amz-date", stamp)
	if c.opt.Token != "" {
		req.Header.Set("x-amz-security-token", c.opt.Token)
	}
	signed := []string{"host"}
	values := map[string]string{"host": req.URL.Host}
	for name, v := range req.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "if-") {
			signed = append(signed, name)
			values[name] = strings.TrimSpace(v[0])
		}
	}
	slices.Sort(signed)
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n%s\n%s\n", req.Method, req.URL.EscapedPath(), req.URL.RawQuery)
	for _, name := range signed {
		fmt.Fprintf(&canonical, "%s:%s\n", name, values[name])
	}
	names := strings.Join(signed, ";")
	fmt.Fprintf(&canonical, "\n%s\n%s", names, req.Header.Get("x-amz-content-sha256"))
	sum := sha256.Sum256([]byte(canonical.String()))
	scope := day + "/" + c.opt.Region + "/s3/aws4_request"
	toSign := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	k := []byte("AWS4" + c.opt.SecretKey)
	for _, part := range []string{day, c.opt.Region, "s3", "aws4_request", toSign} {
		mac := hmac.New(sha256.New, k)
		mac.Write([]byte(part))
		k = mac.Sum(nil)
	}
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x",
		c.opt.AccessKey, scope, names, k))
}

// racers is how many concurrent writers test a store.
const racers = 8

// ErrUnsafe is returned by Probe for a store in which two writers can win.
var ErrUnsafe = errors.New("the object store does not keep writers apart")

// Probe has several writers concurrently create one object, and then replace it. It returns an error of ErrUnsafe
// unless exactly one of them wins each time. name must be an object with no other use.
func (c *Client) Probe(ctx context.Context, name string) (err error) {
	defer func() {
		if delErr := c.Delete(ctx, name); err == nil {
			err = delErr
		}
	}()
	first, err := c.race(ctx, name, "")
	if err != nil {
		return fmt.Errorf("with If-None-Match: %w", err)
	}
	if _, err = c.race(ctx, name, first); err != nil {
		return fmt.Errorf("with If-Match: %w", err)
	}
	return nil
}

// race returns the tag of the object that the only winner wrote.
func (c *Client) race(ctx context.Context, name, known string) (tag string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	won, wonBy := 0, ""
	for n := range racers {
		wg.Go(func() {
			text := fmt.Sprintf("writer %d after %s\n", n, known)
			o, putErr := c.Put(ctx, name, known, strings.NewReader(text), int64(len(text)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case putErr == nil:
				won++
				wonBy, tag = text, o.ETag
			case !errors.Is(putErr, ErrMoved):
				err = errors.Join(err, putErr)
			}
		})
	}
	wg.Wait()
	if err != nil {
		return "", err
	}
	got, o, err := c.Bytes(ctx, name, "", 1<<10)
	switch {
	case err != nil:
		return "", err
	case won > 1 || won == 1 && string(got) != wonBy:
		return "", fmt.Errorf("%w: %d of %d writers won", ErrUnsafe, won, racers)
	case won == 0 && !strings.HasSuffix(string(got), " after "+known+"\n"): // otherwise the winner's answer was lost
		return "", fmt.Errorf("%w: none of %d writers won", ErrUnsafe, racers)
	}
	return o.ETag, nil
}
