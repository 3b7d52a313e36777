// Package verb declares verbs, the operations on a repository that the surfaces offer. A declaration consists of a
// request struct, a result type, the strongest effect, the help, and a function. The packages below declare the verbs
// by subject, and package table lists them; this package knows none.
//
// From the declaration follow the flags and the help of the command line, the parameters of HTTP, the
// schemas of MCP, the names that policies know, and the shapes of the docs. A field of a request is for
// the command line of this machine alone unless its tag says remote.
//
// Requests and answers go between processes as JSON, by Spec.EncodeRequest and WriteAnswer. So an answer has
// no members that its JSON form leaves out. A member for people alone is filled in if Service.Human is
// set, left out if it is empty, and its name begins with an underscore: json:"_title,omitempty".
//
// A field is described by its tags:
//
//	op:"NAME,OPTION…"  the flag's name, "" for the Go name in lower case with dashes; the options are
//	                   below; "-" for a field that no surface fills
//	doc:"TEXT"         one phrase, in which {WORD} names the value in help
//	note:"TEXT"        added in help, not for remote callers: variables, settings
//	remote:"TEXT"      replaces doc for remote callers
//	enum:"A B"         the values that it may have
//	default:"VALUE"    its value if it is not given
//	complete:"KIND"    its completion: rev, branch, stage, session, key, rule, tag
//	not:"A B"          flags that it excludes
//
// The options are short=X (the one-letter flag), arg (a positional argument; a list takes all that the others leave),
// required (of an arg), remote (remote callers may give it), remoteonly, varies (a pure verb is not pure with it),
// writes (a verb that reads writes with it), destroys (with it a verb does something that undo cannot reverse), comma
// (a list whose values may hold several, with commas between), words (all positional arguments are one text, or
// standard input if they are a hyphen; words=BYTES says how much of that), set (no flag: the command line sets it by
// NAME=VALUE), settable (by both), sets (the list of these NAME=VALUE), true=VALUE (the text that a remote caller's
// true stands for) and alone (the flag without a value means that too).
//
// A struct that is embedded with the tag op:"local" has no field for remote callers here; one with the tag flags:"A B"
// has no other flags than these.
//
// Fields can come from the table of retrieval's parameters: see Parameters.
//
// A new verb is a variable that Define or Stream makes, in a package below, and a line in package table; a new field is
// one of its request. docs/internals/architecture.md, "Where something new goes", has the rest, and docs/internals/testing.md the commands
// that rewrite pages and lists.
package verb
