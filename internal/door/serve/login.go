package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// A browser logs in at loginPath with a code or a token, and gets a cookie and a key. Each request must bring both.
// Scripts cannot read the cookie, but browsers send it to every port of this address. Another user of the machine may
// listen on one, and does not get the key, which the page keeps for its own origin.
const (
	loginPath   = "/login"
	keyHeader   = "Mnem-View"
	loginSecret = 32 // bytes of a code, a cookie and a key
	// codeTime is how long a code can be used: a browser takes seconds, a person who copies it minutes.
	codeTime = 10 * time.Minute
	// loginIdle is how long an unused login lasts.
	loginIdle = 24 * time.Hour
	// maxLogins bounds the logins there are. The one that was unused for longest makes room.
	maxLogins = 64
	// maxLoginBody is how many bytes of JSON a code or token needs at most.
	maxLoginBody = 1 << 10
)

// byCode is the caller of logins by a code, for rates and idempotency. Ids of tokens look different.
const byCode = "view"

type digest = [sha256.Size]byte

type code struct {
	hash digest
	may  operation.Effect
	ends time.Time
	used bool
}

type login struct {
	key   digest
	may   operation.Effect
	token *Token // nil for a login by a code
	used  time.Time
}

type logins struct {
	mu   sync.Mutex
	code *code             // the newest one
	all  map[digest]*login // by the hash of the cookie
}

// NewCode returns a code with which one browser can log in, once and within ten minutes, with the effect may. Earlier
// codes become invalid.
func (s *Server) NewCode(may operation.Effect) (string, error) {
	text, hash, err := s.secret()
	if err != nil {
		return "", err
	}
	s.logins.mu.Lock()
	defer s.logins.mu.Unlock()
	s.logins.code = &code{hash: hash, may: may, ends: s.cfg.Now().Add(codeTime)}
	return text, nil
}

func (s *Server) secret() (text string, hash digest, err error) {
	var b [loginSecret]byte
	if _, err := s.ids.Read(b[:]); err != nil {
		return "", hash, fmt.Errorf("read random bytes: %w", err)
	}
	text = tokenCode.EncodeToString(b[:])
	return text, sha256.Sum256([]byte(text)), nil
}

// take uses up the code in a text, and returns its effect, or the reason for refusing it.
func (l *logins) take(text string, now time.Time) (operation.Effect, string) {
	hash := sha256.Sum256([]byte(text))
	l.mu.Lock()
	defer l.mu.Unlock()
	switch c := l.code; {
	case c == nil || subtle.ConstantTimeCompare(hash[:], c.hash[:]) != 1:
		return 0, "the code is unknown"
	case c.used:
		return 0, "the code was used before"
	case !now.Before(c.ends):
		return 0, "the code is too old"
	default:
		c.used = true
		return c.may, ""
	}
}

func (l *logins) add(cookie digest, in *login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= maxLogins {
		delete(l.all, slices.MinFunc(slices.Collect(maps.Keys(l.all)), func(a, b digest) int {
			return l.all[a].used.Compare(l.all[b].used)
		}))
	}
	l.all[cookie] = in
}

// find returns a copy of the login of a cookie and its key, nil for none.
func (l *logins) find(cookie, key string, now time.Time) *login {
	hash, second := sha256.Sum256([]byte(cookie)), sha256.Sum256([]byte(key))
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.all[hash]
	if in == nil || subtle.ConstantTimeCompare(second[:], in.key[:]) != 1 {
		return nil
	}
	if now.Sub(in.used) > loginIdle {
		delete(l.all, hash)
		return nil
	}
	in.used = now
	out := *in
	return &out
}

func (l *logins) end(cookie string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, sha256.Sum256([]byte(cookie)))
}

// cookieName differs between servers of one machine: cookies do not know of ports.
func cookieName(r *http.Request) string {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return "mnem_" + strconv.Itoa(at.Port)
	}
	return "mnem"
}

