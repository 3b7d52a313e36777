package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// mediaProblem is the form of errors, RFC 9457.
const mediaProblem = "application/problem+json"

type problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`
	Hint      string `json:"hint,omitempty"`
	Kind      string `json:"kind"` // of the refusal, see operation.Outcome
	RequestID string `json:"request_id"`

	Candidates []operation.Candidate `json:"candidates,omitempty"` // see operation.Error
	// Answer is the operation's output before it failed: the conflicts of a merge.
	Answer json.RawMessage `json:"answer,omitempty"`

	header    http.Header // of the response, nil for none
	challenge string      // of RFC 6750, if another token may help
}

func newProblem(status int, code, format string, args ...any) *problem {
	return &problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code,
		Detail: fmt.Sprintf(format, args...), Kind: refusal(status, code),
	}
}

// refusal is the kind of a code: as the table has it, or for codes of this surface by the status.
func refusal(status int, code string) string {
	if row, known := operation.WithCode(code); known {
		return row.Refusal()
	}
	switch status {
	case http.StatusUnauthorized:
		return operation.KindNotAllowed
	case http.StatusConflict, http.StatusPreconditionFailed:
		return operation.KindVersion
	case http.StatusTooManyRequests:
		return operation.KindExec
	}
	return operation.KindValidation
}

// Codes of this surface only; all others are in the table of outcomes.
const (
	codeUnauthorized = "unauthorized"
	codeMethod       = "method_not_allowed"
	codeMedia        = "unsupported_media_type"
	codeAcceptable   = "not_acceptable"
	codeTooLarge     = "too_large"
	codeQuota        = "quota"
	codeTooMany      = "too_many_requests"
	codePrecondition = "precondition_failed"
	codeInFlight     = "in_flight"
	codeKeyReused    = "key_reused"
)

func notFound(format string, args ...any) *problem {
	return newProblem(http.StatusNotFound, operation.NotFound.Code, format, args...)
}

func badRequest(format string, args ...any) *problem {
	return newProblem(http.StatusBadRequest, operation.Usage.Code, format, args...)
}

func forbidden(format string, args ...any) *problem {
	return newProblem(http.StatusForbidden, operation.Refused.Code, format, args...)
}

// failed is the problem of an outcome.
func failed(o operation.Outcome, message string) *problem {
	p := newProblem(o.HTTP, o.Code, "%s", message)
	if o.HTTP == http.StatusServiceUnavailable {
		p.header = http.Header{"Retry-After": {"1"}}
	}
	return p
}

// ofError returns the problem for an error with an outcome; any other error is an internal error of the server.
func ofError(err error, message string) *problem {
	if e, ok := errors.AsType[*operation.Error](err); ok {
		return failed(e.Outcome, message)
	}
	return failed(operation.Failed, message)
}

// problemOf is the problem of an error of a Runner.
func problemOf(o operation.Outcome, err error) *problem {
	e, ok := errors.AsType[*operation.Error](err)
	if !ok {
		return failed(operation.Failed, "the answer could not be written")
	}
	p := failed(o, e.Message)
	p.Hint, p.Candidates = e.Hint, e.Candidates
	if e.Unknown {
		p.header = nil // the same request must not be repeated
	}
	return p
}

func wrongMethod(allowed ...string) *problem {
	p := newProblem(http.StatusMethodNotAllowed, codeMethod, "want %s", strings.Join(allowed, " or "))
	p.header = http.Header{"Allow": {strings.Join(allowed, ", ")}}
	return p
}

// refuse answers with a problem.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	x := exchangeOf(r)
	p.RequestID, x.code = x.id, p.Code
	h := w.Header()
	for name, values := range p.header {
		h[name] = values
	}
	if p.challenge != "" {
		h.Set("Www-Authenticate", oauth{s}.challenge(p))
	}
	h.Set("Content-Type", mediaProblem)
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.body()) // who asked may have gone
}

// body is the JSON form, one line. Apparent credentials in it are masked: one may have been given as a name.
func (p *problem) body() []byte {
	p.Detail, p.Hint = guard.Message(p.Detail), guard.Message(p.Hint)
	data, err := json.Marshal(p)
	if err != nil { // the operation's output is not JSON
		p.Answer = nil
		data, _ = json.Marshal(p)
	}
	return append(text.EscapeJSON(data), '\n')
}
