package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// A Grant records that the owner let a client in by OAuth: the client renews its token by itself.
type Grant struct {
	Client   string `json:"client"`   // the SHA-256 of its id, in hex
	Resource string `json:"resource"` // the URL of the only server that takes it
	By       string `json:"by"`       // the id of the owner's token, with which the grant ends
	// Refresh is the SHA-256 of the text that renews the token, in hex. Each such text works once.
	Refresh string    `json:"refresh"`
	Family  string    `json:"family"` // the SHA-256 of the code that it began with, which all these texts contain
	Until   time.Time `json:"until"`  // after which nothing renews it
}

// Grants keep the tokens that OAuth makes, together with those made by hand.
type Grants interface {
	Add(ctx context.Context, t *Token) error // its name must be new
	Get(id string) (*Token, error)           // nil for none
	List() ([]Token, error)                  // by name
	// Replace puts a token in the place of one with its id and name, and returns false if that one is gone or changed.
	Replace(ctx context.Context, old, next *Token) (bool, error)
	Remove(t *Token) error
}

// OAuth lets clients sign in by OAuth 2.1: each gets a token that the owner of the server agreed to.
type OAuth struct {
	URL    string // of this server as browsers reach it, without a path: see CheckOAuthURL
	Path   string // of what clients ask for below it
	Grants Grants

	mu    sync.Mutex // of codes, grants and renewals
	codes map[digest]*grantCode
}

const (
	refreshPrefix = "mnemr_"
	accessTime    = time.Hour
	refreshTime   = 30 * 24 * time.Hour // since the last renewal
	grantCodeTime = time.Minute
	maxGrantCodes = 256
	maxClientID   = 2 << 10 // bytes
	maxClientName = 64      // bytes
	maxRedirects  = 8
	maxVerifier   = 128
	minVerifier   = 43
)

// grantCode records what the owner agreed to, until the client comes for its token.
type grantCode struct {
	client, redirect, challenge string
	scope, author, by, only     string
	ends                        time.Time
}

// CheckOAuthURL returns the URL of a server without the slash at its end. It must be https, or http of this machine, and have
// no path, user, query or fragment.
func CheckOAuthURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", err
	case !isPlainHost(u) || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("%q is not the address of a server: want https://HOST", brief(s))
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())):
		return "", fmt.Errorf("%q is not https", brief(s))
	}
	return origin(u), nil
}

// origin returns scheme and host of a URL as RFC 3986, 6.2.3 normalizes them: in lower case, without the scheme's own port.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}

// hostBytes are the bytes of names, addresses and ports.
const hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]"

// isPlainHost reports whether the host of a URL is ASCII, so that it looks like itself alone.
func isPlainHost(u *url.URL) bool { return u.Hostname() != "" && strings.Trim(u.Host, hostBytes) == "" }

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// resource is the URL that tokens are for.
func (o *OAuth) resource() string { return o.URL + o.Path }

// client has what a client said of itself. Its id holds all of it, so that nothing is stored: anybody may register, and the
// owner decides by the name and the address.
type client struct {
	Name      string   `json:"n"`
	Redirects []string `json:"r"`
}

// newClient checks what a client says of itself, and returns its id.
func newClient(name string, redirects []string) (string, error) {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name))
	for len(name) > maxClientName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	name = strings.TrimSpace(name) // clientOf must make the same of it
	if name == "" {
		name = "a client without a name"
	}
	if len(redirects) == 0 || len(redirects) > maxRedirects {
		return "", fmt.Errorf("redirect_uris: want 1 to %d", maxRedirects)
	}
	for _, s := range redirects {
		if err := checkRedirect(s); err != nil {
			return "", err
		}
	}
	data, _ := json.Marshal(client{name, redirects}) // strings have a JSON form
	id := base64.RawURLEncoding.EncodeToString(data)
	if len(id) > maxClientID {
		return "", errors.New("redirect_uris: too long")
	}
	return id, nil
}

