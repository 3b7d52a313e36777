// Package remembering has the verbs of memories: what is remembered, reviewed and consolidated, its cues and
// half-lives.
package remembering