// loggedIn returns the browser that sent a request, and false if it is not one that is logged in.
func (s *Server) loggedIn(r *http.Request) (who, bool) {
	keys := r.Header.Values(keyHeader)
	cookies := r.CookiesNamed(cookieName(r))
	if !s.cfg.View || len(keys) != 1 || len(cookies) != 1 {
		return who{}, false
	}
	in := s.logins.find(cookies[0].Value, keys[0], s.cfg.Now())
	if in == nil {
		return who{}, false
	}
	if in.token == nil {
		return who{key: byCode, may: in.may}, true
	}
	t, err := s.cfg.Token(in.token.ID)
	if err != nil {
		s.cfg.Log.Error("a token cannot be read", "cause", err)
	}
	if t == nil || t.Hash != in.token.Hash || !t.Valid(s.cfg.Now()) { // revoked, or over
		s.logins.end(cookies[0].Value)
		return who{}, false
	}
	return who{key: t.ID, may: EffectOf(t.Scope), token: t}, true
}

type loginJSON struct {
	Scope string `json:"scope"` // read, write, admin; none for nothing without logging in
	By    string `json:"by"`    // code or token; none if the browser is not logged in
	Name  string `json:"name"`  // of the token
	Key   string `json:"key,omitempty"`
}

// login logs browsers in and out, and reports their rights.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	if !s.methods(w, r, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete) {
		return
	}
	if r.Method == http.MethodPost {
		if said, p := s.letIn(w, r); p != nil {
			s.refuse(w, r, p)
		} else {
			sayLogin(w, said)
		}
		return
	}
	by, in := s.loggedIn(r)
	if r.Method == http.MethodDelete {
		if in {
			s.logins.end(r.CookiesNamed(cookieName(r))[0].Value)
		}
		http.SetCookie(w, s.cookie(r, "", -1))
		by, in = who{}, false
	}
	if !in && !s.cfg.NeedToken {
		by.may = operation.Writes
	}
	sayLogin(w, loginOf(by, in))
}

func sayLogin(w http.ResponseWriter, said loginJSON) {
	w.Header().Set("Content-Type", operation.MediaJSON)
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(said) // the browser may have gone
}

func loginOf(by who, in bool) loginJSON {
	said := loginJSON{Scope: "none", By: "none"}
	if by.may != 0 {
		said.Scope = by.may.String()
	}
	switch {
	case by.token != nil:
		said.By, said.Name = "token", by.token.Name
	case in:
		said.By = "code"
	}
	return said
}

// letIn logs a browser in with its posted {"code": "…"} or {"token": "…"}.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request) (loginJSON, *problem) {
	if r.Header.Get("Content-Type") != operation.MediaJSON {
		return loginJSON{}, newProblem(http.StatusUnsupportedMediaType, codeMedia, "want %s", operation.MediaJSON)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLoginBody))
	if err != nil {
		return loginJSON{}, newProblem(http.StatusRequestEntityTooLarge, codeTooLarge,
			"the body is not read: want at most %d bytes", maxLoginBody)
	}
	args, p := bodyArgs(data)
	if p != nil {
		return loginJSON{}, p
	}
	var codeText, tokenText string
	for name, to := range map[string]*string{"code": &codeText, "token": &tokenText} {
		if v, given := args[name]; given && json.Unmarshal(v, to) != nil {
			return loginJSON{}, badRequest("%s: want a string", name)
		}
		delete(args, name)
	}
	if len(args) > 0 || (codeText == "") == (tokenText == "") {
		return loginJSON{}, badRequest("want one of code and token")
	}
	var by who
	if tokenText != "" {
		by, p = s.byToken(r, tokenText)
	} else {
		by, p = s.byCode(codeText)
	}
	if p != nil {
		return loginJSON{}, p
	}
	return s.begin(w, r, by)
}

// byCode uses a code.
func (s *Server) byCode(text string) (who, *problem) {
	may, wrong := s.logins.take(text, s.cfg.Now())
	if wrong == "" {
		return who{key: byCode, may: may}, nil
	}
	s.cfg.Log.Warn("a browser was not let in", "cause", wrong)
	if p := s.rates.problem(unknown); p != nil {
		return who{}, p
	}
	p := unauthorized(wrong)
	p.Hint = "end 'mnem view' and start it again: it prints a new address"
	return who{}, p
}

// begin makes the cookie and the key of a browser.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, by who) (loginJSON, *problem) {
	cookie, hash, err := s.secret()
	key, second, keyErr := s.secret()
	if err != nil || keyErr != nil {
		return loginJSON{}, failed(operation.Failed, "no source of randomness")
	}
	s.logins.add(hash, &login{key: second, may: by.may, token: by.token, used: s.cfg.Now()})
	http.SetCookie(w, s.cookie(r, cookie, 0))
	said := loginOf(by, true)
	said.Key = key
	return said, nil
}

func (s *Server) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}