// clientOf returns the client of an id, nil for an id that newClient did not return.
func clientOf(id string) *client {
	if len(id) > maxClientID {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(id)
	var c client
	if err != nil || json.Unmarshal(data, &c) != nil {
		return nil
	}
	if again, err := newClient(c.Name, c.Redirects); err != nil || again != id {
		return nil
	}
	return &c
}

// checkRedirect accepts https, and http of the machine that the browser runs on.
func checkRedirect(s string) error {
	u, err := url.Parse(s)
	if err != nil || !isPlainHost(u) || u.User != nil || strings.Contains(s, "#") ||
		u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return fmt.Errorf("redirect_uris: %q is not https, and not http of this machine", brief(s))
	}
	query := u.Query()
	for _, name := range []string{"code", "error", "error_description", "iss", "state"} {
		if query.Has(name) {
			return fmt.Errorf("redirect_uris: %q has the parameter %s of an answer", brief(s), name)
		}
	}
	return nil
}

// returnsTo reports whether a client may be answered at an address: one that it registered, to the letter. Only the port of
// a program on the same machine may differ.
func (c *client) returnsTo(s string) bool {
	if checkRedirect(s) != nil {
		return false
	}
	return slices.ContainsFunc(c.Redirects, func(known string) bool {
		return known == s || anyPort(known) != "" && anyPort(known) == anyPort(s)
	})
}

// anyPort returns an address of this machine without its port, "" for one of another machine.
func anyPort(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) {
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}

// keep keeps a code until its client comes. The oldest makes room.
func (o *OAuth) keep(hash digest, c *grantCode, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.codes == nil {
		o.codes = make(map[digest]*grantCode)
	}
	var oldest digest
	for h, other := range o.codes {
		if !now.Before(other.ends) {
			delete(o.codes, h)
		} else if at := o.codes[oldest]; at == nil || other.ends.Before(at.ends) {
			oldest = h
		}
	}
	if len(o.codes) >= maxGrantCodes {
		delete(o.codes, oldest)
	}
	o.codes[hash] = c
}

// redeem gives a client its tokens for a code that is right, nil for one that is unknown, used or old. A code that comes a
// second time may be stolen, so what it gave ends then (RFC 6749, 4.1.2).
func (o *OAuth) redeem(
	ctx context.Context, rand io.Reader, code string, now time.Time, right func(*grantCode) bool,
) (*granted, error) {
	hash := sha256.Sum256([]byte(code))
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.codes[hash]
	delete(o.codes, hash)
	switch {
	case c == nil:
		return nil, o.end(hashToken(code))
	case !now.Before(c.ends) || !right(c):
		return nil, nil
	}
	return o.grant(ctx, rand, code, c, now)
}

func (o *OAuth) end(family string) error {
	all, err := o.Grants.List()
	if err != nil {
		return err
	}
	for i := range all {
		if g := all[i].Grant; g != nil && g.Family == family {
			return o.Grants.Remove(&all[i])
		}
	}
	return nil
}

// isChallenge reports whether a text may be the SHA-256 of a verifier (RFC 7636, S256).
func isChallenge(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

func proves(verifier, challenge string) bool {
	if len(verifier) < minVerifier || len(verifier) > maxVerifier {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:]) == challenge
}

type granted struct {
	access, refresh, scope string
}

// grant makes a token for a client. Grants that nothing renews any more make room.
func (o *OAuth) grant(ctx context.Context, rand io.Reader, code string, c *grantCode, now time.Time) (*granted, error) {
	all, err := o.Grants.List()
	if err != nil {
		return nil, err
	}
	for i := range all {
		g := all[i].Grant
		if g != nil && (!now.Before(g.Until) || !slices.ContainsFunc(all, func(t Token) bool { return t.ID == g.By })) {
			if err := o.Grants.Remove(&all[i]); err != nil {
				return nil, err
			}
		}
	}
	name := clientOf(c.client).Name
	t, access, err := NewToken(rand, name, c.scope, now)
	if err != nil {
		return nil, err
	}
	t.Name, t.Agent, t.Author, t.Only = name+" "+t.ID, name, c.author, c.only
	t.Grant = &Grant{Client: hashToken(c.client), Resource: o.resource(), By: c.by, Family: hashToken(code)}
	got, err := t.renewable(rand, access, code, now)
	if err != nil {
		return nil, err
	}
	return got, o.Grants.Add(ctx, &t)
}

