package serve

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/web"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// withView is a server that shows the web view and lets in who has a code or a token.
func withView(t *testing.T) (*fixture, *keep, *clock) {
	t.Helper()
	c := &clock{at: time.Now()}
	f, k := withTokens(t, func(cfg *Config) { cfg.View, cfg.Now = true, c.now })
	return f, k, c
}

// code makes a code.
func (f *fixture) code(may operation.Effect) string {
	f.t.Helper()
	text := must.Get(f.srv.NewCode(may))(f.t)
	return text
}

// enter posts what logs a browser in, and returns the headers of its requests.
func (f *fixture) enter(body string, headers ...string) (reply, []string) {
	f.t.Helper()
	r := f.ask("POST", loginPath, body, append(headers, asJSONType)...)
	if r.StatusCode != 200 {
		return r, nil
	}
	cookies := r.Cookies()
	_, rest, _ := strings.Cut(r.text, `"key":"`)
	key, _, _ := strings.Cut(rest, `"`)
	must.Require(f.t, len(cookies) == 1 && len(key) >= 50, "cookies %v, %s", cookies, r.text)
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 ||
		len(c.Value) < 50 || c.Value == key {
		f.t.Errorf("cookie %+v", c)
	}
	return r, []string{"Cookie: " + c.Name + "=" + c.Value, keyHeader + ": " + key}
}

func withCode(text string) string { return fmt.Sprintf(`{"code":%q}`, text) }

const readPath, writePath = "/v1/get?node=a", "/v1/commit?message=m"

// TestCodesLetInOnce tries codes that are right, wrong, missing, used and old.
func TestCodesLetInOnce(t *testing.T) {
	f, _, c := withView(t)
	f.want(f.ask("POST", loginPath, withCode("x"), asJSONType), 401, codeUnauthorized) // before there is one
	text := f.code(operation.Reads)
	f.want(f.ask("GET", readPath, ""), 401, codeUnauthorized)
	for body, status := range map[string]int{
		withCode(text[1:]): 401, withCode(text + "a"): 401, withCode(strings.ToUpper(text)): 401,
		withCode(""): 400, `{}`: 400, `{"code":1}`: 400, `{"code":null}`: 400, `[]`: 400, ``: 400,
		`{"code":"` + text + `","token":"x"}`: 400, `{"code":"` + text + `","more":1}`: 400,
		`{"code":"` + text + `","code":"` + text + `"}`: 400, `{"code":"` + text + `"} {}`: 400,
		withCode(strings.Repeat("x", maxLoginBody)): 413, `{"token":"x"}`: 401,
	} {
		if r := f.ask("POST", loginPath, body, asJSONType); r.StatusCode != status || len(r.Cookies()) != 0 {
			t.Errorf("%.80s: status %d, want %d: %s", body, r.StatusCode, status, r.text)
		}
	}
	f.want(f.ask("POST", loginPath, withCode(text), "Content-Type: text/plain"), 415, codeMedia)
	f.want(f.ask("PUT", loginPath, ""), 405, codeMethod)
	r, browser := f.enter(withCode(text))
	if browser == nil || !strings.HasPrefix(r.text, `{"scope":"read","by":"code"`) ||
		r.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", r.StatusCode, r.Header, r.text)
	}
	f.want(f.ask("GET", readPath, "", browser...), 200, "")
	if p := f.want(f.ask("POST", loginPath, withCode(text), asJSONType), 401, codeUnauthorized); !strings.Contains(
		p.Detail, "used before") || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	f.want(f.ask("GET", readPath, "", browser...), 200, "")
	old := f.code(operation.Reads)
	c.move(codeTime)
	if p := f.want(f.ask("POST", loginPath, withCode(old), asJSONType), 401, codeUnauthorized); !strings.Contains(
		p.Detail, "too old") {
		t.Errorf("%+v", p)
	}
	first, second := f.code(operation.Reads), f.code(operation.Reads)
	f.want(f.ask("POST", loginPath, withCode(first), asJSONType), 401, codeUnauthorized)
	if _, in := f.enter(withCode(second)); in == nil {
		t.Error("the newest code does not count")
	}
	c.move(loginIdle + time.Second)
	f.want(f.ask("GET", readPath, "", browser...), 401, codeUnauthorized)
	for _, secret := range []string{text, old, browser[0], browser[1]} {
		_, value, _ := strings.Cut(secret, "=")
		if strings.Contains(f.log.String(), secret) || value != "" && strings.Contains(f.log.String(), value) {
			t.Error("a secret is in the log")
		}
	}
}

