// Package capture records what agents and their users say. A host is a program that runs an agent; it calls a hook with
// JSON on standard input.
//
// # Spool
//
// A hook records in .mnem/spool, in one small file for each session, that the session's transcript has grown. It never
// waits for the repository and copies nothing of the transcript:
//
//	HOST-HEX.json   an Entry: a session whose transcript has unread turns
//	HOST-HEX.place  the position from which to read its transcript on
//	HOST-HEX.shown  the nodes that its agent was given, one id a line
//	HOST-HEX.told   what its agent was given at each call, one Told a line, with receipts to record
//	HOST-HEX.given  the same once it is recorded, without receipts and texts
//	HOST-HEX.private  empty: nothing of the session may be recorded
//	retire.state    how far turns were searched for those to retire
//
// HEX is the first 16 digits of the SHA-256 of the session's id. All files have mode 0600. The last two are appended to
// line by line, the others are written as a whole. An entry is removed when the commit of its turns is durable, unless
// a hook rewrote it in the meantime. A place only saves work: turns use the ids of their host as keys, so reading a
// transcript again from its beginning changes nothing.
//
// # Transcripts
//
// The host supplies the path of a transcript, so the path is not trusted: it must lie inside the user's home directory,
// the host's own configuration directory or the project, no symbolic link may lead out of that directory, and only
// regular files are opened. Reading continues where it ended. A file is read from its beginning if it is shorter than
// the part already read, or if the first or last bytes of that part have changed.
package capture
