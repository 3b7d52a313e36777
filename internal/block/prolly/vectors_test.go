package prolly_test

import ()

// The vectors under spec/vectors were written by a program that does not use this package.
