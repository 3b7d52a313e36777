// Package view has what is derived from a state, one kind of index a view: its name, the key of its cell, how it is
// updated from another state, verified and walked. A view holds only what can be rebuilt.
package view
