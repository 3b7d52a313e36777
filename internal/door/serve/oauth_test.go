package serve

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Add, List and Remove make keep a place for grants.
func (k *keep) Add(_ context.Context, t *Token) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[t.ID] = t
	return nil
}

func (k *keep) Get(id string) (*Token, error) { return k.get(id) }

func (k *keep) List() (all []Token, _ error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.all {
		all = append(all, *t)
	}
	return all, nil
}

func (k *keep) Replace(_ context.Context, old, next *Token) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if is := k.all[old.ID]; is == nil || is.Hash != old.Hash {
		return false, nil
	}
	k.all[next.ID] = next
	return true, nil
}

func (k *keep) Remove(t *Token) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, t.ID)
	return nil
}

const (
	oauthHome    = "https://memory.example.org"
	oauthReturn  = "https://chat.example.com/back?x=1"
	testVerifier = "0123456789012345678901234567890123456789012"
	asForm       = "Content-Type: " + mediaForm
)

// signInFixture is a server that clients sign in to, with a client that is registered.
type signInFixture struct {
	*fixture
	keep  *keep
	clock *clock
	id    string
}

func withOAuth(t *testing.T) *signInFixture {
	t.Helper()
	c := &clock{at: time.Now()}
	f := &signInFixture{clock: c}
	f.fixture, f.keep = withTokens(t, func(cfg *Config) { cfg.Now = c.now })
	f.srv.cfg.OAuth = &OAuth{URL: oauthHome, Path: "/mcp", Grants: f.keep}
	oauth{f.srv}.serveOAuth()
	r := f.ask("POST", registerPath, `{"client_name":"Chat <b>","redirect_uris":["`+oauthReturn+`","http://127.0.0.1:99/cb"]}`, asJSONType)
	f.want(r, 201, "")
	f.id = member(t, r.text, "client_id")
	return f
}

// member returns a string of a JSON object.
func member(t *testing.T, data, name string) string {
	t.Helper()
	var o map[string]any
	must.OK(t, json.Unmarshal([]byte(data), &o), "in ", data)
	s, _ := o[name].(string)
	return s
}

// wants returns what the client asks for, with some fields changed.
func (f *signInFixture) wants(change ...string) url.Values {
	sum := sha256.Sum256([]byte(testVerifier))
	v := url.Values{
		"client_id": {f.id}, "redirect_uri": {oauthReturn}, "response_type": {"code"}, "state": {"s&t"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"scope": {"read write admin offline_access"}, "resource": {oauthHome + "/mcp"},
	}
	for i := 0; i < len(change); i += 2 {
		v.Set(change[i], change[i+1])
	}
	return v
}

// decides posts the page as the owner does, and returns what the browser is sent to.
func (f *signInFixture) decides(owner, answer string, change ...string) (reply, url.Values) {
	f.t.Helper()
	v := f.wants(change...)
	v.Set("answer", answer)
	v.Set("token", strings.TrimPrefix(owner, "Authorization: Bearer "))
	return f.sent("POST", authorizePath, v)
}

// sent sends a form and follows no redirect.
func (f *signInFixture) sent(method, path string, v url.Values) (reply, url.Values) {
	f.t.Helper()
	body := v.Encode()
	if method == http.MethodGet {
		path, body = path+"?"+body, ""
	}
	req := must.Get(http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body)))(f.t)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", mediaForm)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must.Get(client.Do(req))(f.t)
	defer func() { _ = res.Body.Close() }()
	data := must.Get(io.ReadAll(res.Body))(f.t)
	to := must.Get(url.Parse(res.Header.Get("Location")))(f.t)
	return reply{res, string(data)}, to.Query()
}

// token asks for a token, with some fields changed.
func (f *signInFixture) token(kind string, change ...string) reply {
	f.t.Helper()
	v := url.Values{"grant_type": {kind}, "client_id": {f.id}}
	for i := 0; i < len(change); i += 2 {
		v.Set(change[i], change[i+1])
	}
	return f.ask("POST", tokenPath, v.Encode(), asForm)
}

// code signs in, and returns the code.
func (f *signInFixture) code(owner, answer string) string {
	f.t.Helper()
	r, back := f.decides(owner, answer)
	if r.StatusCode != http.StatusSeeOther || back.Get("code") == "" || back.Get("state") != "s&t" || back.Get("iss") != oauthHome || back.Get("x") != "1" {
		f.t.Fatalf("%d %v %s", r.StatusCode, back, r.text)
	}
	return back.Get("code")
}

