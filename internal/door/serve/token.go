package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Token holds everything about a token but its secret.
type Token struct {
	ID   string `json:"id"`   // part of the token's text
	Name string `json:"name"` // for people; commits name it as their agent unless Agent or a header does
	// Hash is the SHA-256 of the token's text, in hex. The text has 256 random bits, so that no slow hash is needed.
	Hash    string     `json:"hash"`
	Scope   string     `json:"scope"` // read, write or admin
	Author  string     `json:"author,omitempty"`
	Agent   string     `json:"agent,omitempty"` // that callers with it are, whatever they say
	Only    string     `json:"only,omitempty"`  // the branch that callers with it are confined to
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"`
	Grant   *Grant     `json:"grant,omitempty"` // of a client that signed in by OAuth
}

const (
	tokenPrefix = "mnem_"
	tokenID     = 5  // bytes
	tokenSecret = 32 // bytes
	maxToken    = 128
)

var tokenCode = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewToken makes a token of a name and scope. It returns the record to keep and the text, which cannot be found out
// afterwards.
func NewToken(rand io.Reader, name, scope string, now time.Time) (Token, string, error) {
	b := make([]byte, tokenID+tokenSecret)
	if _, err := io.ReadFull(rand, b); err != nil {
		return Token{}, "", fmt.Errorf("read random bytes: %w", err)
	}
	id := tokenCode.EncodeToString(b[:tokenID])
	text := tokenPrefix + id + "_" + tokenCode.EncodeToString(b[tokenID:])
	return Token{ID: id, Name: name, Hash: hashToken(text), Scope: scope, Created: now.UTC()}, text, nil
}

func hashToken(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// EffectOf returns the most that a scope allows, 0 for a word that is none.
func EffectOf(scope string) operation.Effect {
	for _, e := range []operation.Effect{operation.Reads, operation.Writes, operation.Destroys} {
		if e.String() == scope {
			return e
		}
	}
	return 0
}

// Valid reports whether the token counts at a time.
func (t *Token) Valid(now time.Time) bool {
	return EffectOf(t.Scope) != 0 && (t.Expires == nil || now.Before(*t.Expires))
}

// Over reports whether the token has ended and nothing renews it.
func (t *Token) Over(now time.Time) bool {
	if t.Grant != nil {
		return !now.Before(t.Grant.Until)
	}
	return !t.Valid(now)
}

// idOf returns the id in the text of a token, "" if it is none.
func idOf(text string) string {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	id, _, found := strings.Cut(rest, "_")
	if !ok || !found || !ValidTokenID(id) {
		return ""
	}
	return id
}

// ValidTokenID reports whether a text looks like the id of a token.
func ValidTokenID(id string) bool {
	b, err := tokenCode.DecodeString(id)
	return err == nil && len(b) == tokenID && tokenCode.EncodeToString(b) == id
}

// is reports whether a text is the token's. Its duration reveals nothing about the hash.
func (t *Token) is(text string) bool {
	return subtle.ConstantTimeCompare([]byte(hashToken(text)), []byte(t.Hash)) == 1
}

type who struct {
	key   string // of rates and idempotency
	may   operation.Effect
	token *Token // nil for none
	only  string // the branch that it is confined to, "" for none
}

// bearer returns the text of the token in a request, "" for none, and a problem for what cannot be one.
func bearer(r *http.Request) (string, *problem) {
	header := r.Header.Values("Authorization")
	if len(header) == 0 {
		return "", nil
	}
	scheme, text, _ := strings.Cut(header[0], " ")
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") || len(text) > maxToken {
		return "", unauthorized("want one header Authorization: Bearer TOKEN")
	}
	if text = strings.TrimSpace(text); idOf(text) == "" {
		return "", invalidToken()
	}
	return text, nil
}

// auth finds out who sent a request, and confines callers without a token of their own branch as the server says.
func (s *Server) auth(r *http.Request) (who, *problem) {
	by, p := s.known(r)
	if by.only = s.cfg.Only; by.token != nil && by.token.Only != "" {
		by.only = by.token.Only
	}
	return by, p
}

