package ingest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/guard"
)

// ErrUnread is returned for a text with more that resembles credentials than is looked at.
var ErrUnread = errors.New("more in it resembles credentials than is looked at")

// Redactor takes credentials out of texts.
type Redactor struct {
	// Key returns the key of the digits that tell credentials apart. It belongs to the repository and is stored in no
	// block. It is called once, at the first credential.
	Key   func() ([]byte, error)
	Allow []string // rules of package guard whose findings stay
}

// maxRounds bounds the searches of a text: replacing a credential may reveal another one inside.
const maxRounds = 4

// Redact returns a text with [secret:RULE:xxxx] in place of each credential, and how many there were. Equal credentials
// get equal digits xxxx. Line numbers stay the same. The result contains no finding.
func (r *Redactor) Redact(text string) (string, int, error) { return r.redact(text, guard.Find) }

// RedactSaid is Redact for speech: it also removes credentials that a sentence states, as in: the password is …
func (r *Redactor) RedactSaid(text string) (string, int, error) {
	return r.redact(text, guard.FindProse)
}

func (r *Redactor) redact(text string, find func(string) []guard.Finding) (string, int, error) {
	total := 0
	for range maxRounds {
		list := r.left(text, find)
		if len(list) == 0 {
			return text, total, nil
		}
		var err error
		if text, err = r.replace(text, list); err != nil {
			return "", 0, err
		}
		total += len(list)
	}
	return "", 0, ErrUnread
}

// find returns the credentials in a text but for those that stay.
func (r *Redactor) find(text string) []guard.Finding { return r.left(text, guard.Find) }

// left returns the findings in a text except those of allowed rules.
func (r *Redactor) left(text string, find func(string) []guard.Finding) []guard.Finding {
	return slices.DeleteFunc(find(text), func(f guard.Finding) bool {
		return slices.Contains(r.Allow, f.Rule)
	})
}

func (r *Redactor) replace(text string, list []guard.Finding) (string, error) {
	key, err := r.Key()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	at := 0
	for _, f := range list {
		if f.Rule == guard.RuleLimit {
			return "", ErrUnread
		}
		secret := text[f.Start:f.End]
		tag := hex.EncodeToString(keyed(key, secret)[:2])
		b.WriteString(text[at:f.Start] + "[secret:" + f.Rule + ":" + tag + "]" +
			strings.Repeat("\n", strings.Count(secret, "\n")))
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