func bearerOf(text string) string { return "Authorization: Bearer " + text }

// TestSignIn goes the whole way: what a client is told, what the owner sees, what the token allows, and how it is renewed.
func TestSignIn(t *testing.T) {
	f := withOAuth(t)
	const where = `, resource_metadata="` + oauthHome + resourceMetaPath + `/mcp"`
	for with, want := range map[string]string{
		"":                                      `Bearer realm="mnem"` + where + `, scope="read write"`,
		"Authorization: Bearer mnem_aaaaaaab_x": `Bearer realm="mnem", error="invalid_token"` + where + `, scope="read write"`,
		"Authorization: Basic eDp5":             `Bearer realm="mnem"` + where + `, scope="read write"`,
	} {
		refused := f.ask("GET", readPath, "", slices.DeleteFunc([]string{with}, func(s string) bool { return s == "" })...)
		if got := refused.Header.Get("Www-Authenticate"); refused.StatusCode != 401 || got != want {
			t.Errorf("%q: %d %s, want %s", with, refused.StatusCode, got, want)
		}
	}
	for path, name := range map[string]string{resourceMetaPath: "resource", resourceMetaPath + "/mcp": "resource", serverMetaPath: "issuer"} {
		if got := member(t, f.ask("GET", path, "").text, name); !strings.HasPrefix(got, oauthHome) {
			t.Errorf("%s: %s %q", path, name, got)
		}
	}
	page, _ := f.sent("GET", authorizePath, f.wants())
	if page.StatusCode != 200 || !strings.Contains(page.text, "Chat &lt;b&gt;") || !strings.Contains(page.text, "chat.example.com") ||
		strings.Contains(page.text, "<b>Chat <b>") || page.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%d %s", page.StatusCode, page.text)
	}
	owner := f.keep.make(t, "me", "write", nil)
	got := f.token("authorization_code", "code", f.code(owner, "write"), "redirect_uri", oauthReturn, "code_verifier", testVerifier,
		"resource", oauthHome+"/mcp")
	f.want(got, 200, "")
	access, refresh := member(t, got.text, "access_token"), member(t, got.text, "refresh_token")
	if member(t, got.text, "scope") != "write" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s", got.text)
	}
	f.want(f.ask("POST", writePath, "", bearerOf(access)), 200, "")
	f.want(f.ask("POST", "/v1/purge", "", bearerOf(access)), 403, "")
	f.clock.move(accessTime)
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
	next := f.token("refresh_token", "refresh_token", refresh)
	f.want(next, 200, "")
	renewed := member(t, next.text, "access_token")
	must.True(t, renewed != access && member(t, next.text, "refresh_token") != refresh, "nothing was rotated")
	f.want(f.ask("GET", readPath, "", bearerOf(renewed)), 200, "")
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
	if r := f.token("refresh_token", "refresh_token", refresh); r.StatusCode != 400 || member(t, r.text, "error") != oauthGrant {
		t.Errorf("a used token: %d %s", r.StatusCode, r.text)
	}
	f.want(f.ask("GET", readPath, "", bearerOf(renewed)), 401, codeUnauthorized) // it may be the thief's
}

// TestSignInReading gives less than was asked for, and nothing beyond what the owner's token allows.
func TestSignInReading(t *testing.T) {
	f := withOAuth(t)
	reader := f.keep.make(t, "r", "read", nil)
	if r, _ := f.decides(reader, "write"); r.StatusCode != 403 || !strings.Contains(r.text, "does not allow as much") {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	if r, _ := f.decides("mnem_nothing", "write"); r.StatusCode != 403 || !strings.Contains(r.text, "unknown") {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	if r, back := f.decides("", "refuse"); r.StatusCode != 303 || back.Get("error") != oauthDenied || back.Get("code") != "" {
		t.Errorf("%d %v", r.StatusCode, back)
	}
	r := f.token("authorization_code", "code", f.code(reader, "read"), "redirect_uri", oauthReturn, "code_verifier", testVerifier)
	f.want(r, 200, "")
	access := member(t, r.text, "access_token")
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 200, "")
	denied := f.ask("POST", writePath, "", bearerOf(access))
	if got := denied.Header.Get("Www-Authenticate"); denied.StatusCode != 403 || !strings.Contains(got, `error="insufficient_scope", scope="write", resource_metadata="`) {
		t.Errorf("%d %s", denied.StatusCode, got)
	}
	if again, _ := f.decides(bearerOf(access), "read"); again.StatusCode != 403 { // what was granted grants nothing
		t.Errorf("%d %s", again.StatusCode, again.text)
	}
	f.srv.cfg.OAuth.URL = "https://other.example.org"
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized) // another audience
	f.srv.cfg.OAuth = nil
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
}

