// Package peers lets a program that has a repository open answer the other processes that want it: the
// database admits one process at a time. Answer is all that such a program calls. A Holder opens the
// repository when it is needed and no other process has it, and else sends verbs to the one that has.
//
// The others ask for verbs of internal/verb, by their names, over the socket of package internal/owner.
// A Call says which one with what, and who asks. What depends on the caller's machine stays with the
// caller: its configuration and environment, and what its files and models say of a question, are in the request
// already; inputs follow the call. A run whose commits are signed ends with their records, and the caller, whose keys never
// leave it, signs these and calls again. Answers are JSON, which the caller prints as it would print its own.
//
// Two builds understand each other where they speak one protocol. A field that has its default is left
// out, so that one which the owner does not know yet is refused only where it is used.
package peers