func (s *Server) known(r *http.Request) (who, *problem) {
	text, p := bearer(r)
	switch {
	case p != nil:
		return who{}, p
	case text != "":
		return s.byToken(r, text)
	}
	if by, ok := s.loggedIn(r); ok {
		return by, nil
	}
	if s.cfg.NeedToken {
		return who{}, unauthorized(noToken)
	}
	may := operation.Writes
	if s.cfg.Own {
		may = operation.Destroys
	}
	return who{key: anonymous, may: may}, nil
}

// Messages for callers without a valid token, and for repositories that do not exist.
const (
	noToken      = "a token is needed"
	unknownToken = "the token is unknown, revoked or expired"
)

// byToken returns the caller whose token has a text.
func (s *Server) byToken(r *http.Request, text string) (who, *problem) {
	id := idOf(text)
	if id == "" || s.cfg.Token == nil {
		return who{}, invalidToken()
	}
	var t *Token
	key := s.cfg.Name + " " + hashToken(text) // not the id, which others may know
	looked, err := s.met.look(r, key, func() (_ bool, err error) {
		t, err = s.cfg.Token(id)
		if t == nil || !t.is(text) || !t.Valid(s.cfg.Now()) {
			t = nil
			return false, err
		}
		takes, err := s.cfg.takes(t)
		if takes && t.Only != "" {
			// Else its caller would leave the token out, or be let into another branch.
			takes = s.cfg.NeedToken && s.cfg.Only == "" || s.cfg.Only == t.Only
		}
		if !takes {
			t = nil
		}
		return takes, err
	})
	switch {
	case !looked:
		return who{}, tooMany(time.Second)
	case err != nil:
		s.cfg.Log.Error("a token cannot be read", "cause", err)
		return who{}, ofError(err, "the token cannot be read")
	case t == nil:
		return who{}, invalidToken()
	}
	return who{key: t.ID, may: EffectOf(t.Scope), token: t}, nil
}

func unauthorized(detail string) *problem {
	p := newProblem(http.StatusUnauthorized, codeUnauthorized, "%s", detail)
	p.Hint = "'mnem serve token new NAME' makes one: Authorization: Bearer TOKEN"
	p.challenge = `Bearer realm="mnem"`
	return p
}

// invalidToken refuses a request whose token does not count. A request without one gets no error (RFC 6750, 3.1).
func invalidToken() *problem {
	p := unauthorized(unknownToken)
	p.challenge += `, error="invalid_token"`
	return p
}

// permit returns the problem of somebody who may not do as much, nil for none.
func (by *who) permit(e operation.Effect) *problem {
	if by.may >= e {
		return nil
	}
	p := forbidden("this needs a token with the scope %s", e)
	p.challenge = `Bearer realm="mnem", error="insufficient_scope", scope="` + e.String() + `"`
	p.Hint = fmt.Sprintf("'mnem serve token new NAME --scope %s' makes one", e)
	return p
}

type whoKey struct{}

func whoOf(ctx context.Context) who {
	by, _ := ctx.Value(whoKey{}).(who)
	return by
}

// allow lets callers through who may do as much and do not ask too often.
func (s *Server) allow(e operation.Effect, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		by, p := s.auth(r)
		if p == nil {
			if by.token != nil {
				exchangeOf(r).caller = by.token.Name
			} else if by.key == byCode {
				exchangeOf(r).caller = byCode
			}
			p = s.rates.problem(by.key)
		}
		if p == nil {
			p = by.permit(e)
		}
		if p != nil {
			s.refuse(w, r, p)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, by)))
	}
}

// unconfined refuses callers that are confined to a branch, for what is about the whole repository.
func (s *Server) unconfined(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if whoOf(r.Context()).only != "" {
			s.refuse(w, r, forbidden("not for a caller that is confined to a branch"))
			return
		}
		next(w, r)
	}
}

// CallerOf returns what the token of a request says of who asks, for the handler of a Route: its
// author, its agent or else its name, and the branch that it is confined to.
func CallerOf(ctx context.Context) operation.Caller {
	by := whoOf(ctx)
	t := by.token
	if t == nil {
		return operation.Caller{Only: by.only}
	}
	return operation.Caller{Author: t.Author, Agent: cmp.Or(t.Agent, t.Name), Only: by.only}
}
