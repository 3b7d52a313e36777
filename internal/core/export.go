package core

import (
	"errors"
)

// ErrFound ends a walk that found what it looked for.
var ErrFound = errors.New("found")

// ProgressEvery is how many blocks lie between two calls of a progress function.
const ProgressEvery = 1000
