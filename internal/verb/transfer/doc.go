// Package transfer has the verbs that carry histories between repositories: packs, archives, erasures that travel.
package transfer