// TestSignInRefused has requests that are wrong in one thing each.
func TestSignInRefused(t *testing.T) {
	f := withOAuth(t)
	owner := f.keep.make(t, "me", "admin", nil)
	for _, change := range [][]string{
		{"client_id", "x"}, {"client_id", ""}, {"redirect_uri", oauthReturn + "x"}, {"redirect_uri", "https://evil.example/"},
		{"redirect_uri", "javascript:alert(1)"}, {"redirect_uri", ""}, {"redirect_uri", "http://127.0.0.1:99/other"},
		// Anybody may register, so a request that is wrong must not send the browser anywhere.
		{"response_type", "token"}, {"response_type", ""}, {"code_challenge_method", "plain"}, {"code_challenge_method", ""},
		{"code_challenge", "x"}, {"code_challenge", ""}, {"resource", "https://memory.example.org.evil.example/"},
	} {
		for _, method := range []string{"GET", "POST"} {
			if r, _ := f.sent(method, authorizePath, f.wants(change...)); r.StatusCode != 400 || r.Header.Get("Location") != "" {
				t.Errorf("%s %v: %d to %q", method, change, r.StatusCode, r.Header.Get("Location"))
			}
		}
	}
	if r, back := f.decides(owner, "write", "redirect_uri", "http://127.0.0.1:12345/cb"); r.StatusCode != 303 || back.Get("code") == "" {
		t.Errorf("another port of this machine: %d %v", r.StatusCode, back)
	}
	right := []string{"redirect_uri", oauthReturn, "code_verifier", testVerifier}
	for _, change := range [][]string{
		{"code", "x"}, {"code_verifier", testVerifier + "x"}, {"code_verifier", ""}, {"redirect_uri", "http://127.0.0.1:99/cb"},
	} {
		code := f.code(owner, "write")
		if r := f.token("authorization_code", append(append([]string{"code", code}, right...), change...)...); r.StatusCode != 400 ||
			member(t, r.text, "error") != oauthGrant {
			t.Errorf("%v: %d %s", change, r.StatusCode, r.text)
		}
		if change[0] == "code" {
			continue
		}
		if r := f.token("authorization_code", append([]string{"code", code}, right...)...); r.StatusCode != 400 {
			t.Errorf("%v: a code that failed was taken: %s", change, r.text)
		}
	}
	for _, answer := range []string{"", "admin"} {
		if r, _ := f.decides(owner, answer); r.StatusCode != 400 || r.Header.Get("Location") != "" {
			t.Errorf("answer %q: %d to %s", answer, r.StatusCode, r.Header.Get("Location"))
		}
	}
	for name, values := range f.wants() {
		twice := f.wants()
		twice.Add(name, values[0])
		if r, _ := f.sent("GET", authorizePath, twice); r.StatusCode != 400 {
			t.Errorf("%s twice: %d", name, r.StatusCode)
		}
	}
	f.want(f.token("authorization_code", "code", f.code(owner, "read"), "code_verifier", testVerifier), 200, "") // as OAuth 2.1 has it
	old := f.code(owner, "write")
	f.clock.move(grantCodeTime)
	f.want(f.token("authorization_code", append([]string{"code", old}, right...)...), 400, "")
	f.want(f.token("password", right...), 400, "")
	f.want(f.token("refresh_token", "refresh_token", "mnemr_aaaaaaaa_x_y"), 500, "") // the keep is broken there
	f.want(f.token("refresh_token", "refresh_token", "mnemr_aaaaaaab_x_y"), 400, "")
	f.want(f.token("refresh_token", "refresh_token", "mnemr_aaaaaaaa_x"), 400, "")
	f.want(f.ask("POST", tokenPath, strings.Repeat("x", maxOAuthBody+1), asForm), 400, "")
	f.want(f.ask("POST", tokenPath, "grant_type=a&grant_type=b", asForm), 400, "")
	f.want(f.ask("GET", tokenPath, ""), 405, "")
}