// renewable gives a token a new text for its renewal.
func (t *Token) renewable(rand io.Reader, access, family string, now time.Time) (*granted, error) {
	once := make([]byte, tokenSecret)
	if _, err := io.ReadFull(rand, once); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	refresh := refreshPrefix + t.ID + "_" + family + "_" + tokenCode.EncodeToString(once)
	ends := now.Add(accessTime).UTC()
	t.Expires, t.Grant.Refresh, t.Grant.Until = &ends, hashToken(refresh), now.Add(refreshTime).UTC()
	return &granted{access, refresh, t.Scope}, nil
}

// renew gives a client another token for a text that renews it, nil for a text that does not. A text that comes a second
// time may be stolen, so the grant ends then.
func (o *OAuth) renew(ctx context.Context, rand io.Reader, text, client string, now time.Time) (*granted, error) {
	rest, ok := strings.CutPrefix(text, refreshPrefix)
	id, rest, _ := strings.Cut(rest, "_")
	family, _, found := strings.Cut(rest, "_")
	if !ok || !found || !ValidTokenID(id) || len(text) > maxToken {
		return nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t, err := o.Grants.Get(id)
	if err != nil || t == nil || t.Grant == nil || t.Grant.Client != hashToken(client) || t.Grant.Resource != o.resource() {
		return nil, err
	}
	if t.Grant.Family != hashToken(family) {
		return nil, nil
	}
	stands, err := t.stands(o.Grants.Get, now)
	if err != nil {
		return nil, err
	}
	if t.Grant.Refresh != hashToken(text) || !stands || !now.Before(t.Grant.Until) {
		return nil, o.Grants.Remove(t)
	}
	next, access, err := NewToken(rand, t.Name, t.Scope, now)
	if err != nil {
		return nil, err
	}
	access = strings.Replace(access, next.ID, t.ID, 1)
	next.ID, next.Hash, next.Created = t.ID, hashToken(access), t.Created
	grant := *t.Grant
	next.Author, next.Agent, next.Only, next.Grant = t.Author, t.Agent, t.Only, &grant
	got, err := next.renewable(rand, access, family, now)
	if err != nil {
		return nil, err
	}
	if ok, err := o.Grants.Replace(ctx, t, &next); !ok { // else it was revoked in between
		return nil, err
	}
	return got, nil
}

// takes reports whether a token counts here: one of a grant does where it was granted alone.
func (c *Config) takes(t *Token) (bool, error) {
	if t.Grant == nil {
		return true, nil
	}
	if c.OAuth == nil || t.Grant.Resource != c.OAuth.resource() {
		return false, nil
	}
	return t.stands(c.Token, c.Now())
}

// stands reports whether the owner's token by which a token was granted still counts, for the same branch.
func (t *Token) stands(get func(id string) (*Token, error), now time.Time) (bool, error) {
	by, err := get(t.Grant.By)
	return by != nil && by.Grant == nil && by.Valid(now) && by.Only == t.Only, err
}

// grantScope returns what a client may be given that asks for some scopes: the most of them that is known, but nothing that
// destroys. Scopes of others are left out, as RFC 6749 allows.
func grantScope(asked string) string {
	best := operation.Effect(0)
	for word := range strings.FieldsSeq(asked) {
		if e := EffectOf(word); e != operation.Destroys {
			best = max(best, e)
		}
	}
	return cmp.Or(best, operation.Writes).String()
}