// TestOneCodeManyBrowsers uses one code from many sides at once: one gets in.
func TestOneCodeManyBrowsers(t *testing.T) {
	f, _, _ := withView(t)
	text := f.code(operation.Reads)
	var wg sync.WaitGroup
	in := make(chan struct{}, 16)
	for range 16 {
		wg.Go(func() {
			if r := f.ask("POST", loginPath, withCode(text), asJSONType); r.StatusCode == 200 {
				in <- struct{}{}
			}
		})
	}
	wg.Wait()
	must.Equal(t, len(in), 1, "got in")
}

// TestLoginsNeedCookieAndKey tries halves of a login, and what other browsers have.
func TestLoginsNeedCookieAndKey(t *testing.T) {
	f, k, _ := withView(t)
	_, one := f.enter(withCode(f.code(operation.Reads)))
	_, two := f.enter(withCode(f.code(operation.Writes)))
	f.want(f.ask("POST", writePath, "", one...), 403, "refused")
	f.want(f.ask("POST", writePath, "", two...), 200, "")
	f.want(f.ask("POST", "/v1/purge", "", two...), 403, "refused")
	for _, headers := range [][]string{
		one[:1], one[1:], {one[0], two[1]}, {two[0], one[1]}, {one[0], keyHeader + ": "},
		{strings.Replace(one[0], "=", "=x", 1), one[1]}, {one[0] + "; " + two[0][len("Cookie: "):], one[1]},
		{"Cookie: mnem" + one[0][strings.Index(one[0], "="):], one[1]},
	} {
		f.want(f.ask("GET", readPath, "", headers...), 401, codeUnauthorized)
	}
	// A page that may ask from elsewhere is not one that is logged in: its key is not let through.
	r := f.ask("OPTIONS", "/v1/get", "")
	if strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), keyHeader) {
		t.Error("keys pass between origins")
	}
	// A token goes before the cookie.
	f.want(f.ask("POST", writePath, "", append(two, k.make(t, "r", "read", nil))...), 403, "refused")
	f.want(f.ask("GET", readPath, "", append(two, "Authorization: Bearer x")...), 401, codeUnauthorized)
	r = f.ask("DELETE", loginPath, "", two...)
	if r.StatusCode != 200 || !strings.HasPrefix(r.text, `{"scope":"none"`) || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d %v %s", r.StatusCode, r.Cookies(), r.text)
	}
	f.want(f.ask("GET", readPath, "", two...), 401, codeUnauthorized)
	f.want(f.ask("GET", readPath, "", one...), 200, "")
}

// TestLoginByToken logs in with tokens, whose revocation counts at once.
func TestLoginByToken(t *testing.T) {
	f, k, c := withView(t)
	over := c.now().Add(time.Hour)
	text := func(header string) string { return strings.TrimPrefix(header, "Authorization: Bearer ") }
	write := text(k.make(t, "notebook", "write", func(t *Token) { t.Author = "Ada" }))
	soon := text(k.make(t, "soon", "read", func(t *Token) { t.Expires = &over }))
	r, browser := f.enter(fmt.Sprintf(`{"token":%q}`, write))
	must.True(t, strings.HasPrefix(r.text, `{"scope":"write","by":"token","name":"notebook"`), "%s", r.text)
	_, short := f.enter(fmt.Sprintf(`{"token":%q}`, soon))
	f.want(f.ask("POST", writePath, "", browser...), 200, "")
	if got := f.as[len(f.as)-1]; got.Author != "Ada" || got.Agent != "notebook" {
		t.Errorf("%+v", got)
	}
	f.want(f.ask("GET", readPath, "", short...), 200, "")
	c.move(2 * time.Hour)
	f.want(f.ask("GET", readPath, "", short...), 401, codeUnauthorized)
	if r := f.ask("GET", loginPath, "", browser...); !strings.HasPrefix(r.text,
		`{"scope":"write","by":"token","name":"notebook"}`) {
		t.Errorf("%s", r.text)
	}
	k.mu.Lock()
	clear(k.all)
	k.mu.Unlock()
	f.want(f.ask("GET", readPath, "", browser...), 401, codeUnauthorized)
	if r := f.ask("GET", loginPath, ""); r.text != `{"scope":"none","by":"none","name":""}`+"\n" {
		t.Errorf("%s", r.text)
	}
}

