// Package gitdir determines which branch a git work tree is on and whether branches were merged or removed, and
// maps names of git's branches to names of memory branches.
//
//	Find     the work tree that a directory is in
//	Head     the branch that HEAD is on
//	Origin   the branch that a branch came from
//	Merged   how a branch was merged into HEAD
//	Branch   the memory branch of a git branch; GitBranch is its inverse
//
// Every command calls Find and Head, and starting git for each would be slow. They read four files:
//
//	.git               a directory, or a file "gitdir: PATH" (linked work tree, submodule)
//	GITDIR/commondir   the path of the directory that work trees share
//	GITDIR/HEAD        "ref: refs/heads/NAME", or the id of a commit
//	GITDIR/logs/HEAD   the end of it, only while HEAD is on a branch without commits: git prints no log then
//
// Everything else comes from git commands: the position of a detached HEAD or one in a reftable, logs, refs,
// commits. These files and git's output are untrusted, so each is read up to a limit; a file in an unexpected form
// is refused with an error that names it.
package gitdir
