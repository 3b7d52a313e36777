// Package access is the commands about who may do what: signing keys, access tokens, and the policy for agents.
package access
