package embed

import "github.com/mnem-project/mnem/internal/provider"

// Error is the failure of a remote provider: its fields Action ("embed"), Provider and Model as the
// provider calls it, Status of HTTP (0 where there was no answer), Attempts, Temporary (whether the
// same call may go well later) and Err. No part of it holds a key.
type Error = provider.Error

// Secret is a key. It formats as "(hidden)" by every verb; convert it to a string to use it.
type Secret = provider.Secret

// Clock is the time by which a remote embedder waits. Nothing of it gets into a vector.
type Clock = provider.Clock

// Causes of an *Error that a caller may branch on with errors.Is.
var (
	// ErrAnswer is wrapped when a provider answered with something other than the vectors that
	// were asked for: JSON that ends in the middle, a wrong number of vectors or dimensions,
	// numbers that are none.
	ErrAnswer = provider.ErrAnswer
	// ErrRedirect is wrapped when a provider sends the request to another address. It is not
	// followed: the texts and the key were meant for the first one.
	ErrRedirect = provider.ErrRedirect
	// ErrKey is wrapped when a provider refuses the key, or wants one.
	ErrKey = provider.ErrKey
	// ErrModel is wrapped when a provider does not have the model.
	ErrModel = provider.ErrModel
)
