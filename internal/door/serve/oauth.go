package serve

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Paths of OAuth: the metadata of RFC 9728 and RFC 8414, and the endpoints that they name.
const (
	resourceMetaPath = "/.well-known/oauth-protected-resource"
	serverMetaPath   = "/.well-known/oauth-authorization-server"
	registerPath     = "/oauth/register"
	authorizePath    = "/oauth/authorize"
	tokenPath        = "/oauth/token"
	maxOAuthBody     = 16 << 10 // bytes
	mediaForm        = "application/x-www-form-urlencoded"
)

// Errors of OAuth: RFC 6749 and RFC 7591.
const (
	oauthInvalid  = "invalid_request"
	oauthGrant    = "invalid_grant"
	oauthClient   = "invalid_client"
	oauthType     = "unsupported_grant_type"
	oauthTarget   = "invalid_target"
	oauthMetadata = "invalid_client_metadata"
	oauthServer   = "server_error"
	oauthDenied   = "access_denied"
)

// oauth is a server as its clients sign in to it.
type oauth struct{ *Server }

// serveOAuth answers clients that want to sign in. None of it needs a token, and nothing asks another server.
func (s oauth) serveOAuth() {
	o := s.cfg.OAuth
	resource := map[string]any{
		"resource": o.resource(), "authorization_servers": []string{o.URL}, "bearer_methods_supported": []string{"header"},
		"scopes_supported": s.scopes(), "resource_name": "mnem",
	}
	s.mux.HandleFunc(resourceMetaPath, s.oauthMeta(resource))
	s.mux.HandleFunc(resourceMetaPath+o.Path, s.oauthMeta(resource))
	s.mux.HandleFunc(serverMetaPath, s.oauthMeta(map[string]any{
		"issuer": o.URL, "authorization_endpoint": o.URL + authorizePath, "token_endpoint": o.URL + tokenPath,
		"registration_endpoint": o.URL + registerPath, "scopes_supported": s.scopes(),
		"response_types_supported": []string{"code"}, "response_modes_supported": []string{"query"},
		"grant_types_supported":            []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": false,
	}))
	s.mux.HandleFunc(registerPath, s.oauthPost(s.register))
	s.mux.HandleFunc(tokenPath, s.oauthPost(s.giveToken))
	s.mux.HandleFunc(authorizePath, s.authorize)
}

// reads reports whether a token that only reads is of use: the path that clients ask for may want more.
func (s oauth) reads() bool {
	return !slices.ContainsFunc(s.cfg.Routes, func(r Route) bool { return r.Path == s.cfg.OAuth.Path && r.Effect > operation.Reads })
}

func (s oauth) scopes() []string {
	if s.reads() {
		return []string{operation.Reads.String(), operation.Writes.String()}
	}
	return []string{operation.Writes.String()}
}

// offers returns the most that the owner may give a client that asks for some scopes.
func (s oauth) offers(asked string) string {
	if !s.reads() {
		return operation.Writes.String()
	}
	return grantScope(asked)
}

// challenge tells a client whose request was refused where it can sign in, and for which scopes (RFC 9728 and RFC 6750).
func (s oauth) challenge(p *problem) string {
	if s.cfg.OAuth == nil {
		return p.challenge
	}
	out := p.challenge + `, resource_metadata="` + s.cfg.OAuth.URL + resourceMetaPath + s.cfg.OAuth.Path + `"`
	if p.Status == http.StatusUnauthorized {
		out += `, scope="` + strings.Join(s.scopes(), " ") + `"`
	}
	return out
}

func (s oauth) oauthMeta(meta map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.methods(w, r, http.MethodGet, http.MethodHead) {
			sayOAuth(w, http.StatusOK, meta)
		}
	}
}

func sayOAuth(w http.ResponseWriter, status int, answer any) {
	h := w.Header()
	h.Set("Content-Type", operation.MediaJSON)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // who asked may have gone
}

