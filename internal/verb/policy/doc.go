// Package policy says what agents may change in a repository.
//
// A policy is one file, .mnem/policy.json. If there is none, everybody may do everything. If there is one, an agent may
// do what some rule allows and nothing else; a file that cannot be read allows agents nothing. People are not agents: a
// caller that names no agent is not bound. Reading is always allowed, and so is recording in sessions what was read.
//
//	{
//	  "version": 1,
//	  "rules": [
//	    {
//	      "note": "coding agents keep notes",
//	      "agents": ["claude*", "codex"],
//	      "operations": ["remember", "commit", "forget"],
//	      "types": ["Note", "Decision"],
//	      "edges": ["*"]
//	    }
//	  ]
//	}
//
//	version     1
//	rules       0 to 256 rules; what one of them allows is allowed
//	agents      names of agents, as commits record them; required
//	operations  names of commands that write, words joined by "_": commit, cherry_pick, op_restore
//	types       types of the nodes that may be touched; required, empty for none
//	edges       types of the edges that may be touched between them; default all
//	signed      true to let the operations take commits off branches and tags that other keys have
//	            signed; default false, which also holds if there is no policy
//	note        for people
//
// Each list has 0 to 256 patterns of 1 to 255 bytes, in which * stands for any run of characters, also an empty one.
// One rule must allow all that an agent does to one thing: an agent that may change an edge may change edges of its
// type that leave nodes of its source's type. A node is touched by a change of its record, its mark or its embeddings;
// a change of its type needs both types. An agent may change retrieval profiles if a rule allows it an operation whose
// name begins with profile. It may make, move and remove tags, and hide them by a new branch of their name, if a rule
// allows it an operation whose name begins with tag. A tag that brings commits is compared with HEAD, as a new branch
// is.
//
// The file is UTF-8 JSON of at most 64 KiB; unknown or duplicate members are refused.
package policy
