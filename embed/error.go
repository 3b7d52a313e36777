package embed

import (
	"errors"
	"fmt"
	"strings"
)

// Error is the failure of a remote provider. No part of it holds a key.
type Error struct {
	Provider  string // "ollama" or "openai"
	Model     string // as the provider calls it
	Status    int    // of HTTP, 0 where there was no answer
	Attempts  int    // requests made for the batch that failed
	Temporary bool   // whether the same call may go well later
	Err       error  // what went wrong
}

// Error returns one line: provider, model, cause and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "embed with %s:%s: %v", e.Provider, e.Model, e.Err)
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes of an *Error that a caller may branch on with errors.Is.
var (
	// ErrAnswer is wrapped when a provider answered with something other than the vectors that
	// were asked for: JSON that ends in the middle, a wrong number of vectors or dimensions,
	// numbers that are none.
	ErrAnswer = errors.New("wrong answer")
	// ErrRedirect is wrapped when a provider sends the request to another address. It is not
	// followed: the texts and the key were meant for the first one.
	ErrRedirect = errors.New("redirect refused")
	// ErrKey is wrapped when a provider refuses the key, or wants one.
	ErrKey = errors.New("key refused")
	// ErrModel is wrapped when a provider does not have the model.
	ErrModel = errors.New("no such model")
)