// An oauthError is a refusal in the form of RFC 6749.
type oauthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// oauthPost calls an endpoint that is posted to, not more often than others who have no token may ask.
func (s oauth) oauthPost(do func(w http.ResponseWriter, r *http.Request) (any, *oauthError)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.methods(w, r, http.MethodPost) {
			return
		}
		if p := s.rates.problem(unknown); p != nil {
			s.refuse(w, r, p)
			return
		}
		answer, wrong := do(w, r)
		switch {
		case wrong == nil && r.URL.Path == registerPath:
			sayOAuth(w, http.StatusCreated, answer)
		case wrong == nil:
			sayOAuth(w, http.StatusOK, answer)
		case wrong.Code == oauthServer:
			sayOAuth(w, http.StatusInternalServerError, wrong)
		default:
			sayOAuth(w, http.StatusBadRequest, wrong)
		}
	}
}

type registered struct {
	ID        string   `json:"client_id"`
	Issued    int64    `json:"client_id_issued_at"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Auth      string   `json:"token_endpoint_auth_method"`
}

func (s oauth) register(w http.ResponseWriter, r *http.Request) (any, *oauthError) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOAuthBody))
	var said struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
	}
	if err != nil || json.Unmarshal(data, &said) != nil {
		return nil, &oauthError{oauthMetadata, "want a JSON object of at most 16 KiB with client_name and redirect_uris"}
	}
	id, err := newClient(said.Name, said.Redirects)
	if err != nil {
		return nil, &oauthError{"invalid_redirect_uri", err.Error()}
	}
	c := clientOf(id)
	return registered{
		ID: id, Issued: s.cfg.Now().Unix(), Name: c.Name, Redirects: c.Redirects, Grants: []string{"authorization_code", "refresh_token"},
		Responses: []string{"code"}, Auth: "none",
	}, nil
}

func oauthForm(w http.ResponseWriter, r *http.Request) (url.Values, *oauthError) {
	r.Body = http.MaxBytesReader(w, r.Body, maxOAuthBody)
	if err := r.ParseForm(); err != nil || len(r.PostForm) == 0 {
		return nil, &oauthError{oauthInvalid, "want a body of the type " + mediaForm}
	}
	return r.PostForm, givenOnce(r.PostForm)
}

// givenOnce refuses a parameter that is given twice: what stands in front of the server may take the other one.
func givenOnce(form url.Values) *oauthError {
	for name, values := range form {
		if len(values) > 1 {
			return &oauthError{oauthInvalid, brief(name) + " is given twice"}
		}
	}
	return nil
}

type tokenAnswer struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"` // seconds
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

// giveToken gives a client the token that the owner agreed to, or a new one for an old one.
func (s oauth) giveToken(w http.ResponseWriter, r *http.Request) (any, *oauthError) {
	form, wrong := oauthForm(w, r)
	if wrong != nil {
		return nil, wrong
	}
	id := form.Get("client_id")
	if clientOf(id) == nil {
		return nil, &oauthError{oauthClient, "client_id: register at " + s.cfg.OAuth.URL + registerPath}
	}
	if resource := form.Get("resource"); !s.cfg.OAuth.isResource(resource) {
		return nil, &oauthError{oauthTarget, "resource: this server is " + s.cfg.OAuth.resource()}
	}
	var got *granted
	var err error
	now := s.cfg.Now()
	switch form.Get("grant_type") {
	case "authorization_code":
		to := form.Get("redirect_uri") // OAuth 2.1 clients need not repeat it
		got, err = s.cfg.OAuth.redeem(r.Context(), s.ids, form.Get("code"), now, func(c *grantCode) bool {
			return c.client == id && (to == "" || to == c.redirect) && proves(form.Get("code_verifier"), c.challenge)
		})
		if err == nil && got == nil {
			return nil, &oauthError{oauthGrant, "the code is unknown, used, too old or another client's"}
		}
	case "refresh_token":
		got, err = s.cfg.OAuth.renew(r.Context(), s.ids, form.Get("refresh_token"), id, now)
		if err == nil && got == nil {
			return nil, &oauthError{oauthGrant, "the token is unknown, used, revoked or too old: sign in again"}
		}
	default:
		return nil, &oauthError{oauthType, "grant_type: want authorization_code or refresh_token"}
	}
	if err != nil {
		s.cfg.Log.Error("no token was made", "cause", err)
		return nil, &oauthError{oauthServer, "no token was made: the server's log says why"}
	}
	return tokenAnswer{got.access, "Bearer", int64(accessTime / time.Second), got.refresh, got.scope}, nil
}

// isResource reports whether a client names this server, or none.
func (o *OAuth) isResource(s string) bool {
	if u, err := url.Parse(s); err == nil && u.Host != "" && u.User == nil {
		s = origin(u) + s[len(u.Scheme+"://"+u.Host):]
	}
	return s == "" || s == o.resource() || s == o.URL || s == o.URL+"/"
}

// authorize shows the owner who wants to sign in, and answers the client as the owner decides.
func (s oauth) authorize(w http.ResponseWriter, r *http.Request) {
	if !s.methods(w, r, http.MethodGet, http.MethodHead, http.MethodPost) {
		return
	}
	query := r.URL.Query()
	wrong := givenOnce(query)
	if r.Method == http.MethodPost {
		query, wrong = oauthForm(w, r)
	}
	if wrong != nil {
		s.refuse(w, r, badRequest("%s", wrong.Description))
		return
	}
	c := clientOf(query.Get("client_id"))
	to := query.Get("redirect_uri")
	if c == nil || !c.returnsTo(to) { // nowhere to send the browser
		s.refuse(w, r, badRequest("client_id and redirect_uri: no client is registered so"))
		return
	}
	if p := s.checkAuthorize(query); p != nil {
		s.refuse(w, r, p) // anybody may register, so only the owner sends the browser to a client
		return
	}
	host := ""
	if u, err := url.Parse(to); err == nil {
		host = u.Host
	}
	ask := signIn{
		Client: c.Name, Host: host, Reads: s.reads(), Writes: s.offers(query.Get("scope")) == operation.Writes.String(),
		Fields: map[string]string{},
	}
	for _, name := range []string{"client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "state", "scope", "resource"} {
		if v := query.Get(name); v != "" {
			ask.Fields[name] = v
		}
	}
	if r.Method == http.MethodPost {
		s.decide(w, r, query, to, ask)
		return
	}
	ask.show(w, http.StatusOK)
}

func (s oauth) checkAuthorize(query url.Values) *problem {
	switch {
	case query.Get("response_type") != "code":
		return badRequest("response_type: want code")
	case query.Get("code_challenge_method") != "S256" || !isChallenge(query.Get("code_challenge")):
		return badRequest("code_challenge: want PKCE with S256")
	case !s.cfg.OAuth.isResource(query.Get("resource")):
		return badRequest("resource: this server is %s", s.cfg.OAuth.resource())
	}
	return nil
}

// decide does as the owner says, who proves to be it by a token that allows what is given.
func (s oauth) decide(w http.ResponseWriter, r *http.Request, form url.Values, to string, ask signIn) {
	state := form.Get("state")
	scope := operation.Reads.String()
	switch answer := form.Get("answer"); {
	case answer == "refuse":
		s.answerClient(w, r, to, state, url.Values{"error": {oauthDenied}, "error_description": {"the owner refused"}})
		return
	case answer == "write":
		scope = s.offers(form.Get("scope"))
	case answer != "read" || !ask.Reads:
		s.refuse(w, r, badRequest("answer: no such button"))
		return
	}
	if p := s.rates.problem(unknown); p != nil {
		s.refuse(w, r, p)
		return
	}
	by, p := s.byToken(r, form.Get("token"))
	switch {
	case p != nil && p.Status != http.StatusUnauthorized:
		s.refuse(w, r, p)
		return
	case p != nil, by.token.Grant != nil: // what was granted grants nothing
		ask.Wrong = "This token is unknown, revoked or expired."
	case by.permit(EffectOf(scope)) != nil:
		ask.Wrong = "This token does not allow as much: its scope is " + by.token.Scope + "."
	}
	if ask.Wrong != "" {
		ask.show(w, http.StatusForbidden)
		return
	}
	text, hash, err := s.secret()
	if err != nil {
		s.refuse(w, r, failed(operation.Failed, "no source of randomness"))
		return
	}
	now := s.cfg.Now()
	s.cfg.OAuth.keep(hash, &grantCode{
		client: form.Get("client_id"), redirect: form.Get("redirect_uri"), challenge: form.Get("code_challenge"), scope: scope,
		author: by.token.Author, by: by.token.ID, only: by.token.Only, ends: now.Add(grantCodeTime),
	}, now)
	s.answerClient(w, r, to, state, url.Values{"code": {text}})
}

func (s oauth) answerClient(w http.ResponseWriter, r *http.Request, to, state string, answer url.Values) {
	u, err := url.Parse(to)
	if err != nil {
		s.refuse(w, r, badRequest("redirect_uri: not a URL"))
		return
	}
	if state != "" {
		answer.Set("state", state)
	}
	answer.Set("iss", s.cfg.OAuth.URL) // RFC 9207: who answers
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += answer.Encode() // what the client registered stays as it is
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
}

// signIn is the page on which the owner decides.
type signIn struct {
	Client, Host  string
	Reads, Writes bool
	Wrong         string
	Fields        map[string]string
}

func (q signIn) show(w http.ResponseWriter, status int) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin") // else the browser hides the Origin of what it posts
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, q.page()) // the browser may have gone
}

