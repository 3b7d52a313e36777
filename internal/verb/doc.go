// Package verb is what a verb is: what can be asked of a repository, declared once under every surface. A declaration is
// a request struct, a result type, what the verb does at most, its help, and a function. The verbs lie in the packages
// below by what they are about, and package table lists them; this package knows none.
//
// From the declaration follow the flags and the help of the command line, the parameters of HTTP, the
// schemas of MCP, the names that policies know, and the shapes of the docs. A field of a request is for
// the command line of this machine alone unless its tag says remote.
//
// Requests and answers go between processes as JSON, by Spec.EncodeRequest and WriteAnswer. So an answer has
// no members that its JSON form leaves out. One that people alone are told is filled in where Service.Human
// is set, left out where it is empty, and its name begins with a low line: json:"_title,omitempty".
//
// A field is described by its tags:
//
//	op:"NAME,OPTION…"  the flag's name, "" for the Go name in lower case with dashes; the options are
//	                   below; "-" for a field that no surface fills
//	doc:"TEXT"         one phrase, in which {WORD} is what help calls the value
//	note:"TEXT"        what help adds and remote callers are not told: variables, settings
//	remote:"TEXT"      what remote callers are told in place of doc
//	enum:"A B"         the values that it may have
//	default:"VALUE"    what it is where it is not given
//	complete:"KIND"    what completes it: rev, branch, stage, session, key, rule, tag
//	not:"A B"          flags that it excludes
//
// The options are short=X (the one-letter flag), arg (a positional argument; a list takes all that the
// others leave), hidden (from help, to be refused), required (of an arg), remote (remote callers may give it),
// remoteonly, varies (a pure verb is not pure with it), writes (a verb that reads writes with it), destroys (with it
// a verb does what undo does not bring back), comma (a list whose values may
// hold several, with commas between), words (all positional
// arguments are one text, or standard input where they are a hyphen; words=BYTES says how much of that), alias=NAME
// (another name of the flag), true=VALUE (what remote callers mean by true, where the command line has a text) and
// alone (the flag without a value means that too).
//
// A struct that is embedded with the tag op:"local" has no field for remote callers here.
//
// Fields can come from the table of retrieval's parameters: see Parameters.
//
// A verb is added by declaring it with Define or Stream, as a variable of a package below, and naming it in package
// table; by binding it to what prints its answers in internal/door/cli/verbs.go; and by naming it in
// internal/door/cli/commands.go. A field is added to the request, and used. The pages and lists that tests keep are then
// written anew with -rewrite.
package verb
