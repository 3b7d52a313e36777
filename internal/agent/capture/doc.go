// Package capture keeps what agents and their users say. A host is a program that runs an agent, and calls a hook
// with JSON on standard input.
//
// # Spool
//
// A hook notes in .mnem/spool, one small file for a session, that its transcript has grown; it never waits for the
// repository and copies nothing of the transcript:
//
//	HOST-HEX.json   an Entry: the transcript of a session that has something to take in
//	HOST-HEX.place  where the reading of its transcript goes on
//	HOST-HEX.shown  the nodes that its agent was given, one id a line
//	HOST-HEX.told   what its agent was given at each call, one Told a line, with receipts to record
//	HOST-HEX.given  the same once it is recorded, without receipts and texts
//	HOST-HEX.private  empty: of the session nothing is noted
//	retire.state    how far turns were looked through for those to be retired
//
// HEX is the first 16 digits of the SHA-256 of the session's id. All have mode 0600. The last two grow
// by lines, the others are written as a whole. An entry is removed when the commit of its turns is durable, and only
// if no hook wrote it anew meanwhile. A place only saves work: turns have the ids of their host for keys, so that
// reading a transcript anew from its beginning changes nothing.
//
// # Transcripts
//
// The path of a transcript is what a host says, so it is not trusted: it must lie inside the user's home
// directory, the host's own configuration directory or the project, no symbolic link may lead out of that
// directory, and only regular files are opened. Reading goes on where it ended. A file that is shorter than what
// was read, or whose first or last bytes up to there are others, is read from its beginning.
package capture
