package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Defaults and bounds of requests.
const (
	defaultTimeout  = time.Minute
	defaultAttempts = 5
	maxAttempts     = 20
	maxWait         = time.Minute // between two requests for one question
	firstWait       = 500 * time.Millisecond
	defaultAnswer   = 64 << 20 // bytes
	maxModelName    = 207      // bytes: what stands around it in a name of 255 needs the rest
)

// ProviderOptions says how to reach a provider. Every field has a default.
type ProviderOptions struct {
	// URL is the base, http or https, without credentials and query; a path /v1 or /v2 at its end
	// is understood where that of the protocol begins so. Default: the provider's.
	URL string
	// Key is sent as a bearer token unless empty. It comes from the environment, which the caller
	// reads; no error and no format verb shows it.
	Key Secret

	Timeout   time.Duration // of one request: 1 ms to 1 h, default a minute
	Attempts  int           // requests for one question: 1 to 20, default 5
	MaxAnswer int64         // bytes of one answer: default 64 MiB, at most 1 GiB

	Transport http.RoundTripper // default http.DefaultTransport
	Clock     Clock             // default that of the machine
}

// withDefaults returns the options with the defaults that all providers share.
func (o ProviderOptions) withDefaults() ProviderOptions {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Attempts = cmp.Or(o.Attempts, defaultAttempts)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, defaultAnswer)
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	return o
}

// Bound is the range of an option.
type Bound struct {
	Name             string
	Value, Low, High int64
}

// CheckBounds returns an error that names the first option outside its range.
func CheckBounds(bounds []Bound) error {
	for _, b := range bounds {
		if b.Value < b.Low || b.Value > b.High {
			return fmt.Errorf("option %s is %d, want %d to %d", b.Name, b.Value, b.Low, b.High)
		}
	}
	return nil
}

// Validate returns an error that names a number outside its bounds. Zero is within all of them.
func (o ProviderOptions) Validate() error {
	o = o.withDefaults()
	return CheckBounds([]Bound{
		{"Timeout", int64(o.Timeout), int64(time.Millisecond), int64(time.Hour)},
		{"Attempts", int64(o.Attempts), 1, maxAttempts},
		{"MaxAnswer", o.MaxAnswer, 1, 1 << 30},
	})
}

// Clock is the time by which requests wait. Nothing of it gets into what is returned.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or before that with the cause of ctx when it ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// systemClock is the time of the machine.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// checkModelName refuses what no provider calls a model.
func checkModelName(name string) error {
	if name == "" {
		return errors.New("no model given: want its name after the colon")
	}
	if len(name) > maxModelName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) {
		return fmt.Errorf("%s is no name of a model", Clip(name))
	}
	return nil
}

// endpointURL joins a base URL and the path of a protocol.
func endpointURL(base, path string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The error of url.Parse shows the whole text, and with it a password.
		return nil, errors.New("the base URL cannot be read: want http://HOST or https://HOST")
	case u.User != nil:
		return nil, errors.New("the base URL holds a user or password: give the key in the environment")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("base URL %s: want http://HOST or https://HOST", Clip(base))
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base URL of host %s: has a query or fragment", Clip(u.Host))
	}
	u.Path = strings.TrimRight(u.Path, "/")
	for _, version := range []string{"/v1", "/v2"} {
		if strings.HasPrefix(path, version+"/") || version == "/v1" {
			u.Path = strings.TrimSuffix(u.Path, version)
		}
	}
	u.RawPath = ""
	return u.JoinPath(path), nil
}

// checkKey refuses a key that no header can hold, and one that others could read on its way.
func checkKey(key Secret, u *url.URL) error {
	if strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r >= 0x7F }) {
		return errors.New("the key holds a space, a line end or a character that is not ASCII")
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if key != "" && u.Scheme == "http" && !local {
		return fmt.Errorf("the key would go over http to %s for all to read: use https", Clip(u.Host))
	}
	return nil
}
