package line

import (
	"errors"
)

// ErrOpenToAll is returned by a server that others could use without a token.
var ErrOpenToAll = errors.New("without a token anybody who reaches this address could use the memory")