// page returns the page as HTML. What clients said is escaped, in text and in quoted attributes alike.
func (q signIn) page() string {
	client := html.EscapeString(q.Client)
	var fields, wrong, buttons strings.Builder
	for _, name := range slices.Sorted(maps.Keys(q.Fields)) {
		fmt.Fprintf(&fields, "\n<input type=\"hidden\" name=\"%s\" value=\"%s\">", html.EscapeString(name), html.EscapeString(q.Fields[name]))
	}
	if q.Wrong != "" {
		fmt.Fprintf(&wrong, "<p role=\"alert\"><b>%s</b></p>\n", html.EscapeString(q.Wrong))
	}
	if q.Writes {
		buttons.WriteString(`<button name="answer" value="write">Allow reading and writing</button>` + "\n")
	}
	if q.Reads {
		buttons.WriteString(`<button name="answer" value="read">Allow reading</button>` + "\n")
	}
	return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in to mnem</title>
<style>body{font:1rem/1.5 system-ui;max-width:30rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}
input,button{font:inherit;padding:.5rem}input{width:100%;box-sizing:border-box}button{margin:1rem .5rem 0 0}</style>
<h1>Let ` + client + ` in?</h1>
<p>A program that calls itself <b>` + client + `</b> asks for this memory. It is answered at <b>` + html.EscapeString(q.Host) + `</b>: if
you did not start this there, refuse.</p>
` + wrong.String() + `<form method="post" action="` + authorizePath + `">` + fields.String() + `
<label>A token of yours, made by <code>mnem serve token new</code>
<input type="password" name="token" autocomplete="off" autofocus></label>
` + buttons.String() + `<button name="answer" value="refuse" formnovalidate>Refuse</button>
</form>
<p>What it gets counts for an hour and is renewed for as long as it is used. <code>mnem serve token list</code> shows it,
<code>mnem serve token revoke</code> ends it.</p></html>
`
}
