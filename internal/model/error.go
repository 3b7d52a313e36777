package model

import (
	"errors"
	"fmt"
	"strings"
)

// Error is the failure of a remote provider. No part of it holds a key.
type Error struct {
	Action    string // what was asked for, as in "embed"
	Provider  string // such as "ollama" or "openai"
	Model     string // as the provider calls it
	Status    int    // of HTTP, 0 if there was no answer
	Attempts  int    // requests made
	Temporary bool   // whether the same call may go well later
	Err       error  // what went wrong
}

// Error returns one line: what was asked for, provider, model, cause and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with %s:%s: %v", e.Action, e.Provider, e.Model, e.Err)
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes of an *Error that a caller may branch on with errors.Is.
var (
	// ErrAnswer is wrapped when a provider answered with something other than what was asked for:
	// JSON that ends in the middle, a wrong number of things, numbers that are none.
	ErrAnswer = errors.New("wrong answer")
	// ErrRedirect is wrapped when a provider sends the request to another address. It is not
	// followed: the texts and the key were meant for the first one.
	ErrRedirect = errors.New("redirect refused")
	// ErrKey is wrapped when a provider refuses the key, or wants one.
	ErrKey = errors.New("key refused")
	// ErrModel is wrapped when a provider does not have the model.
	ErrModel = errors.New("no such model")
)

// Secret is a key. It formats as "(hidden)" by every verb; convert it to a string to use it.
type Secret string

const hidden = "(hidden)"

// String returns "(hidden)", or nothing for an empty key.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format writes what String returns.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