// TestRegister refuses addresses that a browser must not be sent to, and ids that register did not make.
func TestRegister(t *testing.T) {
	for _, s := range []string{
		"", "x", "http://example.org/cb", "javascript:alert(1)", "https://a.example/#x", "https://u:p@a.example/", "https:///x", "ftp://a/",
		"https://a.example/" + strings.Repeat("x", maxClientID), "https://:80/", "https://a.example\\@b.example/", "https://a%2eb/",
		"https://cl\u0430ude.ai/cb", "https://a<b>.example/", "https://a\u202eb.example/", "http://localhost.example/",
		"https://a.example/?code=x", "https://a.example/?y=1&state=x", "https://a.example/?error", "https://a.example/?iss=https://b.example",
	} {
		if id, err := newClient("x", []string{s}); err == nil {
			t.Errorf("%q: %s", s, id)
		}
	}
	if _, err := newClient("x", nil); err == nil {
		t.Error("no address")
	}
	id := must.Get(newClient("a\x00\u202eb"+strings.Repeat("é", 99), []string{"http://localhost:1/cb"}))(t)
	if c := clientOf(id); c == nil || strings.ContainsAny(c.Name, "\x00\u202e") || len(c.Name) > maxClientName {
		t.Errorf("%+v", c)
	}
	for _, id := range []string{id + "A", id[1:], "", base64.RawURLEncoding.EncodeToString([]byte(`{"n":"x","r":["http://evil.example/"]}`))} {
		must.True(t, clientOf(id) == nil, "%q is taken", id)
	}
	for s, want := range map[string]string{
		"https://a.example/": "https://a.example", "https://A.example:8443": "https://a.example:8443", "http://127.0.0.1:7": "http://127.0.0.1:7",
		"http://a.example": "", "https://a.example/x": "", "https://a.example?": "", "https://u@a.example": "", `https://a"b`: "", "https://:80": "", "a.example": "", "": "",
	} {
		if got, err := CheckOAuthURL(s); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}

// TestSignInPageFromElsewhere lets a link of another site open the page, and no script of one ask.
func TestSignInPageFromElsewhere(t *testing.T) {
	f := withOAuth(t)
	path := authorizePath + "?" + f.wants().Encode()
	f.want(f.ask("GET", path, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), 200, "")
	f.want(f.ask("GET", path, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"), 403, "")
	f.want(f.ask("GET", path, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"), 403, "")
	f.want(f.ask("POST", authorizePath, f.wants().Encode(), asForm, "Origin: https://evil.example"), 403, "")
}

// TestGrantsMakeRoom removes grants that nothing renews, and bounds codes.
func TestGrantsMakeRoom(t *testing.T) {
	f := withOAuth(t)
	owner := f.keep.make(t, "me", "write", nil)
	for range 2 {
		r := f.token("authorization_code", "code", f.code(owner, "write"), "redirect_uri", oauthReturn, "code_verifier", testVerifier)
		f.want(r, 200, "")
		if all, _ := f.keep.List(); len(all) != 2 {
			t.Errorf("%d tokens, want the owner's and one", len(all))
		}
		f.clock.move(refreshTime)
		if r := f.token("refresh_token", "refresh_token", member(t, r.text, "refresh_token")); r.StatusCode != 400 {
			t.Errorf("renewed after its time: %s", r.text)
		}
	}
	o := &OAuth{}
	now := f.clock.now()
	for i := range maxGrantCodes + 5 {
		o.keep(sha256.Sum256([]byte{byte(i), byte(i >> 8)}), &grantCode{ends: now.Add(time.Duration(i+1) * time.Second)}, now)
	}
	if len(o.codes) != maxGrantCodes || o.codes[sha256.Sum256([]byte{0, 0})] != nil || o.codes[sha256.Sum256([]byte{5, 0})] == nil {
		t.Errorf("%d codes", len(o.codes))
	}
}

// TestSignInKeepsQuery returns to a client whose address has a query, and changes none of it.
func TestSignInKeepsQuery(t *testing.T) {
	f := withOAuth(t)
	owner := f.keep.make(t, "me", "write", nil)
	for _, to := range []string{"https://a.example/cb", "https://a.example/cb?z=1&a=%2f&flag&x;y=%zz", "http://[::1]:7/cb?q"} {
		id := must.Get(newClient("x", []string{to}))(t)
		r, back := f.decides(owner, "read", "client_id", id, "redirect_uri", to)
		if !strings.HasPrefix(r.Header.Get("Location"), to) || back.Get("code") == "" || len(back["iss"]) != 1 {
			t.Errorf("%s: %d to %s", to, r.StatusCode, r.Header.Get("Location"))
		}
	}
}

// signsIn goes the whole way, and returns both texts that the client gets.
func (f *signInFixture) signsIn(owner string) (access, refresh string) {
	f.t.Helper()
	r := f.token("authorization_code", "code", f.code(owner, "write"), "redirect_uri", oauthReturn, "code_verifier", testVerifier)
	f.want(r, 200, "")
	return member(f.t, r.text, "access_token"), member(f.t, r.text, "refresh_token")
}

// TestRefreshReuse ends a grant when any text that renewed it comes again, and not for a text that never did.
func TestRefreshReuse(t *testing.T) {
	f := withOAuth(t)
	access, first := f.signsIn(f.keep.make(t, "me", "write", nil))
	refresh := first
	for range 3 { // a thief renews until the owner's text is not the one before
		r := f.token("refresh_token", "refresh_token", refresh)
		f.want(r, 200, "")
		access, refresh = member(t, r.text, "access_token"), member(t, r.text, "refresh_token")
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(refresh, refreshPrefix), "_")
	f.want(f.token("refresh_token", "refresh_token", refreshPrefix+id+"_guess_guess"), 400, "")
	f.want(f.token("refresh_token", "refresh_token", refresh, "client_id", f.other()), 400, "")
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 200, "")
	f.want(f.token("refresh_token", "refresh_token", first), 400, "")
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
	f.want(f.token("refresh_token", "refresh_token", refresh), 400, "")
}

// TestCodeReuse ends the tokens that a code gave when it comes a second time, also after they were renewed, and no others.
func TestCodeReuse(t *testing.T) {
	f := withOAuth(t)
	owner := f.keep.make(t, "me", "write", nil)
	other, _ := f.signsIn(owner)
	for _, renewals := range []int{0, 2} {
		code := f.code(owner, "write")
		gives := func() reply { return f.token("authorization_code", "code", code, "code_verifier", testVerifier) }
		r := gives()
		for range renewals {
			f.want(r, 200, "")
			r = f.token("refresh_token", "refresh_token", member(t, r.text, "refresh_token"))
		}
		access, refresh := member(t, r.text, "access_token"), member(t, r.text, "refresh_token")
		f.want(f.ask("GET", readPath, "", bearerOf(access)), 200, "")
		if r := gives(); r.StatusCode != 400 || member(t, r.text, "error") != oauthGrant {
			t.Errorf("a used code: %d %s", r.StatusCode, r.text)
		}
		f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
		f.want(f.token("refresh_token", "refresh_token", refresh), 400, "")
	}
	f.want(f.ask("GET", readPath, "", bearerOf(other)), 200, "")
}

// TestResourceIsNormalized takes each way to write the address of this server, and no other address.
func TestResourceIsNormalized(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, oauthHome: true, oauthHome + "/mcp": true, "https://memory.example.org:443/mcp": true,
		"HTTPS://Memory.Example.org:443": true, "https://memory.example.org:/mcp": true, "https://memory.example.org:443/": true,
		"https://memory.example.org:8443/mcp": false, "https://memory.example.org:80/mcp": false, "http://memory.example.org/mcp": false,
		"https://memory.example.org/mcp?x": false, "https://memory.example.org/MCP": false, "https://u@memory.example.org/mcp": false,
		"https://memory.example.org:443@evil.example/mcp": false, "//memory.example.org/mcp": false,
	} {
		must.Equal(t, (&OAuth{URL: oauthHome, Path: "/mcp"}).isResource(s), want, s)
	}
	for s, want := range map[string]string{
		"https://a.example:443/": "https://a.example", "https://a.example:": "https://a.example", "http://localhost:80": "http://localhost",
		"https://[::1]:443": "https://[::1]", "https://[::1]": "https://[::1]", "http://[::1]:443": "http://[::1]:443",
	} {
		if got, err := CheckOAuthURL(s); got != want || err != nil {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}

// other returns the id of another client.
func (f *signInFixture) other() string {
	f.t.Helper()
	id := must.Get(newClient("other", []string{oauthReturn}))(f.t)
	return id
}

// TestGrantEndsWithItsOwner ends what a token granted when that token is revoked or over: it does not outlive itself.
func TestGrantEndsWithItsOwner(t *testing.T) {
	f := withOAuth(t)
	for name, end := range map[string]func(owner *Token){
		"revoked": func(owner *Token) { _ = f.keep.Remove(owner) },
		"over":    func(*Token) { f.clock.move(accessTime / 2) },
	} {
		var owner *Token
		soon := f.clock.now().Add(accessTime / 2)
		access, refresh := f.signsIn(f.keep.make(t, name, "write", func(t *Token) { owner, t.Expires = t, &soon }))
		f.want(f.ask("GET", readPath, "", bearerOf(access)), 200, "")
		end(owner)
		f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
		f.want(f.token("refresh_token", "refresh_token", refresh), 400, "")
		f.want(f.ask("GET", readPath, "", bearerOf(access)), 401, codeUnauthorized)
	}
}

// TestSignInOffers does not offer reading if the path that clients ask for wants more.
func TestSignInOffers(t *testing.T) {
	f := withOAuth(t)
	owner := f.keep.make(t, "me", "write", nil)
	f.srv.cfg.Routes = []Route{{Path: "/mcp", Effect: operation.Writes}}
	page, _ := f.sent("GET", authorizePath, f.wants("scope", "read"))
	if strings.Contains(page.text, `answer" value="read"`) || !strings.Contains(page.text, `answer" value="write"`) {
		t.Errorf("%d %s", page.StatusCode, page.text)
	}
	if r, _ := f.decides(owner, "read"); r.StatusCode != 400 {
		t.Errorf("a token of no use was given: %d", r.StatusCode)
	}
	if r, back := f.decides(owner, "write", "scope", "read"); r.StatusCode != 303 || back.Get("code") == "" {
		t.Errorf("%d %v", r.StatusCode, back)
	}
	if got := (oauth{f.srv}).scopes(); len(got) != 1 || got[0] != "write" {
		t.Errorf("scopes %v", got)
	}
	f.srv.cfg.Routes[0].Effect = operation.Reads
	page, _ = f.sent("GET", authorizePath, f.wants("scope", "read"))
	if !strings.Contains(page.text, `answer" value="read"`) || strings.Contains(page.text, `answer" value="write"`) {
		t.Errorf("%d %s", page.StatusCode, page.text)
	}
}

// revoking is a keep whose owner revokes a token just after it was read.
type revoking struct{ *keep }

func (r revoking) Get(id string) (*Token, error) {
	t, err := r.keep.Get(id)
	if t != nil && t.Grant != nil {
		err = r.Remove(t)
	}
	return t, err
}

// fullKeep is a keep that nothing can be written to.
type fullKeep struct{ *keep }

func (fullKeep) Add(context.Context, *Token) error { return errors.New("full") }
func (fullKeep) Replace(context.Context, *Token, *Token) (bool, error) {
	return false, errors.New("full")
}

// TestRenewalRevoked does not bring back a token revoked in between, and a renewal that fails takes nothing away.
func TestRenewalRevoked(t *testing.T) {
	f := withOAuth(t)
	access, refresh := f.signsIn(f.keep.make(t, "me", "write", nil))
	f.srv.cfg.OAuth.Grants = fullKeep{f.keep}
	f.want(f.token("refresh_token", "refresh_token", refresh), 500, "")
	f.want(f.ask("GET", readPath, "", bearerOf(access)), 200, "")
	f.srv.cfg.OAuth.Grants = revoking{f.keep}
	f.want(f.token("refresh_token", "refresh_token", refresh), 400, "")
	if all, _ := f.keep.List(); len(all) != 1 {
		t.Errorf("%d tokens, want the owner's alone", len(all))
	}
}