// TestLoginsAreBounded lets in more browsers than there may be: the one unused for longest goes.
func TestLoginsAreBounded(t *testing.T) {
	f, _, c := withView(t)
	var all [][]string
	for range maxLogins + 1 {
		c.move(time.Second)
		_, in := f.enter(withCode(f.code(operation.Reads)))
		all = append(all, in)
	}
	must.Equal(t, len(f.srv.logins.all), maxLogins, "logins")
	f.want(f.ask("GET", readPath, "", all[0]...), 401, codeUnauthorized)
	f.want(f.ask("GET", readPath, "", all[1]...), 200, "")
}

// TestViewIsGuarded asks for the page and the login as pages of others and other names would.
func TestViewIsGuarded(t *testing.T) {
	f, _, _ := withView(t)
	text := f.code(operation.Reads)
	at := strings.TrimPrefix(f.url, "http://")
	open := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	for _, tt := range []struct {
		headers     []string
		page, login int
	}{
		{nil, 200, 401}, {[]string{"Origin: http://" + at}, 200, 401},
		{[]string{"Host: evil.example.org"}, 403, 403}, {[]string{"Host: 10.0.0.1"}, 403, 403},
		{[]string{"Origin: https://evil.example.org"}, 403, 403}, {[]string{"Origin: null"}, 403, 403},
		{[]string{"Origin: http://127.0.0.1:1"}, 403, 403}, {[]string{"Origin: http://localhost:3000"}, 403, 403},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403, 403}, {[]string{"Sec-Fetch-Site: same-site"}, 403, 403},
		{open, 200, 403}, {append(open, "Origin: null"), 403, 403},
		{append(open[:2:2], "Sec-Fetch-Dest: iframe"), 403, 403},
		{append(open[:1:1], "Sec-Fetch-Mode: no-cors"), 403, 403},
		{append(open, "Host: evil.example.org"), 403, 403},
	} {
		if r := f.ask("GET", "/", "", tt.headers...); r.StatusCode != tt.page {
			t.Errorf("/ %q: status %d, want %d", tt.headers, r.StatusCode, tt.page)
		}
		r := f.ask("POST", loginPath, withCode("x"), append(tt.headers, asJSONType)...)
		must.Equal(t, r.StatusCode, tt.login, loginPath, " ", tt.headers, ": status")
		must.Equal(t, r.Header.Get("Access-Control-Allow-Origin"), "", tt.headers, ": allowed")
	}
	for _, headers := range [][]string{{"Origin: https://evil.example.org"}, {"Host: evil.example.org"}, open} {
		if _, in := f.enter(withCode(text), headers...); in != nil {
			t.Errorf("%q got in", headers)
		}
		if r := f.ask("GET", readPath, "", headers...); r.StatusCode != 403 {
			t.Errorf("%q: status %d", headers, r.StatusCode)
		}
	}
	if _, in := f.enter(withCode(text), "Origin: http://"+at); in == nil {
		t.Error("the code was used up by those who were refused")
	}
}

// TestPage asks for every file of the page.
func TestPage(t *testing.T) {
	f, _, _ := withView(t)
	for _, file := range web.Files() {
		r := f.ask("GET", file.Path, "")
		f.want(r, 200, "")
		for name, want := range map[string]string{
			"Content-Security-Policy": web.Policy, "Content-Type": file.Media, "Etag": file.Tag,
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != want || got == "" {
				t.Errorf("%s: %s %q, want %q", file.Path, name, got, want)
			}
		}
		must.Equal(t, r.text, string(file.Data), file.Path, ": ", len(r.text), " bytes, want ", len(file.Data))
		if r := f.ask("GET", file.Path, "", "If-None-Match: "+file.Tag); r.StatusCode != 304 {
			t.Errorf("%s: status %d", file.Path, r.StatusCode)
		}
		f.want(f.ask("POST", file.Path, "{}", asJSONType), 405, codeMethod)
	}
	f.want(f.ask("GET", "/index.html", ""), 404, "not_found")
	without := newFixture(t, nil)
	without.want(without.ask("GET", "/", ""), 404, "not_found")
	without.want(without.ask("GET", loginPath, ""), 404, "not_found")
}

// TestOpenServer needs no login where it needs no token, and says so.
func TestOpenServer(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.View = true })
	if r := f.ask("GET", loginPath, ""); r.text != `{"scope":"write","by":"none","name":""}`+"\n" {
		t.Errorf("%s", r.text)
	}
	f.want(f.ask("GET", readPath, "", "Cookie: mnem_1=x", keyHeader+": y"), 200, "")
	f.want(f.ask("POST", loginPath, `{"token":"x"}`, asJSONType), 401, codeUnauthorized)
}
